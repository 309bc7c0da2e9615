"""The process over terms: each is in a window or not, independently, with a probability that grows with length.

    P(term j in a window of n tokens) = 1 − (1 − p_j)^s, s = (n / n̄)^γ

n̄ is the mean length of windows of real documents, p_j = (d_j + ½) / (D + 1) if d_j of the D real documents are expected
to have the term in a window (the mean of its posterior under a Beta(½, ½) prior), and γ maximises the likelihood: 1 if
terms fell at random, less if they cluster in some documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.types import Floats, Ints

CHUNK = 256
"""Documents whose probabilities of all terms are in memory at once."""


@dataclass(frozen=True)
class Presence:
    """Which terms the documents have.

    Attributes
    ----------
    matrix
        CSR (n, V): probability that each term is in a window of the document.
    lengths
        int64 (n,): number of tokens of a window of each document.
    """

    matrix: sparse.csr_array
    lengths: Ints

    def __len__(self) -> int:
        return len(self.lengths)


class TermProcess(Estimator):
    """Independent terms; see the module."""

    def fit(self, presence: Presence) -> Self:
        """Estimate the probabilities of all terms, and how they grow with length."""
        from scipy.optimize import minimize_scalar

        n = len(presence)
        self.length_ = float(max(presence.lengths.mean(), 1.0))
        counts = np.asarray(presence.matrix.sum(axis=0), dtype=np.float64).ravel()
        self.probabilities_ = (counts + 0.5) / (n + 1.0)

        def loss(growth: float) -> float:
            self.growth_ = growth
            return -float(self.log_probabilities(presence).sum())

        self.growth_ = 1.0
        optimum = minimize_scalar(loss, bounds=(0.0, 1.5), method="bounded", options={"xatol": 0.01})
        self.growth_ = float(optimum.x)
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.number("length_", low=1.0)
        state.number("growth_", 0.0, 1.5)
        state.array("probabilities_", (None,), low=1e-12, high=1 - 1e-12)

    def _exponents(self, lengths: Ints) -> Floats:
        """s of each document, (n,)."""
        return np.asarray((np.maximum(lengths, 1) / self.length_) ** self.growth_)

    def of(self, lengths: Ints, terms: Ints) -> Floats:
        """P of each pair of a document's length and a term, (N,)."""
        return np.asarray(-np.expm1(self._exponents(lengths) * np.log1p(-self.probabilities_[terms])))

    def log_probabilities(self, presence: Presence) -> Floats:
        """log P_c of each document's terms, in nats: (n,)."""
        terms = len(self.probabilities_)
        matrix = presence.matrix[:, :terms]
        entries = sparse.coo_array(matrix)
        rows, columns = entries.coords
        s = self._exponents(presence.lengths)
        absent = s * np.log1p(-self.probabilities_).sum()
        # a term that is there replaces its probability of absence by that of presence
        p = np.clip(self.of(presence.lengths[rows], columns), 1e-300, 1.0)
        gain = np.log(p) - s[rows] * np.log1p(-self.probabilities_[columns])
        return np.asarray(absent + np.bincount(rows, entries.data * gain, len(presence)))

    def standardised(self, presence: Presence) -> Floats:
        """−log P_c of each document, less its expectation given its length, in standard deviations: (n,)."""
        nats = -self.log_probabilities(presence)
        out = np.zeros(len(presence))
        for start in range(0, len(presence), CHUNK):
            rows = slice(start, start + CHUNK)
            absent = self._exponents(presence.lengths[rows])[:, None] * np.log1p(-self.probabilities_)
            p = np.clip(-np.expm1(absent), 1e-300, 1.0)
            log_p = np.log(p)
            mean = -(p * log_p + (1 - p) * absent).sum(axis=1)
            variance = (p * (1 - p) * (log_p - absent) ** 2).sum(axis=1)
            out[rows] = (nats[rows] - mean) / np.sqrt(np.maximum(variance, 1e-12))
        return out
