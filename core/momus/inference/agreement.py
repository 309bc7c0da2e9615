"""Agreement of those who label the same things: Krippendorff's α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from momus.numeric.types import Floats, Ints

Level = Literal["nominal", "ordinal", "interval"]
RESAMPLES = 1000
CELLS = 1 << 22  # numbers in a batch of resamples


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's α with its 95 % percentile bootstrap interval over units; numbers of units with several values."""

    alpha: float
    low: float
    high: float
    level: Level
    units: int
    values: int


def agreement(unit: ArrayLike, value: ArrayLike, level: Level, seed: int = 0) -> Agreement | None:
    """Krippendorff's α of values (n,) of units (n,); None where no unit has two values, or all values are equal.

    Disagreement is the square of a distance in all three levels: of indicators of categories, of midranks, of the
    values. So α = 1 − (N − 1)/N · W/T, with T the sum of squares of all N values around their mean, and W the sum over
    units of m/(m − 1) times that of its m values around theirs.

    Values are numbers; categories are in order. Krippendorff, K. (2011), *Computing Krippendorff's Alpha-Reliability*.

    >>> agreement(np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 0, 1, 1, 0, 1, 0, 0]), "nominal").alpha
    0.5333333333333333
    """
    numbers, codes = np.unique(np.asarray(value, dtype=np.float64), return_inverse=True)
    units = np.unique(np.asarray(unit), return_inverse=True)[1]
    # how often each unit has each value, (U, K)
    counts = sparse.coo_array((np.ones(len(codes)), (units, codes))).tocsr()
    counts = counts[np.flatnonzero(counts.sum(axis=1) >= 2)]
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    n, rng, batch = counts.shape[0], np.random.default_rng(seed), max(1, CELLS // max(counts.shape))
    sizes = (min(batch, RESAMPLES - start) for start in range(0, RESAMPLES, batch))
    draws = (rng.multinomial(n, np.full(n, 1 / n), size) for size in sizes)
    alphas = np.concatenate([_alphas(times, counts, numbers, level) for times in draws])
    low, high = np.nanquantile(alphas, (0.025, 0.975)) if np.isfinite(alphas).any() else (np.nan, np.nan)
    (alpha,) = _alphas(np.ones((1, n), dtype=np.int64), counts, numbers, level)
    return Agreement(float(alpha), float(low), float(high), level, n, int(counts.sum()))


def _alphas(times: Ints, counts: sparse.csr_array, numbers: Floats, level: Level) -> Floats:
    """α of resamples, (R,), that hold each unit so many ``times``, (R, U); NaN where all values are equal."""
    m, totals = np.asarray(counts.sum(axis=1)), times @ counts  # (U,), (R, K)
    size = totals.sum(axis=1)
    if level == "nominal":
        within = (m**2 - np.asarray(counts.multiply(counts).sum(axis=1))) / (2 * (m - 1))
        whole = (size - (totals**2).sum(axis=1) / size) / 2
    else:
        # the place of each value on a line, (R or 1, K)
        x = (numbers - numbers.mean())[None] if level == "interval" else totals.cumsum(axis=1) - totals / 2
        within = (m * (x**2 @ counts.T) - (x @ counts.T) ** 2) / (m - 1)
        whole = (totals * x**2).sum(axis=1) - (totals * x).sum(axis=1) ** 2 / size
    equal = np.count_nonzero(totals, axis=1) < 2
    disagreement = (size - 1) / size * (times * within).sum(axis=1) / np.where(equal, np.nan, whole)
    return np.asarray(1 - disagreement)
