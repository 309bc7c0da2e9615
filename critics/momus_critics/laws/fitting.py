"""Straight lines on log–log axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Floats, Ints


@dataclass(frozen=True)
class Line:
    """A line log10 y = intercept + slope · log10 x, fitted by least squares.

    Attributes
    ----------
    error
        ε = sqrt(mean((log10 y − log10 ŷ)²)) (Takahashi & Tanaka-Ishii 2019).
    points
        Number of points fitted.
    """

    slope: float
    intercept: float
    error: float
    points: int

    def __call__(self, x: Floats) -> Floats:
        """Compute ŷ at x."""
        return np.asarray(10 ** (self.intercept + self.slope * np.log10(x)))


def fit_line(x: NDArray[np.generic], y: NDArray[np.generic]) -> Line:
    """Fit a line to positive points.

    Raises
    ------
    ValueError
        There are fewer than three points, or all x are equal.

    >>> line = fit_line(np.array([1.0, 10.0, 100.0]), np.array([2.0, 20.0, 200.0]))
    >>> round(line.slope, 6), round(line.error, 6)
    (1.0, 0.0)
    """
    u, v = np.log10(np.asarray(x, dtype=np.float64)), np.log10(np.asarray(y, dtype=np.float64))
    if len(u) < 3 or np.ptp(u) == 0:
        raise ValueError("a line needs at least three points, not all with the same x")
    du = u - u.mean()
    slope = float(du @ (v - v.mean()) / (du @ du))
    intercept = float(v.mean() - slope * u.mean())
    residual = v - intercept - slope * u
    return Line(slope, intercept, float(np.sqrt(np.mean(residual**2))), len(u))


def geometric_grid(ratio: float, last: int, first: tuple[int, ...] = tuple(range(1, 10))) -> Ints:
    """The numbers ``first``, then n ← int(ratio · n), up to ``last``.

    >>> geometric_grid(1.2, 15).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]
    """
    grid = [n for n in first if n <= last]
    n = int(ratio * (first[-1]))
    while n <= last:
        grid.append(n)
        n = max(n + 1, int(ratio * n))
    return np.array(grid, dtype=np.int64)
