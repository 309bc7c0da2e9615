"""States of chains with the posterior of consecutive pairs, and what is estimated from them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from momus.critic import StateSequences
from momus.numeric.types import Floats, Ints
from momus.sequences.forward_backward import forward_backward


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

    @classmethod
    def smoothed(cls, log_start: Floats, log_move: Floats, log_emission: Floats, offsets: Ints) -> PairedStates:
        """Compute the exact posterior of a hidden Markov model by forward–backward (Rabiner 1989, section III).

        Parameters
        ----------
        log_start, log_move
            (K,) and (K, K).
        log_emission
            (N, K): log P(x_m | z_m = k).
        """
        n, k = len(offsets) - 1, len(log_start)
        marginals, pairs, first = np.zeros((len(log_emission), k)), np.zeros((n, k, k)), np.zeros((n, k))
        used = np.flatnonzero(np.diff(offsets))  # documents with at least one step
        if not len(used):
            return cls(marginals.argmax(axis=1), offsets, marginals, pairs, first)
        steps = np.append(offsets[:-1][used], offsets[-1])  # offsets of these documents, (len(used) + 1,)
        # logarithms: emissions of a step may differ by more than a float can hold
        forward, backward, _ = forward_backward(log_emission, steps, log_start, log_move, log=True)
        log_marginals = forward + backward
        marginals[:] = np.exp(log_marginals - logsumexp(log_marginals, axis=1, keepdims=True))
        # log P(z_{m−1} = j, z_m = k | x) = forward_j + log A_jk + ahead_k − total, (M − 1, K, K) for each document
        ahead = log_emission + backward  # (N, K): evidence of each step and of those after it
        for row, a, b in zip(used, steps[:-1], steps[1:], strict=True):
            if b - a < 2:
                continue
            log_pairs = forward[a : b - 1, :, None] + log_move + ahead[a + 1 : b, None, :]
            pairs[row] = np.exp(log_pairs - logsumexp(log_pairs, axis=(1, 2), keepdims=True)).sum(axis=0)
        first[used] = marginals[steps[:-1]]
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
