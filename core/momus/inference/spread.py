"""How far one group of human documents lies from another: the spread of a statistic between authors, books or sites.

Documents of K groups scatter for two reasons: groups differ, with standard deviation τ, and so do the documents of one
group. The values of groups scatter by both, so the second is taken off: what remains falls neither with K nor with the
number of documents. It is told as the 95 % quantile of the difference between two groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import gammaincinv

from momus.inference.intervals import t_quantile
from momus.numeric.types import Floats, Ints

CONFIDENCE = 0.95
PAIR = 1.959963984540054 * math.sqrt(2)
"""95 % of differences between two values of standard deviation 1 are smaller, if these are normal."""
LEAST = 0.1
"""Lower end of the interval of a spread, relative to the spread, so that what is divided by it stays finite."""
SPLITS = 4
"""Random halves of each group that are averaged."""
PAIRS = 400
"""Pairs of groups whose distance is measured, if there are so many."""
RESAMPLES = 199
SURE = 0.5
"""Largest standard error of the logarithm of a group's ratio with which logarithms of groups are compared."""
MOST_GROUPS = 256
"""Groups whose halves are compared, drawn at random from more."""
Form = Literal["linear", "square"]


@dataclass(frozen=True)
class Spread:
    """The distance that 95 % of pairs of groups do not exceed.

    Attributes
    ----------
    value
        0 where groups are not seen to differ.
    low, high
        95 % interval.
    groups
        Groups it was estimated from.
    error
        Standard error of the mean of the groups.
    correlation
        Of the errors of that mean and of the spread: groups on the long side of a skewed distribution raise both.
    """

    value: float
    low: float
    high: float
    groups: int
    error: float = 0.0
    correlation: float = 0.0


def is_seen(value: float, low: float | None) -> bool:
    """Whether groups are seen to differ by a spread: the lower end of its interval is above the least that it can be.

    >>> is_seen(0.06, 0.006), is_seen(0.06, 0.02)
    (False, True)
    """
    return low is not None and low > LEAST * value * (1 + 1e-3)  # the atlas has four digits


def between(values: Floats, variances: Floats, freedom: float) -> Spread:
    """The spread of K values, each known with an error.

    τ² solves Σ (θ − μ)²/(τ² + v) = median of χ² with K − 1 degrees of freedom: the estimator of Paule & Mandel (1982),
    without a bias of the median. The ends of the interval solve it for the quantiles of χ² (Viechtbauer 2007), with
    fewer degrees of freedom where values have heavier tails than a normal distribution (Box 1953), and are moved apart
    by the uncertainty of the variances (Zou & Donner 2008).

    Parameters
    ----------
    values, variances
        θ of each group and v, the variance of its error: (K,) each.
    freedom
        Degrees of freedom of the variances.

    >>> rng = np.random.default_rng(0)
    >>> spread = between(rng.normal(0, 2, 400) + rng.normal(0, 1, 400), np.ones(400), 1e6)
    >>> abs(spread.value / PAIR - 2) < 0.2, spread.low / PAIR < 2 < spread.high / PAIR
    (True, True)
    """
    k = len(values)
    tau2 = _solved(values, variances, _chi2_quantile(0.5, k - 1))
    total = tau2 + variances  # (K,)
    # a group known exactly, where groups do not differ, would have an infinite weight
    weights = 1 / np.where(total > 0, total, 1.0)
    mean = float(weights @ values / weights.sum())
    nu, correlation = _tails((values - mean) * np.sqrt(weights))
    tail = (1 - CONFIDENCE) / 2
    low, high = (_solved(values, variances, (k - 1) * _chi2_quantile(q, nu) / nu) for q in (1 - tail, tail))
    # variance of the error of a value, averaged with the weights that the values have, and its interval
    error = max(k / float(weights.sum()) - tau2, 0.0)
    least, most = (error * freedom / _chi2_quantile(q, freedom) for q in (1 - tail, tail))
    low = max(tau2 - math.hypot(tau2 - low, most - error), 0.0)
    high = tau2 + math.hypot(high - tau2, error - least)
    value = PAIR * math.sqrt(tau2)
    error = 1 / math.sqrt(float(weights.sum()))
    low, high = max(PAIR * math.sqrt(low), LEAST * value), PAIR * math.sqrt(high)
    return Spread(value, low, high, k, error, correlation)


def _chi2_quantile(level: float, freedom: float) -> float:
    return 2 * float(gammaincinv(freedom / 2, level))


def _solved(values: Floats, variances: Floats, target: float) -> float:
    """τ² for which Σ (θ − μ)²/(τ² + v) is the target; 0 if it is smaller without any τ."""
    from scipy.optimize import brentq

    squares = float(((values - values.mean()) ** 2).sum())
    # groups that are equal but for rounding: the equation would be solved for that rounding
    if squares <= 1e-24 * max(float((values**2).max(initial=0.0)), 1e-300):
        return 0.0

    def excess(tau2: float) -> float:
        w = 1 / (tau2 + variances)
        return float(w @ (values - float(w @ values) / float(w.sum())) ** 2) - target

    floor = 1e-9 * squares / len(values)
    # the sum falls with τ², and is below the target at twice Σ(θ − θ̄)² ÷ target
    return 0.0 if excess(floor) <= 0 else float(brentq(excess, floor, 2 * squares / target, rtol=1e-9))


def _tails(z: Floats) -> tuple[float, float]:
    """Degrees of freedom of the variance of K standardised values, and the correlation of its error with the mean's.

    K − 1, fewer for a kurtosis above the normal one; skewness ÷ √(kurtosis − 1), 0 for normal values.
    """
    k = len(z)
    squares = float((z**2).sum()) / k
    if not squares or k < 4:
        return k - 1.0, 0.0
    skewness = float((z**3).mean()) / squares**1.5 * math.sqrt(k * (k - 1)) / (k - 2)
    excess = float((z**4).mean()) / squares**2 * (k + 1) / (k - 1) - 3  # 0 on average for normal values
    # small samples of skewed values hide their kurtosis, which for gamma distributions is 3/2 of squared skewness
    excess = max(excess, 1.5 * (skewness**2 - 6 * k * (k - 1) / ((k - 2) * (k + 1) * (k + 3))), 0.0)
    # kurtosis is at least 1 + skewness², so that a correlation stays within ±1
    correlation = skewness / math.sqrt(max(excess + 2, skewness**2))
    return (k - 1) / (1 + excess / 2 * (k - 1) / k), correlation


def of_ratios(rows: Floats, numbers: Ints, log: bool = False) -> Spread | None:
    """The spread of Σx/Σw between groups of documents with rows [x, w]; None if too few hold two documents.

    The rate x/w of a document of length w has the same variance in all groups, and any mean: a group has the variance
    of the rate ÷ its effective number of documents.

    Parameters
    ----------
    numbers
        The group of each document, from 0.
    log
        Whether logarithms of ratios are compared. Where those of all groups are known to within `SURE`, the spread is
        that of logarithms, and rates of documents have the same relative variance in all groups. Else a ratio of
        standard deviation c times its mean has a logarithm of standard deviation √log(1 + c²) if it is log-normal; so
        groups without any x count too.
    """
    x, w = np.asarray(rows, dtype=np.float64).T  # (n,) each
    k = int(numbers.max()) + 1
    sums, weights, squares, cubes = (np.bincount(numbers, v, k) for v in (x, w, w**2, w**3))  # (K,) each
    held = weights > 0
    safe = np.where(held, weights, 1.0)
    ratios = sums / safe
    residuals = np.bincount(numbers, (x - ratios[numbers] * w) ** 2, k)
    # expected sum of squared residuals of a group, in variances of the rate
    expected = squares - 2 * cubes / safe + squares**2 / safe**2
    # a group of one document, or with one that has all the weight, has no residual, and nothing to say of the rate
    several = held & (expected > 1e-9 * squares)
    freedom = float((np.bincount(numbers, minlength=k) - 1)[several].sum())
    if several.sum() < 2 or freedom < 4:
        return None
    rate = float(residuals[several].sum() / expected[several].sum())
    values, parts = ratios[held], squares[held] / weights[held] ** 2
    mean = float(sums.sum() / weights.sum())
    # errors of the logarithms if variances grow with the ratio, as those of counts do
    if log and (values > 0).all() and (rate * parts / (mean * values)).max() <= SURE**2:
        relative = float((residuals[several] / ratios[several] ** 2).sum() / expected[several].sum())
        return between(np.log(values), relative * parts, freedom)
    spread = between(values, rate * parts, freedom)
    if not log:
        return spread
    if not mean > 0:
        return None
    scaled = [PAIR * math.sqrt(math.log1p((v / PAIR / mean) ** 2)) for v in (spread.value, spread.low, spread.high)]
    return replace(spread, value=scaled[0], low=scaled[1], high=scaled[2], error=spread.error / mean)


@dataclass(frozen=True)
class Halves:
    """Random halves of groups of documents, of equal size in all groups.

    Attributes
    ----------
    documents
        Documents of a half, h.
    groups
        Numbers of the groups with 2h documents or more.
    parts
        For each split, the half of each document: 2g or 2g + 1 for the g-th of these groups, −1 for none: (splits, n).
    """

    documents: int
    groups: Ints
    parts: Ints

    @classmethod
    def of(cls, numbers: Ints, least: int, seed: Sequence[int]) -> Halves | None:
        """Halves as large as half of the groups of two documents or more (and ``least`` of them) can give.

        None if there are fewer groups.
        """
        sizes = np.bincount(numbers)
        sizes = np.sort(sizes[sizes > 1])[::-1]
        if len(sizes) < least:
            return None
        h = int(sizes[max(least, -(-len(sizes) // 2)) - 1]) // 2
        rng, parts = np.random.default_rng(list(seed)), []
        groups = rng.permutation(np.flatnonzero(np.bincount(numbers) >= 2 * h))[:MOST_GROUPS]
        place = np.full(int(numbers.max()) + 1, -1)
        place[groups] = np.arange(len(groups))
        for _ in range(SPLITS):
            order = rng.permutation(len(numbers))
            order = order[np.argsort(numbers[order], kind="stable")]
            # rank of each document within its group, in random order
            starts = np.searchsorted(numbers[order], np.arange(len(place)))
            rank = np.empty(len(numbers), dtype=np.int64)
            rank[order] = np.arange(len(numbers)) - starts[numbers[order]]
            parts.append(np.where((rank < 2 * h) & (place[numbers] >= 0), 2 * place[numbers] + (rank >= h), -1))
        return cls(h, groups, np.array(parts))


def of_values(values: Floats) -> Spread | None:
    """The spread between groups of a value of a half of each, measured for random halves: (splits, groups, 2)."""
    kept = np.isfinite(values).all(axis=(0, 2))
    values = values[:, kept]
    k = values.shape[1]
    if k < 4:
        return None
    # variance of the mean of both halves, if documents are independent within a group
    error = float(((values[..., 0] - values[..., 1]) ** 2).mean()) / 4
    return between(values.mean(axis=(0, 2)), np.full(k, error), float(k))


def circulant(k: int) -> tuple[Ints, Ints]:
    """Pairs of K groups: all, or as many with every group as often as any other.

    >>> [len(circulant(k)[0]) for k in (4, 256)]
    [6, 512]
    """
    if k * (k - 1) // 2 <= PAIRS:
        one, other = np.triu_indices(k, 1)
        return one, other
    steps = np.unique(np.linspace(1, (k - 1) // 2, -(-PAIRS // k)).astype(np.int64))
    one = np.tile(np.arange(k), len(steps))
    return one, (one + np.repeat(steps, k)) % k


def of_distances(distance: Callable[[int, Ints, Ints], Floats], k: int, form: Form, seed: Sequence[int]) -> Spread:
    """The spread of K groups by a distance without sign: the 95 % quantile of that between two groups.

    Halves of two groups are farther apart than the groups, and so are both halves of one. What chance adds is taken
    off: in squares for distances that grow linearly with the difference, which is right where the differences of groups
    and those of samples of them are distributed alike.

    Parameters
    ----------
    distance
        Distances between halves in a split, from its number and two arrays of numbers of halves: half j of group g is
        number 2g + j.
    form
        Whether the distance grows with the difference of shares or with its square.
    """
    one, other = circulant(k)
    groups = np.arange(k)
    # each split has other halves; two of the four pairs of halves suffice
    across = np.column_stack([distance(split, 2 * one, 2 * other + split % 2) for split in range(SPLITS)])
    within = np.column_stack([distance(split, 2 * groups, 2 * groups + 1) for split in range(SPLITS)])
    defined = np.asarray(np.isfinite(within).all(axis=1))
    kept = np.isfinite(across).all(axis=1) & defined[one] & defined[other]
    if not kept.any():
        return Spread(0.0, 0.0, 0.0, 0)
    power = 2.0 if form == "linear" else 1.0
    squares = _Squares(one[kept], other[kept], across[kept] ** power, np.where(defined[:, None], within, 0.0) ** power)
    k, here = int(defined.sum()), float(squares(defined[:, None].astype(np.float64))[0])
    drawn = np.random.default_rng([*seed, 1]).multinomial(k, defined / k, RESAMPLES).T.astype(np.float64)  # (K, B)
    resampled = squares(drawn)
    resampled = resampled[np.isfinite(resampled)]
    error = float(resampled.std(ddof=1)) * math.sqrt(k / max(k - 1, 1)) if len(resampled) > 1 else math.inf
    if not here > 0 or not math.isfinite(error):
        return Spread(0.0, 0.0, 0.0, k)
    value, low, high = (x ** (1 / power) for x in _positive(here, error, k))
    return Spread(value, max(low, LEAST * value), high, k)


class _Squares:
    """Squares of distances of pairs of groups (pairs, splits), and of the halves of each group (K, splits)."""

    def __init__(self, one: Ints, other: Ints, across: Floats, within: Floats) -> None:
        self.one, self.other = one, other
        self.across, self.within = across.mean(axis=1), within.mean(axis=1)
        # sorted once, so that the weighted quantile of each resample is a cumulative sum
        order = np.argsort(across, axis=None)
        self.sizes, self.pair = across.ravel()[order], np.repeat(np.arange(len(one)), across.shape[1])[order]

    def __call__(self, weights: Floats) -> Floats:
        """The square of the spread under weights of groups, (K, B): (B,); NaN where one group has all the weight."""
        of_pairs = weights[self.one] * weights[self.other]  # (pairs, B); a group drawn twice pairs twice with others
        steps = np.cumsum(of_pairs[self.pair], axis=0)  # (pairs · splits, B), distances ascending
        quantile = self.sizes[(steps < CONFIDENCE * steps[-1]).sum(axis=0)]  # (B,)
        with np.errstate(divide="ignore", invalid="ignore"):
            across = self.across @ of_pairs / of_pairs.sum(axis=0)  # (B,)
            return np.asarray(quantile * (1 - self.within @ weights / weights.sum(axis=0) / across))


def _positive(here: float, error: float, k: int) -> tuple[float, float, float]:
    """An estimate with its interval: of a variance, by χ², and no shorter below than that of a normal estimate."""
    tail = (1 - CONFIDENCE) / 2
    nu = min(max(2 * (here / error) ** 2, 1.0), k - 1.0) if error else k - 1.0
    low, high = (here * nu / _chi2_quantile(q, nu) for q in (1 - tail, tail))
    return here, max(min(low, here - t_quantile(1 - tail, k - 1) * error), 0.0), high
