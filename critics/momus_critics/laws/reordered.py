"""Curves of pieces of text in any order, without joining them; standard errors need hundreds of orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import offsets_of
from momus.numeric.types import Ints
from momus.text.running import RunningText
from momus_critics.laws.curves import Curve, window_lengths, window_sums

SHORT = 40
"""Longest windows, in cells, that are counted piece by piece."""
NEVER = 1 << 60
"""The position of a word that does not occur."""
CELL, CELLS = 25, 1 << 17
"""Fewest characters per cell, and approximately the largest number of cells."""


class ReorderedWords:
    """A curve of where words first occur and recur, over pieces of text in any order: exactly that of the joined text.

    Parameters
    ----------
    curve_of
        The curve, from the first and the second positions of words and the number of tokens.

    >>> from momus_critics.laws.curves import growth, hapaxes, heaps, productivity
    >>> ids = np.random.default_rng(0).zipf(1.5, 900).clip(0, 99).astype(np.int32)
    >>> text = RunningText(ids, [*map(str, range(100))])
    >>> grown = ReorderedWords(text.cut(4), lambda first, second, tokens: growth(first, tokens, 0.7))
    >>> once = ReorderedWords(text.cut(4), hapaxes)
    >>> order = [0, 1, 2, 3]
    >>> np.array_equal(grown.curve(order), heaps(text)), np.array_equal(once.curve(order), productivity(text)[0])
    (True, True)
    """

    def __init__(self, pieces: Sequence[RunningText], curve_of: Callable[[Ints, Ints, int], Curve]) -> None:
        types = [np.flatnonzero(p.counts) for p in pieces]
        used = np.unique(np.concatenate(types))  # words of any piece, ascending
        # of each piece: its types, renumbered over the words of any piece, and their first and second positions
        self._pieces = [
            (np.searchsorted(used, present), p.first_positions[present], _seconds(p, present))
            for p, present in zip(pieces, types, strict=True)
        ]
        self._lengths, self._words, self._curve_of = [len(p) for p in pieces], len(used), curve_of

    def curve(self, order: list[int]) -> Curve:
        """The curve of some pieces in this order."""
        tokens = start = sum(self._lengths[i] for i in order)
        first, second = np.full(self._words, NEVER), np.full(self._words, NEVER)
        # from the last piece to the first: earlier ones overwrite later ones
        for i in reversed(order):
            start -= self._lengths[i]
            types, firsts, seconds = self._pieces[i]
            # the second occurrence is in this piece, or is the first one in the pieces behind it
            second[types] = np.minimum(seconds + start, first[types])
            first[types] = firsts + start
        return self._curve_of(first, second, tokens)


def _seconds(piece: RunningText, types: Ints) -> Ints:
    """The position of the second occurrence of words of a piece, `NEVER` if there is none: int64 (types,)."""
    # without the first occurrences, first positions are second ones
    positions = np.delete(np.arange(len(piece)), piece.first_positions[types])
    rest = RunningText(piece.ids[positions], piece.vocabulary)
    second: Ints = np.append(positions, NEVER)[rest.first_positions[types]]
    return second


class ReorderedWindows:
    """Variance of character counts in windows over pieces of text, in any order of the pieces.

    Short windows start afresh in each piece, and long ones end at the border of a cell. The exponent differs from that
    of the joined text by a few hundredths of its differences between texts.

    Parameters
    ----------
    pieces
        Pieces of text with one vocabulary.

    >>> text = RunningText(np.random.default_rng(0).integers(0, 3, 40_000).astype(np.int32), ["a", "bb", "ccc"])
    >>> from momus_critics.laws import Ebeling
    >>> from momus_critics.laws.curves import fit_line
    >>> slope = fit_line(*ReorderedWindows(text.cut(4)).curve([0, 1, 2, 3])).slope
    >>> bool(abs(slope - Ebeling().line(text).slope) < 0.01)
    True
    """

    def __init__(self, pieces: Sequence[RunningText]) -> None:
        texts, alphabet = _spelled(pieces)
        self.lengths = np.array([len(t) for t in texts])
        self.cell = max(CELL, int(self.lengths.sum()) // CELLS)
        cumulated = [_cumulated(t, alphabet, self.cell) for t in texts]
        self._starts = offsets_of([len(c) for c in cumulated])[:-1]  # the first row of each piece in _cumulated
        self._cumulated = np.concatenate(cumulated)
        self._totals = np.array([np.bincount(t, minlength=alphabet) for t in texts])
        self._short = {}  # by window length: windows (pieces,), counts (pieces, alphabet), squares (pieces,)
        for length in window_lengths(int(self.lengths.sum()), SHORT * self.cell).tolist():
            windows, counts, squares = zip(*(window_sums(t, alphabet, length) for t in texts), strict=True)
            self._short[length] = np.array(windows), np.array(counts), np.array(squares)

    def curve(self, order: list[int]) -> Curve:
        """m(l) against l, for some pieces in this order."""
        chosen = np.asarray(order, dtype=np.int64)
        offsets = offsets_of(self.lengths[chosen])
        # counts of characters before each chosen piece, shape (chosen, alphabet)
        before = np.cumsum(self._totals[chosen], axis=0) - self._totals[chosen]
        lengths = window_lengths(int(offsets[-1]))
        variances = [
            self._piecewise(n, chosen) if n in self._short else self._long(n, chosen, offsets, before) for n in lengths
        ]
        return lengths.astype(np.float64), np.array(variances)

    def _piecewise(self, length: int, chosen: Ints) -> float:
        """m(l) of windows that do not cross pieces."""
        windows, counts, squares = (sums[chosen].sum(axis=0) for sums in self._short[length])
        return float(squares / windows - ((counts / windows) ** 2).sum())

    def _long(self, length: int, chosen: Ints, offsets: Ints, before: Ints) -> float:
        """m(l) of windows over all pieces, their borders moved back to those of cells."""
        # for each border of a window, shape (windows + 1,): its piece, its position in the piece, the row of its cell
        borders = np.arange(offsets[-1] // length + 1) * length
        piece = np.searchsorted(offsets[1:], borders, side="left")
        inside = borders - offsets[:-1][piece]
        rows = self._starts[chosen][piece] + inside // self.cell
        counts = np.diff(before[piece] + self._cumulated[rows], axis=0).astype(np.float64)
        return float((counts**2).sum() / len(counts) - (counts.mean(axis=0) ** 2).sum())


ReorderedCurve = ReorderedWords | ReorderedWindows
"""A curve of pieces of text in any order."""


def _spelled(pieces: Sequence[RunningText]) -> tuple[list[NDArray[np.unsignedinteger]], int]:
    """Each piece as codes of one alphabet, with a space behind each word except the last of the text."""
    vocabulary = pieces[0].vocabulary
    whole, alphabet = RunningText(np.concatenate([p.ids for p in pieces]), vocabulary).characters()
    lengths = np.fromiter(map(len, vocabulary), np.int64, len(vocabulary)) + 1
    offsets = offsets_of([int(lengths[p.ids].sum()) for p in pieces])
    offsets[-1] = len(whole)
    return [whole[a:b] for a, b in pairwise(offsets.tolist())], alphabet


def _cumulated(text: NDArray[np.unsignedinteger], alphabet: int, cell: int) -> NDArray[np.int32]:
    """Counts of characters before each border of a cell: int32 (cells + 1, alphabet)."""
    cells = len(text) // cell
    # shifting the codes of the i-th cell by i · alphabet lets one bincount count all cells
    codes = text[: cells * cell].reshape(cells, cell) + (np.arange(cells, dtype=np.int64)[:, None] * alphabet)
    counts = np.bincount(codes.ravel(), minlength=cells * alphabet).reshape(cells, alphabet)
    return np.concatenate([np.zeros((1, alphabet), np.int32), np.cumsum(counts, axis=0, dtype=np.int32)])
