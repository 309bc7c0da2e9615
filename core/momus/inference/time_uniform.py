"""Levels and intervals that are valid at all looks together: alpha spending and confidence sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from momus.errors import UsageError
from momus.numeric.types import Floats

PLANNED = 0.9
"""Share of α that is spent evenly on the planned looks, if their number is given; the rest is for looks beyond."""


def spent(alpha: float, look: int, planned: int | None = None) -> float:
    """Level at which the test of one look is done: α (1/√k − 1/√(k + 1)) at look k.

    Looks are counted from 1. The levels add up to α. By Bonferroni's inequality, any false alarm at any look has
    probability at most α, for p-values that are valid at each look and depend on each other in any way: cumulative
    looks, or fresh samples against one real sample. Of the schedules k⁻ˢ − (k + 1)⁻ˢ, 6/(πk)² and 1/(k log² k), the
    one with s = 1/2 had the highest power over 20 to 100 looks, or nearly so (docs/looks.md).

    Parameters
    ----------
    planned
        Number of looks, if known beforehand: nine tenths of α are spent evenly on them, and one tenth on any beyond.

    Raises
    ------
    UsageError
        α lies outside (0, 1), or a number of looks is below 1.

    >>> [round(spent(0.05, k), 5) for k in (1, 2, 20, 100)]
    [0.01464, 0.00649, 0.00027, 2e-05]
    >>> round(spent(0.05, 20, planned=20), 5)
    0.00225
    """
    check_alpha(alpha)
    if look < 1 or (planned is not None and planned < 1):
        raise UsageError(f"look {look}, planned {planned}: looks are counted from 1", hint="give a number from 1 on")
    if planned is not None and look <= planned:
        return alpha * PLANNED / planned
    k = look - (planned or 0)
    # 1/√k − 1/√(k + 1), without cancellation
    weight = 1 / (math.sqrt(k * (k + 1)) * (math.sqrt(k) + math.sqrt(k + 1)))
    return alpha * weight * (1.0 if planned is None else 1 - PLANNED)


class ConfidenceSequence(NamedTuple):
    """Intervals (low, high) that hold at all looks together, and the always-valid p after each look: (looks,) each."""

    low: Floats
    high: Floats
    p: Floats


def confidence_sequence(
    difference: Sequence[float] | Floats,
    standard_error: Sequence[float] | Floats,
    n: Sequence[float] | Floats,
    alpha: float = 0.05,
) -> ConfidenceSequence:
    """Asymptotic confidence sequence of a difference over cumulative looks.

    At look k the interval is D_k ± SE_k · √(h² + log(n_k/n_1)), where 2(1 − Φ(h) + h φ(h)) = α: the normal-mixture
    boundary of Brownian motion with a flat mixing density from the first look on (Robbins 1970; Robbins & Siegmund
    1970). As n_1 grows, the probability that any interval, at any n ≥ n_1, misses the truth tends to at most α (Bibaut,
    Kallus & Lindon 2024; Waudby-Smith et al. 2024). Start with 50 documents per side or more. The first look is
    narrower than with a normal mixing density tuned to it (2.80 instead of 3.03 standard errors at α = 0.05).

    Parameters
    ----------
    difference, standard_error
        Difference of all documents so far, and its standard error, (looks,).
    n
        Numbers of documents so far, (looks,); only their ratios matter. With n_r real and n_g generated documents, give
        n_r n_g / (n_r + n_g). One fixed real sample against cumulative generated documents is a valid use; fresh
        generated documents at each look are not.

    Returns
    -------
    ConfidenceSequence
        p is the smallest α at which an interval so far excludes 0.

    Raises
    ------
    UsageError
        Lengths differ, a standard error is not positive, n decreases, or a number is not finite.

    >>> low, high, p = confidence_sequence([0.5, 0.4], [0.1, 0.05], [50, 200])
    >>> low.round(3), high.round(3), bool(p[1] < 1e-10)
    (array([0.22 , 0.248]), array([0.78 , 0.552]), True)
    """
    check_alpha(alpha)
    d, error, numbers = (np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in (difference, standard_error, n))
    if not d.shape == error.shape == numbers.shape or d.ndim != 1 or not len(d):
        raise UsageError(
            f"{d.size} differences, {error.size} standard errors and {numbers.size} numbers of documents",
            hint="give one of each per look",
        )
    if not all(np.isfinite(v).all() for v in (d, error, numbers)) or (error <= 0).any() or (numbers <= 0).any():
        raise UsageError("a look has a number that is not finite, or not positive", hint="start with more documents")
    if (np.diff(numbers) < 0).any():
        raise UsageError(
            f"n decreases over looks: {numbers.tolist()}",
            hint="the mixture method is for cumulative looks; for fresh samples use spending",
        )
    growth = np.log(numbers / numbers[0])
    radius = error * np.sqrt(half_width(alpha) ** 2 + growth)
    # the smallest α: h at which the interval ends at 0, (looks,)
    h = np.sqrt(np.maximum((d / error) ** 2 - growth, 0.0))
    return ConfidenceSequence(d - radius, d + radius, np.minimum.accumulate(_crossing(h)))


def _crossing(h: Floats) -> Floats:
    """Probability that |W(t)| ≥ √(t (h² + log t)) for some t ≥ 1, W Brownian motion: 2(1 − Φ(h) + h φ(h))."""
    probability: Floats = np.minimum(2 * (ndtr(-h) + h * np.exp(-(h**2) / 2) / math.sqrt(2 * math.pi)), 1.0)
    return probability


@lru_cache
def half_width(alpha: float) -> float:
    """Half-width h of a confidence sequence at its first look, in standard errors.

    >>> round(half_width(0.05), 3)
    2.795
    """
    from scipy.optimize import brentq

    return float(brentq(lambda h: float(_crossing(np.array(h))) - alpha, 0.0, 40.0, xtol=1e-12))


def check_alpha(alpha: float) -> None:
    """Raise `UsageError` unless α lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is {alpha}", hint="give a level between 0 and 1, such as 0.05")
