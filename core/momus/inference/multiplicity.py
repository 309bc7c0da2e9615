"""Many tests at once: Holm's and Benjamini & Hochberg's adjustments, and families under shared relabellings.

A *family* of statistics of the same documents has one p-value, and step-down p-values of its members. The statistics
share their relabellings, so that the distribution of the most extreme of them is that of dependent statistics (Westfall
& Young 1993). They have scales of their own: studentised means, distances, signed influences. Each is put on the scale
of its p-value among its own relabellings (min-P), the observed contrast being one of B + 1 that are equally likely
under the null hypothesis. Equal contrasts all have the rank of the last of them, so a statistic with few values is no
more extreme than its p-value. Beyond the rank `TAIL`, p-values follow the tail of a nominal distribution
(`strength_of_contrasts`): so p can be 1/(B + 1), however many statistics there are.

The headline has at least the share `HEADLINE` of the level and the others have the rest in equal shares: the most
extreme statistic is that with the smallest p ÷ share (weighted min-P; Genovese, Roeder & Wasserman 2006). However many
others there are, a difference in the headline alone is found no less often than by a test of it at that share of the
level; a larger one would leave little for defects of one of the others. All of it depends on the B + 1 contrasts in the
same way whichever is the observed one, and shares are fixed beforehand, which is all that validity needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.inference.contrast import Contrast, RatioContrast
from momus.inference.pvalues import TIE
from momus.numeric.types import Floats

LEAST_SKEW = 0.02
"""Below this skewness, a shifted gamma distribution is taken to be normal."""


def holm(p: Sequence[float]) -> Floats:
    """Adjust p-values by Holm's step-down method, which controls the family-wise error rate (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    # a p-value is adjusted to no less than a smaller one is: Holm's method stops at the first that is not rejected
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> Floats:
    """Compute Benjamini–Hochberg q-values, which control the false-discovery rate (1995).

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = values[order] * len(values) / np.arange(1, len(values) + 1)
    # a p-value is adjusted to no more than a larger one is
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1.0)
    return adjusted


def strength_of_t(t: Floats, freedom: float) -> Floats:
    """−log₁₀ of the two-sided p of Student's t: the scale on which different statistics are compared.

    >>> strength_of_t(np.array([0.0, 1.96, np.nan]), 1e9).round(2).tolist()
    [-0.0, 1.3, inf]
    """
    from scipy.special import stdtr

    t = np.where(np.isnan(t), np.inf, np.abs(t))
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log10(2 * stdtr(freedom, -t)))


def strength_of_contrasts(here: float, null: Floats, *, two_sided: bool, exact: bool) -> tuple[float, Floats]:
    """−log₁₀ of a nominal p of contrasts without a standard error: the observed one, and (B,) others.

    The nominal distribution has mean, standard deviation and skewness of the contrasts under relabelling: a Pearson
    type III (shifted gamma) for distances, and a normal one for two-sided contrasts. It only puts statistics on one
    scale; the test itself ranks relabellings. The observed contrast is one of B + 1 that are equally likely under the
    null, so it counts for the moments. Contrasts that do not exist count as infinite.
    """
    from scipy.special import gammaincc, log_ndtr

    everything = np.append(null, here)
    finite = (null if exact else everything)[np.isfinite(null if exact else everything)]
    centre = float(finite.mean()) if len(finite) else 0.0
    spread = float(finite.std()) if len(finite) else 0.0
    if spread <= 1e-12 * max(abs(centre), 1e-300):
        return 0.0, np.zeros(len(null))  # all contrasts are equal
    z = (everything - centre) / spread
    z = np.where(np.isnan(z), np.inf, np.abs(z) if two_sided else z)
    skew = float((((finite - centre) / spread) ** 3).mean())
    with np.errstate(divide="ignore"):
        if two_sided or skew < LEAST_SKEW:
            strength = -(log_ndtr(-z) + (np.log(2) if two_sided else 0.0)) / np.log(10)
        else:
            # a gamma distribution of shape k has skewness 2/√k; standardised, it is (gamma − k)/√k
            shape = 4 / skew**2
            strength = -np.log10(gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0)))
    return float(strength[-1]), np.asarray(strength[:-1])


def stepped_down(here: Floats, null: Floats, exact: bool = False) -> Floats:
    """p-values of A statistics, adjusted by step-down, (A,); the smallest is that no test has a difference.

    The statistics must be on comparable scales; larger ones are more extreme. A statistic is compared with the largest
    of those that are no larger than itself on the data, under each relabelling (algorithm 4.1 of Westfall & Young
    1993). With relabellings shared by all tests, the family-wise error rate is at most α if the joint distribution of
    the true null hypotheses does not depend on the others (subset pivotality). p is (c + 1)/(B + 1) for random
    relabellings (Phipson & Smyth 2010), c/B if all are enumerated.

    Parameters
    ----------
    here
        Observed statistics, (A,).
    null
        Statistics under B relabellings, (B, A).
    exact
        Whether these are all relabellings, the observed one among them.

    >>> here, null = np.array([3.0, 1.0]), np.array([[1.0, 2.0], [0.0, 0.5], [2.0, 3.5]])
    >>> stepped_down(here, null).tolist()
    [0.5, 0.75]
    """
    here, null = np.asarray(here, dtype=np.float64), np.asarray(null, dtype=np.float64)
    order = np.argsort(-here, kind="stable")
    # running maximum from the least extreme statistic to the most extreme one: (B, A) in the order of `order`
    successive = np.maximum.accumulate(null[:, order[::-1]], axis=1)[:, ::-1]
    # equal contrasts, but for rounding, count as reached
    edges = here - TIE * np.maximum(1.0, np.abs(np.where(np.isfinite(here), here, 1.0)))
    count, b = (successive >= edges[order]).sum(axis=0), len(null)
    adjusted = np.empty(len(here))
    adjusted[order] = np.maximum.accumulate(count / b if exact else (count + 1) / (b + 1))
    return adjusted


HEADLINE = 0.25
"""Least share of the level that the headline of a family has; of up to four statistics, all have equal shares."""
TAIL = 10
"""Rank of a contrast among its relabellings from which on its nominal strength decides."""


@dataclass(frozen=True)
class FamilyTest:
    """The test of a family of F statistics.

    Attributes
    ----------
    extreme
        How many relabellings have a most extreme statistic as extreme as the observed one.
    adjusted
        Step-down p-value of each statistic, (F,); the smallest is the p-value of the family.
    """

    extreme: int
    adjusted: Floats


def family_test(contrasts: Sequence[Contrast], nulls: Sequence[Floats], exact: bool, headline: str = "") -> FamilyTest:
    """Test the hypothesis that no statistic of a family differs, and each of them by step-down.

    Parameters
    ----------
    nulls
        Contrasts under the same B relabellings, (B,) each.
    exact
        Whether these are all relabellings, the observed one among them.
    headline
        Name of the statistic with at least the share `HEADLINE`; all have equal shares if none has this name.
    """
    statistics = [contrast.statistic for contrast in contrasts]
    least = max(s.level if s.name == headline else HEADLINE for s in statistics)
    shares = _shares([s.name for s in statistics], headline, least)
    scaled = [
        _scores(contrast, null, exact, share) for contrast, null, share in zip(contrasts, nulls, shares, strict=True)
    ]
    here = np.array([score for score, _ in scaled])  # (F,)
    adjusted, b = stepped_down(here, np.column_stack([null for _, null in scaled]), exact), len(nulls[0])
    # back from p to the count, which the early stop of relabellings is decided by
    p = float(adjusted.min())
    return FamilyTest(round(p * b) if exact else round(p * (b + 1)) - 1, adjusted)


def _shares(names: Sequence[str], headline: str, least: float = HEADLINE) -> list[float]:
    """Share of the level that each statistic has."""
    equal = 1 / len(names)
    if headline not in names or equal >= least:
        return [equal] * len(names)
    return [least if name == headline else (1 - least) / (len(names) - 1) for name in names]


def _scores(contrast: Contrast, null: Floats, exact: bool, share: float) -> tuple[float, Floats]:
    """log₁₀(share ÷ c) of the observed contrast and of (B,) others, larger for more extreme ones.

    c contrasts are as extreme as this one, less s/(2 + 2s) where s ≥ 0 is its strength: by rank, then by strength. Of
    the `TAIL` most extreme ones, c = `TAIL` · 10^(s₀ − s), where s₀ is the smallest strength of these.
    """
    kind, here, values = contrast.compared(null)
    two_sided, tie = kind == "value", contrast.tie
    if isinstance(contrast, RatioContrast):
        units = contrast.samples.design.units
        freedom = float(units[0] - 1 if contrast.samples.design.together else sum(units) - 2)
        strengths = strength_of_t(np.append(values, here), max(freedom, 1.0))
    else:
        strength, of_null = strength_of_contrasts(here, null, two_sided=two_sided, exact=exact)
        strengths = np.append(of_null, strength)
    everything = np.append(values, here)
    everything = np.where(np.isnan(everything), np.inf, everything)
    # enumerated relabellings hold the observed contrast already
    pool = np.sort(everything[:-1] if exact else everything)
    size = np.where(np.isfinite(everything), np.abs(everything), 0.0)
    slack = tie * np.maximum(1.0 if two_sided else 1e-3, size)
    reached = len(pool) - np.searchsorted(pool, everything - slack, "left")  # (B + 1,), each counts itself
    if two_sided:  # twice the smaller tail; contrasts that do not exist are extreme
        below = np.searchsorted(pool, everything + slack, "right")
        missing = int(np.isinf(pool).sum())
        tail = np.minimum(2 * np.minimum(reached - missing, below) + missing, len(pool))
        reached = np.where(np.isfinite(everything), tail, max(missing, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        # less than ½ is taken off, so that strengths order equal ranks and never different ones
        ranks = reached - np.where(np.isfinite(strengths), strengths / (1 + strengths), 1.0) / 2
        rank = min(TAIL, max(len(pool) // TAIL, 1))
        tail = reached <= rank
        if tail.any():
            beyond = np.where(np.isfinite(strengths), strengths - strengths[tail].min(), np.inf)
            # at the edge of the tail both scales meet: the weakest of the tail has rank `rank`
            ranks = np.where(tail, rank * 10.0**-beyond, ranks)
        scores = np.log10(share) - np.log10(ranks)
    return float(scores[-1]), np.asarray(scores[:-1])
