"""Summaries: mergeable sufficient statistics, from which all evidence is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from momus.critic.rows import Counted, Rows, pool


@runtime_checkable
class Summary(Protocol):
    """Anything that adds: ``a + b`` is the summary of both texts."""

    def __add__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True)
class Pooled:
    """Totals by name: arrays of a fixed shape, and counts by label.

    >>> a = Pooled(1, {"x": np.array([1.0, 2.0])}, {"words": {"a": 1.0}})
    >>> (a + a).counts
    {'words': {'a': 2.0}}
    """

    documents: int = 0
    arrays: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str | float, float]] = field(default_factory=dict)

    def __add__(self, other: Pooled) -> Pooled:
        arrays = dict(self.arrays)
        for key, array in other.arrays.items():
            arrays[key] = arrays[key] + array if key in arrays else array
        counts = {key: dict(table) for key, table in self.counts.items()}
        for key, table in other.counts.items():
            mine = counts.setdefault(key, {})
            for label, count in table.items():
                mine[label] = mine.get(label, 0.0) + count
        return Pooled(self.documents + other.documents, arrays, counts)

    @classmethod
    def of_rows(cls, rows: Mapping[str, Rows], documents: int) -> Pooled:
        """Pool per-document rows."""
        arrays: dict[str, NDArray[np.float64]] = {}
        counts: dict[str, dict[str | float, float]] = {}
        for key, table in rows.items():
            total = pool(table)
            if isinstance(table, Counted):
                labels = table.labels.tolist() if isinstance(table.labels, np.ndarray) else table.labels
                counts[key] = {labels[i]: total[i] for i in np.flatnonzero(total).tolist()}
            else:
                arrays[key] = total
        return cls(documents, arrays, counts)
