"""Numbers for figures and tables: percentages and series with as many digits as a reader can see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.evidence import Role, Series
from momus.numeric.types import Floats, Ints

DIGITS = 5
"""Significant digits of the points of a series."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of a table."""
POINTS = 201
"""Most points of a cumulative distribution."""


def percent(share: float) -> float:
    """A share in percent, rounded to hundredths.

    >>> percent(0.123456), percent(6e-8)
    (12.35, 0.0)
    """
    return round(100 * float(share), 2)


def rounded(values: Sequence[float] | NDArray[np.generic], digits: int = DIGITS) -> list[float]:
    """Numbers to some significant digits, which keeps the JSON of a figure short.

    >>> rounded([1234567.0, 0.000123456])
    [1234600.0, 0.00012346]
    """
    return [float(f"{v:.{digits}g}") for v in np.asarray(values, dtype=np.float64).tolist()]


def log_spaced(n: int, points: int) -> Ints:
    """About so many whole numbers from 1 to n, evenly spaced on a log axis.

    >>> log_spaced(5, 20).tolist()
    [1, 2, 3, 4, 5]
    """
    return np.unique(np.geomspace(1, max(n, 1), points).astype(np.int64))


@dataclass(frozen=True)
class Distribution:
    """Numbers that occur in a text in ascending order, and how often each does: float64 (V,)."""

    values: Floats
    counts: Floats

    @classmethod
    def of(cls, table: Mapping[str | float, float]) -> Distribution:
        """From counts by number."""
        return cls(*(np.array(sorted(table.items()), dtype=np.float64).T))

    @property
    def cumulated(self) -> Floats:
        """Share of the counts up to each value."""
        return np.asarray(np.cumsum(self.counts) / self.counts.sum())

    def steps(self, role: Role, factor: float = 1.0) -> Series:
        """The cumulative distribution at `POINTS` points at most, evenly spaced in the cumulative share.

        >>> Distribution.of({2.0: 1.0, 1.0: 3.0}).steps("real").y
        [0.75, 1.0]
        """
        cumulated = self.cumulated
        pick = np.unique(np.searchsorted(cumulated, np.linspace(0, 1, POINTS)).clip(0, len(cumulated) - 1))
        return Series(role, rounded(factor * self.values[pick]), rounded(cumulated[pick]), role, "steps")

    def quantiles(self) -> list[float]:
        """Values at `QUANTILES`."""
        cumulated = self.cumulated
        return [float(self.values[np.searchsorted(cumulated, q - 1e-12)]) for q in QUANTILES]
