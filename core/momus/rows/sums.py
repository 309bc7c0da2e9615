"""Counts of a text that was scored in parts: they stay in its files, and are summed by unit, part by part.

The memory of sums does not grow with the number of documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.critic import Counted
from momus.critic.rows import numbered
from momus.inference.samples import indicator
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats, Ints

if TYPE_CHECKING:
    from momus.rows.store import StoredText

FULL = 1 << 22
"""Cells of a dense table of sums (34 MB at most); larger tables are sparse."""
SPARSE = 16
"""Sums are sparse if the first documents have fewer than one in so many entries of their table."""
MERGED = 2_000_000
"""Entries of sparse sums that are collected before they are merged: 32 MB."""
KEPT_BYTES = 1 << 25
"""Memory of the tables of sums that a text keeps."""


class Sums:
    """Adds up counts whose columns have labels: a dense table while it is small, then a sparse one.

    Parameters
    ----------
    size
        Number of units U.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: dict[str | float, int] = {}
        self._numbers = False
        self._dense: Floats | None = np.zeros((size, 0))
        self._pending: list[tuple[NDArray[np.int32], NDArray[np.int32], Floats]] = []
        self._held = 0

    def add(self, rows: Counted, units: Ints, weights: Floats) -> None:
        """Add documents.

        Parameters
        ----------
        rows
            Counts of n documents.
        units, weights
            The unit, −1 for none, and the weight of each document, (n,).
        """
        self._numbers = isinstance(rows.labels, np.ndarray)
        names = rows.labels.tolist() if isinstance(rows.labels, np.ndarray) else rows.labels
        columns = numbered(names, self._columns)
        if self._fits(rows.matrix.nnz):
            self._add_dense(rows.matrix, columns, units, weights)
        else:
            self._add_sparse(rows.matrix, columns, units, weights)

    def _fits(self, entries: int) -> bool:
        """Whether the table is dense: then it has room for all columns."""
        dense, width = self._dense, len(self._columns)
        if dense is None:
            return False
        first = not dense.shape[1]
        # the choice by density is made once: a table that has begun dense only leaves for its size
        if self._size * width > FULL or (first and SPARSE * entries < self._size * width):
            self._keep(sparse.coo_array(dense))
            self._dense = None
            return False
        if width > dense.shape[1]:
            # a quarter more than needed: parts bring new words, and each growth copies the table
            room = min(width + width // 4, max(FULL // max(self._size, 1), width))
            self._dense = np.zeros((self._size, room))
            self._dense[:, : dense.shape[1]] = dense
        return True

    def _add_dense(self, matrix: sparse.csr_array, columns: Ints, units: Ints, weights: Floats) -> None:
        assert self._dense is not None
        # entries of documents that take part, each with its document; its cell is unit · width + column
        owners = owners_of(matrix.indptr)
        taking_part = slice(None) if (units >= 0).all() else units[owners] >= 0
        owners, indices, data = owners[taking_part], matrix.indices[taking_part], matrix.data[taking_part]
        cells = units[owners] * self._dense.shape[1] + columns[indices]
        # add.at, as several entries may fall into one cell; `reshape` of a contiguous array is a view
        np.add.at(self._dense.reshape(-1), cells, data if (weights == 1).all() else data * weights[owners])

    def _add_sparse(self, matrix: sparse.csr_array, columns: Ints, units: Ints, weights: Floats) -> None:
        taking_part = np.flatnonzero(units >= 0)
        table = matrix if len(taking_part) == matrix.shape[0] else matrix[taking_part]
        entries = sparse.coo_array(indicator(units[taking_part], self._size, weights[taking_part]) @ table)
        entries.coords = (entries.row, columns[entries.col])  # from columns of this part to those of all
        self._keep(entries)
        if self._held > MERGED and len(self._pending) > 1:
            self._merge()

    def _keep(self, entries: sparse.coo_array) -> None:
        self._pending.append((entries.row.astype(np.int32), entries.col.astype(np.int32), entries.data))
        self._held += len(entries.data)

    def _merge(self) -> None:
        rows, columns, values = (np.concatenate(arrays) for arrays in zip(*self._pending, strict=True))
        self._pending.clear()
        shape = (self._size, max(len(self._columns), 1))
        # to CSR and back: equal cells are added up
        merged = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr().tocoo()
        self._pending = [(merged.row, merged.col, merged.data)]
        self._held = 0  # since the last merge

    def result(self) -> Counted:
        """The sums (U, V); numbers as labels are in ascending order. The object is empty afterwards."""
        labels: Any = list(self._columns)
        order = np.arange(len(labels))
        if self._numbers:  # in ascending order
            labels = np.array(labels)
            order = np.argsort(labels, kind="stable")
            labels = labels[order]
        if self._dense is not None:
            return Counted(_compressed(self._dense, order), labels)
        self._merge()
        ((row, column, data),) = self._pending
        # place[j] is the place of column j among the labels
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order))
        matrix = sparse.coo_array((data, (row, place[column])), shape=(self._size, len(labels))).tocsr()
        matrix.sort_indices()
        return Counted(matrix, labels)


def _compressed(dense: Floats, order: Ints) -> sparse.csr_array:
    """Columns of a dense table in an order, as CSR: row by row, so that no list of all cells is made."""
    sizes = np.count_nonzero(dense[:, : len(order)], axis=1)  # columns beyond are room
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    indices, data = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1])
    for i, row in enumerate(dense):
        values = row[order]
        used = np.flatnonzero(values)
        indices[offsets[i] : offsets[i + 1]], data[offsets[i] : offsets[i + 1]] = used, values[used]
    return sparse.csr_array((data, indices, offsets), shape=(len(dense), len(order)))


def size_of(table: Counted) -> int:
    """Bytes of a table of sums."""
    matrix = table.matrix
    arrays: Sequence[NDArray[Any]] = (matrix.data, matrix.indices, matrix.indptr)
    return sum(int(a.nbytes) for a in arrays)


class StoredCounts(Counted):
    """Counts of labelled items that stay in the files of a text; ``matrix`` and ``labels`` read all of them.

    Parameters
    ----------
    text
        The text that was scored.
    critic, key
        Whose rows these are.
    rows
        int64 (n,): number of each document in the order of the files.
    """

    on_disk = True

    def __init__(self, text: StoredText, critic: str, key: str, rows: Ints) -> None:
        for name, value in (("text", text), ("critic", critic), ("key", key), ("rows", rows)):
            object.__setattr__(self, name, value)

    text: StoredText
    critic: str
    key: str
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: Ints) -> StoredCounts:
        """Select documents by number, without reading."""
        return StoredCounts(self.text, self.critic, self.key, self.rows[index])

    def summed(self, units: Ints, size: int, weights: Floats) -> Counted:
        """Weighted sums by unit, in memory that does not grow with the number of documents."""
        unit, weight = np.full(len(self.text), -1), np.zeros(len(self.text))
        # from the documents of this text to all of its files; −1 takes no part
        unit[self.rows], weight[self.rows] = units, weights
        return self.text.summed(self.critic, self.key, unit, size, weight)

    def total(self) -> dict[str | float, float]:
        """Totals over all documents by label."""
        n = len(self.rows)
        return self.summed(np.zeros(n, dtype=np.int64), 1, np.ones(n)).total()

    @cached_property
    def loaded(self) -> Counted:
        """All counts, in memory."""
        n = len(self.rows)
        return self.summed(np.arange(n), n, np.ones(n))

    @property
    def matrix(self) -> sparse.csr_array:
        """CSR array (n, V)."""
        return self.loaded.matrix

    @property
    def labels(self) -> Sequence[str] | NDArray[np.generic]:
        """V labels."""
        return self.loaded.labels
