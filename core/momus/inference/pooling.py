"""Pooling per-document rows under document weights."""

from __future__ import annotations

from dataclasses import dataclass
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
DENSE, DENSE_CELLS = 0.1, (1 << 20, 1 << 25)
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

    @classmethod
    def of(cls, real: Rows, generated: Rows) -> Tables:
        """Drop empty columns, make narrow and full tables dense, and use float32 if it holds all sums of counts."""
        if not sparse.issparse(real):
            return cls(np.asarray(real, dtype=np.float64), np.asarray(generated, dtype=np.float64))
        real, generated = sparse.csr_array(real), sparse.csr_array(generated)
        # counting is faster than sorting or hashing the many indices
        counts = sum(np.bincount(m.indices, minlength=m.shape[1]) for m in (real, generated))
        used = np.flatnonzero(counts)
        cells = (real.shape[0] + generated.shape[0]) * len(used)
        filled = DENSE_CELLS[0] <= cells <= DENSE_CELLS[1] and DENSE * cells <= real.nnz + generated.nnz
        if len(used) <= NARROW or filled:
            return cls(*(_columns(m, used, np.float64).toarray() for m in (real, generated)))
        dtype = np.float32 if _count_total(real) + _count_total(generated) < EXACT_IN_FLOAT32 else np.float64
        return cls(_columns(real, used, dtype), _columns(generated, used, dtype))

    @property
    def width(self) -> int:
        """V, the number of columns."""
        return int(self.real.shape[1])

    def both(self) -> Rows:
        """Concatenate the real and the generated rows: (n + m, V)."""
        if isinstance(self.real, np.ndarray):
            return np.concatenate([self.real, self.generated])
        return sparse.vstack([self.real, self.generated], format="csr")


def _count_total(matrix: sparse.csr_array) -> float:
    """Sum of a matrix of counts; infinite if an entry is negative or fractional."""
    data = matrix.data
    are_counts = len(data) == 0 or bool((data >= 0).all() and (data == np.round(data)).all())
    return float(data.sum()) if are_counts else float("inf")


def _columns(matrix: sparse.csr_array, used: NDArray[np.integer], dtype: type[np.floating]) -> sparse.csr_array:
    """Select the ``used`` columns, which include all that have entries."""
    new_column = np.zeros(matrix.shape[1], dtype=np.int32)
    new_column[used] = np.arange(len(used))
    shape = (matrix.shape[0], max(len(used), 1))
    return sparse.csr_array((matrix.data.astype(dtype), new_column[matrix.indices], matrix.indptr), shape=shape)


def pooled(rows: Rows, weights: Weights | Floats) -> Floats:
    """Weighted sums of rows (N, V) under weights (N, B): (B, V)."""
    if isinstance(rows, np.ndarray):
        return np.asarray(weights.T.astype(np.float64) @ rows)
    sums = rows.T @ weights.astype(rows.dtype, copy=False)  # (V, B)
    return np.ascontiguousarray(np.asarray(sums, dtype=np.float64).T)


def total(rows: Rows) -> Floats:
    """Sum of rows over documents: (1, V)."""
    return np.asarray(rows.sum(axis=0, dtype=np.float64)).reshape(1, -1)
