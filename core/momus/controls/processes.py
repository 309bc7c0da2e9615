"""Random processes with known laws: Simon's, Pitman and Yor's, and a hidden Markov chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Floats


def simon(n: int, alpha: float, seed: int) -> NDArray[np.int32]:
    """Simon's process (1955): with probability α a new word, else a copy of a token drawn from all before.

    Every copy points at an earlier position; following the pointers to their new words, by doubling, takes O(n log n).

    Parameters
    ----------
    n
        Number of tokens.
    alpha
        Probability of a new word, in (0, 1).

    Returns
    -------
    int32 (n,): word numbers, by first appearance.

    >>> simon(6, 0.5, seed=1).tolist()
    [0, 0, 1, 0, 2, 3]
    """
    rng = np.random.default_rng(seed)
    new = rng.random(n) < alpha
    new[0] = True
    position = np.arange(n)
    pointer = np.where(new, position, (rng.random(n) * position).astype(np.int64))
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            break
        pointer = further
    number = np.cumsum(new) - 1
    return number[pointer].astype(np.int32)


def pitman_yor(n: int, discount: float, strength: float, seed: int) -> NDArray[np.int32]:
    """The Pitman–Yor process (1997) as a Chinese restaurant with one dish a table.

    Token t + 1 opens word K + 1 with probability (strength + discount · K)/(strength + t); else it repeats word k with
    probability (n_k − discount)/(strength + t). A repetition is drawn by taking the word of a random earlier token and
    refusing it, when that token is its word's first, with probability ``discount``; a refused draw is taken again.

    Parameters
    ----------
    n
        Number of tokens.
    discount
        In [0, 1).
    strength
        Above −discount.

    Returns
    -------
    int32 (n,): word numbers, by first appearance.

    >>> pitman_yor(6, 0.5, 1.0, seed=0).tolist()
    [0, 1, 2, 3, 2, 3]
    """
    rng = np.random.default_rng(seed)
    new = _openings(n, discount, strength, rng.random(n))
    position = np.arange(n)
    pointer = position.copy()
    pending = np.flatnonzero(~new)
    while len(pending):
        drawn = (rng.random(len(pending)) * pending).astype(np.int64)
        refused = new[drawn] & (rng.random(len(pending)) < discount)
        pointer[pending[~refused]] = drawn[~refused]
        pending = pending[refused]
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            break
        pointer = further
    return (np.cumsum(new) - 1)[pointer].astype(np.int32)


def _openings(n: int, discount: float, strength: float, uniform: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which tokens open a new word: each depends on the number of words before, so this one loop is sequential."""
    new = np.zeros(n, dtype=bool)
    words = 0
    for t, u in enumerate(uniform.tolist()):
        if t == 0 or u * (strength + t) < strength + discount * words:
            new[t] = True
            words += 1
    return new


def hidden_markov(
    transitions: Floats, emissions: Floats, first: int, sequences: int, length: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sample a hidden Markov chain that starts after state ``first``.

    Parameters
    ----------
    transitions
        (K, K), rows sum to 1.
    emissions
        (K, G), rows sum to 1.

    Returns
    -------
    States and emitted numbers, both int64 (sequences, length).

    >>> states, emitted = hidden_markov(np.eye(2)[::-1], np.eye(2), 0, sequences=1, length=4, seed=0)
    >>> states.tolist(), emitted.tolist()
    ([[1, 0, 1, 0]], [[1, 0, 1, 0]])
    """
    rng = np.random.default_rng(seed)
    moves, inside = np.cumsum(transitions, axis=1), np.cumsum(emissions, axis=1)
    states = np.empty((sequences, length), dtype=np.int64)
    emitted = np.empty_like(states)
    before = np.full(sequences, first, dtype=np.int64)
    for m in range(length):
        before = _choose(moves, before, rng.random(sequences))
        states[:, m] = before
        emitted[:, m] = _choose(inside, before, rng.random(sequences))
    return states, emitted


def _choose(cumulated: Floats, rows: NDArray[np.int64], u: Floats) -> NDArray[np.int64]:
    """Draw from the distribution of each row, whose running sums are given; what has probability 0 is never drawn."""
    out = np.empty(len(rows), dtype=np.int64)
    for k in np.unique(rows):
        mine = np.flatnonzero(rows == k)
        out[mine] = np.searchsorted(cumulated[k], u[mine] * cumulated[k, -1], side="right")
    return out
