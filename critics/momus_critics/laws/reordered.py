"""Curves of pieces of text in any order, without joining them: what standard errors ask for by the hundred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from momus.text.running import RunningText
from momus_critics.laws.curves import Curve, growth_grid, hapax_grid, window_lengths, window_sums

SHORT = 40
"""Windows of up to so many cells are counted piece by piece."""
NEVER = 1 << 60
"""The place of what does not occur."""
CELL, CELLS = 25, 1 << 17
"""Least characters a cell, and about the largest number of cells."""


class ReorderedCurve(Protocol):
    """A curve of pieces of text in any order."""

    def curve(self, order: list[int]) -> Curve:
        """The curve of some of the pieces, in this order."""
        ...


class ReorderedTypes:
    """Growth of the vocabulary over pieces of text in any order, exactly as of the joined text.

    >>> ids = np.random.default_rng(0).zipf(1.5, 900).clip(0, 99).astype(np.int32)
    >>> text = RunningText(ids, [*map(str, range(100))])
    >>> from momus_critics.laws.curves import heaps
    >>> bool(np.array_equal(ReorderedTypes(text.cut(4)).curve([0, 1, 2, 3])[1], heaps(text)[1]))
    True
    """

    def __init__(self, pieces: Sequence[RunningText], share: float = 0.7) -> None:
        self.share = share
        self.lengths = np.array([len(p) for p in pieces], dtype=np.int64)
        found = [np.flatnonzero(p.counts) for p in pieces]
        self._firsts = [p.first_positions[types] for p, types in zip(pieces, found, strict=True)]
        used = np.unique(np.concatenate(found))
        self._types = [np.searchsorted(used, types) for types in found]
        self._words = len(used)

    def _backwards(self, order: list[int]) -> Iterator[tuple[int, int]]:
        """Pieces from the last to the first, and where each begins."""
        starts = np.cumsum(self.lengths[order]) - self.lengths[order]
        return zip(reversed(order), starts[::-1].tolist(), strict=True)

    def curve(self, order: list[int]) -> Curve:
        """Types v(n) against tokens n."""
        first = np.full(self._words, NEVER)
        for i, start in self._backwards(order):
            first[self._types[i]] = self._firsts[i] + start
        grid = growth_grid(int(self.lengths[order].sum()), self.share)
        return grid.astype(np.float64), _below(first, grid).astype(np.float64)


class ReorderedHapaxes(ReorderedTypes):
    """Productivity of single words over pieces of text in any order, exactly as of the joined text.

    >>> ids = np.random.default_rng(0).zipf(1.5, 900).clip(0, 99).astype(np.int32)
    >>> text = RunningText(ids, [*map(str, range(100))])
    >>> from momus_critics.laws.curves import productivity
    >>> x, y = productivity(text)[0]
    >>> bool(np.array_equal(ReorderedHapaxes(text.cut(4)).curve([0, 1, 2, 3])[1], y[y > 0]))
    True
    """

    def __init__(self, pieces: Sequence[RunningText]) -> None:
        super().__init__(pieces)
        self._seconds = [_seconds(p) for p in pieces]

    def curve(self, order: list[int]) -> Curve:
        """N1/N against N, positive values."""
        first, second = np.full(self._words, NEVER), np.full(self._words, NEVER)
        for i, start in self._backwards(order):
            types = self._types[i]
            second[types] = np.minimum(self._seconds[i] + start, first[types])
            first[types] = self._firsts[i] + start
        grid = hapax_grid(int(self.lengths[order].sum()))
        y = (_below(first, grid) - _below(second, grid)) / grid
        return grid[y > 0].astype(np.float64), y[y > 0]


def _seconds(piece: RunningText) -> NDArray[np.int64]:
    """Where the words that occur do so for the second time; far behind the end those that do not."""
    types = np.flatnonzero(piece.counts)
    places = np.delete(np.arange(len(piece)), piece.first_positions[types])
    rest = RunningText(piece.ids[places], piece.vocabulary)
    second: NDArray[np.int64] = np.append(places, NEVER)[rest.first_positions[types]]
    return second


def _below(places: NDArray[np.int64], grid: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many places lie before each point of the grid."""
    return np.cumsum(np.bincount(np.searchsorted(grid, places, side="right"), minlength=len(grid) + 1))[: len(grid)]


class ReorderedWindows:
    """Counts of characters in windows over pieces of text, in any order of the pieces.

    Short windows begin anew in each piece, and long ones end at the border of a cell. The exponent then differs from
    that of the joined text by a few hundredths of what it differs by between texts.

    Parameters
    ----------
    pieces
        Pieces of text with one vocabulary.

    >>> text = RunningText(np.random.default_rng(0).integers(0, 3, 40_000).astype(np.int32), ["a", "bb", "ccc"])
    >>> from momus_critics.laws import Ebeling
    >>> from momus_critics.laws.fitting import fit_line
    >>> slope = fit_line(*ReorderedWindows(text.cut(4)).curve([0, 1, 2, 3])).slope
    >>> bool(abs(slope - Ebeling().line(text).slope) < 0.01)
    True
    """

    def __init__(self, pieces: Sequence[RunningText]) -> None:
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

    def curve(self, order: list[int]) -> Curve:
        """m(l) against l, for some pieces in this order."""
        chosen = np.asarray(order, dtype=np.int64)
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


def _spelled(pieces: Sequence[RunningText]) -> tuple[list[NDArray[np.unsignedinteger]], int]:
    """Each piece as codes of one alphabet, a space behind each word but the last of all."""
    vocabulary = pieces[0].vocabulary
    whole, alphabet = RunningText(np.concatenate([p.ids for p in pieces]), vocabulary).characters()
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
