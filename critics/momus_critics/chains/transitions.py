"""The chain of section types: P_c(z) = Π P(z_m | z_{m−1}), with a start and an end that emit nothing.

Transitions are a (K + 1, K + 1) matrix: row K is the start, column K the end. The start never leads to the end, since a
document has at least one section.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats, Ints

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
    curve = [
        sum(float((b[seen] * np.log(smooth(a, c)[seen])).sum()) for a, b, seen in folds) / total for c in CONSTANTS
    ]
    return float(CONSTANTS[int(np.argmax(curve))]), np.array(curve)
