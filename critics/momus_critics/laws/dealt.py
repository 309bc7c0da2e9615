"""Ebeling's curve of pieces of text in any order, without joining them: what relabelling asks for by the hundred."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.streams import Stream
from momus_critics.laws.curves import Curve, window_lengths, window_sums

SHORT = 40
"""Windows of up to so many cells are counted piece by piece."""
CELL, CELLS = 25, 1 << 17
"""Least characters a cell, and about the largest number of cells."""


class DealtWindows:
    """Counts of characters in windows over pieces of text, in any order of the pieces.

    Short windows begin anew in each piece, and long ones end at the border of a cell. The exponent then differs from
    that of the joined text by a few hundredths of what it differs by between texts.

    Parameters
    ----------
    pieces
        Pieces of text with one vocabulary.

    >>> text = Stream(np.random.default_rng(0).integers(0, 3, 40_000).astype(np.int32), ["a", "bb", "ccc"])
    >>> from momus_critics.laws import Ebeling
    >>> from momus_critics.laws.fitting import fit_line
    >>> bool(abs(fit_line(*DealtWindows(text.cut(4)).curve([0, 1, 2, 3])).slope - Ebeling().line(text).slope) < 0.01)
    True
    """

    def __init__(self, pieces: Sequence[Stream]) -> None:
        texts, alphabet = _spelled(pieces)
        self.lengths = np.array([len(t) for t in texts])
        self.cell = max(CELL, int(self.lengths.sum()) // CELLS)
        cumulated = [_cumulated(t, alphabet, self.cell) for t in texts]
        self._starts = np.cumsum([0, *(len(c) for c in cumulated)])[:-1]
        self._cumulated = np.concatenate(cumulated)
        self._totals = np.array([np.bincount(t, minlength=alphabet) for t in texts])
        self._short = {}
        for length in window_lengths(int(self.lengths.sum()), SHORT * self.cell).tolist():
            windows, counts, squares = zip(*(window_sums(t, alphabet, length) for t in texts), strict=True)
            self._short[length] = np.array(windows), np.array(counts), np.array(squares)

    def curve(self, order: Sequence[int]) -> Curve:
        """m(l) against l, for some pieces in this order."""
        chosen = np.asarray(order)
        ends = np.cumsum(self.lengths[chosen])
        before = np.cumsum(self._totals[chosen], axis=0) - self._totals[chosen]
        lengths = window_lengths(int(ends[-1]))
        found = [
            self._piecewise(n, chosen) if n in self._short else self._long(n, chosen, ends, before) for n in lengths
        ]
        return lengths.astype(np.float64), np.array(found)

    def _piecewise(self, length: int, chosen: NDArray[np.int64]) -> float:
        windows, counts, squares = (part[chosen].sum(axis=0) for part in self._short[length])
        return float(squares / windows - ((counts / windows) ** 2).sum())

    def _long(
        self, length: int, chosen: NDArray[np.int64], ends: NDArray[np.int64], before: NDArray[np.int64]
    ) -> float:
        borders = np.arange(ends[-1] // length + 1) * length
        piece = np.searchsorted(ends, borders, side="left")
        inside = borders - (ends - self.lengths[chosen])[piece]
        rows = self._starts[chosen][piece] + inside // self.cell
        counts = np.diff(before[piece] + self._cumulated[rows], axis=0).astype(np.float64)
        return float((counts**2).sum() / len(counts) - (counts.mean(axis=0) ** 2).sum())


def _spelled(pieces: Sequence[Stream]) -> tuple[list[NDArray[np.unsignedinteger]], int]:
    """Each piece as codes of one alphabet, a space behind each word but the last of all."""
    vocabulary = pieces[0].vocabulary
    whole, alphabet = Stream(np.concatenate([p.ids for p in pieces]), vocabulary).characters()
    lengths = np.fromiter(map(len, vocabulary), np.int64, len(vocabulary)) + 1
    edges = np.cumsum([0, *(int(lengths[p.ids].sum()) for p in pieces)])
    edges[-1] = len(whole)
    return [whole[a:b] for a, b in pairwise(edges.tolist())], alphabet


def _cumulated(text: NDArray[np.unsignedinteger], alphabet: int, cell: int) -> NDArray[np.int32]:
    """Counts of characters before each border of a cell: int32 (cells + 1, alphabet)."""
    cells = len(text) // cell
    codes = text[: cells * cell].reshape(cells, cell) + (np.arange(cells, dtype=np.int64)[:, None] * alphabet)
    counts = np.bincount(codes.ravel(), minlength=cells * alphabet).reshape(cells, alphabet)
    return np.concatenate([np.zeros((1, alphabet), np.int32), np.cumsum(counts, axis=0, dtype=np.int32)])
