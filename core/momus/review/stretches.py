"""Stretches of texts: beginnings of a stated length, so that documents are compared at one length."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from momus.numeric.types import Ints

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+(?:['’][^\W_]+)*")
"""A word; in scripts without spaces, a character."""
_END = re.compile(r"[.!?…][\"'”’»)\]*_]*\s|[。！？][\"'”’»)\]」』]*|\n")
NEAR = 0.15
"""By how much of its length a stretch may be shorter or longer, so that it ends with a sentence."""


def word_counts(texts: Sequence[str]) -> Ints:
    """The number of words of each text: int64 (n,).

    >>> word_counts(["It rained, didn't it?", "下雨了"]).tolist()
    [4, 3]
    """
    return np.array([sum(1 for _ in WORD.finditer(text)) for text in texts], dtype=np.int64)


def stretch(text: str, words: int) -> str:
    """The beginning of a text, of about so many words: to the nearest end of a sentence or line, if one is near.

    A text that is not longer is returned whole.

    >>> stretch("One two three four. Five six seven. Eight nine ten, eleven.", 8)
    'One two three four. Five six seven.'
    """
    ends = [match.end() for match in WORD.finditer(text)]
    if len(ends) <= words:
        return text
    best, distance = ends[words - 1], max(int(NEAR * words), 1) + 1
    first = ends[max(words - distance, 1) - 1]
    last = ends[min(words + distance, len(ends)) - 1]
    hard = best
    for match in _END.finditer(text, first, last):
        reached = int(np.searchsorted(ends, match.start(), side="right"))  # words before the end of the sentence
        if abs(reached - words) < distance:
            best, distance = match.end(), abs(reached - words)
    return text[:best].rstrip() if best != hard else text[:hard]


def stretches(text: str, words: int, most: int) -> list[tuple[int, str]]:
    """Consecutive stretches of about so many words, at most ``most`` and evenly chosen: where each begins, and it.

    What remains at the end is no stretch of its own.

    >>> [text for _, text in stretches("One two three. Four five six. Seven.", 3, 9)]
    ['One two three.', 'Four five six.']
    """
    pieces, start = [], 0
    total = sum(1 for _ in WORD.finditer(text))
    while total >= (1 - NEAR) * words:
        start += len(text[start:]) - len(text[start:].lstrip())
        piece = stretch(text[start:], words)
        pieces.append((start, piece))
        total -= sum(1 for _ in WORD.finditer(piece))
        start += len(piece)
    chosen = np.unique(np.linspace(0, len(pieces) - 1, min(most, len(pieces))).round().astype(int))
    return [pieces[i] for i in chosen]
