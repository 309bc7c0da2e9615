"""Tests that are valid at any look, beside the spending of `momus.inference.sequential`: confidence sequences, betting.

`looks.py` measures all three. Growing samples have more power by these two, but only spending also serves fresh samples
of generated documents against one real sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from momus.errors import UsageError
from momus.inference.sequential import check_alpha
from momus.numeric.types import Floats


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


STAKES = np.array([-0.8, -0.4, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.4, 0.8])
"""Shares λ of the capital that the gamblers bet, each on every pair; together they own a capital of 1 at first."""
BLOCK = 64
"""Pairs whose ranks are computed at once."""


class Wager:
    """Capital won by betting that the generated value of a pair is larger (or smaller) than the real one.

    Pair t brings s_t = g(y_t) − g(x_t) in [−1, 1], where g is the empirical distribution function of all values of
    earlier pairs (ties count half). A gambler with stake λ has the capital Π_t (1 + λ s_t); the capital of the wager is
    the mean over `STAKES`, as in a universal portfolio (Cover 1991). If the two values of each pair are exchangeable
    given the earlier pairs, s_t is symmetric around 0 and the capital is a non-negative martingale with mean 1. By
    Ville's inequality it reaches 1/α at any time with probability at most α (Ramdas et al. 2023).

    Parameters
    ----------
    past
        Values of all earlier pairs, sorted, (2t,).
    log_wealth
        Log capital of each gambler, (10,).

    >>> wager = Wager()
    >>> wager.bet([1.0], [2.0])  # the first pair has no past
    1.0
    >>> round(wager.bet([1.0, 1.5, 1.2] * 4, [2.0, 2.5, 2.2] * 4), 1), round(wager.capital, 1)
    (7.4, 7.4)
    """

    def __init__(self, past: Sequence[float] = (), log_wealth: Sequence[float] | None = None) -> None:
        self.past = np.asarray(past, dtype=np.float64)
        self.log_wealth = np.zeros(len(STAKES)) if log_wealth is None else np.asarray(log_wealth, dtype=np.float64)

    @property
    def capital(self) -> float:
        """Mean capital of the gamblers, an e-value; 1 at first."""
        return float(np.exp(np.minimum(self.log_wealth, 700.0)).mean())

    def bet(self, real: Sequence[float] | Floats, generated: Sequence[float] | Floats) -> float:
        """Bet on further pairs, in order, and return the largest capital reached on the way.

        Parameters
        ----------
        real, generated
            Values of the two sides, (m,) each; value i of one side and value i of the other are a pair.

        Raises
        ------
        UsageError
            The sides are of different lengths, empty, or hold a value that is not finite.
        """
        x, y = (np.asarray(v, dtype=np.float64) for v in (real, generated))
        if x.ndim != 1 or x.shape != y.shape or not len(x):
            raise UsageError(
                f"betting needs as many real as generated values, found {x.size} and {y.size}",
                hint="pass the same number of documents from both sides, and keep the others for the next look",
            )
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise UsageError("betting needs finite values, found NaN or infinity", hint="leave unscored documents out")
        highest = 0.0
        for start in range(0, len(x), BLOCK):
            pairs = np.column_stack([x[start : start + BLOCK], y[start : start + BLOCK]])
            gains = self._gains(pairs)
            # log capital of each gambler after each pair, (pairs, stakes)
            paths = self.log_wealth + np.cumsum(np.log1p(np.outer(gains, STAKES)), axis=0)
            highest = max(highest, float(np.exp(np.minimum(paths, 700.0)).mean(axis=1).max()))
            self.log_wealth = paths[-1]
            self.past = np.sort(np.concatenate([self.past, pairs.ravel()]), kind="stable")
        return highest

    def _gains(self, pairs: Floats) -> Floats:
        """s_t = g(y_t) − g(x_t) of each pair of a block, (pairs,); pairs is (pairs, 2)."""
        # values below each value, plus half of its equals: among values of earlier blocks, (pairs, 2)
        below = (np.searchsorted(self.past, pairs) + np.searchsorted(self.past, pairs, side="right")) / 2
        # the same among earlier pairs of this block: [t, side, u] compares pair t with pair u, which counts if u < t
        earlier = np.tri(len(pairs), k=-1)[:, None, :]
        for other in (pairs[:, 0], pairs[:, 1]):
            compared = (other < pairs[:, :, None]) + 0.5 * (other == pairs[:, :, None])
            below += (compared * earlier).sum(axis=2)
        numbers = len(self.past) + 2 * np.arange(len(pairs))
        gains: Floats = (below[:, 1] - below[:, 0]) / np.maximum(numbers, 1)
        return gains
