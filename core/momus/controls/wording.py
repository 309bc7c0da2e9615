"""Defects of wording: rare and common words, symbols, length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from momus.controls.pieces import (
    WORD,
    Pieces,
    cased,
    common_words,
    document_words,
    edited,
    frequencies,
    ranked,
)
from momus.controls.planting import Setting, with_texts
from momus.numeric.types import Floats
from momus.text.corpus import Corpus, Document

Places = Sequence[int]
Common = tuple[list[str], list[float]]
COMMON = 100
"""Number of most frequent words, which are never rare and which replace rare words."""
STOPWORDS = 10
"""Number of most frequent words that stopword inflation inserts."""
FEWEST_WORDS = 10
"""Smallest number of words that length truncation keeps."""
_SYMBOL = re.compile(r"[^\w\s]")


def _matches(document: Document, pattern: re.Pattern[str]) -> list[Pieces]:
    """The matches of a pattern in each section."""
    return [Pieces.matching(section.text, pattern) for section in document.sections]


def truncate_vocabulary(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace the words whose types are among the rarest of the corpus by common words."""
    rank = cast("dict[str, float]", setting.shared.once("rarity", _rarity))
    common = cast("Common", setting.shared.once("common", lambda c: common_words(c, COMMON)))

    def change(words: list[str]) -> list[str | None]:
        rare = [rank.get(w.lower(), 2.0) < setting.strength for w in words]
        drawn = _drawn(common, setting.random.random(len(words)))
        return [cased(d, w) if r else None for w, r, d in zip(words, rare, drawn, strict=True)]

    return edited(document, "rare words replaced by common ones", _matches(document, WORD), change)


def _drawn(common: Common, u: Floats) -> list[str]:
    """A common word for each uniform variate of u, (n,), drawn by frequency."""
    words, shares = common
    cumulated = np.cumsum(shares) if shares else np.ones(1)
    numbers = np.searchsorted(cumulated, u * cumulated[-1], side="right").clip(0, max(len(words) - 1, 0)).tolist()
    return [words[i] for i in numbers] if words else [""] * len(u)


def _rarity(corpus: Corpus) -> dict[str, float]:
    """Relative rank of each type outside the common ones, from 0 (the rarest) to below 1."""
    rare = [w for w, _ in ranked(frequencies(corpus))[COMMON:]][::-1]
    return {w: i / len(rare) for i, w in enumerate(rare)}


def inflate_stopwords(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Insert one of the most frequent words of the corpus after each chosen word."""
    common = cast("Common", setting.shared.once("stopwords", lambda c: common_words(c, STOPWORDS)))

    def change(words: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(words)).tolist()
        drawn = _drawn(common, setting.random.random(len(words)))
        return [f"{w} {d}" if c and d else None for w, c, d in zip(words, chosen, drawn, strict=True)]

    return edited(document, "words followed by an inserted frequent word", document_words(document), change)


def double_symbols(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Double chosen symbols."""

    def change(symbols: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(symbols)).tolist()
        return [2 * s if c else None for s, c in zip(symbols, chosen, strict=True)]

    return edited(document, "doubled symbols", _matches(document, _SYMBOL), change)


def cut_short(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Drop the last share of the words."""
    sections = document_words(document)
    total = sum(len(p.texts) for p in sections)
    keep = max(total - int(setting.strength * total), min(FEWEST_WORDS, total))
    texts, before = [], 0
    for pieces in sections:
        left = max(min(keep - before, len(pieces.texts)), 0)
        whole = left == len(pieces.texts)
        texts.append(pieces.join(pieces.texts) if whole else _beginning(pieces.separators, pieces.texts, left))
        before += len(pieces.texts)
    cut = with_texts(document, texts)
    if document.sectioned and keep < total:
        cut = replace(cut, sections=tuple(s for s in cut.sections if s.text.strip()))
    return cut, "words dropped from the end", list(range(keep, total))


def _beginning(separators: Sequence[str], words: Sequence[str], n: int) -> str:
    """Join the first n words with the separators before them."""
    return "".join(s + w for s, w in zip(separators[:n], words[:n], strict=True))
