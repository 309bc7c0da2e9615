"""Forward–backward passes over Markov chains, for many sequences at once (Rabiner 1989, section III)."""

from __future__ import annotations

import numpy as np

from momus.numeric.types import Floats, Ints

TINY = 1e-300
"""Smallest total of a message; avoids division by zero for sequences of probability zero."""


def forward_backward(
    emission: Floats, offsets: Ints, start: Floats, move: Floats, end: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """Compute the forward and backward message of each step.

    All sequences advance in parallel, one position at a time, in order of decreasing length.

    Parameters
    ----------
    emission
        (N, K): P(x_m | z_m = k) up to a factor per step, all sequences concatenated.
    offsets
        int (n + 1,): sequence i has the steps ``offsets[i]:offsets[i + 1]``, at least one.
    start, move, end
        (K,), (K, K) and (K,): probabilities of the first state, of each transition, and of ending in each state
        (None: sequences end anywhere).

    Returns
    -------
    forward, backward
        (N, K), each row divided by its sum; their product is proportional to P(z_m | x).
    log_evidence
        (n,): log Σ_z P(z) Π_m emission_m(z_m), in nats.

    >>> forward, backward, log_z = forward_backward(
    ...     np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0, 2]), np.array([0.5, 0.5]), np.eye(2)
    ... )
    >>> float(np.round(np.exp(log_z[0]), 6))
    0.5
    """
    n, ending = len(offsets) - 1, np.ones(len(start)) if end is None else end
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    first = offsets[:-1][order]
    longest = int(lengths.max(initial=0))
    running = [int((lengths > m).sum()) for m in range(longest)]  # number of sequences that have a step m
    forward, backward = np.empty_like(emission), np.empty_like(emission)
    log_evidence = np.zeros(n)
    for m in range(longest):
        rows = first[: running[m]] + m  # step m of each running sequence, (running,)
        before = start[None] if m == 0 else forward[rows - 1] @ move  # (running, K)
        message = before * emission[rows]
        total = np.maximum(message.sum(axis=1), TINY)
        forward[rows] = message / total[:, None]
        log_evidence[order[: running[m]]] += np.log(total)
    if end is not None:
        log_evidence += np.log(np.maximum(forward[offsets[1:] - 1] @ ending, TINY))
    for m in range(longest - 1, -1, -1):
        rows = first[: running[m]] + m
        message = np.tile(ending, (len(rows), 1))
        # sequences with a next step, the first ones in this order, get their message from it; the others end here
        continuing = running[m + 1] if m + 1 < longest else 0
        if continuing:
            after = first[:continuing] + m + 1
            message[:continuing] = (emission[after] * backward[after]) @ move.T
        backward[rows] = message / np.maximum(message.sum(axis=1, keepdims=True), TINY)
    return forward, backward, log_evidence
