"""A mixture of independent yes-or-no features: latent classes of sentences, fitted by expectation–maximisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from momus.critic.fitted import Fitted
from momus.estimator import Estimator, parametrized
from momus.numeric.types import Floats

ITERATIONS, STARTS = 200, 3
TOLERANCE = 1e-7
"""EM stops once the mean log-likelihood grows by less."""


@parametrized
class BernoulliMixture(Estimator):
    """K classes; each gives every feature a probability, independently (Lazarsfeld and Henry 1968).

    Parameters
    ----------
    n_states
        Most classes; the number is the one with the smallest BIC among 1, 2, …, ``n_states``.
    seed
        Of the random starts.

    >>> x = np.repeat([[1, 1, 0], [0, 0, 1]], 40, axis=0)
    >>> model = BernoulliMixture(n_states=3).learn(x)
    >>> model.shares_.round(2).tolist(), model.posterior(x)[[0, -1]].argmax(axis=1).tolist()
    ([0.5, 0.5], [1, 0])
    """

    n_states: int = 6
    seed: int = 0

    def learn(self, features: NDArray[np.generic]) -> Self:
        """Fit shares (K,) and probabilities (K, F) to features (N, F); classes are in descending order of share."""
        x = np.asarray(features, dtype=np.float64)
        # equal rows are fitted once, weighted by their number: (U, F) and (U,)
        x, weight = np.unique(x, axis=0, return_counts=True)
        n = float(weight.sum())
        best = np.inf
        for k in range(1, min(self.n_states, len(x)) + 1):
            shares, probabilities, value = _fit(x, weight.astype(np.float64), k, self.seed)
            bic = -2 * value + (k - 1 + k * x.shape[1]) * np.log(n)
            if bic < best:
                order = np.lexsort((*probabilities.T[::-1], -shares))
                best, self.shares_, self.probabilities_ = bic, shares[order], probabilities[order]
        return self

    def posterior(self, features: NDArray[np.generic]) -> Floats:
        """P(class | features), (N, K)."""
        log_joint = _log_joint(np.asarray(features, dtype=np.float64), self.shares_, self.probabilities_)
        return np.asarray(np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True)))

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        shares = state.probabilities("shares_", (None,))
        values = state.array("probabilities_", (len(shares), None), low=0.0, high=1.0)
        state.require(bool(((values > 0) & (values < 1)).all()), "probabilities_", "numbers between 0 and 1")


def names_of(mixture: BernoulliMixture, features: Sequence[str]) -> list[str]:
    """Name each class by the two features that it has most beyond the others."""
    p, overall = mixture.probabilities_, mixture.shares_ @ mixture.probabilities_
    lift = p * np.log(p / overall)
    names: list[str] = []
    for k in range(len(p)):
        best = [f for f in np.argsort(-lift[k], kind="stable")[:2].tolist() if lift[k, f] > 0.02]
        name = " and ".join(features[f] for f in best) or "plain"
        names.append(name if name not in names else f"{name} ({names.count(name) + 1})")
    return names


def _log_joint(x: Floats, shares: Floats, p: Floats) -> Floats:
    """log P(class, features), (N, K)."""
    return np.asarray(np.log(shares) + x @ np.log(p).T + (1 - x) @ np.log1p(-p).T)


def _fit(x: Floats, weight: Floats, k: int, seed: int) -> tuple[Floats, Floats, float]:
    """Shares, probabilities and log-likelihood of the best of several starts."""
    rng = np.random.default_rng((seed, k))
    runs = [_em(x, weight, rng.dirichlet(np.ones(k), len(x))) for _ in range(STARTS if k > 1 else 1)]
    return max(runs, key=lambda run: run[2])


def _em(x: Floats, weight: Floats, responsibility: Floats) -> tuple[Floats, Floats, float]:
    """Expectation–maximisation from responsibilities (N, K), with half a sentence with and without each feature."""
    before, total = -np.inf, float(weight.sum())
    for _ in range(ITERATIONS):
        mass = responsibility * weight[:, None]
        members = mass.sum(axis=0)
        shares = (members + 0.5) / (members + 0.5).sum()
        p = (mass.T @ x + 0.5) / (members[:, None] + 1.0)
        log_joint = _log_joint(x, shares, p)
        evidence = logsumexp(log_joint, axis=1)
        value = float(weight @ evidence)
        if value - before < TOLERANCE * total:
            break
        before, responsibility = value, np.exp(log_joint - evidence[:, None])
    return shares, p, value
