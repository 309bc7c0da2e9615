"""Many tests at once: Holm's and Benjamini & Hochberg's adjustments, and the maximum under shared relabellings.

Relabellings that all axes share keep the dependence between the axes, so the distribution of the largest statistic is
that of dependent tests. Bonferroni's and Holm's bounds assume the worst case instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.inference.pvalues import TIE
from momus.numeric.types import Bools, Floats

LEAST_SKEW = 0.02
"""Below this skewness, a shifted gamma distribution is taken to be normal."""


def holm(p: Sequence[float]) -> Floats:
    """Adjust p-values by Holm's step-down method, which controls the family-wise error rate (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> Floats:
    """Compute Benjamini–Hochberg q-values, which control the false-discovery rate (1995).

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    from scipy.stats import false_discovery_control  # a second to import, which printing a run need not spend

    return np.asarray(false_discovery_control(p) if len(p) else p, dtype=np.float64)


@dataclass(frozen=True)
class Maximum:
    """p-values of A tests under shared relabellings.

    Attributes
    ----------
    p
        p of the largest statistic: that no test has a difference.
    single, adjusted
        p of each test by itself; adjusted by step-down max-T (Westfall & Young 1993), (A,) each.
    floor
        The smallest p-value that so many relabellings allow.
    """

    p: float
    single: Floats
    adjusted: Floats
    floor: float


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
            shape = 4 / skew**2
            strength = -np.log10(gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0)))
    return float(strength[-1]), np.asarray(strength[:-1])


def maximum_test(here: Floats, null: Floats, exact: bool = False) -> Maximum:
    """Test the largest of A statistics, and adjust the p-value of each by step-down max-T.

    The statistics must be on comparable scales; larger ones are more extreme. A statistic is compared with the largest
    of those that are no larger than itself on the data, under each relabelling (algorithm 4.1 of Westfall & Young
    1993). With relabellings shared by all tests, the family-wise error rate is at most α if the joint distribution of
    the true null hypotheses does not depend on the others (subset pivotality).

    Parameters
    ----------
    here
        Observed statistics, (A,).
    null
        Statistics under B relabellings, (B, A).
    exact
        Whether these are all relabellings, the observed one among them.

    >>> here, null = np.array([3.0, 1.0]), np.array([[1.0, 2.0], [0.0, 0.5], [2.0, 3.5]])
    >>> found = maximum_test(here, null)
    >>> found.p, found.single.tolist(), found.adjusted.tolist()
    (0.5, [0.25, 0.75], [0.5, 0.75])
    """
    here, null = np.asarray(here, dtype=np.float64), np.asarray(null, dtype=np.float64)
    order = np.argsort(-here, kind="stable")
    # running maximum from the least extreme statistic to the most extreme one: (B, A) in the order of `order`
    successive = np.maximum.accumulate(null[:, order[::-1]], axis=1)[:, ::-1]
    single = _p_values(null >= _edges(here), exact)
    stepped = _p_values(successive >= _edges(here[order]), exact)
    adjusted = np.empty(len(here))
    adjusted[order] = np.maximum.accumulate(stepped)
    floor = 1 / len(null) if exact else 1 / (len(null) + 1)
    return Maximum(float(stepped[0]), single, adjusted, floor)


def _edges(here: Floats) -> Floats:
    """Observed statistics less a tolerance for rounding: equal contrasts count as reached."""
    return np.asarray(here - TIE * np.maximum(1.0, np.abs(np.where(np.isfinite(here), here, 1.0))))


def _p_values(reached: Bools, exact: bool) -> Floats:
    """(c + 1)/(B + 1) for random relabellings (Phipson & Smyth 2010), c/B if all are enumerated."""
    count, b = reached.sum(axis=0), len(reached)
    return np.asarray(count / b if exact else (count + 1) / (b + 1))
