"""The rows of both texts under a design: pooled by label, weighted by stratum, summed by unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.inference.design import Design
from momus.inference.weights import Weights
from momus.numeric.types import Floats, Ints


class Samples:
    """Rows of two texts that labels can be put on.

    Parameters
    ----------
    tables
        Rows of the documents that take part in the design.
    design
        Which documents belong together.

    Attributes
    ----------
    rows
        (N, V): what a label is given to. Documents; weighted sums over clusters, or over each side of a unit that
        changes sides; the real ones first.
    """

    def __init__(self, tables: Tables, design: Design) -> None:
        self.tables, self.design = tables, design
        # units that are labelled as a whole can be summed beforehand, since their documents always share a label
        whole = design.flips or design.kind == "clusters"
        self.rows: Rows = self._by_unit() if whole else tables.both()
        self._exact = design.strata is None or whole  # weights of strata are fractions
        if not (self._exact or sparse.issparse(self.rows)):
            self.rows = self.rows.astype(np.float64)
        self.n_real = (design.units if whole else (design.n_real, design.n_generated))[0]

    @classmethod
    def of(cls, real: Rows, generated: Rows, design: Design) -> Samples:
        """From the rows of all documents of both texts, of which the design may leave some out.

        Raises
        ------
        ValueError
            A side has no document, or the design is of other numbers of documents.
        """
        if design.rows is not None:
            real, generated = taken(real, design.rows[0]), taken(generated, design.rows[1])
        sizes = real.shape[0], generated.shape[0]
        if not all(sizes):
            raise ValueError("each side needs at least one document")
        if (design.n_real, design.n_generated) != sizes:
            of = f"{design.n_real} and {design.n_generated} documents"
            raise ValueError(f"the design is of {of}, rows of {sizes[0]} and {sizes[1]}")
        return cls(Tables.of(real, generated), design)

    def _by_unit(self) -> Rows:
        numbers, weights = self.design.unit_numbers, self.design.weights
        sums = [
            sums_by(n, units, side, w)
            for n, units, side, w in zip(
                numbers, self.design.units, (self.tables.real, self.tables.generated), weights, strict=True
            )
        ]
        # sums over clusters of documents may be full, where the documents were not
        return Tables.of(*sums).both() if sparse.issparse(sums[0]) else np.concatenate(sums)

    @cached_property
    def observed_labels(self) -> Weights:
        """The labels as observed: (N, 1)."""
        # float32, as random labels: the observed sums then round as those under relabelling do
        return (np.arange(self.rows.shape[0]) < self.n_real).astype(np.float32)[:, None]

    @cached_property
    def strata(self) -> Ints | None:
        """The prompt or bin of each row, (N,), where a row's weight depends on its label; None otherwise."""
        d = self.design
        if d.strata is None or d.numbers is None or d.flips:
            return None
        return np.concatenate(d.numbers)

    @cached_property
    def weight_by_label(self) -> tuple[Floats, Floats]:
        """Mantel–Haenszel weights of each row if it is labelled real, and if generated: (N,) each."""
        assert self.strata is not None
        assert self.design.strata is not None
        r, g = (c.astype(np.float64) for c in self.design.strata)  # (strata,) each
        shared = 2 * r * g / (r + g)  # no stratum is empty on a side: `Design._matched` leaves those out
        return (shared / r)[self.strata], (shared / g)[self.strata]

    def sides(self, labels: Weights | Floats) -> tuple[Floats | Weights, Floats | Weights | None]:
        """Weights of the rows as real and as generated, (N, B) each; None where those are 1 − the former."""
        if self.strata is None:
            return labels, None
        if self.design.groups is None:
            real, generated = self.weight_by_label
            return labels * real[:, None], (1 - labels) * generated[:, None]
        # whole groups are labelled: how many documents of a bin are real changes with the labels, (bins, B)
        members = indicator(self.strata)  # (bins, N)
        r = np.asarray(members @ labels, dtype=np.float64)
        g = np.asarray(members.sum(axis=1)).reshape(-1, 1) - r  # (bins, B)
        shared = 2 * r * g / np.maximum(r + g, 1)
        return (
            labels * (shared / np.maximum(r, 1))[self.strata],
            (1 - labels) * (shared / np.maximum(g, 1))[self.strata],
        )

    @cached_property
    def whole(self) -> Floats:
        """Sum of all rows, (1, V)."""
        return total(self.rows)

    @cached_property
    def _columns(self) -> sparse.csr_array:
        """The transposed sparse rows, (V, N)."""
        columns = sparse.csr_array(self.rows.T)
        return columns if self._exact else columns.astype(np.float64)

    def _sums(self, weights: Weights | Floats) -> Floats:
        return of_columns(self._columns, weights) if sparse.issparse(self.rows) else pooled(self.rows, weights)

    def pooled(self, labels: Weights) -> tuple[Floats, Floats]:
        """Sums of the rows labelled real, and of the others: (B, V) each."""
        as_real, as_generated = self.sides(labels)
        real = self._sums(as_real)
        if as_generated is not None:
            return real, self._sums(as_generated)
        # one product instead of two: without strata, every row is on one side or the other
        generated = self.whole - real
        if sparse.issparse(self.rows) and self.rows.dtype != np.float32:  # rounding must not make a count negative
            np.maximum(generated, 0.0, out=generated)
        return real, generated

    @cached_property
    def observed(self) -> tuple[Floats, Floats]:
        """Weighted sums of the rows of each text: (1, V) each.

        Each is the sum of the rows of that text: where these are 0, the whole less the other text leaves a rounding.
        """
        as_real, as_generated = self.sides(self.observed_labels)
        return self._sums(as_real), self._sums(1 - self.observed_labels if as_generated is None else as_generated)

    @cached_property
    def unit_rows(self) -> tuple[Rows, Rows]:
        """Weighted sums of rows by independent unit of each text: (units, V) each."""
        d = self.design
        if d.kind == "documents":
            return self.tables.real, self.tables.generated
        one, other = (
            sums_by(n, units, side, w)
            for n, units, side, w in zip(
                d.unit_numbers, d.units, (self.tables.real, self.tables.generated), d.weights, strict=True
            )
        )
        return one, other


def taken(rows: Rows, numbers: Ints) -> Rows:
    """Rows by number; the same table where these are all of its rows, in order."""
    return rows if np.array_equal(numbers, np.arange(rows.shape[0])) else rows[numbers]


def indicator(numbers: Ints, size: int | None = None, values: Floats | None = None) -> sparse.csr_array:
    """Sparse matrix (size, N) with ``values`` (default 1) in row ``numbers[i]`` of column i: sums by number.

    >>> (indicator(np.array([0, 1, 0])) @ np.array([1.0, 2.0, 3.0])).tolist()
    [4.0, 2.0]
    """
    n = len(numbers)
    size = int(numbers.max(initial=-1)) + 1 if size is None else size
    data = np.ones(n) if values is None else values
    return sparse.csr_array((data, (numbers, np.arange(n))), shape=(size, n))


def sums_by(numbers: Ints, size: int, rows: Rows, weights: Floats) -> Rows:
    """Weighted sums of rows by number: (size, V), sparse if the rows are."""
    matrix = indicator(numbers, size, weights)  # (size, N)
    sums = matrix @ (rows.astype(np.float64) if sparse.issparse(rows) else rows)
    return sparse.csr_array(sums) if sparse.issparse(rows) else np.asarray(sums)


Rows: TypeAlias = Any
"""Per-document rows: a dense float array (n, V), or a SciPy CSR array of counts."""
EXACT_IN_FLOAT32 = 2**24
"""float32 sums of whole numbers below this bound are exact."""
NARROW = 64
"""Rows with more columns are wide: they get fewer resamples, and centred intervals."""
DENSE, DENSE_CELLS = 0.03, (1 << 20, 1 << 25)
"""Wide rows are multiplied faster as a dense array from this share of entries on, with so many cells (256 MB)."""


@dataclass(frozen=True)
class Tables:
    """Rows of both texts under one key, without the columns that are empty in both.

    Attributes
    ----------
    real, generated
        Rows (n, V) and (m, V), dense or CSR.
    """

    real: Rows
    generated: Rows
    _both: Rows | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, real: Rows, generated: Rows) -> Tables:
        """Drop empty columns; narrow and full tables are dense up to a size, and float32 if that holds all sums.

        Of a dense table, a sum of rows is at most that of its column; of a sparse one, sums over columns count too.
        """
        if not sparse.issparse(real):
            return cls(np.asarray(real, dtype=np.float64), np.asarray(generated, dtype=np.float64))
        real, generated = sparse.csr_array(real), sparse.csr_array(generated)
        # counting is faster than sorting or hashing the many indices
        counts = sum(np.bincount(m.indices, minlength=m.shape[1]) for m in (real, generated))
        used = np.flatnonzero(counts)
        n, narrow = real.shape[0] + generated.shape[0], len(used) <= NARROW
        if narrow and n * len(used) < DENSE_CELLS[0]:
            return cls(*(_columns(m, used, np.float64).toarray() for m in (real, generated)))
        if (narrow and n * len(used) <= DENSE_CELLS[1]) or is_full(n, len(used), real.nnz + generated.nnz):
            return cls._full(real, generated, used)
        dtype = np.float32 if _count_total(real) + _count_total(generated) < EXACT_IN_FLOAT32 else np.float64
        both = sparse.vstack([_columns(real, used, dtype), _columns(generated, used, dtype)], format="csr")
        first, second = rows_between(both, [0, real.shape[0], both.shape[0]])
        return cls(first, second, both)

    @classmethod
    def _full(cls, real: sparse.csr_array, generated: sparse.csr_array, used: NDArray[np.integer]) -> Tables:
        """Dense tables of both texts that share their memory with the rows of `both`."""
        n = real.shape[0]
        dtype = np.float32 if _largest_column(real, generated) < EXACT_IN_FLOAT32 else np.float64
        both = np.empty((n + generated.shape[0], len(used)), dtype=dtype)
        for rows, side in ((real, both[:n]), (generated, both[n:])):
            _columns(rows, used, dtype).toarray(out=side)
        return cls(both[:n], both[n:], both)

    @property
    def width(self) -> int:
        """V, the number of columns."""
        return int(self.real.shape[1])

    def both(self) -> Rows:
        """Concatenate the real and the generated rows: (n + m, V)."""
        if self._both is not None:
            return self._both
        if isinstance(self.real, np.ndarray):
            return np.concatenate([self.real, self.generated])
        return sparse.vstack([self.real, self.generated], format="csr")


def rows_between(rows: sparse.csr_array, edges: Sequence[int]) -> list[sparse.csr_array]:
    """Consecutive rows of a CSR array, from each edge to the next, which share its memory."""
    tables = []
    for start, stop in pairwise(edges):
        first, last = rows.indptr[start], rows.indptr[stop]
        arrays = rows.data[first:last], rows.indices[first:last], rows.indptr[start : stop + 1] - first
        tables.append(sparse.csr_array(arrays, shape=(stop - start, rows.shape[1])))
    return tables


def is_full(n: int, width: int, entries: int) -> bool:
    """Whether sparse rows (n, width) with so many entries are multiplied faster as a dense array."""
    return DENSE_CELLS[0] <= n * width <= DENSE_CELLS[1] and DENSE * n * width <= entries


def _are_counts(data: Floats) -> bool:
    return len(data) == 0 or bool((data >= 0).all() and (data == np.round(data)).all())


def _count_total(matrix: sparse.csr_array) -> float:
    """Sum of a matrix of counts; infinite if an entry is negative or fractional."""
    return float(matrix.data.sum()) if _are_counts(matrix.data) else float("inf")


def _largest_column(real: sparse.csr_array, generated: sparse.csr_array) -> float:
    """Largest sum of a column of two tables of counts; infinite if an entry is negative or fractional."""
    if not (_are_counts(real.data) and _are_counts(generated.data)):
        return float("inf")
    one, other = (np.bincount(m.indices, m.data, m.shape[1]) for m in (real, generated))
    return float((one + other).max(initial=0))


def _columns(matrix: sparse.csr_array, used: NDArray[np.integer], dtype: type[np.floating]) -> sparse.csr_array:
    """Select the ``used`` columns, which include all that have entries."""
    data, indices = matrix.data.astype(dtype, copy=False), matrix.indices
    if len(used) < matrix.shape[1]:
        new_column = np.zeros(matrix.shape[1], dtype=np.int32)  # old number to new
        new_column[used] = np.arange(len(used))
        indices = new_column[indices]
    return sparse.csr_array((data, indices, matrix.indptr), shape=(matrix.shape[0], max(len(used), 1)))


def pooled(rows: Rows, weights: Weights | Floats) -> Floats:
    """Weighted sums of rows (N, V) under weights (N, B): (B, V).

    Dense rows in float32 are counts, whose sums are exact there (`Tables.of`); weights in float64 keep their precision.
    """
    if isinstance(rows, np.ndarray):
        # float32 only where both are: counts under whole weights, whose sums are exact there and take half the time
        dtype = np.float32 if rows.dtype == weights.dtype == np.float32 else np.float64
        return np.asarray(weights.T.astype(dtype, copy=False) @ rows, dtype=np.float64)
    return of_columns(rows.T, weights)


def of_columns(columns: Rows, weights: Weights | Floats) -> Floats:
    """`pooled` of sparse rows that are transposed, (V, N): in CSR, made once for many weights, it is faster."""
    sums = columns @ weights.astype(columns.dtype, copy=False)  # (V, B)
    return np.asarray(sums.T, dtype=np.float64, order="C")


def total(rows: Rows) -> Floats:
    """Sum of rows over documents: (1, V)."""
    return np.asarray(rows.sum(axis=0, dtype=np.float64)).reshape(1, -1)
