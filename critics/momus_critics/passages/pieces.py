"""Cut running text into pieces: groups of sentences that never cross a blank line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from momus.numeric.ragged import offsets_of, places_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"\n+|(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？])")
_WORD = re.compile(r"\S+")


def split_pieces(text: str, words: int) -> list[str]:
    r"""Cut text at blank lines, and paragraphs after the first sentence that ends at or beyond ``words`` words.

    Sentences longer than ten times ``words`` (a table, a listing, text without full stops) are cut at that length.

    >>> split_pieces("One two. Three four. Five.\n\nSix.", words=3)
    ['One two. Three four.', 'Five.', 'Six.']
    """
    pieces = []
    for paragraph in _PARAGRAPH.split(text):
        start = end = count = 0
        for stop in [*(m.end() for m in _SENTENCE.finditer(paragraph)), len(paragraph)]:
            # the piece so far is paragraph[start:end] with `count` words; the next sentence is paragraph[end:stop]
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
    r"""Cut text at blank lines and at the ends of sentences.

    >>> sentences("One two. Three!\n\nFour")
    ['One two.', 'Three!', 'Four']
    """
    cuts = (s for paragraph in _PARAGRAPH.split(text) for s in _SENTENCE.split(paragraph))
    return [s.strip() for s in cuts if s.strip()]


def corpus_pieces(corpus: Corpus, words: int, most: int) -> tuple[list[str], Ints]:
    """Pieces of all documents, at most ``most`` per document, and where each document begins, int64 (n + 1,).

    Section marks are ignored: sections are joined by blank lines, as in running text.
    """
    texts = corpus.section_texts
    pieces: list[str] = []
    offsets = [0]
    for start, end in pairwise(offsets_of(corpus.section_counts)):
        pieces += split_pieces("\n\n".join(texts.slice(start, end - start).to_pylist()), words)[:most]
        offsets.append(len(pieces))
    return pieces, np.array(offsets, dtype=np.int64)


def place_classes(offsets: Ints, bins: int) -> Ints:
    """Number of the stretch that each piece lies in, of ``bins`` equal stretches per document: int64 (N,).

    >>> place_classes(np.array([0, 4, 5]), bins=2).tolist()
    [0, 0, 1, 1, 1]
    """
    lengths = np.diff(offsets)
    # np.repeat gives each piece the length of its document, (N,)
    return np.asarray(((places_of(offsets) + 0.5) / np.repeat(lengths, lengths) * bins).astype(np.int64))


def returning(x: Floats, offsets: Ints, alike: float) -> Bools:
    """Whether each piece has a cosine of at least ``alike`` with an earlier piece of its document, bool (N,).

    >>> returning(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.1]]), np.array([0, 3]), 0.9).tolist()
    [False, False, True]
    """
    unit = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    returns = np.zeros(len(x), dtype=bool)
    for first, end in pairwise(offsets):
        rows = unit[first:end]
        returns[first:end] = np.tril(rows @ rows.T >= alike, -1).any(axis=1)  # below the diagonal: earlier pieces
    return returns


def state_names(pieces: Sequence[str], states: Ints, count: int, words: int = 3) -> list[str]:
    """Name states by the words that occur in more of their pieces than of other states' (smoothed log odds)."""
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        counter = CountVectorizer(binary=True, min_df=2, max_features=20_000, token_pattern=r"[^\W\d_]{3,}")
        occurs = counter.fit_transform(pieces)  # 0/1, (pieces, words)
    except ValueError:  # no word is left
        return [f"state {k + 1}" for k in range(count)]
    vocabulary = counter.get_feature_names_out()
    # pieces that hold each word, within each state and in all others, (K, words); then z-scores of the log odds ratio
    inside = np.stack([np.asarray(occurs[states == k].sum(axis=0)).ravel() for k in range(count)]).astype(float)
    n = np.bincount(states, minlength=count).astype(float)[:, None]
    outside = inside.sum(axis=0) - inside
    odds = _logit((inside + 0.5) / (n + 1)) - _logit((outside + 0.5) / (n.sum() - n + 1))
    spread = np.sqrt(1 / (inside + 0.5) + 1 / (outside + 0.5))
    best = np.argsort(-odds / spread, axis=1, kind="stable")[:, :words]
    return [f"{k + 1}: {' · '.join(vocabulary[i] for i in row)}" for k, row in enumerate(best)]


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)))
