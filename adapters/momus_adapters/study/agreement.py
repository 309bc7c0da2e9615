"""Agreement of raters: Krippendorff's α with a bootstrap interval over items, and of each rater with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from momus.numeric.types import Floats, Ints

Level = Literal["nominal", "ordinal", "interval"]
RESAMPLES = 1000


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's α.

    Attributes
    ----------
    level
        Level of measurement.
    units, values
        Units with two values or more, and their values.
    low, high
        95 % percentile bootstrap interval over units.
    """

    alpha: float
    low: float
    high: float
    level: Level
    units: int
    values: int


def agreement(unit: Ints, value: Ints, level: Level, seed: int = 0, cluster: Ints | None = None) -> Agreement | None:
    """Krippendorff's α of values (n,) of units (n,); None where no unit has two values, or all values are equal.

    Parameters
    ----------
    unit, value
        Numbers from 0; categories are in order.
    cluster
        What is resampled, by unit, (units,): the sets that passages belong to; None: the units themselves.

    Raises
    ------
    ModuleNotFoundError
        The package ``krippendorff`` is not installed; the command line says how to install it.

    References
    ----------
    Krippendorff, K. (2011). *Computing Krippendorff's Alpha-Reliability*.

    >>> agreement(np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 0, 1, 1, 0, 1, 0, 0]), "nominal").alpha
    0.5333333333333333
    """
    import krippendorff

    counts = np.zeros((int(unit.max(initial=0)) + 1, int(value.max(initial=0)) + 1))
    np.add.at(counts, (unit, value), 1)
    paired = counts.sum(axis=1) >= 2
    clusters = np.arange(len(counts)) if cluster is None else cluster
    counts, clusters = counts[paired], np.unique(clusters[paired], return_inverse=True)[1]
    counts = counts[:, np.unique(np.nonzero(counts)[1])]  # categories that occur
    if counts.shape[1] < 2:
        return None
    sizes = np.bincount(clusters)
    draws = np.random.default_rng(seed).multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), RESAMPLES)

    def alpha(sample: Floats) -> float:
        return float(krippendorff.alpha(value_counts=sample, level_of_measurement=level))

    with np.errstate(invalid="ignore"):  # α of a draw in which all values are equal is NaN
        drawn = np.array([alpha(np.repeat(counts, times[clusters], axis=0)) for times in draws])
    low, high = np.nanquantile(drawn, (0.025, 0.975)) if np.isfinite(drawn).any() else (np.nan, np.nan)
    return Agreement(alpha(counts), float(low), float(high), level, len(counts), int(counts.sum()))


@dataclass(frozen=True)
class WithOthers:
    """Agreement of one rater with the mean of the others: correlation of ranks, and its permutation p.

    Attributes
    ----------
    n
        Values of this rater on units that others judged too.
    p
        Probability of a correlation as high if the rater answered without reading; answers keep their frequencies.
    """

    rho: float
    p: float
    n: int


def with_others(unit: Ints, value: Ints, rater: Ints, one: int, seed: int = 0, times: int = 999) -> WithOthers:
    """Compare the values (n,) of one rater with the mean of the others on the same units."""
    mine = rater == one
    size = int(unit.max(initial=0)) + 1
    total = np.bincount(unit[~mine], value[~mine].astype(np.float64), minlength=size)
    count = np.bincount(unit[~mine], minlength=size)
    shared = mine & (count[unit] > 0)
    x, y = value[shared].astype(np.float64), (total / np.maximum(count, 1))[unit[shared]]
    if len(x) < 3:
        return WithOthers(float("nan"), float("nan"), len(x))
    x, y = (v - v.mean() for v in (stats.rankdata(x), stats.rankdata(y)))
    scale = float(np.sqrt((x @ x) * (y @ y)))
    if not scale:  # always the same answer
        return WithOthers(0.0, 1.0, len(x))
    rng = np.random.default_rng(seed)
    null = rng.permuted(np.broadcast_to(x, (times, len(x))), axis=1) @ y
    beyond = int((null >= x @ y - 1e-9 * scale).sum())
    return WithOthers(float(x @ y) / scale, (beyond + 1) / (times + 1), len(x))


def repeated_share(first: Sequence[object], again: Sequence[object]) -> tuple[int, int]:
    """How many repeated items got the same answer, and how many there are.

    >>> repeated_share([1, "left"], [1, "right"])
    (1, 2)
    """
    return sum(a == b for a, b in zip(first, again, strict=True)), len(first)
