"""Standard errors of statistics without a formula: the jackknife for narrow rows, the bootstrap for wide ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic
from momus.inference.pooling import NARROW, pooled
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import Samples
from momus.inference.weights import chunks, multiplicities
from momus.numeric.types import Floats

Map = Callable[[Callable[[tuple[int, int]], Floats], int], list[Floats]]
"""Apply a function to the chunks of so many resamples."""


def standard_error(s: Statistic, samples: Samples, resamples: int, seed: int) -> tuple[float, float]:
    """Standard error of the contrast of a statistic (a difference, a log ratio, a distance), and degrees of freedom.

    NaN where a text has one unit, or where the statistic does not exist for a resample.
    """
    units = samples.design.units
    freedom = float(units[0] - 1 if samples.design.together else max(sum(units) - 2, 1))
    if min(units) < 2:
        return float("nan"), freedom
    narrow = not sparse.issparse(samples.rows) and samples.rows.shape[1] <= NARROW
    if narrow and s.kind == "value":
        return _jackknife(s, samples)
    return _bootstrap(s, samples, resamples, seed), freedom


def _jackknife(s: Statistic, samples: Samples) -> tuple[float, float]:
    """Leave out one unit at a time: variance (n − 1)/n Σ (θ_u − θ̄)² for each independent sample (Miller 1974)."""
    sums = samples.observed
    left = [side - np.asarray(rows) for side, rows in zip(sums, samples.unit_rows, strict=True)]  # (units, V)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [_scaled(s, np.asarray(s.function(x if s.prepare is None else s.prepare(x)))) for x in left]
    if samples.design.together:
        values = [values[1] - values[0]]
    if not all(np.isfinite(v).all() for v in values):
        return float("nan"), 1.0
    sizes = np.array([len(v) for v in values])
    variances = np.array([(n - 1) / n * float(((v - v.mean()) ** 2).sum()) for v, n in zip(values, sizes, strict=True)])
    whole = float(variances.sum())
    freedom = whole**2 / float((variances**2 / (sizes - 1)).sum()) if whole else float(sizes.sum() - 1)
    return float(np.sqrt(whole)), freedom


def _bootstrap(s: Statistic, samples: Samples, resamples: int, seed: int) -> float:
    """Standard deviation over resamples of units, corrected for the (n − 1)/n of their variance that resamples have."""
    replicates = []
    weights = samples.design.weights
    for number, size in chunks(0, resamples):
        drawn = multiplicities(samples.design, seed, number, size)
        sides = [
            pooled(rows, d * w[:, None].astype(np.float32))
            for rows, d, w in zip((samples.tables.real, samples.tables.generated), drawn, weights, strict=True)
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            real, generated = both_values(s, Prepared(*sides))
        replicates.append(generated if s.kind == "distance" else _scaled(s, generated) - _scaled(s, real))
    values = np.concatenate(replicates) if replicates else np.zeros(0)
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    # of each sample's variance, resamples of n units keep (n − 1)/n; the smaller sample dominates the variance
    fewest = min(samples.design.units)
    return float(values.std(ddof=1) * np.sqrt(fewest / (fewest - 1)))


def _scaled(s: Statistic, values: Floats) -> Floats:
    """Logarithms, for statistics that are compared on the log scale."""
    return np.asarray(np.log(values) if s.scale == "log" else values)
