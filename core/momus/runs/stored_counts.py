"""Counts of labelled items of a text that was scored in parts: they stay in its files until they are summed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.critic import Counted
from momus.numeric.types import Floats, Ints

if TYPE_CHECKING:
    from momus.runs.row_store import StoredText


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
