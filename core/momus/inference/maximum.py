"""The maximum of several test statistics under shared relabellings: a global p-value, and adjusted p-values.

Relabellings that all axes share keep the dependence between the axes, so the distribution of the largest statistic is
that of dependent tests. Bonferroni's and Holm's bounds assume the worst case instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.inference.pvalues import TIE
from momus.numeric.types import Bools, Floats


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


def standardised(here: float, null: Floats, *, two_sided: bool, exact: bool) -> tuple[float, Floats]:
    """A contrast in standard deviations from its mean under relabelling: the observed one, and (B,) others.

    The observed contrast is one of the B + 1 equally likely ones under the null, so it counts for mean and standard
    deviation; without this, the test would be slightly too liberal. Contrasts that do not exist count as infinite.
    """
    everything = null if exact else np.append(null, here)
    finite = everything[np.isfinite(everything)]
    centre = float(finite.mean()) if len(finite) else 0.0
    spread = float(finite.std()) if len(finite) else 0.0
    if spread <= 1e-12 * max(abs(centre), 1e-300):
        spread = 1.0  # all contrasts are equal
    scaled = (np.append(null, here) - centre) / spread
    scaled = np.where(np.isnan(scaled), np.inf, np.abs(scaled) if two_sided else scaled)
    return float(scaled[-1]), scaled[:-1]


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
