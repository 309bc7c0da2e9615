"""Ragged arrays: items of many owners, concatenated, with the offset where each owner begins.

Owner ``i`` (a document, a sequence, a row of a sparse matrix) has the items ``offsets[i]:offsets[i + 1]``; ``offsets``
has one entry more than there are owners.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momus.numeric.types import Bools, Floats, Ints


def offsets_of(lengths: ArrayLike) -> Ints:
    """Offsets of owners that have these numbers of items: int64 (n + 1,), beginning with 0.

    >>> offsets_of([2, 0, 1])
    array([0, 2, 2, 3])
    """
    counts = np.asarray(lengths)
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def owners_of(offsets: NDArray[np.integer]) -> Ints:
    """The owner of each item: int64 (N,).

    >>> owners_of(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def places_of(offsets: NDArray[np.integer]) -> Ints:
    """The place of each item within its owner, from 0: int64 (N,).

    >>> places_of(np.array([0, 2, 2, 3]))
    array([0, 1, 0])
    """
    lengths = np.diff(offsets)
    # subtract from each item's position where its owner begins
    places: Ints = np.arange(lengths.sum()) - np.repeat(offsets[:-1] - offsets[0], lengths)
    return places


def ranges_of(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> Ints:
    """Concatenate the ranges ``starts[i]:starts[i] + lengths[i]``.

    >>> ranges_of(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    offsets = offsets_of(lengths)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def items_of(owners: Ints, offsets: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """The items of some owners, and where each of these owners begins among them.

    >>> items_of(np.array([2, 0]), np.array([0, 2, 2, 3]))
    (array([2, 0, 1]), array([0, 1, 3]))
    """
    lengths = np.diff(offsets)[owners]
    return ranges_of(offsets[owners], lengths), offsets_of(lengths)


def changes(values: NDArray[np.generic]) -> Bools:
    """Whether each value differs from the one before it; the first does.

    >>> changes(np.array([5, 5, 7])).tolist()
    [True, False, True]
    """
    new = np.ones(len(values), dtype=bool)
    new[1:] = values[1:] != values[:-1]
    return new


def kept_offsets(keep: Bools, offsets: NDArray[np.integer]) -> Ints:
    """Offsets after the items for which ``keep`` is false are dropped: int64 (n + 1,).

    >>> kept_offsets(np.array([True, False, True]), np.array([0, 2, 3]))
    array([0, 1, 2])
    """
    kept: Ints = offsets_of(keep)[offsets]
    return kept


def group_sums(values: NDArray[np.generic], offsets: NDArray[np.integer]) -> NDArray[np.generic]:
    """Sum the items of each owner: row i is the sum over ``offsets[i]:offsets[i + 1]`` (0 for an owner without items).

    >>> group_sums(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    array([3, 0, 3])
    """
    # sums of their own, not differences of one running total: an owner's rounding does not depend on its neighbours
    kind = np.cumsum(values[:0], axis=0).dtype  # of booleans, int64
    sums: NDArray[np.generic] = np.zeros((len(offsets) - 1, *values.shape[1:]), dtype=kind)
    filled = offsets[1:] > offsets[:-1]
    if filled.any():
        sums[filled] = np.add.reduceat(values[: offsets[-1]], offsets[:-1][filled], axis=0, dtype=kind)
    return sums


def float_sums(values: NDArray[np.generic], offsets: NDArray[np.integer]) -> Floats:
    """`group_sums` of numbers or masks as float64."""
    return np.asarray(group_sums(np.asarray(values, dtype=np.float64), offsets))


GRID = 2.0**20
"""Steps of the grid of `on_grid` per unit."""


def on_grid(values: Floats) -> Floats:
    """Round to about a millionth of a nat, which makes sums exact in any order and bins reproducible."""
    return np.asarray(np.round(values * GRID) / GRID)


def number_keys(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Number equal keys alike: (number of each key, where each type first occurs, where it occurs again).

    If 63 bits hold both key and position, they are packed into one integer and sorted as such, which is faster.

    >>> number_keys(np.array([7, 3, 7]))
    (array([1, 0, 1]), array([1, 0]), array([2]))
    """
    n = len(keys)
    bits = max(n - 1, 1).bit_length()
    if n and int(keys.max()).bit_length() + bits <= 63:
        packed = np.sort(keys << bits | np.arange(n))
        order, ordered = packed & ((1 << bits) - 1), packed >> bits
    else:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
    new = changes(ordered)  # the first of a run of equal keys
    again = np.zeros(n, dtype=bool)
    again[1:] = new[:-1] & ~new[1:]  # the second of such a run
    numbers = np.empty(n, dtype=np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new], order[again]


def distinct(*columns: Ints) -> tuple[Ints, Ints]:
    """Distinct rows of some columns of non-negative integers: (columns, N), ascending, and the number of each, (N,).

    Rows are packed into one integer each where 63 bits hold it, which is some ten times as fast as rows of bytes.

    >>> rows, counts = distinct(np.array([1, 0, 1]), np.array([7, 9, 7]))
    >>> rows.tolist(), counts.tolist()
    ([[0, 1], [9, 7]], [1, 2])
    """
    widths = [int(c.max(initial=0)) + 1 for c in columns]
    if math.prod(widths) >= 2**63:
        rows, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
        return rows, counts
    keys, counts = np.unique(np.ravel_multi_index(columns, widths), return_counts=True)
    return np.stack(np.unravel_index(keys, widths)), counts


class Ragged:
    """Something whose items belong to n owners, mostly documents, by its attribute ``offsets``, int64 (n + 1,)."""

    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        """int64 (n,): number of items of each owner."""
        return np.diff(self.offsets)

    @property
    def documents(self) -> Ints:
        """int64 (N,): the owner of each item."""
        return owners_of(self.offsets)
