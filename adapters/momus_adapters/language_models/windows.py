"""Long sequences in overlapping windows."""

from __future__ import annotations

from dataclasses import dataclass

from momus.numeric.types import Ints


@dataclass(frozen=True)
class Piece:
    """One window of a sequence: ``start … stop`` is read, ``scored … stop`` is scored."""

    sequence: int
    start: int
    scored: int
    stop: int


def pieces(lengths: Ints, window: int) -> list[Piece]:
    """Cut sequences into windows: every token is scored once, after the first window given at least half a window.

    >>> import numpy as np
    >>> [(p.start, p.scored, p.stop) for p in pieces(np.array([10]), 4)]
    [(0, 0, 4), (2, 4, 6), (4, 6, 8), (6, 8, 10)]
    """
    out: list[Piece] = []
    half = window // 2
    for i, n in enumerate(lengths.tolist()):
        stop, scored = min(n, window), 0
        while True:
            out.append(Piece(i, max(0, stop - window) if scored else 0, scored, stop))
            if stop == n:
                break
            scored, stop = stop, min(n, stop + window - half)
    return out
