"""Summaries: mergeable sufficient statistics of a whole text, from which evidence is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self, runtime_checkable

from momus.critic.rows import Counted, Rows, pool
from momus.numeric.types import Floats


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
