"""Per-document sufficient statistics, dense or sparse counts with labelled columns, and summaries: their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.numeric.ragged import kept_offsets, offsets_of
from momus.numeric.types import Floats, Ints


@dataclass(frozen=True)
class Counted:
    """Counts of labelled items per document.

    Attributes
    ----------
    matrix
        CSR array (n, V).
    labels
        V labels, one per column: words (a list), or numbers in ascending order (an array).

    >>> Counted.of_values(np.array([5, 3, 5])).labels
    array([3, 5])
    """

    matrix: sparse.csr_array
    labels: Sequence[str] | NDArray[np.generic]

    on_disk: ClassVar[bool] = False
    """Whether the counts stay on disk: `summed` and `total` read them in parts, ``matrix`` reads them whole."""

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, index: Ints) -> Counted:
        """Select documents by number."""
        return Counted(self.matrix[index], self.labels)

    def summed(self, units: Ints, size: int, weights: Floats) -> Counted:
        """Weighted sums by unit: counts (size, V).

        Parameters
        ----------
        units, weights
            The unit, −1 for none, and the weight of each document, (n,).

        >>> Counted.of_values(np.array([5, 3, 5])).summed(np.array([0, 0, 1]), 2, np.ones(3)).matrix.toarray()
        array([[1., 1.],
               [0., 1.]])
        """
        held = np.flatnonzero(units >= 0)
        by_unit = sparse.csr_array((weights[held], (units[held], held)), shape=(size, len(self)))
        return Counted(sparse.csr_array(by_unit @ self.matrix), self.labels)

    def total(self) -> dict[str | float, float]:
        """Totals over all documents by label; zeros are left out."""
        totals = pool(self)
        labels = self.labels.tolist() if isinstance(self.labels, np.ndarray) else self.labels
        return {labels[i]: float(totals[i]) for i in np.flatnonzero(totals).tolist()}

    @classmethod
    def of_values(cls, values: NDArray[np.generic]) -> Counted:
        """One number per document, stored as a count of 1 in the column of that number."""
        labels, columns = np.unique(values, return_inverse=True)
        n = len(values)
        return cls(sparse.csr_array((np.ones(n), columns, np.arange(n + 1)), shape=(n, len(labels))), labels)

    @classmethod
    def of_tokens(
        cls, codes: NDArray[np.integer], offsets: Ints, labels: Sequence[str] | NDArray[np.generic]
    ) -> Counted:
        """Count the codes of each document, ``codes[offsets[i]:offsets[i + 1]]``; negative codes are skipped."""
        n, indices = len(offsets) - 1, np.asarray(codes)
        if len(indices) and indices.min() < 0:
            keep = indices >= 0
            offsets = kept_offsets(keep, offsets)
            indices = indices[keep]
        # each token is an entry 1 in the row of its document; equal codes of a document are then added up
        matrix = sparse.csr_array((np.ones(len(indices)), indices.copy(), offsets - offsets[0]), shape=(n, len(labels)))
        matrix.sum_duplicates()
        return cls(matrix, labels)


Rows = NDArray[np.floating] | Counted
"""Dense float array (n, d), or `Counted`."""


def take_rows(rows: Rows, index: Ints) -> Rows:
    """Select rows by number."""
    return rows.take(index) if isinstance(rows, Counted) else rows[index]


def place(rows: Rows, kept: Ints, n: int) -> Rows:
    """Place the rows of the ``kept`` documents among n documents; the others get rows of zeros."""
    if isinstance(rows, Counted):
        # entries stay where they are; only the row boundaries move, documents without a row being empty
        lengths = np.zeros(n, dtype=np.int64)
        lengths[kept] = np.diff(rows.matrix.indptr)
        indptr = offsets_of(lengths)
        shape = (n, rows.matrix.shape[1])
        return Counted(sparse.csr_array((rows.matrix.data, rows.matrix.indices, indptr), shape=shape), rows.labels)
    out = np.zeros((n, rows.shape[1]))
    out[kept] = rows
    return out


def aligned(parts: Sequence[Counted]) -> list[Counted]:
    """Give several tables of counts the same columns.

    Numbers are sorted in ascending order, words in order of first appearance.

    >>> a, b = Counted.of_values(np.array([1, 4])), Counted.of_values(np.array([2]))
    >>> [table.matrix.toarray().tolist() for table in aligned([a, b])]
    [[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0]]]
    """
    first = parts[0].labels
    if all(table.labels is first for table in parts):
        return list(parts)
    # maps[t][j]: the common column of column j of table t
    maps: list[Ints]
    labels: Sequence[str] | NDArray[np.generic]
    if isinstance(first, np.ndarray):
        labels = np.unique(np.concatenate([np.asarray(p.labels) for p in parts]))
        maps = [np.searchsorted(labels, np.asarray(p.labels)) for p in parts]
    else:
        column_of: dict[str, int] = {}
        maps = [numbered(list(map(str, p.labels)), column_of) for p in parts]
        labels = list(column_of)
    return [_recolumn(p, m, labels) for p, m in zip(parts, maps, strict=True)]


def numbered(names: Sequence[Any], number: dict[Any, int]) -> Ints:
    """The number of each name, int64 (n,); new names get the next numbers.

    >>> number = {"a": 0}
    >>> numbered(["b", "a", "b"], number).tolist(), number
    ([1, 0, 1], {'a': 0, 'b': 1})
    """
    numbers = np.fromiter(map(number.get, names, repeat(-1)), np.int64, len(names))
    for i in np.flatnonzero(numbers < 0).tolist():
        numbers[i] = number.setdefault(names[i], len(number))
    return numbers


def _recolumn(table: Counted, columns: Ints, labels: Sequence[str] | NDArray[np.generic]) -> Counted:
    """Renumber the columns of a table: column j becomes ``columns[j]``."""
    m = table.matrix
    if m.has_sorted_indices and (np.diff(columns) > 0).all() and columns[-1:].tolist() == [len(columns) - 1]:
        return Counted(sparse.csr_array((m.data, m.indices, m.indptr), shape=(m.shape[0], len(labels))), labels)
    # sorting moves entries in place, so the data must not be those of the given table
    indices = columns.astype(m.indices.dtype)[m.indices]
    moved = sparse.csr_array((m.data.copy(), indices, m.indptr), shape=(m.shape[0], len(labels)))
    moved.sort_indices()
    return Counted(moved, labels)


def same_entries(one: object, other: object) -> bool:
    """Whether both are CSR arrays with the same entries in the same order."""
    if not (isinstance(one, sparse.csr_array) and isinstance(other, sparse.csr_array)):
        return False
    if one.shape != other.shape or one.nnz != other.nnz:
        return False
    arrays = ((one.indptr, other.indptr), (one.indices, other.indices), (one.data, other.data))
    return all(np.array_equal(a, b) for a, b in arrays)


def stack(parts: Sequence[Rows]) -> Rows:
    """Concatenate the rows of consecutive batches, aligning the columns of counts."""
    counted = [p for p in parts if isinstance(p, Counted)]
    if counted:
        same = aligned(counted)
        return Counted(sparse.vstack([p.matrix for p in same], format="csr"), same[0].labels)
    return np.concatenate([np.asarray(p) for p in parts])


def pool(rows: Rows) -> Floats:
    """Sum over documents: float array (V,)."""
    matrix = rows.matrix if isinstance(rows, Counted) else rows
    return np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()


@runtime_checkable
class Summary(Protocol):
    """Anything that can be added: ``a + b`` is the summary of both texts."""

    def __add__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True)
class Pooled:
    """Totals over documents.

    Attributes
    ----------
    documents
        Number of documents summed.
    arrays
        By name, sums of dense rows.
    counts
        By name, sums of `Counted` rows as a mapping from label to count; zeros are left out.

    >>> a = Pooled(1, {"x": np.array([1.0, 2.0])}, {"words": {"a": 1.0}})
    >>> (a + a).counts
    {'words': {'a': 2.0}}
    """

    documents: int = 0
    arrays: Mapping[str, Floats] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str | float, float]] = field(default_factory=dict)

    def __add__(self, other: Pooled) -> Pooled:
        arrays = dict(self.arrays)
        for key, array in other.arrays.items():
            arrays[key] = arrays[key] + array if key in arrays else array
        counts = {key: dict(table) for key, table in self.counts.items()}
        for key, table in other.counts.items():
            totals = counts.setdefault(key, {})
            for label, count in table.items():
                totals[label] = totals.get(label, 0.0) + count
        return Pooled(self.documents + other.documents, arrays, counts)

    @classmethod
    def of_rows(cls, rows: Mapping[str, Rows], documents: int) -> Pooled:
        """Sum per-document rows over all documents."""
        arrays: dict[str, Floats] = {}
        counts: dict[str, dict[str | float, float]] = {}
        for key, table in rows.items():
            if isinstance(table, Counted):
                counts[key] = table.total()
            else:
                arrays[key] = pool(table)
        return cls(documents, arrays, counts)
