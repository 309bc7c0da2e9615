"""Standard errors of statistics without a formula: the jackknife for narrow rows, the bootstrap for wide ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic
from momus.inference.pooling import NARROW, pooled
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import Samples
from momus.inference.weights import chunks, multiplicities
from momus.inference.witness import witness_of
from momus.numeric.types import Floats


def standard_error(s: Statistic, samples: Samples, resamples: int, seed: int) -> tuple[float, float]:
    """The standard error of one statistic, see `Errors.of`."""
    return Errors(samples, [s], resamples, seed).of(s)


def bootstraps(s: Statistic, samples: Samples) -> bool:
    """Whether the standard error of a statistic is a bootstrap one."""
    if min(samples.design.units) < 2:
        return False
    return witness_of(s) is None if s.kind == "distance" else _is_wide(samples)


def _is_wide(samples: Samples) -> bool:
    return bool(sparse.issparse(samples.rows) or samples.rows.shape[1] > NARROW)


class Errors:
    """Standard errors of several statistics of the same rows, which are pooled only once per resample.

    Parameters
    ----------
    resamples
        Number of bootstrap resamples.
    """

    def __init__(self, samples: Samples, statistics: Sequence[Statistic], resamples: int, seed: int) -> None:
        self.samples, self.statistics, self.resamples, self.seed = samples, statistics, resamples, seed

    def of(self, s: Statistic) -> tuple[float, float]:
        """Standard error of the contrast of a statistic (a difference, a log ratio, a distance); degrees of freedom.

        NaN where a text has one unit, or where the statistic does not exist for a resample.
        """
        design = self.samples.design
        freedom = float(design.units[0] - 1 if design.together else max(sum(design.units) - 2, 1))
        if min(design.units) < 2:
            return float("nan"), freedom
        if s.kind == "value" and not _is_wide(self.samples):
            return _jackknife(s, self.samples)
        return self._bootstrapped[s.name], freedom

    @cached_property
    def _bootstrapped(self) -> dict[str, float]:
        """By statistic, the standard deviation over resamples of units, corrected for the variance that these lack."""
        asked = [s for s in self.statistics if bootstraps(s, self.samples)]
        replicates: list[list[Floats]] = [[] for _ in asked]
        for number, size in chunks(0, self.resamples):
            with np.errstate(divide="ignore", invalid="ignore"):
                prepared = Prepared(*self._resampled(number, size))
                for s, kept in zip(asked, replicates, strict=True):
                    real, generated = both_values(s, prepared)
                    kept.append(generated if s.kind == "distance" else _scaled(s, generated) - _scaled(s, real))
        # of each sample's variance, resamples of n units keep (n − 1)/n; the smaller sample dominates the variance
        fewest = min(self.samples.design.units)
        return {s.name: _deviation(kept, fewest) for s, kept in zip(asked, replicates, strict=True)}

    def _resampled(self, number: int, size: int) -> tuple[Floats, Floats]:
        """Sums of the rows of each text in a chunk of resamples: (size, V) each."""
        tables, design = self.samples.tables, self.samples.design
        drawn = multiplicities(design, self.seed, number, size)
        one, other = (
            # weights that are fractions keep their precision
            pooled(rows, d if (w == 1).all() else d * w[:, None])
            for rows, d, w in zip((tables.real, tables.generated), drawn, design.weights, strict=True)
        )
        return one, other


def _deviation(replicates: Sequence[Floats], fewest: int) -> float:
    values = np.concatenate(replicates) if replicates else np.zeros(0)
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    return float(values.std(ddof=1) * np.sqrt(fewest / (fewest - 1)))


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


def _scaled(s: Statistic, values: Floats) -> Floats:
    """Logarithms, for statistics that are compared on the log scale."""
    return np.asarray(np.log(values) if s.scale == "log" else values)
