"""Sizes that hold after selection: of many estimates, the one that is told first is the largest, and so too large.

Three numbers say how much, for estimates with standard errors in one unit, whichever of them is told first.

* *Optimism*: how many standard errors the largest estimate lies above what it estimates, on average. Sizes are drawn
  anew around shrunk ones (a parametric bootstrap), whose distribution is estimated from all of them (the
  non-parametric maximum likelihood of Kiefer & Wolfowitz 1956). Around the estimates themselves, which scatter more
  than what they estimate, too little would be taken off.
* *Candidates*: of how many estimates each might have been chosen, which divide the level of the end of its interval
  that is nearer to 0: all those that may be larger by simultaneous intervals of a small part of the level (Zrnic &
  Fithian 2024). Where one is clearly largest, there is nothing to pay for.
* The end that is farther from 0 needs no correction: selection makes estimates larger, not smaller (Benjamini,
  Hechtlinger & Stark 2019).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from momus.numeric.types import Bools, Floats

GRID, STEPS, DRAWS = 41, 60, 400
"""Sizes that the distribution of sizes may have, steps of its estimation, and draws around shrunk sizes."""
SPENT = 0.1
"""Part of the level that the choice of candidates takes."""
_DRAWS = 11
"""Number that keeps the random stream of the draws apart."""


def shrunk(sizes: Floats, errors: Floats, signed: Bools) -> Floats:
    """Posterior means of sizes, (A,), under the distribution of all sizes, which is estimated from them.

    Parameters
    ----------
    sizes, errors
        Estimated sizes |θ| and their standard errors, (A,) each.
    signed
        Whether an estimate has a sign, which its size does not tell, (A,).

    >>> sizes = np.array([0.1, 0.3, 0.5, 0.2, 0.4])
    >>> shrunk(sizes, np.full(5, 0.2), np.ones(5, dtype=bool)).round(1).tolist()
    [0.3, 0.3, 0.3, 0.3, 0.3]
    """
    grid = np.linspace(0.0, float(sizes.max(initial=0.0)), GRID)
    spread = np.maximum(errors, 1e-9 * grid[-1] + 1e-300)[:, None]
    near, far = (-0.5 * ((sizes[:, None] - sign * grid) / spread) ** 2 for sign in (1, -1))  # (A, GRID)
    top = near.max(axis=1, keepdims=True)
    likelihood = np.exp(near - top) + np.where(signed[:, None], np.exp(far - top), 0.0)
    weights = np.full(GRID, 1 / GRID)
    for _ in range(STEPS):
        posterior = likelihood * weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        weights = posterior.mean(axis=0)
    # sizes that are known better than to the step of the grid stay as they are
    return np.where(errors < (grid[1] - grid[0]) / 2, np.maximum(sizes, 0.0), posterior @ grid)


def optimism(sizes: Floats, errors: Floats, signed: Bools, weights: Floats, seed: int = 0) -> Floats:
    """How many standard errors each size would lie above what it estimates if it were chosen as the largest, (A,).

    On average, and as the largest of those that are no larger: of larger ones, another reason must have set them aside.

    Parameters
    ----------
    weights
        What each size counts where the largest is chosen, (A,).

    >>> many, error = np.full(20, 0.3), np.full(20, 0.2)
    >>> optimism(many, error, many > 0, np.ones(20)).round(1)[[0, -1]].tolist()
    [0.0, 1.9]
    """
    middle = shrunk(sizes, errors, signed) if len(sizes) else sizes
    noise = np.random.default_rng([seed, _DRAWS]).standard_normal((DRAWS, len(sizes)))
    drawn = middle + errors * noise  # (DRAWS, A)
    drawn = np.where(signed, np.abs(drawn), np.maximum(drawn, 0.0))
    above = (drawn - middle) / np.maximum(errors, 1e-300)
    largest, of_largest = np.full(DRAWS, -np.inf), np.zeros(DRAWS)
    out = np.zeros(len(sizes))
    for k in np.argsort(sizes * weights, kind="stable").tolist():
        wins = drawn[:, k] * weights[k] > largest
        largest, of_largest = np.where(wins, drawn[:, k] * weights[k], largest), np.where(wins, above[:, k], of_largest)
        out[k] = max(float(of_largest.mean()), 0.0)
    return out


def candidates(sizes: Floats, errors: Floats, counts: Floats, alpha: float) -> Floats:
    """From how many estimates each might have been chosen as the largest, (A,).

    Parameters
    ----------
    counts
        Of how many independent estimates each counts as one: at most 1, and less for one of several that depend on
        each other, (A,).

    >>> sizes = np.array([3.0, 0.2, 0.1, 0.0])
    >>> candidates(sizes, np.full(4, 0.2), np.ones(4), 0.05).tolist()
    [1.0, 4.0, 4.0, 4.0]
    """
    total = max(float(counts.sum()), 1.0)
    reach = -float(ndtri(SPENT * alpha / 2 / total)) * errors
    # by the upper ends in order, those from the lower end of each on may be larger than it: (A,)
    order = np.argsort(sizes + reach)
    below = np.append(0.0, np.cumsum(counts[order]))[np.searchsorted((sizes + reach)[order], sizes - reach, "left")]
    return np.maximum(float(counts.sum()) - below, 1.0)


def effective_number(contrasts: Floats, distances: Bools) -> float:
    """Effective number of independent statistics, from contrasts that they share relabellings of (Li & Ji 2005).

    Parameters
    ----------
    contrasts
        (B, A).
    distances
        Whether a statistic has no sign, (A,): its dependence on another is that on the size of it.

    >>> x = np.random.default_rng(0).normal(size=(999, 3))
    >>> twice = np.column_stack([x[:, 0], x[:, 0], x[:, 1]])
    >>> [round(effective_number(c, np.zeros(3, dtype=bool))) for c in (x, twice)]
    [3, 2]
    """
    usable = np.isfinite(contrasts).all(axis=1)
    if contrasts.shape[1] < 2 or usable.sum() < contrasts.shape[1]:
        return float(contrasts.shape[1])
    x = contrasts[usable]
    flat = np.ptp(x, axis=0) == 0
    x = x[:, ~flat]
    if x.shape[1] < 2:
        return 1.0
    sizes = np.where(distances[~flat], x, np.abs(x - np.median(x, axis=0)))
    plain, of_sizes = map(_correlations, (x, sizes))  # (A, A) each
    without_sign = distances[~flat][:, None] | distances[~flat]
    values = np.abs(np.linalg.eigvalsh(np.where(without_sign, of_sizes, plain)))
    # rounding must not put an eigenvalue of 2 below 2
    values = np.round(values, 9)
    return float(np.clip(((values >= 1) + values - np.floor(values)).sum(), 1.0, x.shape[1]))


def _correlations(x: Floats) -> Floats:
    """Sizes of the correlations of columns, (A, A); a column that does not vary is correlated with itself alone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.abs(np.nan_to_num(np.corrcoef(x, rowvar=False)))
    np.fill_diagonal(sizes, 1.0)
    return np.asarray(sizes)
