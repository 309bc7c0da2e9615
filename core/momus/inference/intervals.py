"""Effect sizes, and intervals that agree with their test, from a difference, its error and a quantile of |T|."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from momus.inference.pooling import Rows
from momus.numeric.types import Floats


def hedges_factor(tables: Sequence[Rows], weights: Sequence[Floats]) -> tuple[float, float]:
    """What a difference of means or ratios is multiplied by to give Hedges' g; the degrees of freedom of the latter.

    g is the difference in pooled standard deviations of documents, with the small-sample factor 1 − 3/(4·df − 1)
    (Hedges 1981). Of a ratio of totals Σx/Σw = θ, a document deviates by (x − θw) over the mean of w. NaN where a
    standard deviation does not exist, or is 0 and the means differ; 0 where all is equal.

    Parameters
    ----------
    tables, weights
        Rows [x, w] of both texts, [value, 1] for means, and the weights of their documents.
    """
    squares, count, means = 0.0, 0.0, []
    for rows, w in zip(tables, weights, strict=True):
        x, size = np.asarray(rows, dtype=np.float64)[:, :2].T
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
        return (0.0 if abs(means[1] - means[0]) <= 1e-9 * scale else math.nan), freedom
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
    """The lower end of the interval of one reach, and the upper end of that of another.

    >>> both_ends(lambda reach: symmetric(1.0, 0.5, reach), (2.0, 4.0))
    (0.0, 3.0)
    """
    return interval(reach[0])[0], interval(reach[1])[1]


def critical_value(null: Floats, level: float, exact: bool = False) -> float:
    """The value above which p ≤ level, by rank; infinite if so few relabellings allow no such p.

    ``null`` holds contrasts under B random relabellings, where p = (c + 1)/(B + 1) if c of them reach the observed
    contrast; or under all of them (``exact``), where p = c/B. An interval that reaches this many standard errors from
    the estimate excludes 0 exactly where p ≤ level.

    >>> critical_value(np.arange(1.0, 20.0), 0.1)  # of 19 values, 18 is the second largest: p = 2/20 above it
    18.0
    """
    rank = math.floor(level * len(null) + 1e-9) + 1 if exact else math.floor(level * (len(null) + 1) + 1e-9)
    possible = rank > 1 if exact else rank > 0
    return float(np.sort(null)[-rank]) if possible and rank <= len(null) else math.inf


def t_quantile(level: float, freedom: float) -> float:
    """Quantile of Student's t."""
    from scipy.stats import t

    return float(t.ppf(level, max(freedom, 1e-9)))


def symmetric(difference: float, error: float, reach: float) -> Interval:
    """Difference ± reach · error.

    >>> symmetric(1.0, 0.5, 2.0)
    (0.0, 2.0)
    """
    return (difference - reach * error, difference + reach * error)


def of_log_ratio(real: float, generated: float, error: float, reach: float) -> Interval:
    """Interval of generated − real, from the standard error of log(generated/real).

    The geometric mean G of both values is held fixed: generated − real = 2G sinh(½ log(generated/real)).

    >>> low, high = of_log_ratio(10.0, 20.0, 0.1, 2.0)
    >>> round(low, 2), round(high, 2)
    (7.05, 13.06)
    """
    ratio, middle = math.log(generated / real), math.sqrt(generated * real)
    low, high = (2 * middle * sinh(bound / 2) for bound in symmetric(ratio, error, reach))
    return low, high


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
    a = 1 - reach**2 / (2 * freedom)
    if not a > 0:
        return NONE
    root = math.sqrt(effect**2 - a * (effect**2 - reach**2 * error**2))
    return (effect - root) / a, (effect + root) / a
