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
from momus.numeric.types import Floats, Ints

if TYPE_CHECKING:
    from momus.rows.store import StoredText

MERGED = 2_000_000
"""Entries of sparse sums that are collected before they are merged: 32 MB."""
KEPT_BYTES = 1 << 25
"""Memory of the tables of sums that a text keeps."""


class Sums:
    """Adds up counts whose columns have labels, in a sparse table.

    Parameters
    ----------
    size
        Number of units U.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: dict[str | float, int] = {}
        self._numbers = False
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
        taking_part = np.flatnonzero(units >= 0)
        table = rows.matrix if len(taking_part) == len(units) else rows.matrix[taking_part]
        entries = sparse.coo_array(indicator(units[taking_part], self._size, weights[taking_part]) @ table)
        # from columns of this part to those of all
        self._pending.append((entries.row.astype(np.int32), columns[entries.col].astype(np.int32), entries.data))
        self._held += len(entries.data)
        if self._held > MERGED and len(self._pending) > 1:
            self._merge()

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
        if not self._pending:
            return Counted(sparse.csr_array((self._size, len(labels))), labels)
        order = np.arange(len(labels))
        if self._numbers:  # in ascending order
            labels = np.array(labels)
            order = np.argsort(labels, kind="stable")
            labels = labels[order]
        self._merge()
        ((row, column, data),) = self._pending
        # place[j] is the place of column j among the labels
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order))
        matrix = sparse.coo_array((data, (row, place[column])), shape=(self._size, len(labels))).tocsr()
        matrix.sort_indices()
        return Counted(matrix, labels)


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
