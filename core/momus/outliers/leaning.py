"""The direction in which many documents of a text are a little odd, which the largest surprise does not see.

Documents are points z by their normal scores. The direction w = Σ⁻¹ (mean of the pool − mean of the reference) is
learned of two thirds of the real reference, and of the pool of calibrating and new documents: first of the whole pool,
then of those that lie beyond 95 % of the other third. A score that treats all documents of the pool alike leaves the
real ones among them exchangeable, so p-values and false-discovery rate stay valid (AdaDetect: Marandon, Lei, Mary &
Roquain 2024, Annals of Statistics 52).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Floats

FEWEST, MANY = 100, 0.1
"""Fewest documents of a reference, and least share of a pool beyond 95 % of it: of fewer, a direction is noise."""
RIDGE, LEAST = 0.3, -0.7
"""What is added to variances, and the least term of a sum: no critic outweighs those that find a document odd."""


@dataclass(frozen=True)
class Leaning:
    """How far documents lie in a direction: Σ_k max(w_k (z_k − mean_k), −0.7), in standard deviations of real ones."""

    mean: Floats
    weights: Floats

    def __call__(self, scores: Floats) -> Floats:
        """The terms of the sum for normal scores: (n, critics)."""
        return np.maximum((scores - self.mean) * self.weights, LEAST)

    @classmethod
    def learn(cls, reference: Floats, pool: Callable[[], Iterable[Floats]]) -> Leaning | None:
        """Learn from normal scores, (n, critics): those of real documents in random order, and those of all others.

        The pool is given in parts, and read three times. None if too few of it lie in one direction.

        >>> rng = np.random.default_rng(0)
        >>> reference, usual, odd = (rng.normal(shift, size=(200, 2)) for shift in ([0, 0], [0, 0], [2, 0]))
        >>> Leaning.learn(reference, lambda: [usual])
        >>> Leaning.learn(reference, lambda: [usual, odd]).weights.round(1).tolist()
        [1.0, -0.2]
        """
        if len(reference) < FEWEST:
            return None
        first, rest = np.split(reference, [round(2 / 3 * len(reference))])
        covariance = np.atleast_2d(np.cov(first.T)) + RIDGE * np.eye(reference.shape[1])
        direction, edge = cls(first.mean(axis=0), np.zeros(reference.shape[1])), -np.inf  # beyond it is the whole pool
        for _ in range(2):
            beyond = (scores[direction(scores).sum(axis=1) > edge] for scores in pool())
            *total, count = np.sum([[*far.sum(axis=0), len(far)] for far in beyond], axis=0)
            weights = np.linalg.solve(covariance, np.array(total) / max(count, 1) - direction.mean)
            direction = cls(direction.mean, weights / max(float(np.std(first @ weights)), 1e-9))
            edge = float(np.quantile(direction(rest).sum(axis=1), 0.95))
        share = np.mean(np.concatenate([direction(scores).sum(axis=1) > edge for scores in pool()]))
        return direction if share > MANY else None


def normal_scores(high: Floats, low: Floats) -> Floats:
    """√(2 · surprise at the upper end) − √(2 · surprise at the lower end).

    They are almost normal for human documents, and grow slowly with a value that is far out.
    """
    return np.asarray(np.sqrt(2 * high) - np.sqrt(2 * low))
