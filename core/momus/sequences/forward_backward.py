"""Forward–backward passes over Markov chains of many sequences at once (Rabiner 1989, section III)."""

from __future__ import annotations

import numpy as np

from momus.numeric.types import Floats, Ints

TINY = 1e-300
"""Smallest total of a message of probabilities; keeps a sequence of probability zero from dividing by zero."""


def forward_backward(
    emission: Floats, offsets: Ints, start: Floats, move: Floats, end: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Compute forward and backward messages of each step.

    Sequences are processed side by side, position by position, the longest first.

    Parameters
    ----------
    emission
        (N, K): P(x_m | z_m = k) up to a factor per step, all sequences concatenated.
    offsets
        int (n + 1,): sequence i owns the steps ``offsets[i]:offsets[i + 1]``, at least one.
    start, move, end
        (K,), (K, K) and (K,): probabilities of the first state, of each transition, and of ending in each state
        (None: sequences end anywhere).

    Returns
    -------
    forward, backward
        (N, K), each row divided by its sum; their product is proportional to P(z_m | x).
    log_evidence
        (n,): log Σ_z P(z) Π_m emission_m(z_m), in nats.

    >>> emission, start = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.5, 0.5])
    >>> _, _, log_z = forward_backward(emission, np.array([0, 2]), start, np.eye(2))
    >>> float(np.round(np.exp(log_z[0]), 6))
    0.5
    """
    ending = np.ones(len(start)) if end is None else end
    lengths = np.diff(offsets)
    # longest first: the sequences that still have a step m are then the first running[m], and no mask is needed
    order = np.argsort(-lengths, kind="stable")
    first = offsets[:-1][order]  # first step of each sequence in that order, (n,)
    longest = int(lengths.max(initial=0))
    running = [int((lengths > m).sum()) for m in range(longest)]  # sequences that have a step m
    forward, backward = np.empty_like(emission), np.empty_like(emission)
    log_evidence = np.zeros(len(lengths))
    for m in range(longest):
        rows = first[: running[m]] + m
        before = start[None] if m == 0 else forward[rows - 1] @ move  # (running, K)
        forward[rows], log_total = _normalised(before * emission[rows])
        log_evidence[order[: running[m]]] += log_total
    # forward messages are normalised, so the probability of ending is the last factor of the evidence
    if end is not None:
        log_evidence += np.log(np.maximum(forward[offsets[1:] - 1] @ ending, TINY))
    for m in range(longest - 1, -1, -1):
        rows = first[: running[m]] + m
        # sequences whose last step this is begin from the end; the others, which come first, overwrite it
        message = np.tile(ending, (len(rows), 1))
        continuing = running[m + 1] if m + 1 < longest else 0
        if continuing:
            after = first[:continuing] + m + 1
            # move.T: backward messages sum over the state that is moved to
            message[:continuing] = (emission[after] * backward[after]) @ move.T
        backward[rows] = _normalised(message)[0]
    return forward, backward, log_evidence


def _normalised(message: Floats) -> tuple[Floats, Floats]:
    """Rows divided by their sums, (rows, K), and the logarithms of these, (rows,)."""
    total = np.maximum(message.sum(axis=1), TINY)
    return message / total[:, None], np.log(total)
