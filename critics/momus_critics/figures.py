"""Numbers for figures and tables: percentages and series with as many digits as a reader can see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Floats, Ints

DIGITS = 5
"""Significant digits of the points of a series."""
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


def evenly_cumulated(cumulated: Floats) -> Ints:
    """Indices of at most `POINTS` points of a cumulative distribution, evenly spaced in the cumulative share.

    >>> evenly_cumulated(np.array([0.25, 0.5, 1.0])).tolist()
    [0, 1, 2]
    """
    return np.unique(np.searchsorted(cumulated, np.linspace(0, 1, POINTS)).clip(0, len(cumulated) - 1))
