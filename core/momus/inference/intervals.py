"""Effect sizes, intervals that agree with their test, and minimum detectable differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import stdtrit

from momus.critic.statistic import Statistic, kolmogorov_smirnov, shares, supremum, total_variation
from momus.inference.samples import Rows
from momus.numeric.types import Floats


def hedges_factor(tables: Sequence[Rows], weights: Sequence[Floats]) -> tuple[float, float]:
    """What a difference of means or ratios is multiplied by to give Hedges' g; the degrees of freedom of the latter.

    g is the difference in pooled standard deviations of documents, with the small-sample factor 1 − 3/(4·df − 1)
    (Hedges 1981). Of a ratio of totals Σx/Σw = θ, a document deviates by (x − θw) over the mean of w. NaN where a
    standard deviation does not exist; 0 where all is equal. Where the documents of each text are equal and the texts
    differ, as a title before every generated document, it is as if one document lay on the other side.

    Parameters
    ----------
    tables, weights
        Rows [x, w] of both texts, [value, 1] for means, and the weights of their documents.
    """
    squares, count, means = 0.0, 0.0, []
    for rows, w in zip(tables, weights, strict=True):
        x, size = np.asarray(rows, dtype=np.float64)[:, :2].T  # (n,) each
        n, whole = effective_n(w), float(w @ size)
        if not whole:
            return math.nan, 1.0
        mean = float(w @ x) / whole
        deviations = (x - mean * size) * (float(w.sum()) / whole)
        # weighted variance, scaled to the sum of squares of n equally weighted documents
        squares += float(w @ deviations**2) / float(w.sum()) * n
        count += n
        means.append(mean)
    freedom = count - 2
    if freedom < 1 - 1e-9:
        return math.nan, 1.0
    deviation = math.sqrt(squares / freedom)
    scale = max(abs(m) for m in means)
    if deviation <= 1e-12 * scale:  # rounding
        gap = abs(means[1] - means[0])
        if gap <= 1e-9 * scale:
            return 0.0, freedom
        deviation = gap / math.sqrt(count)
    return (1 - 3 / (4 * freedom - 1)) / deviation, freedom


def effective_n(weights: Floats) -> float:
    """Number of equally weighted documents with the same variance of a mean: (Σw)²/Σw² (Kish 1965).

    >>> effective_n(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0


Interval = tuple[float, float]
NONE: Interval = (math.nan, math.nan)
Reach = tuple[float, float]
"""Standard errors from an estimate to the lower and to the upper end of its interval."""


def both_ends(interval: Callable[[float], Interval], reach: Reach) -> Interval:
    """The lower end of the interval of one reach, and the upper end of that of another; NaN if either has no bounds.

    >>> both_ends(lambda reach: symmetric(1.0, 0.5, reach), (2.0, 4.0))
    (0.0, 3.0)
    """
    low, high = interval(reach[0])[0], interval(reach[1])[1]
    return NONE if math.isnan(low) or math.isnan(high) else (low, high)


def critical_value(null: Floats, level: float, exact: bool = False) -> float:
    """The value above which p ≤ level, by rank; infinite if so few relabellings allow no such p.

    ``null`` holds contrasts under B random relabellings, where p = (c + 1)/(B + 1) if c of them reach the observed
    contrast; or under all of them (``exact``), where p = c/B. An interval that reaches this many standard errors from
    the estimate excludes 0 exactly where p ≤ level.

    >>> critical_value(np.arange(1.0, 20.0), 0.1)  # of 19 values, 18 is the second largest: p = 2/20 above it
    18.0
    """
    # enumerated relabellings hold the observed one, which must itself lie above the value: one rank further in
    rank = math.floor(level * len(null) + 1e-9) + 1 if exact else math.floor(level * (len(null) + 1) + 1e-9)
    possible = rank > 1 if exact else rank > 0
    return float(np.sort(null)[-rank]) if possible and rank <= len(null) else math.inf


def t_quantile(level: float, freedom: float) -> float:
    """Quantile of Student's t."""
    return float(stdtrit(max(freedom, 1e-9), level))  # scipy.stats takes a second to import


def symmetric(difference: float, error: float, reach: float) -> Interval:
    """Difference ± reach · error.

    >>> symmetric(1.0, 0.5, 2.0)
    (0.0, 2.0)
    """
    return (difference - reach * error, difference + reach * error)


def of_log_ratio(real: float, generated: float, error: float, reach: float, plain: float) -> Interval:
    """Interval of generated − real, from the standard error of log(generated/real).

    The log ratio moves by δ; generated · exp(wδ) − real · exp(−(1 − w)δ) is the difference, which is 0 where the ratio
    is 1. The weight w, in [0, 1], is that for which the difference moves by its own standard error where the log ratio
    does: near 1 where generated text has most of the error.

    Parameters
    ----------
    plain
        Standard error of the difference itself.

    >>> low, high = of_log_ratio(10.0, 20.0, 0.1, 2.0, 2.0)  # all of the error is that of the 20
    >>> round(low, 2), round(high, 2)
    (6.37, 14.43)
    """
    weight = (plain / error - real) / (generated - real) if error and generated != real else 0.5
    weight = min(max(weight, 0.0), 1.0)
    ratio = math.log(generated / real)
    # at δ = −log ratio both terms are equal; from there, w and 1 − w share what the ends add
    middle = math.exp((1 - weight) * math.log(generated) + weight * math.log(real))
    # expm1 keeps the digits of ends near 0, so that a bound has the sign of the end of the log ratio
    low, high = (middle * (_grown(weight * end) - _grown((weight - 1) * end)) for end in symmetric(ratio, error, reach))
    return low, high


def _grown(x: float) -> float:
    """exp(x) − 1; beyond ±700, where floats end, its value there."""
    return math.expm1(min(max(x, -700.0), 700.0))


def sinh(x: float) -> float:
    """Hyperbolic sine; beyond ±700, where floats end, its value there.

    >>> sinh(0.0), sinh(-1e6) < -1e300
    (0.0, True)
    """
    return math.sinh(min(max(x, -700.0), 700.0))


def of_effect(effect: float, error: float, freedom: float, reach: float) -> Interval:
    """Interval of Hedges' g by inverting its test: |g − g₀| ≤ reach · √(error² + g₀²/(2·freedom)).

    The variance g₀²/(2·freedom) of the standard deviation that g is divided by (Hedges 1981, equation 6b) vanishes at
    g₀ = 0, so the interval excludes 0 exactly where the test of the difference does. NaN where it has no bounds, as
    with five documents: they say too little of the standard deviation.

    Parameters
    ----------
    error
        Standard error of the difference in pooled standard deviations.
    freedom
        Degrees of freedom of the pooled standard deviation.

    >>> [round(bound, 3) for bound in of_effect(0.5, 0.2, 48, 2.0)]
    [0.099, 0.944]
    """
    # squared, the condition is a g₀² − 2g g₀ + g² − reach² error² ≤ 0: an interval only where a > 0
    a = 1 - reach**2 / (2 * freedom)
    if not a > 0:
        return NONE
    root = math.sqrt(effect**2 - a * (effect**2 - reach**2 * error**2))  # not below 0, as a ≤ 1
    return (effect - root) / a, (effect + root) / a


def ratio_interval(
    size: tuple[float, float, float], band: tuple[float, float, float], correlation: float = 0.0
) -> tuple[float, float]:
    """Interval of a size ÷ band, from the interval of each: (estimate, low, high) with 0 ≤ low < high.

    The ends are the ratios r for which size − r · band has an interval that ends at 0 (method of variance estimates
    recovery; Zou & Donner 2008, Donner & Zou 2012).

    Parameters
    ----------
    correlation
        Of the errors of both; a negative one makes the interval wider, and a positive one is not relied on.

    >>> ratio_interval((2.0, 1.0, 3.0), (1.0, 1.0, 1.0))  # a band without an error
    (1.0, 3.0)
    >>> low, high = ratio_interval((2.0, 1.0, 3.0), (1.0, 0.5, 2.0))
    >>> round(low, 2), round(high, 2)
    (0.75, 4.43)
    """
    (estimate, low, high), (value, least, most) = size, band
    if least == value == most:
        return low / value, high / value
    estimate = min(max(estimate, low), high)  # a distance may be estimated outside of the interval of its test
    against = min(correlation, 0.0)
    return (
        _end(estimate, estimate - low, value, most - value, against, -1.0),
        _end(estimate, high - estimate, value, value - least, against, 1.0),
    )


def _end(size: float, margin: float, value: float, spread: float, correlation: float, side: float) -> float:
    """The root r of size − r value + side √(margin² + r² spread² − 2 correlation r margin spread) = 0."""
    # squared, the equation is a r² − 2 b r + c = 0; a ≤ 0 where the band is not sure to be above 0, and r has no bound
    a, c = value**2 - spread**2, size**2 - margin**2
    b = size * value - correlation * margin * spread
    root = math.sqrt(max(b**2 - a * c, 0.0))
    if side > 0:
        return (b + root) / a if a > 0 else math.inf
    # the smaller root (b − root)/a, in which digits would cancel
    return max(c, 0.0) / (b + root) if b + root > 0 else 0.0


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


CELLS = 1 << 17
"""Shares of each text that distances are computed of at a time."""
GUESSED = 1.2
"""The detectable shift is looked for up to this factor below and above that of a few pairs first."""
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
    p, q = (shares(side) for side in noise)  # (b, V) each
    middle = (p + q).mean(axis=0) / 2  # shares of both texts together, (V,)
    direction = _ordered(middle) if s.function is kolmogorov_smirnov else _alternating(middle)

    def distances(shift: float, one: Floats, other: Floats) -> Floats:
        move = shift / 2 * direction  # (V,); half of the shift from each text
        if s.function is kolmogorov_smirnov:  # F(1 − F) of both texts shrinks by 1 − gap² where F lies around ½
            kept = math.sqrt(max(1 - min(shift, 1.0) ** 2, 0.0))
            one, other = middle + kept * (one - middle), middle + kept * (other - middle)
        # a sum of gaps is right for negative counts too; other distances may not be
        least = -np.inf if s.function in SIGNED else 0.0
        return np.asarray(s.function(np.maximum(one - move, least), np.maximum(other + move, least)))

    def power(shift: float, pairs: int) -> float:
        # a few pairs at a time, which stay in the cache of the processor
        drawn = [distances(shift, p[i : i + step], q[i : i + step]) for i in range(0, pairs, step)]
        return float((np.concatenate(drawn) > critical).mean())

    step = max(CELLS // len(middle), 1)
    few = min(step, len(p))
    if not power(LARGEST, len(p)) >= POWER:
        return math.nan
    # a few pairs show where to look: power is below the aim at `known[0]`, and reaches it at `known[1]`
    guess = halved(lambda shift: power(shift, few) >= POWER, LARGEST) if few < len(p) else LARGEST
    known = [0.0, LARGEST]
    for shift in (guess / GUESSED, guess * GUESSED):
        if known[0] < shift < known[1]:
            known[power(shift, len(p)) >= POWER] = shift

    def reaches(shift: float) -> bool:
        return shift >= known[1] or (shift > known[0] and power(shift, len(p)) >= POWER)

    return float(distances(halved(reaches, LARGEST), middle[None], middle[None])[0])


def halved(reaches: Callable[[float], bool], high: float) -> float:
    """The smallest value at which something is reached that ``high`` reaches, and 0 does not, by halving.

    >>> round(halved(lambda x: x >= 0.3, 2.0), 3)
    0.3
    """
    low = 0.0
    while high - low > PRECISE * high:
        half = (low + high) / 2
        low, high = (low, half) if reaches(half) else (half, high)
    return high


def _ordered(middle: Floats) -> Floats:
    """A shift of ordered columns whose cumulative gap is 4F(1 − F), (V,)."""
    below = np.concatenate([[0.0], np.cumsum(middle)])  # F before each column and at the end, (V + 1,)
    return np.asarray(np.diff(-4 * below * (1 - below)))


def _alternating(middle: Floats) -> Floats:
    """A shift between alternate columns, in the order of their shares, with total variation 1, (V,)."""
    sign = np.empty(len(middle))
    # neighbours in size get opposite signs, so that both halves hold nearly the same mass
    sign[np.argsort(-middle, kind="stable")] = np.where(np.arange(len(middle)) % 2, -1.0, 1.0)
    up, down = (np.where(sign == s, middle, 0.0) for s in (1.0, -1.0))
    if not up.sum() or not down.sum():
        return np.zeros(len(middle))
    return np.asarray(up / up.sum() - down / down.sum())
