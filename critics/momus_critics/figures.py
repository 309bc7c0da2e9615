"""Numbers for figures and tables: percentages and series with as many digits as a reader can see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIGITS = 5
"""Significant digits of the points of a series."""


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
