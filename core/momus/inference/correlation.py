"""Rank correlations: full, and partial given controls and strata."""

from __future__ import annotations

import numpy as np
from scipy import stats

from momus.numeric.types import Floats, Ints


def spearman(x: Floats, y: Floats) -> float:
    """Rank correlation (ties get mean ranks); NaN where either is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 9.0]))
    1.0
    """
    return pearson(stats.rankdata(x), stats.rankdata(y))


def partial_spearman(x: Floats, y: Floats, controls: Floats, strata: Ints | None = None) -> float:
    """Correlation of the residuals of the ranks of x and y after linear regression on the ranks of the controls.

    Parameters
    ----------
    x, y
        (n,)
    controls
        (n, k)
    strata
        (n,). Numbers from 0; ranks are centred within each stratum first, so that only differences within strata count.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=400)
    >>> x, y = z + rng.normal(size=400), z + rng.normal(size=400)
    >>> spearman(x, y) > 0.4, abs(partial_spearman(x, y, z[:, None])) < 0.1
    (True, True)
    """
    ranks = stats.rankdata(np.column_stack([x, y, controls]), axis=0)
    if strata is None:
        left = residuals(ranks[:, :2], np.column_stack([np.ones(len(x)), ranks[:, 2:]]))
    else:
        centred = within(ranks, strata, np.ones(len(x)))
        left = residuals(centred[:, :2], centred[:, 2:])
    return pearson(left[:, 0], left[:, 1])


def within(values: Floats, strata: Ints, weights: Floats) -> Floats:
    """Values (n, k) less the weighted mean of their stratum.

    >>> within(np.array([[1.0], [3.0], [9.0]]), np.array([0, 0, 1]), np.ones(3)).ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    total = np.bincount(strata, weights)
    sums = np.column_stack([np.bincount(strata, weights * column) for column in values.T])
    return np.asarray(values - (sums / np.maximum(total, 1e-300)[:, None])[strata])


def residuals(values: Floats, design: Floats) -> Floats:
    """Residuals of the least-squares regression of each column on a design (n, p), which may be rank-deficient."""
    if not design.shape[1]:
        return values
    u, s, _ = np.linalg.svd(design, full_matrices=False)
    basis = u[:, s > 1e-10 * max(float(s.max(initial=0.0)), 1e-300)]
    return np.asarray(values - basis @ (basis.T @ values))


def pearson(x: Floats, y: Floats) -> float:
    """Correlation of products of moments; NaN where either is constant."""
    dx, dy = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((dx @ dx) * (dy @ dy)))
    return float(dx @ dy) / scale if scale > 1e-9 else float("nan")
