"""States of chains with the posterior of consecutive pairs, and what is estimated from them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from momus.critic import StateSequences
from momus.numeric.types import Floats, Ints


@dataclass(frozen=True)
class PairedStates(StateSequences):
    """States of each document's steps, with the posterior of consecutive pairs.

    Attributes
    ----------
    pairs
        float array (n, K, K): expected number of transitions from j to k per document, Σ_m P(z_{m−1} = j, z_m = k).
    first
        float array (n, K): P(z_1 | x), zero for documents without steps.
    """

    pairs: Floats = field(default_factory=lambda: np.zeros((0, 1, 1)))
    first: Floats = field(default_factory=lambda: np.zeros((0, 1)))

    @classmethod
    def independent(cls, marginals: Floats, offsets: Ints) -> PairedStates:
        """Treat steps as independent given the text."""
        n, k = len(offsets) - 1, marginals.shape[1]
        pairs, first = np.zeros((n, k, k)), np.zeros((n, k))
        for i in range(n):
            p = marginals[offsets[i] : offsets[i + 1]]
            if len(p):
                pairs[i], first[i] = p[:-1].T @ p[1:], p[0]
        return cls(marginals.argmax(axis=1), offsets, marginals, pairs, first)

    def expected(self, log_start: Floats, log_move: Floats) -> Floats:
        """E log P(z) of each document, (n,): Σ_k P(z_1 = k) log π_k + Σ_jk pairs_jk log A_jk; −∞ if impossible."""
        return weighted(self.first, log_start) + weighted(self.pairs, log_move)


def weighted(expected: Floats, log_p: Floats) -> Floats:
    """Σ expected · log p over all but the first axis, with 0 · log 0 = 0.

    >>> weighted(np.array([[1.0, 0.0]]), np.array([0.0, -np.inf]))
    array([0.])
    """
    used = expected > 0
    product = np.where(used, expected * np.where(used, log_p, 0.0), 0.0)
    return np.asarray(product.reshape(len(expected), -1).sum(axis=1))


def smoothed_chain(latents: PairedStates, constant: float) -> tuple[Floats, Floats]:
    """Start (K,) and transition probabilities (K, K) from expected counts, with an additive constant."""
    start, move = latents.first.sum(axis=0) + constant, latents.pairs.sum(axis=0) + constant
    return start / start.sum(), move / move.sum(axis=1, keepdims=True)
