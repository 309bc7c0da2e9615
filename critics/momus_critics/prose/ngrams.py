"""n-gram process over few symbols, as one dense table: each order backs off to the one below with a Dirichlet prior.

    P_m(s | h) = (c(h s) + τ_m P_{m−1}(s | h′)) / (c(h) + τ_m)

h′ is h without its oldest symbol and P₀ is uniform (MacKay & Peto 1995). τ_m maximises the likelihood of each symbol
given the counts without it.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from momus.critic import Counts
from momus.errors import UsageError
from momus.estimator import Estimator
from momus.numeric.ragged import group_sums, offsets_of, ranges_of
from momus.numeric.types import Floats, Ints

PRIORS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LARGEST = 1 << 24
"""Largest number of cells of a table."""


class DenseNGrams(Estimator):
    """An n-gram process over symbols 0 … ``symbols`` − 1; a border symbol stands before and after each sequence.

    Parameters
    ----------
    symbols
        Number of symbols.
    order
        n.

    >>> process = DenseNGrams(symbols=2, order=2)
    >>> process = process.learn(process.count(np.array([0, 1, 0, 1]), np.array([0, 4])))
    >>> process.probabilities_.shape, bool(np.allclose(process.probabilities_.sum(axis=-1), 1))
    ((3, 3), True)
    """

    def __init__(self, *, symbols: int, order: int = 3) -> None:
        self.symbols = symbols
        self.order = order
        if order < 1 or (symbols + 1) ** order > LARGEST:
            raise UsageError(f"order is {order}, with {symbols} symbols", hint="give a lower order, of at least 1")

    def count(self, states: NDArray[np.integer], offsets: Ints) -> Counts:
        """Count n-grams; those of several texts add up.

        Parameters
        ----------
        states, offsets
            int (N,), int64 (sequences + 1,): the symbols of each sequence.
        """
        return Counts.of_values(ngrams=self._codes(states, offsets))

    def learn(self, counts: Counts) -> Self:
        """Smooth the counts of n-grams."""
        size = self.symbols + 1
        codes, numbers = counts.numbers("ngrams")
        table = np.zeros(size**self.order)
        table[codes] = numbers
        tables = [table.reshape((size,) * self.order)]
        while tables[-1].ndim > 1:
            # the first axis is the oldest symbol: summed over it, counts are those of one order less
            tables.append(tables[-1].sum(axis=0))
        # broadcasts against the last axis: the order below has the shape of the last n − 1 axes
        below: Floats = np.full(size, 1.0 / size)
        for table in reversed(tables):
            below = _smoothed(table, below)
        self.probabilities_ = below
        return self

    def _codes(self, states: NDArray[np.integer], offsets: Ints) -> Ints:
        """Position in the table of the n-gram that ends at each symbol and at the end of each sequence: int64."""
        size, n, lengths = self.symbols + 1, self.order - 1, np.diff(offsets)
        # each sequence becomes n border symbols (here n = order − 1), its symbols and one border symbol
        framed = offsets_of(lengths + n + 1)
        stream = np.full(int(framed[-1]), self.symbols, dtype=np.int64)
        stream[ranges_of(framed[:-1] + n, lengths)] = states
        at = ranges_of(framed[:-1] + n, lengths + 1)
        codes = np.zeros(len(at), dtype=np.int64)
        for back in range(n, -1, -1):
            # the oldest symbol is the first digit, as in the raveled table
            codes = codes * size + stream[at - back]
        return codes

    def log_probabilities(self, states: NDArray[np.integer], offsets: Ints) -> tuple[Floats, Ints]:
        """log P of each symbol and end in nats, (N + sequences,), and the offsets of the sequences in it."""
        values = np.log(self.probabilities_.ravel())[self._codes(states, offsets)]
        return values, offsets_of(np.diff(offsets) + 1)

    def totals(self, states: NDArray[np.integer], offsets: Ints) -> Floats:
        """log P of each sequence, end included, in nats: (sequences,)."""
        values, framed = self.log_probabilities(states, offsets)
        return np.asarray(group_sums(values, framed), dtype=np.float64)


def _smoothed(counts: Floats, below: Floats) -> Floats:
    """Add the prior of the order below, with the best of a few strengths."""
    total = counts.sum(axis=-1, keepdims=True)
    best, smoothed = -np.inf, below
    for prior in PRIORS:
        # the likelihood of each symbol given the counts without it; an n-gram seen once relies on the order below
        left = np.log((np.maximum(counts - 1, 0) + prior * below) / (np.maximum(total - 1, 0) + prior))
        value = float((counts * left).sum())
        if value > best:
            best, smoothed = value, (counts + prior * below) / (total + prior)
    return smoothed
