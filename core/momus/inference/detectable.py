"""Minimum detectable differences: 80 % power at the level that decides the row."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from momus.critic.statistic import Statistic, kolmogorov_smirnov, shares, supremum, total_variation
from momus.inference.intervals import critical_value, t_quantile
from momus.numeric.types import Floats

POWER = 0.8
SIGNED: tuple[Callable[..., Floats], ...] = (kolmogorov_smirnov, total_variation, supremum)
"""Distances that are defined for negative counts too."""
LARGEST = 2.0
"""Largest shift that is tried; one of 2 moves all mass."""


def detectable_difference(error: float, freedom: float, level: float) -> float:
    """Difference that a two-sided t-test at this level detects with 80 % power in new data, on average over pilots.

    Both standard errors vary, that of these data, which the difference is a multiple f of, and that of the new ones:
    Z + f s > t s′ with independent s and s′ of mean c ≈ 1 − 1/(4·freedom) and variance 1/(2·freedom). The normal
    approximation of f s − t s′ gives (f − t)c = z √(1 + (f² + t²)/(2·freedom)), where z is the normal quantile at 0.8.

    >>> round(detectable_difference(1.0, 1e6, 0.05), 3)
    2.802
    >>> round(detectable_difference(1.0, 18, 0.05 / 21), 2)
    4.73
    """
    t, z = t_quantile(1 - level / 2, freedom), t_quantile(POWER, math.inf)
    square, noise = (1 - 1 / (4 * freedom)) ** 2, z**2 / (2 * freedom)
    if square <= noise:  # less than one degree of freedom: no difference is sure to be found
        return math.nan
    # (c² − z²/2ν) f² − 2c²t f + c²t² − z²(1 + t²/2ν) = 0, the larger root
    a, half, rest = square - noise, square * t, square * t**2 - z**2 - noise * t**2
    return (half + math.sqrt(max(half**2 - a * rest, 0.0))) / a * error


PRECISE = 0.002
"""Relative width at which the search for a detectable distance ends: far below its Monte-Carlo error."""


def chance_value(null: Floats, level: float) -> float:
    """The value that a distance exceeds by chance with probability ``level``.

    By rank; beyond the reach of so few relabellings, by a normal tail.
    """
    value = critical_value(null, level)
    return value if math.isfinite(value) else float(null.mean() + t_quantile(1 - level, 1e9) * null.std())


def detectable_distance(s: Statistic, null: Floats, noise: tuple[Floats, Floats], level: float) -> float:
    """Distance of two populations that the test at this level detects with 80 % power; NaN if none up to `LARGEST` is.

    Pairs of samples that differ by chance alone are shifted apart along one direction until 80 % of them exceed the
    critical value. The direction moves mass between alternate columns in proportion to their share; for a KS distance,
    the gap at quantile F is in proportion to F(1 − F), as for a shift of logistic values.

    Parameters
    ----------
    null
        Distances under relabelling, (B,).
    noise
        Pooled rows of both sides under some of these relabellings, (b, V) each.
    """
    critical = chance_value(null, level)
    p, q = (shares(side) for side in noise)
    middle = (p + q).mean(axis=0) / 2  # shares of both texts together, (V,)
    direction = _ordered(middle) if s.function is kolmogorov_smirnov else _alternating(middle)

    def distances(shift: float, one: Floats, other: Floats) -> Floats:
        move = shift / 2 * direction
        if s.function is kolmogorov_smirnov:  # F(1 − F) of both texts shrinks by 1 − gap² where F lies around ½
            kept = math.sqrt(max(1 - min(shift, 1.0) ** 2, 0.0))
            one, other = middle + kept * (one - middle), middle + kept * (other - middle)
        # a sum of gaps is right for negative counts too; other distances may not be
        least = -np.inf if s.function in SIGNED else 0.0
        return np.asarray(s.function(np.maximum(one - move, least), np.maximum(other + move, least)))

    def power(shift: float) -> float:
        return float((distances(shift, p, q) > critical).mean())

    low, high = 0.0, LARGEST
    if not power(high) >= POWER:
        return math.nan
    while high - low > PRECISE * high:
        half = (low + high) / 2
        low, high = (low, half) if power(half) >= POWER else (half, high)
    return float(distances(high, middle[None], middle[None])[0])


def _ordered(middle: Floats) -> Floats:
    """A shift of ordered columns whose cumulative gap is 4F(1 − F), (V,)."""
    below = np.concatenate([[0.0], np.cumsum(middle)])
    return np.asarray(np.diff(-4 * below * (1 - below)))


def _alternating(middle: Floats) -> Floats:
    """A shift between alternate columns, in the order of their shares, with total variation 1, (V,)."""
    sign = np.empty(len(middle))
    sign[np.argsort(-middle, kind="stable")] = np.where(np.arange(len(middle)) % 2, -1.0, 1.0)
    up, down = (np.where(sign == s, middle, 0.0) for s in (1.0, -1.0))
    if not up.sum() or not down.sum():
        return np.zeros(len(middle))
    return np.asarray(up / up.sum() - down / down.sum())
