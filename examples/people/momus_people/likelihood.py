"""Log-likelihood of answers in ordered categories, given linear predictors.

Each answer depends on two linear predictors. For n answers there are the sum of log-probabilities, its gradient (n, 2),
and the negative second derivatives (n, 2, 2), which are positive semidefinite: the likelihood is log-concave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from momus.numeric.types import Bools, Floats

CLOSE = 1e-6
"""Smallest distance of two neighbouring thresholds; steps that would bring them closer are shortened."""
WIDE = 700.0
"""Largest exponent whose exponential is finite."""


@dataclass(frozen=True)
class Ordered:
    """Cumulative logits: P(y ≤ k) = F(τ_k − η), F logistic (McCullagh 1980).

    The predictors of an answer y are a = τ_y − η and c = τ_{y−1} − η; then
    log P = log F(a) + log F(−c) + log(1 − e^{c−a}), without the terms of a threshold that does not exist.

    Attributes
    ----------
    has_upper, has_lower
        bool (n,): whether the answer has a threshold above and one below it.

    >>> low = Ordered(np.array([True]), np.array([False]))
    >>> round(low.value(np.array([[0.0, 0.0]])), 4)  # log ½
    -0.6931
    """

    has_upper: Bools
    has_lower: Bools

    def value(self, predictors: Floats) -> float:
        """Log-likelihood at (n, 2) predictors (a, c)."""
        a, c = predictors.T
        both = self.has_upper & self.has_lower
        gap = np.where(both, a - c, 1.0)
        if (gap < CLOSE).any():
            return -np.inf
        total = -np.logaddexp(0, -a)[self.has_upper].sum() - np.logaddexp(0, c)[self.has_lower].sum()
        return float(total + np.log(-np.expm1(-gap[both])).sum())

    def derivatives(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Gradient (n, 2), and negative second derivatives (n, 2, 2)."""
        a, c = predictors.T
        both = self.has_upper & self.has_lower
        gap = np.where(both, np.clip(a - c, CLOSE, WIDE), 1.0)
        odds = np.where(both, 1 / np.expm1(gap), 0.0)
        curve = odds * (1 + odds)  # e^d / (e^d − 1)²
        upper, lower = expit(a), expit(c)
        gradient = np.column_stack(
            [
                np.where(self.has_upper, 1 - upper + odds, 0.0),
                np.where(self.has_lower, -lower - odds, 0.0),
            ]
        )
        weights = np.empty((len(a), 2, 2))
        weights[:, 0, 0] = np.where(self.has_upper, upper * (1 - upper) + curve, 0.0)
        weights[:, 1, 1] = np.where(self.has_lower, lower * (1 - lower) + curve, 0.0)
        weights[:, 0, 1] = weights[:, 1, 0] = -curve
        return gradient, weights
