"""Pooling rows under weights, and the tables of one comparison."""

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
NARROW = 64
"""Rows with more columns are wide: they get fewer resamples, and centred intervals."""


@dataclass(frozen=True)
class Tables:
    """The rows of both texts under one key, with columns empty on both sides dropped.

    Attributes
    ----------
    real, generated
        (n, V) and (m, V), dense or CSR.
    """

    real: Rows
    generated: Rows

    @classmethod
    def of(cls, real: Rows, generated: Rows) -> Tables:
        """Drop empty columns and choose a number type that holds all sums exactly, where counts allow it."""
        if not sparse.issparse(real):
            return cls(np.asarray(real, dtype=np.float64), np.asarray(generated, dtype=np.float64))
        real, generated = sparse.csr_array(real), sparse.csr_array(generated)
        used = np.union1d(np.unique(real.indices), np.unique(generated.indices))
        if len(used) <= NARROW:
            return cls(*(_columns(m, used, np.float64).toarray() for m in (real, generated)))
        kind = np.float32 if _whole(real) + _whole(generated) < EXACT_IN_FLOAT32 else np.float64
        return cls(_columns(real, used, kind), _columns(generated, used, kind))

    @property
    def width(self) -> int:
        """V, the number of columns."""
        return int(self.real.shape[1])

    def both(self) -> Rows:
        """Real rows above generated ones."""
        if isinstance(self.real, np.ndarray):
            return np.concatenate([self.real, self.generated])
        return sparse.vstack([self.real, self.generated], format="csr")


def _whole(counts: sparse.csr_array) -> float:
    """The sum of whole non-negative numbers; infinite where they are anything else."""
    whole = len(counts.data) == 0 or bool((counts.data >= 0).all() and (counts.data == np.round(counts.data)).all())
    return float(counts.data.sum()) if whole else float("inf")


def _columns(matrix: sparse.csr_array, used: NDArray[np.integer], kind: type[np.floating]) -> sparse.csr_array:
    number = np.zeros(matrix.shape[1], dtype=np.int32)
    number[used] = np.arange(len(used))
    shape = (matrix.shape[0], max(len(used), 1))
    return sparse.csr_array((matrix.data.astype(kind), number[matrix.indices], matrix.indptr), shape=shape)


def pooled(rows: Rows, weights: Weights) -> Floats:
    """Weighted sums of rows: (B, V) for weights (N, B)."""
    if isinstance(rows, np.ndarray):
        return np.asarray(weights.T.astype(np.float64) @ rows)
    total = rows.T @ weights.astype(rows.dtype, copy=False)
    return np.ascontiguousarray(np.asarray(total, dtype=np.float64).T)


def total(rows: Rows) -> Floats:
    """Plain sum over documents, (1, V)."""
    return np.asarray(rows.sum(axis=0, dtype=np.float64)).reshape(1, -1)
