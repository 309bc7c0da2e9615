"""Loops: the longest stretch of a document that repeats itself exactly, word by word or sign by sign."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from momus.numeric.ragged import owners_of
from momus.numeric.types import Ints

GRAM = 4
"""Words that must recur at one distance; a stretch of fewer is no loop."""
TIMES = 3
"""Fewest times that a loop says the same."""
WORDS = 12
"""Fewest words of a loop."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SIGNS = re.compile(r"([^\w\s\-=_*.#~|+\u2500-\u257f])\1{11,}|([^\W\d_])\2{11,}")
_INSIDE = re.compile(r"(?<!\w)(\w{2,8}?)\1{7,}")


@dataclass(frozen=True)
class Loops:
    """Stretches that repeat themselves, at most one per document: the longest.

    Attributes
    ----------
    documents
        int64 (L,): the documents that have one, ascending.
    starts, lengths, periods
        int64 (L,): first token of each stretch, its tokens, and after how many it says the same again.
    """

    documents: Ints
    starts: Ints
    lengths: Ints
    periods: Ints

    @property
    def times(self) -> Ints:
        """How often each stretch says the same, (L,)."""
        return self.lengths // self.periods


def word_loops(codes: Ints, offsets: Ints) -> Loops:
    """Find the longest loop of each of n documents.

    In a loop of p tokens, each run of `GRAM` tokens recurs p tokens later. So runs of positions whose next recurrence
    has one distance are loops, found by sorting all runs of tokens once.

    Parameters
    ----------
    codes
        int64 (N,): number of each token.
    offsets
        int64 (n + 1,): first token of each document.

    >>> loops = word_loops(np.array([7, *[1, 2, 3] * 5, 9, 9]), np.array([0, 18]))
    >>> loops.starts, loops.lengths, loops.periods, loops.times
    (array([1]), array([15]), array([3]), array([5]))
    """
    distance = _recurrences(codes, offsets)
    if not distance.any():
        return Loops(*(np.zeros(0, dtype=np.int64) for _ in range(4)))
    owners = owners_of(offsets)
    # runs of equal distance within a document: where each begins, and how many positions it has
    begins = np.ones(len(distance), dtype=bool)
    begins[1:] = (distance[1:] != distance[:-1]) | (owners[1:] != owners[:-1])
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, len(distance)))
    periods = distance[starts]
    lengths = np.where(periods > 0, sizes + GRAM - 1 + periods, 0)
    keep = (periods > 0) & (lengths >= WORDS) & (lengths >= TIMES * periods)
    starts, lengths, periods, documents = starts[keep], lengths[keep], periods[keep], owners[starts[keep]]
    order = np.lexsort((starts, -lengths, documents))
    first = order[np.unique(documents[order], return_index=True)[1]]
    return Loops(documents[first], starts[first], lengths[first], periods[first])


def _recurrences(codes: Ints, offsets: Ints) -> Ints:
    """How many tokens after each position the same `GRAM` tokens begin again in its document; 0: never. int64 (N,)."""
    n, distance = len(codes), np.zeros(len(codes), dtype=np.int64)
    if n < GRAM:
        return distance
    owners = owners_of(offsets)
    # a number for each run of tokens and its document: uint64 (N - GRAM + 1,); that two share one is out of the question
    key = owners[: n - GRAM + 1].astype(np.uint64) + np.uint64(1)
    for i in range(GRAM):
        key = (key ^ codes[i : n - GRAM + 1 + i].astype(np.uint64)) * _MULTIPLIER
        key ^= key >> np.uint64(29)
    within = np.flatnonzero(owners[: n - GRAM + 1] == owners[GRAM - 1 :])
    order = within[np.argsort(key[within], kind="stable")]
    same = key[order[1:]] == key[order[:-1]]
    distance[order[:-1][same]] = (order[1:] - order[:-1])[same]
    return distance


def sign_loop(text: str) -> tuple[int, int] | None:
    """Where one sign, or a piece of a word, stands again and again; rules and rows of dots are no loops.

    >>> sign_loop("So" + "!" * 20), sign_loop("ha" * 20), sign_loop("-" * 40 + " 1.......... 2")
    ((2, 22), (0, 40), None)
    """
    match = _SIGNS.search(text) or _INSIDE.search(text)
    return None if match is None else match.span()
