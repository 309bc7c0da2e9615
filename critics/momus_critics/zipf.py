"""The zeta distribution of ranks: maximum likelihood, and Kolmogorov–Smirnov distances on pooled counts.

Pooled counts are float arrays (B, V), one row a resample; a row is ranked by its own counts.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import zeta

Floats = NDArray[np.float64]
BOUNDS = (1.0001, 20.0)
TRUNCATED_BOUNDS = (0.0, 20.0)


def log_normalizer(exponent: float, types: int | None = None) -> float:
    """log ζ(s), or the log of the sum over ranks 1 … types.

    >>> round(log_normalizer(2.0), 4), round(log_normalizer(1.0, 3), 4)
    (0.4977, 0.6061)
    """
    if types is None:
        return float(np.log(zeta(exponent)))
    return float(np.log(np.exp(-exponent * np.log(np.arange(1, types + 1))).sum()))


def fit_exponent(counts: NDArray[np.generic], truncated: bool = False) -> float:
    """Maximum-likelihood exponent for counts given in the order of their ranks (any order is sorted first).

    >>> round(fit_exponent(np.array([60, 20, 9, 5, 3])), 3)
    2.312
    """
    ordered = np.sort(np.asarray(counts, dtype=np.float64))[::-1]
    ordered = ordered[ordered > 0]
    mean_log = float(ordered @ np.log(np.arange(1, len(ordered) + 1)) / ordered.sum())
    types = len(ordered) if truncated else None
    found = minimize_scalar(
        lambda s: s * mean_log + log_normalizer(s, types),
        bounds=TRUNCATED_BOUNDS if truncated else BOUNDS,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(found.x)


@lru_cache(maxsize=1)
def _mean_log_table() -> tuple[Floats, Floats]:
    """Exponents, and the mean log rank −ζ'(s)/ζ(s) that each implies (for interpolation)."""
    exponents = 1.0 + np.geomspace(1e-4, 19.0, 20_000)
    step = 1e-6 * (exponents - 1.0)
    slope = (np.log(zeta(exponents + step)) - np.log(zeta(exponents - step))) / (2 * step)
    return exponents, -slope


def ranked(pooled: Floats) -> Floats:
    """Each row in descending order."""
    return -np.sort(-pooled, axis=1)


def exponents(pooled: Floats, truncated: bool = False) -> Floats:
    """Maximum-likelihood exponent of each row."""
    if truncated:
        return np.array([fit_exponent(row, truncated=True) for row in pooled])
    ordered = ranked(pooled)
    return _exponents_of_ranked(ordered)


def _exponents_of_ranked(ordered: Floats) -> Floats:
    mean_log = ordered @ np.log(np.arange(1, ordered.shape[1] + 1)) / ordered.sum(axis=1)
    grid, implied = _mean_log_table()
    return np.asarray(np.interp(mean_log, implied[::-1], grid[::-1]))


def _shares(ordered: Floats, ranks: int) -> Floats:
    """Empirical cumulative distribution over the first ranks."""
    kept = ordered[:, :ranks] if ranks else ordered
    cumulated: Floats = np.cumsum(kept, axis=1) / ordered.sum(axis=1, keepdims=True)
    return cumulated


def ks_ranked(real: Floats, generated: Floats, ranks: int = 10_000) -> Floats:
    """D_p: largest gap between two empirical rank distributions, each ranked by itself.

    >>> ks_ranked(np.array([[3.0, 1.0]]), np.array([[2.0, 2.0]]))
    array([0.25])
    """
    gap: Floats = np.abs(_shares(ranked(real), ranks) - _shares(ranked(generated), ranks)).max(axis=1)
    return gap


def law_shares(exponent: float, n: int, types: int | None = None) -> Floats:
    """Cumulative distribution of the law at ranks 1 … n (flat beyond ``types``)."""
    ks = np.arange(1, n + 1)
    mass = np.exp(-exponent * np.log(ks) - log_normalizer(exponent, types))
    if types is not None:
        mass[types:] = 0.0
    return np.cumsum(mass)


def ks_given_law(pooled: Floats, exponent: float, types: int | None = None, ranks: int = 10_000) -> Floats:
    """D_p̂: largest gap between each row's rank distribution and a law, over the first ranks.

    Ranks beyond the number of types count too: there the row's distribution is 1.
    """
    shares = _shares(ranked(pooled), ranks)
    law = law_shares(exponent, shares.shape[1], types)
    gap: Floats = np.abs(shares - law).max(axis=1)
    return gap


def ks_own_law(pooled: Floats, ranks: int = 10_000, truncated: bool = False) -> Floats:
    """D_pθ: the same against the law fitted on the row itself."""
    ordered = ranked(pooled)
    shares = _shares(ordered, ranks)
    fitted = exponents(pooled, truncated=True) if truncated else _exponents_of_ranked(ordered)
    gaps = np.empty(len(pooled))
    for i, s in enumerate(fitted):
        types = int((ordered[i] > 0).sum()) if truncated else None
        gaps[i] = np.abs(shares[i] - law_shares(float(s), shares.shape[1], types)).max()
    return gaps
