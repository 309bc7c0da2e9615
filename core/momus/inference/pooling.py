"""Pooling per-document rows under document weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.inference.weights import Weights
from momus.numeric.types import Floats

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
