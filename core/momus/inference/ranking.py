"""Ranks of K models by their distance to the real text, with simultaneous confidence intervals of the ranks.

A model is *significantly nearer* than another if a simultaneous confidence interval says so for all pairs at once. With
probability of at least the confidence, all true ranks lie in [1 + models significantly nearer, K − models significantly
farther] (Klein, Wright & Wieczorek 2020; Mogstad, Romano, Shaikh & Wilhelm 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from momus.inference.intervals import t_quantile
from momus.inference.selection import shrunk
from momus.numeric.types import Bools, Floats, Ints

KINK = 2.0
"""An effect within this many standard errors of 0 may have either sign."""


@dataclass(frozen=True)
class Distances:
    """Distances of K models to the real text, with bootstrap deviations that they share.

    Attributes
    ----------
    estimates
        (K,). Signed effects if ``signed``, where |effect| is the distance; distances otherwise.
    deviations
        Bootstrap replicates of the estimates less their mean, (B, K); the draws of a row are common to all models.
    signed
        Whether the estimates have signs.
    freedom
        Degrees of freedom of the bootstrap: units − 1.
    sizes
        The distances as verdicts estimate them, (K,), if not by the estimates. Cross-fitted ones are told but not
        compared: their errors are larger than those of the bootstrap.
    observed
        Distances of the samples, (K,), which chance makes too large; None if not of distances.
    """

    estimates: Floats
    deviations: Floats
    signed: bool
    freedom: float
    sizes: Floats | None = None
    observed: Floats | None = None

    @property
    def distances(self) -> Floats:
        """(K,)."""
        return np.abs(self.estimates) if self.signed else self.estimates

    @property
    def shown(self) -> Floats:
        """The distances that readers are told, (K,), no lower than 0."""
        return np.maximum(self.distances if self.sizes is None else self.sizes, 0.0)

    @property
    def replicates(self) -> Floats:
        """Replicates of the distances, centred on the estimates: (B, K)."""
        replicates = self.estimates + self.deviations
        return np.abs(replicates) if self.signed else replicates

    @property
    def errors(self) -> Floats:
        """Draws of the errors of the distances, (B, K).

        |effect| has a kink at 0: where the effect may have either sign, its error is at most that of an effect of 0,
        |h|; elsewhere it is ±h (the directional derivative; Fang & Santos 2019).
        """
        if not self.signed:
            return self.deviations
        clear = np.abs(self.estimates) > KINK * self.deviations.std(axis=0)
        return np.where(clear, np.sign(self.estimates) * self.deviations, np.abs(self.deviations))

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Interval of each distance by itself, (K,) each; no lower than 0.

        Of distances without a sign from what is shown less its margin of error to what is observed, which chance makes
        too large, plus the margin: as intervals of verdicts (`momus.inference.outcome`).
        """
        reach = t_quantile((1 + confidence) / 2, self.freedom) * self.deviations.std(axis=0)  # (K,)
        if not self.signed:
            most = self.shown if self.observed is None else np.maximum(self.shown, self.observed)
            return np.maximum(self.shown - reach, 0.0), most + reach
        low, high = self.estimates - reach, self.estimates + reach
        # |effect| is smallest at the end nearer to 0, or 0 if the interval holds 0
        return np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))


@dataclass(frozen=True)
class Ranks:
    """Ranks of K models; 1 is nearest.

    Attributes
    ----------
    low, high
        Simultaneous interval of the rank of each model, (K,) each.
    nearest
        Share of the bootstrap replicates in which the model is nearest, (K,); they sum to 1.
    nearer
        bool (K, K): whether the model of the row is significantly nearer than that of the column.
    """

    low: Ints
    high: Ints
    nearest: Floats
    nearer: Bools


def ranked(distances: Distances, confidence: float = 0.95) -> Ranks:
    """Rank models by distance.

    * Signed effects: |θᵢ| < |θⱼ| exactly if θⱼ − θᵢ and θⱼ + θᵢ have the same sign. All differences and sums have
      simultaneous intervals (the largest |deviation| ÷ standard error over bootstrap draws); model i is then nearer
      if both intervals exclude 0 on the same side.
    * Distances: simultaneous lower bounds of all Dⱼ − Dᵢ.

    >>> rng = np.random.default_rng(0)
    >>> found = ranked(Distances(np.array([0.1, -0.1, 2.0]), rng.normal(size=(999, 3)) / 10, True, 99.0))
    >>> found.low.tolist(), found.high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    nearer = _signed(distances, confidence) if distances.signed else _unsigned(distances, confidence)
    k = len(distances.estimates)
    replicates = distances.replicates
    best = replicates <= replicates.min(axis=1, keepdims=True)
    nearest = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return Ranks(1 + nearer.sum(axis=0), k - nearer.sum(axis=1), nearest, nearer)


def average(parts: list[Distances], bands: Floats) -> Distances:
    """The mean over axes of distance ÷ band, where bands are numbers (axes,), or one for each model (axes, K).

    The mean, not the root of the mean square: one axis with a huge distance, and its noise, would decide the latter.
    What is shown is the mean of shrunk distances (`momus.inference.selection.shrunk`): an |effect| is too large by
    chance, and the more so for texts of few documents.
    """
    estimates = np.mean([p.distances / b for p, b in zip(parts, bands, strict=True)], axis=0)
    errors = np.mean([p.errors / b for p, b in zip(parts, bands, strict=True)], axis=0)
    sizes = mean_size(parts, bands)
    observed = [p.distances if p.observed is None else p.observed for p in parts]
    most = np.mean([np.maximum(o, 0.0) / b for o, b in zip(observed, bands, strict=True)], axis=0)
    return Distances(estimates, errors, False, min(p.freedom for p in parts), sizes, most)


def mean_size(parts: list[Distances], bands: Floats) -> Floats:
    """The mean over axes of distance ÷ band without what chance adds to the size of an effect, (K,).

    >>> rng = np.random.default_rng(0)
    >>> none = [Distances(rng.normal(size=1), rng.normal(size=(200, 1)), True, 1e6) for _ in range(20)]
    >>> plain = np.mean([p.distances for p in none])
    >>> bool(mean_size(none, np.ones(20))[0] < plain / 2)
    True
    """
    values = [p.distances if p.signed else p.estimates if p.sizes is None else p.sizes for p in parts]
    sizes = np.array([v / b for v, b in zip(values, bands, strict=True)])  # (axes, K)
    errors = np.array([p.deviations.std(axis=0) / b for p, b in zip(parts, bands, strict=True)])
    signed = np.array([p.signed for p in parts])
    columns = zip(sizes.T, errors.T, strict=True)
    return np.array([shrunk(size, error, signed).mean() for size, error in columns])


def nearest_on_average(parts: list[Distances], bands: Floats) -> Floats:
    """Share of the replicates in which each model has the smallest mean of distance ÷ band, (K,)."""
    replicates = np.mean([p.replicates / b for p, b in zip(parts, bands, strict=True)], axis=0)
    # chance makes replicates of an |effect| too large, most of all those of a text with few documents
    replicates = replicates - replicates.mean(axis=0) + mean_size(parts, bands)
    best = replicates <= replicates.min(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def _signed(d: Distances, confidence: float) -> Bools:
    k = len(d.estimates)
    one, other = np.triu_indices(k, 1)
    nearer = np.zeros((k, k), dtype=bool)
    if not len(one):
        return nearer
    # differences and sums of all pairs i < j: (2, pairs), and their deviations (B, 2, pairs)
    values = np.stack([d.estimates[other] - d.estimates[one], d.estimates[other] + d.estimates[one]])
    moves = np.stack(
        [d.deviations[:, other] - d.deviations[:, one], d.deviations[:, other] + d.deviations[:, one]], axis=1
    )
    error = moves.std(axis=0)
    reach = _critical(np.abs(_scaled(moves, error)).reshape(len(moves), -1).max(axis=1), confidence, d.freedom)
    t = _scaled(values, error)
    sure = (np.abs(t) > reach).all(axis=0)
    product = np.sign(t[0]) * np.sign(t[1])  # the sign of θⱼ² − θᵢ²
    nearer[one, other] = sure & (product > 0)
    nearer[other, one] = sure & (product < 0)
    return nearer


def _unsigned(d: Distances, confidence: float) -> Bools:
    k = len(d.estimates)
    # entry i, j is Dⱼ − Dᵢ: (K, K), and its deviations (B, K, K)
    values = d.estimates[None, :] - d.estimates[:, None]
    moves = d.deviations[:, None, :] - d.deviations[:, :, None]
    error = moves.std(axis=0)
    reach = _critical(_scaled(moves, error).reshape(len(moves), -1).max(axis=1), confidence, d.freedom)
    return np.asarray((_scaled(values, error) > reach) & ~np.eye(k, dtype=bool))


def _scaled(values: Floats, error: Floats) -> Floats:
    """Values in standard errors; without an error, 0 where the value is 0 and infinite elsewhere."""
    flat = error <= 1e-12 * max(float(np.abs(error).max(initial=0.0)), 1e-300)
    at_zero = np.where(np.abs(values) <= 1e-12, 0.0, np.copysign(np.inf, values))
    return np.asarray(np.where(flat, at_zero, values / np.where(flat, 1.0, error)))


def _critical(largest: Floats, confidence: float, freedom: float) -> float:
    """Quantile of the largest of many standardised deviations (B,), widened from a normal to Student's t."""
    finite = largest[np.isfinite(largest)]
    if not len(finite):
        return float("inf")
    reach = float(np.quantile(finite, confidence, method="higher"))
    # Student's t at the level that a normal quantile of this size has: of few units, the errors are uncertain too
    return max(
        -t_quantile(float(ndtr(-reach)), freedom), 0.0
    )  # older versions of SciPy put the median a little below 0
