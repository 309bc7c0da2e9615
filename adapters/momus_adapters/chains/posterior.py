"""Markov chains over K states under posteriors of their steps: expected log priors, in nats.

Posteriors are marginals P(z_m | x), with pairs P(z_{m−1}, z_m | x) where there are any; without pairs, steps are taken
to be independent given the text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.critic import StateSequences
from momus.numeric.types import Bools, Floats, Ints
from momus.sequences.forward_backward import forward_backward


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
        used = np.flatnonzero(np.diff(offsets))  # documents with a step
        if not len(used):
            return cls(marginals.argmax(axis=1), offsets, marginals, pairs, first)
        steps = np.append(offsets[:-1][used], offsets[-1])
        start, move = np.exp(log_start), np.exp(log_move)
        emission = _scaled(log_emission, steps, start > 0, move > 0)
        forward, backward, _ = forward_backward(emission, steps, start, move)
        marginals[:] = forward * backward
        marginals /= marginals.sum(axis=1, keepdims=True)
        ahead = emission * backward  # (N, K): what follows each step, the step included
        for row, a, b in zip(used, steps[:-1], steps[1:], strict=True):
            weight = 1 / ((forward[a : b - 1] @ move) * ahead[a + 1 : b]).sum(axis=1)
            pairs[row] = (forward[a : b - 1] * weight[:, None]).T @ ahead[a + 1 : b] * move
        first[used] = marginals[steps[:-1]]
        return cls(marginals.argmax(axis=1), offsets, marginals, pairs, first)

    def expected(self, log_start: Floats, log_move: Floats) -> Floats:
        """E log P(z) of each document, (n,): Σ_k P(z_1 = k) log π_k + Σ_jk pairs_jk log A_jk; −∞ where it must be."""
        return weighted(self.first, log_start) + weighted(self.pairs, log_move)


def weighted(expected: Floats, log_p: Floats) -> Floats:
    """Σ expected · log p over all but the first axis; what is never expected counts nothing, impossible or not.

    >>> weighted(np.array([[1.0, 0.0]]), np.array([0.0, -np.inf]))
    array([0.])
    """
    used = expected > 0
    product = np.where(used, expected * np.where(used, log_p, 0.0), 0.0)
    return np.asarray(product.reshape(len(expected), -1).sum(axis=1))


def _scaled(log_emission: Floats, offsets: Ints, start: Bools, move: Bools) -> Floats:
    """Emission probabilities, each step divided by that of its likeliest state among those that a path can visit.

    A state that no path reaches may be likelier by more than a float can hold; dividing by it would leave zeros.
    """
    lengths = np.diff(offsets)
    possible = np.isfinite(log_emission)
    reached, left = np.zeros_like(possible), np.zeros_like(possible)
    for m in range(int(lengths.max())):
        rows = offsets[:-1][lengths > m] + m
        reached[rows] = possible[rows] & (start[None] if m == 0 else reached[rows - 1] @ move)
    for m in range(int(lengths.max())):
        rows = offsets[1:][lengths > m] - 1 - m  # from the last step backwards
        left[rows] = possible[rows] & (True if m == 0 else left[rows + 1] @ move.T)
    visited = reached & left
    top = np.where(visited, log_emission, -np.inf).max(axis=1, keepdims=True)
    return np.where(visited, np.exp(np.where(visited, log_emission - np.where(np.isfinite(top), top, 0.0), 0.0)), 0.0)


def smoothed_chain(latents: PairedStates, constant: float) -> tuple[Floats, Floats]:
    """Start (K,) and transition probabilities (K, K) from expected counts, with an additive constant."""
    start, move = latents.first.sum(axis=0) + constant, latents.pairs.sum(axis=0) + constant
    return start / start.sum(), move / move.sum(axis=1, keepdims=True)
