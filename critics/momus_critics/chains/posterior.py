"""The posterior over whole chains of section types, P_c(z | x) ∝ P_c(z) Π P(z_m | x_m) / P(z_m).

A classifier sees one section at a time; the critic's process P_c(z) ties sections together. Forward–backward gives the
exact posterior. Each of the M + 1 steps of a document keeps two vectors; the probability of a transition is
``left[i] · link[i, j] · right[j]``. With ``link`` all ones this is the factorised posterior of the classifier alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from momus.critic import StateSequences
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats, Ints
from momus.sequences.forward_backward import forward_backward


@dataclass(frozen=True)
class ChainLatents(StateSequences):
    """State sequences with the probabilities of their transitions.

    Attributes
    ----------
    left, right
        (S, K + 1), S = N + n steps: those of document 0 first, from its start to its end. Index K is start and end.
    link
        (K + 1, K + 1).
    disorder
        (n,) −log P_c(x) + log P_0(x) in nats, P_0 the process that draws each type independently.
    emission
        (N, K) P(z_m | x_m) / P(z_m), how much likelier a type is once the section is read.
    """

    left: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    right: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    link: Floats = field(default_factory=lambda: np.ones((1, 1)))
    disorder: Floats = field(default_factory=lambda: np.zeros(0))
    emission: Floats = field(default_factory=lambda: np.zeros((0, 1)))

    @property
    def step_offsets(self) -> Ints:
        """Where the steps of each document begin, int64 (n + 1,)."""
        return np.asarray(self.offsets + np.arange(len(self.offsets)))

    def expected_sum(self, matrix: Floats) -> Floats:
        """Expected sum of ``matrix[z_{m−1}, z_m]`` over the transitions of each document, float array (n,)."""
        finite = np.where(np.isfinite(matrix), matrix, 0.0)
        # expectation at each step, (S,): Σ_ij left[i] link[i, j] matrix[i, j] right[j]
        expected = ((self.left @ (self.link * finite)) * self.right).sum(axis=1)
        return np.asarray(np.add.reduceat(expected, self.step_offsets[:-1]) if len(expected) else np.zeros(0))

    def expected_count(self) -> Floats:
        """Expected transition counts of the whole batch, (K + 1, K + 1)."""
        return np.asarray((self.left.T @ self.right) * self.link)


def _bordered(marginals: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """State distributions before and after each step, (S, K + 1) both; start and end at index K."""
    n, k = len(offsets) - 1, marginals.shape[1]
    left, right = np.zeros((len(marginals) + n, k + 1)), np.zeros((len(marginals) + n, k + 1))
    # section m of document i is entered in step m + i of the batch and left in the next; each document has one more
    # step than sections: the last one leads to the end
    entered = np.arange(len(marginals)) + owners_of(offsets)
    right[entered, :k] = marginals
    left[entered + 1, :k] = marginals
    left[offsets[:-1] + np.arange(n), k] = 1.0
    right[offsets[1:] + np.arange(n), k] = 1.0
    return left, right


def factorised(
    states: NDArray[np.integer],
    offsets: Ints,
    marginals: Floats | None,
    prior: Floats,
    transitions: Floats,
) -> ChainLatents:
    """The classifier's posterior alone (or certain states): sections are independent given the text."""
    q = np.eye(len(prior))[states] if marginals is None else marginals
    left, right = _bordered(q, offsets)
    emission = q / prior
    disorder = -_passes(emission, offsets, transitions)[2]
    return ChainLatents(states, offsets, marginals, left, right, np.ones_like(transitions), disorder, emission)


def chained(marginals: Floats, offsets: Ints, prior: Floats, transitions: Floats) -> ChainLatents:
    """The posterior under the critic's process.

    Parameters
    ----------
    marginals
        (N, K) P(z_m | x_m) of the classifier.
    prior
        (K,) P(z_m) in the classifier's training data.
    transitions
        (K + 1, K + 1) P_c, start and end at index K.
    """
    k = len(prior)
    emission = marginals / prior
    alpha, beta, log_evidence = _passes(emission, offsets, transitions)
    smoothed = alpha * beta
    smoothed /= smoothed.sum(axis=1, keepdims=True)
    # forward messages before each step, (S, K + 1); likelihood times backward messages after it, scaled so that the
    # transition probabilities of each step sum to 1
    left, right = _bordered(alpha, offsets)
    entered = np.arange(len(marginals)) + owners_of(offsets)
    right[entered, :k] = emission * beta
    right /= np.maximum(((left @ transitions) * right).sum(axis=1, keepdims=True), 1e-300)
    states = smoothed.argmax(axis=1)
    return ChainLatents(states, offsets, smoothed, left, right, transitions, -log_evidence, emission)


def _passes(emission: Floats, offsets: Ints, transitions: Floats) -> tuple[Floats, Floats, Floats]:
    """Forward and backward messages under the chain, whose start and end are row and column K of the matrix."""
    k = len(transitions) - 1
    return forward_backward(emission, offsets, transitions[k, :k], transitions[:k, :k], transitions[:k, k])
