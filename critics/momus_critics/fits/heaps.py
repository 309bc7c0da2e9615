"""Poisson regression of types on tokens, v ~ Poisson(α t^β), for documents and for pooled rows.

The likelihood depends on Σ v, Σ v log t and S(β) = Σ t^β only. S is stored at Chebyshev nodes in β. Because log S is
smooth and convex, its derivative can be interpolated; the maximum is where d log S/dβ = Σ v log t / Σ v.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev

from momus.numeric.types import Floats, Ints

LOW, HIGH = 0.0, 1.6
"""Range of β for pooled rows."""
NODES = 20
"""Chebyshev nodes in β."""
ALIKE = 1e-6
"""Change of the mean log length over the range of β, relative to it, up to which all documents count as one length."""
MOST_BINS = 24
"""Most bins of lengths."""
MIN_DOCUMENTS = 20
"""Fewest documents of each text per bin of lengths."""


def fit(tokens: Ints, types: Ints) -> tuple[float, float]:
    """Maximum-likelihood α and β.

    If all documents have the same length, β is not determined and set to 1.

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
        # t^β relative to the longest document: no overflow at β = 5
        weight = np.exp(beta * (log_t - log_t.max()))
        return float(weight @ log_t / weight.sum()) - target

    beta = float(brentq(gradient, -5.0, 5.0, xtol=1e-12))
    return float(v.sum() / np.exp(beta * log_t).sum()), beta


@lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Floats, Floats]:
    """Nodes in β, a fine grid, and the matrix that takes log S at the nodes to its slope on the grid."""
    # nodes and fine grid on [-1, 1]; `inverse` takes values at the nodes to Chebyshev coefficients, (nodes, nodes)
    x = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    fine = np.linspace(-1, 1, 4001)
    inverse = np.linalg.inv(chebyshev.chebvander(x, NODES - 1))
    slope = chebyshev.chebval(fine, chebyshev.chebder(np.eye(NODES)), tensor=True).T
    scale = 2 / (HIGH - LOW)
    beta = LOW + (x + 1) * (HIGH - LOW) / 2
    grid = LOW + (fine + 1) * (HIGH - LOW) / 2
    return beta, grid, (slope @ inverse) * scale


def features(tokens: Ints, types: Ints) -> Floats:
    """Rows whose sums are sufficient statistics: [v, v log t, t^β at each node], float64 (n, 2 + nodes)."""
    t = tokens.astype(np.float64)
    powers = t[:, None] ** _nodes()[0]
    return np.column_stack([types, types * np.log(t), powers])


def betas(pooled: Floats) -> Floats:
    """Maximum-likelihood β of each row, within [0, 1.6]; NaN where all documents have the same length."""
    _, grid, slopes = _nodes()
    log_s = np.log(pooled[:, 2:])  # (rows, nodes)
    # d log S/dβ on the fine grid, (rows, grid); made monotone against rounding, then inverted by interpolation
    slope = log_s @ slopes.T
    slope = np.maximum.accumulate(slope, axis=1)
    target = pooled[:, 1] / pooled[:, 0]  # Σ v log t / Σ v, (rows,)
    beta = np.array([np.interp(y, row, grid) for y, row in zip(target, slope, strict=True)])
    # where all logarithms of lengths are equal, their weighted mean is the same for every β
    beta[np.ptp(slope, axis=1) <= ALIKE * np.abs(target)] = np.nan
    return beta


def bins(tokens: Ints, most: int = MOST_BINS) -> Ints:
    """Edges of at most ``most`` bins of lengths with roughly equal numbers of documents."""
    return np.unique(np.quantile(tokens, np.linspace(0, 1, most + 1), method="higher"))


def binned_means(tokens: Ints, types: Ints) -> tuple[Floats, Floats]:
    """Mean length and mean number of types in each non-empty bin."""
    edges = bins(tokens)
    bin_ = np.searchsorted(edges[1:-1], tokens, side="right") if len(edges) > 2 else np.zeros(len(tokens), np.int64)
    n = np.bincount(bin_)
    used = n > 0
    t, v = np.bincount(bin_, tokens)[used] / n[used], np.bincount(bin_, types)[used] / n[used]
    return t, v


def distances_by_length(
    real: tuple[Ints, Ints],
    generated: tuple[Ints, Ints],
    real_law: tuple[float, float],
    own_law: tuple[float, float],
) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """D_p, D_p̂ and D_pθ of generated documents in bins of length, with the bins' mean lengths.

    Lengths vary slightly within a bin. D_p therefore compares the texts by the cumulative (mid-)probability of each
    document's number of types under the real law. D_p̂ and D_pθ are the largest gaps between the empirical cdf of the
    numbers of types and that of the law, which is the mean of the Poisson cdfs of the documents' lengths: the cdf of
    the real law for D_p̂, of the generated text's own law for D_pθ.
    """
    from scipy.stats import ks_2samp

    # as few bins as it takes for about 2 · MIN_DOCUMENTS documents of each text in a bin
    most = min(len(real[0]), len(generated[0])) // (2 * MIN_DOCUMENTS)
    edges = bins(np.concatenate([real[0], generated[0]]), min(max(most, 1), MOST_BINS))
    lengths, distances = [], []
    for low, high in itertools.pairwise(edges):
        inside = [(t >= low) & ((t < high) | (high == edges[-1])) for t, _ in (real, generated)]
        if min(i.sum() for i in inside) < MIN_DOCUMENTS:
            continue
        a = _middle(real[0][inside[0]], real[1][inside[0]], real_law)
        b = _middle(generated[0][inside[1]], generated[1][inside[1]], real_law)
        tokens, types = generated[0][inside[1]], generated[1][inside[1]]
        lengths.append(float(tokens.mean()))
        laws = (gap_to_law(tokens, types, law) for law in (real_law, own_law))
        distances.append((ks_2samp(a, b).statistic, *laws))
    table = np.array(distances, dtype=np.float64).reshape(-1, 3)
    return np.array(lengths), (table[:, 0], table[:, 1], table[:, 2])


def gap_to_law(tokens: Ints, types: Ints, law: tuple[float, float]) -> float:
    """Kolmogorov–Smirnov distance between numbers of types and a law (α, β), both discrete (Meister & Cotterell 2021).

    The reference cdf is the mean over documents of the Poisson cdfs at their lengths, so that the distance tends to 0
    where the law holds, whatever the lengths.

    >>> round(gap_to_law(np.array([4, 4]), np.array([1, 2]), (0.5, 1.0)), 3)  # P(V ≤ 0) = 0.135, P(V ≤ 2) = 0.677
    0.323
    """
    from scipy.stats import poisson

    length, documents = np.unique(tokens, return_counts=True)
    mean = law[0] * length.astype(np.float64) ** law[1]
    observed, count = np.unique(types, return_counts=True)
    after = np.cumsum(count) / len(types)  # (v,): empirical cdf at each observed number of types
    before = np.append(0.0, after[:-1])
    # between two observed values the empirical cdf is level and the law's rises: the gap is largest at either end
    at, below = (documents @ poisson.cdf(v, mean[:, None]) / len(tokens) for v in (observed, observed - 1))
    return float(max(np.abs(after - at).max(), np.abs(below - before).max()))


def _middle(tokens: Ints, types: Ints, law: tuple[float, float]) -> Floats:
    """P(V < v) + ½ P(V = v) of each document under a law (α, β)."""
    from scipy.stats import poisson

    mean = law[0] * tokens.astype(np.float64) ** law[1]
    return np.asarray(poisson.cdf(types, mean) - poisson.pmf(types, mean) / 2)
