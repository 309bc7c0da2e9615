"""Long sequences in overlapping windows, and batches of pieces of like length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Piece:
    """One window on a sequence: it reads ``start … stop``, and what lies from ``scored`` on is scored."""

    sequence: int
    start: int
    scored: int
    stop: int
    last: bool


def pieces(lengths: NDArray[np.int64], window: int) -> list[Piece]:
    """Cut sequences so that every token is scored once, given at least half a window before it where there is one.

    >>> [(p.start, p.scored, p.stop) for p in pieces(np.array([10]), 4)]
    [(0, 0, 4), (2, 4, 6), (4, 6, 8), (6, 8, 10)]
    """
    out: list[Piece] = []
    half = window // 2
    for i, n in enumerate(lengths.tolist()):
        stop, scored = min(n, window), 0
        while True:
            out.append(Piece(i, max(0, stop - window) if scored else 0, scored, stop, stop == n))
            if stop == n:
                break
            scored, stop = stop, min(n, stop + window - half)
    return out


def batches(todo: Sequence[Piece], tokens: int) -> Iterator[list[Piece]]:
    """Batches of pieces sorted by length, the longest first, of at most ``tokens`` with their padding (or one piece).

    >>> [len(b) for b in batches(pieces(np.array([5, 3, 3, 2]), 8), 6)]
    [1, 2, 1]
    """
    order = sorted(todo, key=lambda p: (p.start - p.stop, p.sequence, p.start))
    some: list[Piece] = []
    for piece in order:
        if some and (len(some) + 1) * (some[0].stop - some[0].start) > tokens:
            yield some
            some = []
        some.append(piece)
    if some:
        yield some
