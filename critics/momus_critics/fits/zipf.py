"""The zeta distribution of ranks: maximum likelihood, and Kolmogorov–Smirnov distances of pooled counts.

Pooled counts are float arrays (B, V), one row per resample; each row is ranked by its own counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import zeta

from momus.numeric.types import Floats

BOUNDS = (1.0001, 20.0)
TRUNCATED_BOUNDS = (0.0, 20.0)
KEPT: deque[tuple[Floats, int | str, Any]] = deque(maxlen=12)
"""Ranked rows, and what was computed of them last: their shares up to a rank, their exponents, the same as integers."""
KEPT_CELLS = 1 << 18
"""Largest table that is kept: 2 MB."""


def log_normalizer(exponent: float, types: int | None = None) -> float:
    """log ζ(s), or the log of the sum of k^(−s) over ranks 1 … types.

    >>> round(log_normalizer(2.0), 4), round(log_normalizer(1.0, 3), 4)
    (0.4977, 0.6061)
    """
    if types is None:
        return float(np.log(zeta(exponent)))
    return float(np.log(np.exp(-exponent * np.log(np.arange(1, types + 1))).sum()))


def fit_exponent(counts: NDArray[np.generic], truncated: bool = False) -> float:
    """Maximum-likelihood exponent of the zeta distribution for word counts in any order.

    >>> round(fit_exponent(np.array([60, 20, 9, 5, 3])), 3)
    2.312
    """
    from scipy.optimize import minimize_scalar

    ordered = np.sort(np.asarray(counts, dtype=np.float64))[::-1]
    ordered = ordered[ordered > 0]
    mean_log = float(ordered @ np.log(np.arange(1, len(ordered) + 1)) / ordered.sum())
    types = len(ordered) if truncated else None
    optimum = minimize_scalar(
        lambda s: s * mean_log + log_normalizer(s, types),
        bounds=TRUNCATED_BOUNDS if truncated else BOUNDS,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(optimum.x)


@lru_cache(maxsize=1)
def _mean_log_table() -> tuple[Floats, Floats]:
    """Exponents, and the mean log rank −ζ'(s)/ζ(s) that each implies, for interpolation."""
    exponents = 1.0 + np.geomspace(1e-4, 19.0, 20_000)
    step = 1e-6 * (exponents - 1.0)
    # SciPy has no derivative of ζ; steps shrink towards the pole at 1
    slope = (np.log(zeta(exponents + step)) - np.log(zeta(exponents - step))) / (2 * step)
    return exponents, -slope


@lru_cache(maxsize=8)
def _log_ranks(n: int) -> Floats:
    """Logarithms of ranks 1 … n."""
    logs: Floats = np.log(np.arange(1, n + 1))
    logs.flags.writeable = False
    return logs


def ranked(pooled: Floats) -> Floats:
    """Sort each row in descending order; the functions below take ranked rows.

    >>> ranked(np.array([[2.0, 70_000.0, 3.0]])).tolist()
    [[70000.0, 3.0, 2.0]]
    """
    with np.errstate(invalid="ignore"):
        whole = pooled.astype(np.int32)
    if not np.array_equal(whole, pooled):  # fractions
        return np.sort(pooled, axis=1)[:, ::-1]
    # integers are sorted several times as fast as floats
    whole = np.sort(whole, axis=1)[:, ::-1]
    # a view of ascending floats, as the sort of fractions gives: sums then round alike
    ordered = whole[:, ::-1].astype(np.float64)[:, ::-1]
    if ordered.sum(axis=1).max() < 1 << 31:
        _once(ordered, "integers", lambda: whole)
    return ordered


def _once(ordered: Floats, what: int | str, compute: Callable[[], Any]) -> Any:
    """A number or table of ranked rows, from `KEPT` if it is there."""
    for rows, key, kept in tuple(KEPT):
        if rows is ordered and key == what:
            return kept
    value = compute()
    if ordered.size <= KEPT_CELLS:
        KEPT.append((ordered, what, value))
    return value


def exponents(ordered: Floats) -> Floats:
    """Maximum-likelihood exponent of each row; NaN for a single word, which any exponent above 1 fits."""

    def fitted() -> Floats:
        mean_log = ordered @ _log_ranks(ordered.shape[1]) / ordered.sum(axis=1)  # the sufficient statistic, (B,)
        grid, implied = _mean_log_table()
        return np.where(mean_log > 0, np.interp(mean_log, implied[::-1], grid[::-1]), np.nan)

    return np.asarray(_once(ordered, "exponents", fitted))


def shares_up_to(ordered: Floats, ranks: int) -> Floats:
    """Empirical cumulative distribution over the first ranks (over all if ``ranks`` is 0)."""

    def cumulated() -> Floats:
        # sums of integers are exact, and ten times as fast as those of floats
        whole = _once(ordered, "integers", lambda: ordered)
        head = whole[:, :ranks] if ranks else whole
        return np.asarray(np.cumsum(head, axis=1, dtype=whole.dtype) / ordered.sum(axis=1, keepdims=True))

    return np.asarray(_once(ordered, ranks, cumulated))


def ks_ranked(real: Floats, generated: Floats, ranks: int = 10_000) -> Floats:
    """D_p: the largest gap between two empirical rank distributions, each ranked by its own counts.

    >>> ks_ranked(np.array([[3.0, 1.0]]), np.array([[2.0, 2.0]]))
    array([0.25])
    """
    gap: Floats = np.abs(shares_up_to(real, ranks) - shares_up_to(generated, ranks)).max(axis=1)
    return gap


def law_shares(exponents_: Floats, n: int) -> Floats:
    """Cumulative distribution of laws at ranks 1 … n, (B, n)."""
    log_mass = -exponents_[:, None] * _log_ranks(n)
    return np.asarray(np.cumsum(np.exp(log_mass - np.log(zeta(exponents_))[:, None]), axis=1))


def ks_given_law(ordered: Floats, exponent: float, ranks: int = 10_000) -> Floats:
    """D_p̂: the largest gap between each row's rank distribution and one law, over the first ranks.

    Beyond a row's number of types its distribution is 1 and the gap only shrinks.
    """
    shares = shares_up_to(ordered, ranks)
    gap: Floats = np.abs(shares - _law(exponent, shares.shape[1])).max(axis=1)
    return gap


@lru_cache(maxsize=4)
def _law(exponent: float, n: int) -> Floats:
    """`law_shares` of one law, (1, n)."""
    return law_shares(np.array([exponent]), n)


def ks_own_law(ordered: Floats, ranks: int = 10_000) -> Floats:
    """D_pθ: the largest gap between each row's rank distribution and the law fitted on that row."""
    shares = shares_up_to(ordered, ranks)
    law = law_shares(exponents(ordered), shares.shape[1])
    gap: Floats = np.abs(shares - law).max(axis=1)
    return gap
