"""Markov chains over K states under posteriors of their steps: expected log priors, in nats.

Posteriors are marginals P(z_m | x), with pairs P(z_{m−1}, z_m | x) where there are any; without pairs, steps are taken
to be independent given the text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from momus.latents import StateSequences
from momus.rows import group_sums

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedStates(StateSequences):
    """States of each document's steps, with the posterior of successive pairs.

    Attributes
    ----------
    pairs
        float array (n, K, K): expected number of transitions from j to k in each document, Σ_m P(z_{m−1} = j, z_m = k).
    first
        float array (n, K): P(z_1 | x), zero for a document without steps.
    """

    pairs: Floats = None  # type: ignore[assignment]
    first: Floats = None  # type: ignore[assignment]

    @classmethod
    def independent(cls, marginals: Floats, offsets: NDArray[np.int64]) -> PairedStates:
        """Take steps to be independent given the text."""
        n, k = len(offsets) - 1, marginals.shape[1]
        pairs, first = np.zeros((n, k, k)), np.zeros((n, k))
        for i in range(n):
            p = marginals[offsets[i] : offsets[i + 1]]
            if len(p):
                pairs[i], first[i] = p[:-1].T @ p[1:], p[0]
        return cls(marginals.argmax(axis=1), offsets, marginals, pairs, first)

    @classmethod
    def smoothed(
        cls, log_start: Floats, log_move: Floats, log_emission: Floats, offsets: NDArray[np.int64]
    ) -> PairedStates:
        """Infer the posterior of a hidden Markov model exactly, by forward–backward (Rabiner 1989, section III).

        Parameters
        ----------
        log_start, log_move
            (K,) and (K, K).
        log_emission
            (N, K): log P(x_m | z_m = k).
        """
        n, k = len(offsets) - 1, len(log_start)
        marginals, pairs, first = np.zeros((len(log_emission), k)), np.zeros((n, k, k)), np.zeros((n, k))
        for i in range(n):
            own = slice(int(offsets[i]), int(offsets[i + 1]))
            if own.stop > own.start:
                marginals[own], pairs[i] = _forward_backward(log_start, log_move, log_emission[own])
                first[i] = marginals[own.start]
        return cls(marginals.argmax(axis=1), offsets, marginals, pairs, first)

    def expected(self, log_start: Floats, log_move: Floats) -> Floats:
        """E log P(z) of each document, (n,): Σ_k P(z_1 = k) log π_k + Σ_jk pairs_jk log A_jk; −∞ where it must be."""
        return weighted(self.first, log_start) + weighted(self.pairs, log_move)

    def entropies(self) -> Floats:
        """Sum of the entropies of the marginals, (n,): an upper bound of the posterior's entropy."""
        p = np.asarray(self.marginals)
        h = -np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0).sum(axis=1)
        return np.asarray(group_sums(h, self.offsets))


def weighted(expected: Floats, log_p: Floats) -> Floats:
    """Σ expected · log p over all but the first axis; what is never expected counts nothing, impossible or not.

    >>> weighted(np.array([[1.0, 0.0]]), np.array([0.0, -np.inf]))
    array([0.])
    """
    used = expected > 0
    product = np.where(used, expected * np.where(used, log_p, 0.0), 0.0)
    return np.asarray(product.reshape(len(expected), -1).sum(axis=1))


def _forward_backward(start: Floats, move: Floats, emission: Floats) -> tuple[Floats, Floats]:
    steps, k = emission.shape
    ahead, back = np.zeros((steps, k)), np.zeros((steps, k))
    ahead[0] = start + emission[0]
    for m in range(1, steps):
        ahead[m] = logsumexp(ahead[m - 1][:, None] + move, axis=0) + emission[m]
    for m in range(steps - 2, -1, -1):
        back[m] = logsumexp(move + emission[m + 1] + back[m + 1], axis=1)
    total = logsumexp(ahead[-1])
    pairs = np.zeros((k, k))
    for m in range(1, steps):
        pairs += np.exp(ahead[m - 1][:, None] + move + emission[m] + back[m] - total)
    return np.exp(ahead + back - total), pairs


def smoothed_chain(latents: PairedStates, constant: float) -> tuple[Floats, Floats]:
    """Start (K,) and transition probabilities (K, K) from expected counts, with an additive constant."""
    start, move = latents.first.sum(axis=0) + constant, latents.pairs.sum(axis=0) + constant
    return start / start.sum(), move / move.sum(axis=1, keepdims=True)
