"""Pieces of running text: groups of sentences that never cross a blank line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.text.corpus import Corpus

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"\n+|(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？])")
_WORD = re.compile(r"\S+")


def split_pieces(text: str, words: int) -> list[str]:
    """Cut text at blank lines, and longer paragraphs at the first end of a sentence after ``words`` words.

    A sentence of more than ten times as many words (a table, a listing, a text without stops) is cut there.

    >>> split_pieces("One two. Three four. Five.\\n\\nSix.", words=3)
    ['One two. Three four.', 'Five.', 'Six.']
    """
    pieces = []
    for paragraph in _PARAGRAPH.split(text):
        start = end = count = 0
        for stop in [*(m.end() for m in _SENTENCE.finditer(paragraph)), len(paragraph)]:
            ends = [m.end() + end for m in _WORD.finditer(paragraph[end:stop])]
            while count + len(ends) > 10 * words:
                cut = ends[10 * words - count - 1]
                pieces.append(paragraph[start:cut])
                start, ends, count = cut, [e for e in ends if e > cut], 0
            count, end = count + len(ends), stop
            if count >= words:
                pieces.append(paragraph[start:end])
                start, count = end, 0
        if count:
            pieces.append(paragraph[start:])
    return [p.strip() for p in pieces]


def sentences(text: str) -> list[str]:
    """Cut text at blank lines and at the ends of sentences.

    >>> sentences("One two. Three!\\n\\nFour")
    ['One two.', 'Three!', 'Four']
    """
    parts = (s for paragraph in _PARAGRAPH.split(text) for s in _SENTENCE.split(paragraph))
    return [s.strip() for s in parts if s.strip()]


def corpus_pieces(corpus: Corpus, words: int, most: int) -> tuple[list[str], NDArray[np.int64]]:
    """Pieces of all documents, at most ``most`` of each, and where each document's begin, int64 (n + 1,).

    Marks are not looked at: sections are joined by blank lines, as running text has them.
    """
    texts, ends = corpus.section_texts, np.cumsum(corpus.section_counts)
    found: list[str] = []
    offsets = [0]
    for start, end in zip(ends - corpus.section_counts, ends, strict=True):
        found += split_pieces("\n\n".join(texts.slice(start, end - start).to_pylist()), words)[:most]
        offsets.append(len(found))
    return found, np.array(offsets, dtype=np.int64)


def place_classes(offsets: NDArray[np.int64], bins: int) -> NDArray[np.int64]:
    """Which of ``bins`` equal stretches of its document each piece stands in.

    >>> place_classes(np.array([0, 4, 5]), bins=2).tolist()
    [0, 0, 1, 1, 1]
    """
    lengths = np.diff(offsets)
    position = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], lengths)
    return np.asarray(((position + 0.5) / np.repeat(lengths, lengths) * bins).astype(np.int64))


def returning(x: NDArray[np.float64], offsets: NDArray[np.int64], alike: float) -> NDArray[np.bool_]:
    """Which pieces have a cosine of at least ``alike`` with an earlier piece of their document, bool (N,).

    >>> returning(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.1]]), np.array([0, 3]), 0.9).tolist()
    [False, False, True]
    """
    unit = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    found = np.zeros(len(x), dtype=bool)
    for first, end in pairwise(offsets):
        rows = unit[first:end]
        found[first:end] = np.tril(rows @ rows.T >= alike, -1).any(axis=1)
    return found


def state_names(pieces: Sequence[str], states: NDArray[np.int64], count: int, words: int = 3) -> list[str]:
    """Name states by the words whose share of pieces is highest against the other states (smoothed log odds)."""
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        counter = CountVectorizer(binary=True, min_df=2, max_features=20_000, token_pattern=r"[^\W\d_]{3,}")
        seen = counter.fit_transform(pieces)
    except ValueError:  # no word is left
        return [f"state {k + 1}" for k in range(count)]
    vocabulary = counter.get_feature_names_out()
    inside = np.stack([np.asarray(seen[states == k].sum(axis=0)).ravel() for k in range(count)]).astype(float)
    n = np.bincount(states, minlength=count).astype(float)[:, None]
    outside = inside.sum(axis=0) - inside
    odds = _logit((inside + 0.5) / (n + 1)) - _logit((outside + 0.5) / (n.sum() - n + 1))
    spread = np.sqrt(1 / (inside + 0.5) + 1 / (outside + 0.5))
    best = np.argsort(-odds / spread, axis=1, kind="stable")[:, :words]
    return [f"{k + 1}: {' · '.join(vocabulary[i] for i in row)}" for k, row in enumerate(best)]


def _logit(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(p / (1 - p)))
