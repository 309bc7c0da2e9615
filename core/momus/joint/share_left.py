"""The part of a difference that is left within bins of covariates: both contrasts, their variances and covariance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from momus.critic.statistic import Statistic, mean
from momus.inference.contrast import RatioContrast, contrast_of, is_ratio
from momus.inference.design import Design
from momus.inference.influence import witness_of
from momus.inference.intervals import NONE, Interval, symmetric, t_quantile
from momus.inference.multipliers import chance_distance
from momus.inference.pooling import pooled
from momus.inference.pvalues import Prepared, contrasts
from momus.inference.relabelling import Budget, Nulls
from momus.inference.samples import Samples, indicator
from momus.inference.weights import CHUNK, Weights, multiplicities
from momus.numeric.types import Floats, Ints

Influences = tuple[Floats, Floats]
"""Influence of each document of the real and of the generated text on a contrast: (n,) and (m,)."""


@dataclass(frozen=True)
class Joint:
    """Variances of an unadjusted and an adjusted contrast, their covariance, and degrees of freedom."""

    unadjusted: float
    adjusted: float
    covariance: float
    freedom: float

    def interval(self, adjusted: float, confidence: float) -> Interval:
        """Interval of the adjusted contrast: ± t times its standard error."""
        return symmetric(adjusted, math.sqrt(self.adjusted), t_quantile((1 + confidence) / 2, self.freedom))

    def share(self, unadjusted: float, adjusted: float, confidence: float) -> Interval:
        """Interval of adjusted/unadjusted by Fieller's theorem (1954).

        All ratios ρ with |adjusted − ρ·unadjusted| ≤ t · its standard error; NaN where they have no bounds, because the
        unadjusted contrast is not told from 0.

        >>> low, high = Joint(0.01, 0.01, 0.0, 1e6).share(1.0, 0.5, 0.95)
        >>> round(low, 3), round(high, 3)
        (0.296, 0.744)
        """
        square = t_quantile((1 + confidence) / 2, self.freedom) ** 2
        # (adjusted − ρ·unadjusted)² = t²·variance is a·ρ² − 2b·ρ + c = 0
        a = unadjusted**2 - square * self.unadjusted
        b = unadjusted * adjusted - square * self.covariance
        c = adjusted**2 - square * self.adjusted
        if not (a > 0 and b**2 >= a * c):
            return NONE
        root = math.sqrt(b**2 - a * c)
        return (b - root) / a, (b + root) / a


def joint(statistic: Statistic, samples: tuple[Samples, Samples], seed: int) -> Joint:
    """Variances and covariance of a contrast under two designs of the same documents, the second within bins.

    From influences of documents on means, on ratios, and on distances with a witness; from 64 resamples of documents
    otherwise, in which weights follow the resampled bins. Influences are summed over groups of documents.
    """
    designs = [s.design for s in samples]
    units = designs[0].unit_numbers if designs[0].kind == "clusters" else None
    of_both = [influences(statistic, s) for s in samples]
    if of_both[0] is None or of_both[1] is None:
        return _bootstrapped(statistic, samples, seed)
    table = np.zeros((2, 2))
    sizes = []
    for side in (0, 1):
        rows = _on_all(designs, side, [pair[side] for pair in of_both if pair is not None])  # (2, documents)
        if units is not None:
            rows = np.stack([np.bincount(units[side], row) for row in rows])
        n = rows.shape[1]
        table += rows @ rows.T * n / max(n - 1, 1)
        sizes.append(n)
    return Joint(float(table[0, 0]), float(table[1, 1]), float(table[0, 1]), float(max(sum(sizes) - 2, 1)))


def influences(statistic: Statistic, samples: Samples) -> Influences | None:
    """Influence of each document on the contrast, centred within bins; None if the statistic has no formula."""
    (real, generated), design = samples.observed, samples.design
    sides = samples.tables.real, samples.tables.generated
    logarithm = statistic.function is mean and statistic.scale == "log" and statistic.prepare is None
    if is_ratio(statistic) or logarithm:
        # of a ratio θ = Σx/Σw, a document has the influence (x − θw)/Σw, and (x − θw)/Σx on its logarithm
        below = 0 if logarithm else 1
        scales = -1.0 / real[0, below], 1.0 / generated[0, below]
        values = [
            scale * (rows[:, 0] - float(total[0, 0] / total[0, 1]) * rows[:, 1])
            for rows, scale, total in zip(sides, scales, (real, generated), strict=True)
        ]
    else:
        witness = witness_of(statistic)
        if witness is None:
            return None
        values = []
        for rows, h, total in zip(sides, witness(real, generated), (real, generated), strict=True):
            whole = float(total.sum())
            tokens = np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()
            values.append((np.asarray(rows @ h).ravel() - float(total[0] @ h) / whole * tokens) / whole)
    weighted = [np.asarray(v) * w for v, w in zip(values, design.weights, strict=True)]
    if design.kind == "bins" and design.numbers is not None and design.groups is None:
        weighted = [_centred(v, n) for v, n in zip(weighted, design.numbers, strict=True)]
    return weighted[0], weighted[1]


def _centred(values: Floats, numbers: Ints) -> Floats:
    """Subtract the mean of the bin, and scale to the unbiased variance within it; single documents stay."""
    n = np.bincount(numbers)
    means = np.bincount(numbers, values) / np.maximum(n, 1)
    scale = np.where(n > 1, np.sqrt(n / np.maximum(n - 1, 1)), 1.0)
    return np.asarray((values - np.where(n > 1, means, 0.0)[numbers]) * scale[numbers])


def _on_all(designs: list[Design], side: int, values: list[Floats]) -> Floats:
    """Influences under both designs on all documents of a side, (2, n): 0 on those that take no part."""
    n = max(len(v) for v in values)
    table = np.zeros((2, n))
    for row, design, v in zip(table, designs, values, strict=True):
        row[slice(None) if design.rows is None else design.rows[side]] = v
    return table


def _bootstrapped(statistic: Statistic, samples: tuple[Samples, Samples], seed: int) -> Joint:
    """Variances and covariance over resamples of documents (of groups), the same ones under both designs."""
    whole, within = (s.design for s in samples)
    drawn = multiplicities(whole, seed, 0, CHUNK)
    inner = drawn if within.rows is None else (drawn[0][within.rows[0]], drawn[1][within.rows[1]])
    values = np.array([_resampled(statistic, s, d) for s, d in zip(samples, (drawn, inner), strict=True)])  # (2, B)
    values = values[:, np.isfinite(values).all(axis=0)]
    freedom, fewest = float(max(sum(whole.units) - 2, 1)), min(whole.units)
    if values.shape[1] < CHUNK // 2 or fewest < 2:
        return Joint(math.nan, math.nan, math.nan, freedom)
    # resamples of n units have (n − 1)/n of their variance
    table = np.cov(values) * fewest / (fewest - 1)
    return Joint(float(table[0, 0]), float(table[1, 1]), float(table[0, 1]), freedom)


def _resampled(statistic: Statistic, samples: Samples, drawn: tuple[Weights, Weights]) -> Floats:
    """The contrast if documents occur ``drawn`` times, (n, B) and (m, B); weights of bins follow: (B,)."""
    weights, numbers = [np.asarray(d, dtype=np.float64) for d in drawn], samples.design.numbers
    if samples.design.kind == "bins" and numbers is not None:
        counts = [np.asarray(indicator(n) @ w) for n, w in zip(numbers, weights, strict=True)]
        shared = 2 * counts[0] * counts[1] / np.maximum(counts[0] + counts[1], 1)
        weights = [w * (shared / np.maximum(c, 1))[n] for w, c, n in zip(weights, counts, numbers, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        real, generated = pooled(samples.tables.real, weights[0]), pooled(samples.tables.generated, weights[1])
        return contrasts(statistic, Prepared(real, generated))


@dataclass(frozen=True)
class Relabelled:
    """A contrast and its test.

    Attributes
    ----------
    difference
        generated − real: of means, of log perplexities, of other values; for a distance, the excess over its mean under
        relabelling. NaN where it does not exist.
    p
        Of the permutation test.
    """

    difference: float
    p: float = math.nan
    permutations: int = 0


def relabelled(statistic: Statistic, samples: Samples, budget: Budget, seed: int) -> Relabelled:
    """Test a statistic without an interval."""
    contrast = contrast_of(statistic, samples)
    if contrast.lacks:
        return Relabelled(math.nan)
    nulls = Nulls([contrast], (), "", budget, seed, workers=1, kept=0)
    (null,) = nulls.drawn()
    difference = contrast.here
    if isinstance(contrast, RatioContrast):
        difference = float(contrast.observed.value[0])
    elif contrast.signed:
        difference = contrast.values[1] - chance_distance(statistic, samples, seed, CHUNK)
    elif statistic.kind == "distance":
        difference -= float(null[np.isfinite(null)].mean()) if np.isfinite(null).any() else math.nan
    return Relabelled(difference, contrast.p(null, nulls.exact) if len(null) else math.nan, len(null))
