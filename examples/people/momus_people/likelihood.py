"""Log-likelihoods of answers given linear predictors: ordered categories, and best–worst choices.

Each answer depends on q linear predictors. A likelihood gives, for n answers, the sum of log-probabilities, its
gradient (n, q), and the negative second derivatives (n, q, q), which are positive semidefinite: both are log-concave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, logsumexp, softmax

from momus.numeric.types import Bools, Floats, Ints

CLOSE = 1e-6
"""Smallest distance of two neighbouring thresholds; steps that would bring them closer are shortened."""
WIDE = 700.0
"""Largest exponent whose exponential is finite."""


class Likelihood(Protocol):
    """A log-concave likelihood of n answers with q linear predictors each."""

    @property
    def width(self) -> int:
        """Number q of linear predictors per answer."""
        ...

    def value(self, predictors: Floats) -> float:
        """Log-likelihood at (n, q) predictors; −inf outside the support."""
        ...

    def derivatives(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Gradient (n, q), and negative second derivatives (n, q, q)."""
        ...


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
    width: int = 2

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


@dataclass(frozen=True)
class BestWorst:
    """Best–worst choices among q passages: P(best i, worst j) ∝ exp(η_i − η_j), i ≠ j (the maxdiff model; Marley &
    Louviere 2005).

    Attributes
    ----------
    best, worst
        (n,): which of the q passages was chosen.

    >>> one = BestWorst(np.array([0]), np.array([3]), 4)
    >>> round(float(np.exp(one.value(np.zeros((1, 4))))), 4)  # one of twelve
    0.0833
    """  # noqa: D205

    best: Ints
    worst: Ints
    width: int

    def _pairs(self) -> tuple[Floats, Ints]:
        """Differences η_i − η_j as a matrix (q(q − 1), q), and the number of the chosen pair of each answer (n,)."""
        q = self.width
        one, other = (part.ravel() for part in np.meshgrid(np.arange(q), np.arange(q), indexing="ij"))
        kept = one != other
        matrix = np.eye(q)[one[kept]] - np.eye(q)[other[kept]]
        number = np.full(q * q, -1)
        number[kept] = np.arange(kept.sum())
        return matrix, number[self.best * q + self.worst]

    def value(self, predictors: Floats) -> float:
        """Log-likelihood at (n, q) predictors."""
        matrix, chosen = self._pairs()
        utilities = predictors @ matrix.T
        return float((utilities[np.arange(len(chosen)), chosen] - logsumexp(utilities, axis=1)).sum())

    def derivatives(self, predictors: Floats) -> tuple[Floats, Floats]:
        """Gradient (n, q), and negative second derivatives (n, q, q)."""
        matrix, chosen = self._pairs()
        p = softmax(predictors @ matrix.T, axis=1)
        mean = p @ matrix
        weights = np.einsum("np,pi,pj->nij", p, matrix, matrix) - mean[:, :, None] * mean[:, None, :]
        return matrix[chosen] - mean, weights
