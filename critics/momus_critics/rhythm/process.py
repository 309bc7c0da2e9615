"""Sentence lengths as an autoregressive count process: negative binomial around a mean that remembers.

The number of words of sentence t, less one, is negative binomial with mean m_t and shape r:

    log m_t = b₀ + b₁ (log x_{t−1} − c) + b₂ (mean of log x_1 … log x_{t−1} − c) + b₃ [first of its paragraph]

c is the mean of log x in real text; both memories are 0 at the first sentence of a document. All parameters by maximum
likelihood.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.types import Floats
from momus_critics.rhythm.lengths import SentenceLengths

COEFFICIENTS = 4
RIDGE = 1e-5
"""Penalty on squared coefficients but the first, per sentence: keeps those finite that the text does not determine."""


class LengthProcess(Estimator):
    """The autoregressive negative binomial process; see the module."""

    def fit(self, z: SentenceLengths) -> Self:
        """Maximise the likelihood by L-BFGS with its gradient."""
        from scipy.optimize import minimize
        from scipy.special import digamma, gammaln

        self.centre_ = float(np.log(z.words).mean())
        x, y = self._memory(z), z.words - 1.0

        def loss(parameters: Floats) -> tuple[float, Floats]:
            b, r = parameters[:-1], np.exp(parameters[-1])
            m = np.exp(np.clip(x @ b, -20, 20))
            value = gammaln(y + r) - gammaln(r) - gammaln(y + 1) + r * np.log(r / (r + m)) + y * np.log(m / (r + m))
            to_b = x.T @ ((y - m) * r / (r + m)) / len(y)
            to_r = r * (digamma(y + r) - digamma(r) + np.log(r / (r + m)) + 1 - (r + y) / (r + m))
            shrunk = np.concatenate([[0.0], b[1:]])
            gradient = np.append(-to_b + 2 * RIDGE * shrunk, -to_r.mean())
            return float(-value.mean() + RIDGE * (shrunk**2).sum()), gradient

        start = np.zeros(COEFFICIENTS + 1)
        start[0] = np.log(max(y.mean(), 0.1))
        # a text whose sentences are all of one length has no finite shape
        bounds = [(-20, 20)] * COEFFICIENTS + [(-7, 7)]
        optimum = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        self.coefficients_ = np.asarray(optimum.x[:-1], dtype=np.float64)
        self.shape_ = float(np.exp(optimum.x[-1]))
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.number("centre_", -1e3, 1e3)
        state.array("coefficients_", (COEFFICIENTS,), low=-50.0, high=50.0)
        state.number("shape_", 1e-6, 1e6)

    def _memory(self, z: SentenceLengths) -> Floats:
        """Columns of the regression, float64 (S, 4)."""
        x = np.log(z.words.astype(np.float64)) - self.centre_
        owners = z.documents
        first = z.offsets[:-1][owners]  # first sentence of each one's document
        place = np.arange(len(x)) - first
        before = np.concatenate([[0.0], x[:-1]]) if len(x) else x
        total = np.concatenate([[0.0], np.cumsum(x)])
        mean = (total[:-1] - total[first]) / np.maximum(place, 1)
        later = place > 0
        return np.column_stack([np.ones(len(x)), np.where(later, before, 0), np.where(later, mean, 0), z.begins])

    def means(self, z: SentenceLengths) -> Floats:
        """Expected number of words of each sentence given those before it: float64 (S,)."""
        return np.asarray(1 + np.exp(np.clip(self._memory(z) @ self.coefficients_, -20, 20)))

    def log_probabilities(self, z: SentenceLengths) -> Floats:
        """log P of each sentence's number of words given those before it, in nats: float64 (S,)."""
        from scipy.stats import nbinom

        m = self.means(z) - 1
        return np.asarray(nbinom.logpmf(z.words - 1, self.shape_, self.shape_ / (self.shape_ + m)))
