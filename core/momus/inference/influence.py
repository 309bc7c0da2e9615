"""Standard errors of statistics without a formula, and cross-fitted estimates of distances.

The jackknife serves for narrow rows, the bootstrap for wide ones, and witnesses for distances. A distance of two
samples is too large: where the texts are alike it finds the differences of chance. A *witness* gives every column a
weight for each text, such that the weighted shares add up to the distance of the shares it was made from. On other
documents of the same texts, its weighted shares do not exceed the distance of the texts themselves on average, and come
nearer to it the more documents made the witness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic, jensen_shannon, kolmogorov_smirnov, shares, supremum, total_variation
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import NARROW, Rows, Samples, pooled
from momus.inference.weights import chunks, multiplicities
from momus.numeric.types import Floats

Witness = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From pooled counts of both texts, (1, V) each, to the weights of the columns for each text, (V,) each."""
FEW = 64
"""Rows that are multiplied at a time."""
FOLDS = 10
_FOLDS = 5
"""Number that keeps the random stream of folds apart."""


def tvd_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Half the sign of each column's difference in share."""
    sign = np.sign(shares(p) - shares(q))[0] / 2
    return sign, -sign


def ks_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """The sign of the largest gap for all columns up to it."""
    gaps = np.cumsum(shares(p) - shares(q), axis=1)[0]
    at = int(np.abs(gaps).argmax())
    # summed over columns with these weights, shares give the cumulative gap at that column
    step = np.where(np.arange(len(gaps)) <= at, np.sign(gaps[at]), 0.0)
    return step, -step


def supremum_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """The sign of the largest difference, for its column alone."""
    gaps = (shares(p) - shares(q))[0]
    weights = np.zeros(len(gaps))
    at = int(np.abs(gaps).argmax())
    weights[at] = np.sign(gaps[at])
    return weights, -weights


def jensen_shannon_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Half the log of twice each text's part in a column, from shares smoothed by half a count (Lin 1991)."""
    # a column that one text lacks would have a weight of −∞ there
    one, other = ((c + 0.5) / (c + 0.5).sum() for c in (p[0], q[0]))
    return np.log(2 * one / (one + other)) / 2, np.log(2 * other / (one + other)) / 2


WITNESSES: dict[Callable[..., Floats], Witness] = {
    total_variation: tvd_witness,
    kolmogorov_smirnov: ks_witness,
    supremum: supremum_witness,
    jensen_shannon: jensen_shannon_witness,
}


def witness_of(statistic: Statistic) -> Witness | None:
    """The witness of a distance; None if it has none."""
    return WITNESSES.get(statistic.function) if statistic.prepare is None else None


def distance_error(samples: Samples, witness: Witness) -> tuple[float, float]:
    """Standard error of a distance, for a fixed witness, and its degrees of freedom."""
    weights = witness(*samples.observed)
    influences = [_influences(rows, h) for rows, h in zip(samples.unit_rows, weights, strict=True)]
    if samples.design.together:
        influences = [influences[0] + influences[1]]
    sizes = [len(u) for u in influences]
    if min(sizes) < 2:
        return float("nan"), 1.0
    # the witness is taken as fixed: where both texts differ clearly, its own error is of second order
    return _of_samples([float((u**2).sum()) * n / (n - 1) for u, n in zip(influences, sizes, strict=True)], sizes)


def _of_samples(variances: Sequence[float], sizes: Sequence[int]) -> tuple[float, float]:
    """Standard error of a sum over independent samples, from their variances, and its degrees of freedom (Welch)."""
    of_sample, n = np.array(variances), np.array(sizes)
    whole = float(of_sample.sum())
    freedom = whole**2 / float((of_sample**2 / (n - 1)).sum()) if whole else float(n.sum() - 1)
    return float(np.sqrt(whole)), freedom


def jackknife(values: Sequence[Floats]) -> tuple[float, float]:
    """Standard error of a sum over independent samples, and its degrees of freedom, from values without one unit each.

    Variance (n − 1)/n Σ (θ_u − θ̄)² for each sample (Miller 1974); NaN where a value does not exist.

    >>> jackknife([np.array([1.0, 2.0, 3.0])])
    (1.1547005383792515, 2.0)
    """
    if not all(np.isfinite(v).all() for v in values):
        return float("nan"), 1.0
    sizes = [len(v) for v in values]
    variances = [(n - 1) / n * float(((v - v.mean()) ** 2).sum()) for v, n in zip(values, sizes, strict=True)]
    return _of_samples(variances, sizes)


def _influences(rows: Rows, weights: Floats) -> Floats:
    """Influence of each unit on the weighted sum of shares: (units,)."""
    # sums of float32 rows over columns may be too large to be exact there
    tokens = np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()
    # some rows at a time, as float32 rows are copied for this product
    parts = [rows[i : i + FEW] @ weights for i in range(0, rows.shape[0], FEW)]
    values = np.concatenate(parts).astype(np.float64, copy=False).ravel()
    whole = tokens.sum()
    if not whole:
        return np.zeros(len(tokens))
    return np.asarray((values - values.sum() / whole * tokens) / whole)


def cross_fitted(samples: Samples, witness: Witness, seed: int) -> float:
    """Cross-fitted estimate of a distance: witnesses of nine in ten units, evaluated on the tenth; NaN if too few.

    On average it does not exceed the distance of the two populations.
    """
    d = samples.design
    folds = min(FOLDS, *d.units)
    if folds < 2:
        return float("nan")
    rng = np.random.default_rng([seed, _FOLDS])
    fold_of = [rng.permutation(d.units[0]) % folds]
    fold_of.append(fold_of[0] if d.together else rng.permutation(d.units[1]) % folds)
    # sums of each fold and of all others, (folds, V)
    inside = [
        pooled(rows, (f[:, None] == np.arange(folds)).astype(np.float32))
        for f, rows in zip(fold_of, samples.unit_rows, strict=True)
    ]
    outside = [side.sum(axis=0) - side for side in inside]
    values, weights = [], []
    for k in range(folds):
        if not all(side[k].sum() > 0 for side in (*inside, *outside)):
            continue
        h = witness(outside[0][k : k + 1], outside[1][k : k + 1])  # (V,) for each text
        values.append(sum(float(shares(side[k : k + 1])[0] @ w) for side, w in zip(inside, h, strict=True)))
        weights.append(float((fold_of[0] == k).sum() + (fold_of[1] == k).sum()))
    return float(np.average(values, weights=weights)) if values else float("nan")


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

    def plain(self, s: Statistic, values: tuple[float, float], error: float) -> float:
        """Standard error of the difference of two values, whose contrast has the standard error ``error``.

        Of wide rows on the log scale, as if each text had half of it.
        """
        if s.scale != "log":
            return error
        if s.kind == "value" and not _is_wide(self.samples):
            return _jackknife(replace(s, scale="identity"), self.samples)[0]
        return sum(values) / 2 * error

    @cached_property
    def _bootstrapped(self) -> dict[str, float]:
        """By statistic, the standard deviation over resamples of units, corrected for the variance that these lack."""
        asked = [s for s in self.statistics if bootstraps(s, self.samples)]
        # one list per statistic, as each chunk is pooled once and serves all of them
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
    """Standard error of the contrast of a statistic from leaving out one unit at a time; degrees of freedom."""
    sums = samples.observed
    left = [side - np.asarray(rows) for side, rows in zip(sums, samples.unit_rows, strict=True)]  # (units, V)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [_scaled(s, np.asarray(s.function(x if s.prepare is None else s.prepare(x)))) for x in left]
        if samples.design.together:
            # a pair is left out of both texts at once, so their values move together
            values = [values[1] - values[0]]
    return jackknife(values)


def _scaled(s: Statistic, values: Floats) -> Floats:
    """Logarithms, for statistics that are compared on the log scale."""
    return np.asarray(np.log(values) if s.scale == "log" else values)
