"""Per-document sufficient statistics: dense columns, or sparse counts whose columns have labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.numeric.ragged import kept_offsets, offsets_of


@dataclass(frozen=True)
class Counted:
    """Counts of labelled things in each document.

    Attributes
    ----------
    matrix
        CSR array (n, V).
    labels
        V labels: words (a list), or numbers in ascending order (an array), so that the columns are ordered.

    >>> Counted.of_values(np.array([5, 3, 5])).labels
    array([3, 5])
    """

    matrix: sparse.csr_array
    labels: Sequence[str] | NDArray[np.generic]

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @classmethod
    def of_values(cls, values: NDArray[np.generic]) -> Counted:
        """One number a document, as one count of that number."""
        labels, columns = np.unique(values, return_inverse=True)
        n = len(values)
        return cls(sparse.csr_array((np.ones(n), columns, np.arange(n + 1)), shape=(n, len(labels))), labels)

    @classmethod
    def of_tokens(
        cls, codes: NDArray[np.integer], offsets: NDArray[np.int64], labels: Sequence[str] | NDArray[np.generic]
    ) -> Counted:
        """Count the codes between ``offsets[i]`` and ``offsets[i + 1]`` for each document i; codes < 0 are left out."""
        n, indices = len(offsets) - 1, np.asarray(codes)
        if len(indices) and indices.min() < 0:
            keep = indices >= 0
            offsets = kept_offsets(keep, offsets)
            indices = indices[keep]
        matrix = sparse.csr_array((np.ones(len(indices)), indices.copy(), offsets - offsets[0]), shape=(n, len(labels)))
        matrix.sum_duplicates()
        return cls(matrix, labels)


Rows = NDArray[np.floating] | Counted
"""Dense float array (n, d), or `Counted`."""


def take_rows(rows: Rows, index: NDArray[np.int64]) -> Rows:
    """The rows at these numbers."""
    if isinstance(rows, Counted):
        return Counted(rows.matrix[index], rows.labels)
    return rows[index]


def place(rows: Rows, kept: NDArray[np.int64], n: int) -> Rows:
    """Spread the rows of the kept documents over n documents; the others get zeros."""
    if isinstance(rows, Counted):
        lengths = np.zeros(n, dtype=np.int64)
        lengths[kept] = np.diff(rows.matrix.indptr)
        indptr = offsets_of(lengths)
        shape = (n, rows.matrix.shape[1])
        return Counted(sparse.csr_array((rows.matrix.data, rows.matrix.indices, indptr), shape=shape), rows.labels)
    out = np.zeros((n, rows.shape[1]))
    out[kept] = rows
    return out


def align(parts: Sequence[Counted]) -> list[sparse.csr_array]:
    """Give several tables of counts the same columns.

    Numbers are put in ascending order; words in the order of first appearance.

    >>> a, b = Counted.of_values(np.array([1, 4])), Counted.of_values(np.array([2]))
    >>> [m.toarray().tolist() for m in align([a, b])]
    [[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]]]
    """
    return [m.matrix for m in aligned(parts)]


def aligned(parts: Sequence[Counted]) -> list[Counted]:
    """Like `align`, with the common labels."""
    first = parts[0].labels
    if all(part.labels is first for part in parts):
        return list(parts)
    maps: list[NDArray[np.int64]]
    labels: Sequence[str] | NDArray[np.generic]
    if isinstance(first, np.ndarray):
        labels = np.unique(np.concatenate([np.asarray(p.labels) for p in parts]))
        maps = [np.searchsorted(labels, np.asarray(p.labels)) for p in parts]
    else:
        number: dict[str, int] = {}
        maps = [
            np.fromiter((number.setdefault(str(w), len(number)) for w in p.labels), np.int64, len(p.labels))
            for p in parts
        ]
        labels = list(number)
    return [_recolumn(p, m, labels) for p, m in zip(parts, maps, strict=True)]


def _recolumn(part: Counted, columns: NDArray[np.int64], labels: Sequence[str] | NDArray[np.generic]) -> Counted:
    m = part.matrix
    moved = sparse.csr_array((m.data, columns[m.indices], m.indptr), shape=(m.shape[0], len(labels)))
    moved.sort_indices()
    return Counted(moved, labels)


def stack(parts: Sequence[Rows]) -> Rows:
    """Put the rows of consecutive batches below each other."""
    counted = [p for p in parts if isinstance(p, Counted)]
    if counted:
        same = aligned(counted)
        return Counted(sparse.vstack([p.matrix for p in same], format="csr"), same[0].labels)
    return np.concatenate([np.asarray(p) for p in parts])


def pool(rows: Rows) -> NDArray[np.float64]:
    """Sum over documents: float array (V,)."""
    matrix = rows.matrix if isinstance(rows, Counted) else rows
    return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()
