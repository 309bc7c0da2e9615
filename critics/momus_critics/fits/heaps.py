"""Poisson regression of types on tokens, v ~ Poisson(α t^β), on documents and on pooled rows.

The likelihood needs Σ v, Σ v log t and S(β) = Σ t^β only. S is kept at Chebyshev nodes in β; log S is smooth and
convex, so its derivative is known between them, and the maximum is where d log S/dβ = Σ v log t / Σ v.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from momus.numeric.types import Floats

LOW, HIGH = 0.0, 1.6
NODES = 20
LEAST = 20
"""Documents of each text in a bin of lengths."""


def fit(tokens: NDArray[np.int64], types: NDArray[np.int64]) -> tuple[float, float]:
    """Maximum-likelihood α and β.

    Documents of one length only leave β open: it is then 1.

    >>> t = np.arange(1, 400)
    >>> a, b = fit(t, np.round(2.0 * t**0.7).astype(int))
    >>> round(a, 1), round(b, 2)
    (2.0, 0.7)
    """
    from scipy.optimize import brentq

    t, v = np.asarray(tokens, dtype=np.float64), np.asarray(types, dtype=np.float64)
    if len(np.unique(t)) < 2:
        return float(v.sum() / t.sum()), 1.0
    log_t = np.log(t)
    target = float(v @ log_t / v.sum())

    def gradient(beta: float) -> float:
        weight = np.exp(beta * (log_t - log_t.max()))
        return float(weight @ log_t / weight.sum()) - target

    beta = float(brentq(gradient, -5.0, 5.0, xtol=1e-12))
    return float(v.sum() / np.exp(beta * log_t).sum()), beta


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats, Floats, Floats]:
    """Nodes in β, a fine grid, and the matrices that take log S at the nodes to log S and its slope on the grid."""
    x = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    fine = np.linspace(-1, 1, 4001)
    inverse = np.linalg.inv(chebyshev.chebvander(x, NODES - 1))
    slope = chebyshev.chebval(fine, chebyshev.chebder(np.eye(NODES)), tensor=True).T
    scale = 2 / (HIGH - LOW)
    beta = LOW + (x + 1) * (HIGH - LOW) / 2
    grid = LOW + (fine + 1) * (HIGH - LOW) / 2
    return beta, grid, chebyshev.chebvander(fine, NODES - 1) @ inverse, (slope @ inverse) * scale


def features(tokens: NDArray[np.int64], types: NDArray[np.int64]) -> Floats:
    """Rows whose sums are sufficient: [v, v log t, t^β at each node], float64 (n, 2 + nodes)."""
    t = tokens.astype(np.float64)
    powers = t[:, None] ** _nodes()[0]
    return np.column_stack([types, types * np.log(t), powers])


def betas(pooled: Floats) -> Floats:
    """Maximum-likelihood β of each row, within [0, 1.6]."""
    return _solve(pooled)[0]


def alphas(pooled: Floats) -> Floats:
    """Maximum-likelihood α of each row."""
    _beta, log_s = _solve(pooled)
    return np.asarray(pooled[:, 0] / np.exp(log_s))


def _solve(pooled: Floats) -> tuple[Floats, Floats]:
    _, grid, values, slopes = _nodes()
    log_s = np.log(pooled[:, 2:])
    slope = log_s @ slopes.T
    slope = np.maximum.accumulate(slope, axis=1)
    target = pooled[:, 1] / pooled[:, 0]
    beta = np.array([np.interp(y, row, grid) for y, row in zip(target, slope, strict=True)])
    curve = log_s @ values.T
    return beta, np.array([np.interp(b, grid, row) for b, row in zip(beta, curve, strict=True)])


def bins(tokens: NDArray[np.int64], most: int = 24) -> NDArray[np.int64]:
    """Edges of bins of lengths that hold about equally many documents."""
    return np.unique(np.quantile(tokens, np.linspace(0, 1, most + 1), method="higher"))


def binned_means(tokens: NDArray[np.int64], types: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Mean length and mean number of types in each bin."""
    edges = bins(tokens)
    place = np.searchsorted(edges[1:-1], tokens, side="right") if len(edges) > 2 else np.zeros(len(tokens), np.int64)
    n = np.bincount(place)
    kept = n > 0
    t, v = np.bincount(place, tokens)[kept] / n[kept], np.bincount(place, types)[kept] / n[kept]
    return t, v


def distances_by_length(
    real: tuple[NDArray[np.int64], NDArray[np.int64]],
    generated: tuple[NDArray[np.int64], NDArray[np.int64]],
    real_law: tuple[float, float],
    own_law: tuple[float, float],
) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """D_p, D_p̂ and D_pθ of generated documents in bins of length, with the bins' mean lengths.

    Within a bin lengths still differ a little, so each document's types are first turned into their (mid-)probability
    under a law: under the real law for D_p (then compared between the texts) and D_p̂ (then with uniform), under the own
    law for D_pθ.
    """
    from scipy.stats import ks_2samp, kstest

    edges = bins(np.concatenate([real[0], generated[0]]))
    lengths, out = [], []
    for low, high in itertools.pairwise(edges):
        inside = [(t >= low) & ((t < high) | (high == edges[-1])) for t, _ in (real, generated)]
        if min(i.sum() for i in inside) < LEAST:
            continue
        a = _middle(real[0][inside[0]], real[1][inside[0]], real_law)
        b = _middle(generated[0][inside[1]], generated[1][inside[1]], real_law)
        c = _middle(generated[0][inside[1]], generated[1][inside[1]], own_law)
        lengths.append(float(generated[0][inside[1]].mean()))
        out.append((ks_2samp(a, b).statistic, kstest(b, "uniform").statistic, kstest(c, "uniform").statistic))
    table = np.array(out, dtype=np.float64).reshape(-1, 3)
    return np.array(lengths), (table[:, 0], table[:, 1], table[:, 2])


def _middle(tokens: NDArray[np.int64], types: NDArray[np.int64], law: tuple[float, float]) -> Floats:
    from scipy.stats import poisson

    mean = law[0] * tokens.astype(np.float64) ** law[1]
    return np.asarray(poisson.cdf(types, mean) - poisson.pmf(types, mean) / 2)
