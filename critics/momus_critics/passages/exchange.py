"""How much more probable a document would be with two neighbouring stretches exchanged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus_critics.chains.posterior import log_evidence

LONGEST = 3
"""Most stretches on each side of an exchange."""


def exchanges(length: int) -> list[Ints]:
    """Orders of ``length`` stretches in which two neighbouring groups of at most `LONGEST` stretches are exchanged.

    >>> [order.tolist() for order in exchanges(3)]
    [[1, 0, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]]
    """
    orders = []
    for start in range(length):
        for middle in range(start + 1, min(start + LONGEST, length - 1) + 1):
            for end in range(middle + 1, min(middle + LONGEST, length) + 1):
                order = np.arange(length)
                order[start:end] = np.concatenate([np.arange(middle, end), np.arange(start, middle)])
                orders.append(order)
    return orders


def exchange_gains(types: Floats, offsets: Ints, prior: Floats, transitions: Floats) -> Floats:
    """Log mean P(x with an exchange) / P(x) over all exchanges of each document, in nats, (n,); 0 for one stretch.

    Above 0, the chain expects some other order of neighbours.

    Parameters
    ----------
    types
        (M, K) P(z_m | x_m) of each stretch on its own.
    offsets
        Where documents begin, (n + 1,).
    prior
        (K,) P(z_m).
    transitions
        (K + 1, K + 1), start and end at index K.

    >>> likely = np.array([[0.0, 0.9, 0.1], [0.1, 0.0, 0.9], [0.9, 0.1, 0.0]])  # start → 0 → 1 → end
    >>> exchange_gains(np.eye(2)[[0, 1]], np.array([0, 2]), np.full(2, 0.5), likely).round(2)
    array([-6.59])
    """
    gains = np.zeros(len(offsets) - 1)
    for i, (first, end) in enumerate(pairwise(offsets)):
        orders = exchanges(end - first)
        if orders:
            # the order as it is and all exchanged ones, side by side, as sequences of one batch
            rows = np.concatenate([np.arange(end - first), *orders]) + first
            found = log_evidence(types[rows], offsets_of([end - first] * (len(orders) + 1)), prior, transitions)
            gains[i] = logsumexp(found[1:]) - np.log(len(orders)) - found[0]
    return gains
