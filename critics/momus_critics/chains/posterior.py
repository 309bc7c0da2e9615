"""The posterior over whole chains of section types, P_c(z | x) ∝ P_c(z) Π P(z_m | x_m) / P(z_m).

A classifier sees one section at a time; the critic's process P_c(z) ties sections together. Forward–backward gives the
exact posterior. Each of the M + 1 steps of a document keeps two vectors; the probability of a transition is
``left[i] · link[i, j] · right[j]``. With ``link`` all ones this is the factorised posterior of the classifier alone.
Transitions are a (K + 1, K + 1) matrix: row K is the start, column K the end. The start never leads to the end, since a
document has at least one section.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from momus.critic import StateSequences
from momus.critic.powers import Decomposition
from momus.numeric.ragged import group_sums, owners_of
from momus.numeric.types import Floats, Ints
from momus.sequences.forward_backward import TINY, forward_backward

CONSTANTS: Floats = np.geomspace(1e-3, 10.0, 17)
"""Candidates for the additive smoothing constant."""
UNLIKELY = 0.01
"""A transition with a smaller probability is a transition error (Deng et al. 2022, table 10; figure 3: 0.05)."""


def steps(states: NDArray[np.integer], offsets: Ints, k: int) -> tuple[Ints, Ints]:
    """All transitions of a batch, start and end included: (from, to), M + 1 of them for a document of M sections.

    >>> steps(np.array([1, 0]), np.array([0, 2]), k=2)
    (array([2, 1, 0]), array([1, 0, 2]))
    """
    n = len(offsets) - 1
    # k, states of document 0, k, k, states of document 1, k, …: shape (N + 2 n,)
    padded = np.full(len(states) + 2 * n, k, dtype=np.int64)
    padded[np.arange(len(states)) + 2 * owners_of(offsets) + 1] = states
    # each element leads to the next one, except the last of each document
    leaves = np.ones(len(padded), dtype=bool)
    leaves[offsets[1:] + 2 * np.arange(n) + 1] = False
    source = np.flatnonzero(leaves)
    return padded[source], padded[source + 1]


def count(states: NDArray[np.integer], offsets: Ints, k: int) -> Floats:
    """Transition counts, float array (K + 1, K + 1)."""
    source, target = steps(states, offsets, k)
    flat = np.bincount(source * (k + 1) + target, minlength=(k + 1) ** 2)  # each pair has its own cell
    return flat.reshape(k + 1, k + 1).astype(np.float64)


def smooth(counts: Floats, constant: float) -> Floats:
    """Transition probabilities: additive smoothing over all possible successors; every row sums to 1.

    >>> smooth(np.array([[2.0, 0.0], [4.0, 0.0]]), 1.0)
    array([[0.75, 0.25],
           [1.  , 0.  ]])
    """
    prior = np.full_like(counts, constant)
    # from start to end: an empty document is impossible
    prior[-1, -1] = 0.0
    total = counts + prior
    probabilities: Floats = total / total.sum(axis=1, keepdims=True)
    return probabilities


def choose_constant(train: list[Floats], test: list[Floats]) -> tuple[float, Floats]:
    """Choose the additive constant that maximises the likelihood of the test counts, summed over the folds.

    Returns
    -------
    The constant, and the mean log-likelihood per transition (nats) of every one of `CONSTANTS`.
    """
    total = sum(float(t.sum()) for t in test)
    # held-out likelihood: in-sample, the smallest constant would always win
    folds = [(a, b, b > 0) for a, b in zip(train, test, strict=True)]
    for a, _, seen in folds:
        seen[-1, -1] &= a[-1, -1] > 0  # else an empty document, which is impossible under every constant, decides
    curve = [
        sum(float((b[seen] * np.log(smooth(a, c)[seen])).sum()) for a, b, seen in folds) / total for c in CONSTANTS
    ]
    return float(CONSTANTS[int(np.argmax(curve))]), np.array(curve)


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
    unread
        (N, K) the same of the classifier, where only its most probable types are read; None: ``emission``.
    """

    left: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    right: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    link: Floats = field(default_factory=lambda: np.ones((1, 1)))
    disorder: Floats = field(default_factory=lambda: np.zeros(0))
    emission: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    unread: Floats | None = None

    @property
    def step_offsets(self) -> Ints:
        """Where the steps of each document begin, int64 (n + 1,)."""
        return np.asarray(self.offsets + np.arange(len(self.offsets)))

    def expected_sum(self, matrix: Floats) -> Floats:
        """Expected sum of ``matrix[z_{m−1}, z_m]`` over the transitions of each document, float array (n,)."""
        finite = np.where(np.isfinite(matrix), matrix, 0.0)
        # expectation at each step, (S,): Σ_ij left[i] link[i, j] matrix[i, j] right[j]
        # impossible transitions have probability 0, and 0 · −∞ must count 0
        expected = ((self.left @ (self.link * finite)) * self.right).sum(axis=1)
        return np.asarray(np.add.reduceat(expected, self.step_offsets[:-1]) if len(expected) else np.zeros(0))

    def expected_count(self) -> Floats:
        """Expected transition counts of the whole batch, (K + 1, K + 1)."""
        return np.asarray((self.left.T @ self.right) * self.link)


def bordered(marginals: Floats, offsets: Ints) -> tuple[Floats, Floats]:
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
    unread: Floats | None = None,
) -> ChainLatents:
    """The classifier's posterior alone (or certain states): sections are independent given the text.

    ``unread`` (N, K) are the classifier's probabilities where only the most probable ``states`` are read.
    """
    q = np.eye(len(prior))[states] if marginals is None else marginals  # (N, K)
    left, right = bordered(q, offsets)
    emission = q / prior
    disorder = -_passes(emission, offsets, transitions)[2]
    soft = None if unread is None else unread / prior
    return ChainLatents(states, offsets, marginals, left, right, np.ones_like(transitions), disorder, emission, soft)


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
    # Bayes: P(x_m | z_m) up to P(x_m), without the prior that the classifier learned
    emission = marginals / prior
    alpha, beta, log_evidence = _passes(emission, offsets, transitions)
    smoothed = alpha * beta  # (N, K)
    smoothed /= smoothed.sum(axis=1, keepdims=True)
    # forward messages before each step, (S, K + 1); likelihood times backward messages after it, scaled so that the
    # transition probabilities of each step sum to 1
    left, right = bordered(alpha, offsets)
    entered = np.arange(len(marginals)) + owners_of(offsets)
    right[entered, :k] = emission * beta
    right /= np.maximum(((left @ transitions) * right).sum(axis=1, keepdims=True), 1e-300)
    states = smoothed.argmax(axis=1)
    return ChainLatents(states, offsets, smoothed, left, right, transitions, -log_evidence, emission)


def decompose(latents: ChainLatents, transitions: Floats) -> Decomposition:
    """The parts of log P_c(x) / Π P(x_m), exact under forward–backward.

    A classifier gives P(x_m | z_m) / P(x_m) = P(z_m | x_m) / P(z_m); the probability of the sections on their own,
    P(x_m), is unknown, and left out on both sides.

    Parameters
    ----------
    transitions
        (K + 1, K + 1) P_c, start and end at index K.

    >>> chain = np.array([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6], [0.5, 0.5, 0.0]])
    >>> marginals, prior = np.array([[0.6, 0.4], [0.2, 0.8]]), np.array([0.5, 0.5])
    >>> parts = decompose(chained(marginals, np.array([0, 2]), prior, chain), chain)
    >>> bool(np.abs(parts.gap).max() < 1e-12)
    True
    """
    log_p = np.log(np.where(transitions > 0, transitions, 1.0))
    likelihoods = latents.emission if latents.unread is None else latents.unread
    k = likelihoods.shape[1]
    q = np.eye(k)[latents.states] if latents.marginals is None else np.asarray(latents.marginals)  # (N, K)
    log_likelihood = group_sums((q * _log(likelihoods, q)).sum(axis=1), latents.offsets)
    if latents.unread is None:
        log_evidence = -latents.disorder
    else:
        log_evidence = _passes(latents.unread, latents.offsets, transitions)[2]
    # H(q): the entropies of the transitions of a document, less those of the states that two of them share; the
    # probability of a transition is left[i] link[i, j] right[j], so its logarithm is a sum of three
    left, link, right = latents.left, latents.link, latents.right
    forward, backward = left @ link, right @ link.T  # Σ_i left_i link_ij and Σ_j link_ij right_j, (S, K + 1)
    pairs = (left * _log(left, left) * backward).sum(axis=1) + (right * _log(right, right) * forward).sum(axis=1)
    pairs += ((left @ (link * _log(link, link))) * right).sum(axis=1)
    entropy = np.asarray(group_sums((q * _log(q, q)).sum(axis=1), latents.offsets))
    if len(latents):
        entropy = entropy - np.add.reduceat(pairs, latents.step_offsets[:-1])
    return Decomposition(latents.expected_sum(log_p), np.asarray(log_likelihood), entropy, np.asarray(log_evidence))


def _log(values: Floats, weights: Floats) -> Floats:
    """Logarithms where the weight is positive, else 0: what has probability 0 counts for nothing."""
    return np.asarray(np.log(np.where(weights > 0, np.maximum(values, TINY), 1.0)))


def _passes(emission: Floats, offsets: Ints, transitions: Floats) -> tuple[Floats, Floats, Floats]:
    """Forward and backward messages under the chain, whose start and end are row and column K of the matrix."""
    k = len(transitions) - 1
    return forward_backward(emission, offsets, transitions[k, :k], transitions[:k, :k], transitions[:k, k])
