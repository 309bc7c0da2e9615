"""Long sequences in overlapping windows, and windows in batches of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def batches(todo: Sequence[Piece], tokens: int) -> Iterator[list[Piece]]:
    """Batches of pieces, the longest first, of at most ``tokens`` tokens with padding (or a single piece).

    >>> import numpy as np
    >>> [len(b) for b in batches(pieces(np.array([5, 3, 3, 2]), 8), 6)]
    [1, 2, 1]
    """
    order = sorted(todo, key=lambda p: (p.start - p.stop, p.sequence, p.start))
    batch: list[Piece] = []
    for piece in order:
        if batch and (len(batch) + 1) * (batch[0].stop - batch[0].start) > tokens:  # the first piece is the longest
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch
