"""Document weights: bootstrap multiplicities and permutation labels, chunk by chunk.

Weights come in arrays (N, B), float32, a column a resample. A chunk depends on the seed and its own number only, so
that neither the number of threads nor the statistics asked for change a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
CHUNK = 64
_PERMUTATION, _BOOTSTRAP = 1, 2


@dataclass(frozen=True)
class Design:
    """How the units of both texts belong together.

    Attributes
    ----------
    n_real, n_generated
        Numbers of exchangeable units: documents, or clusters of documents.
    paired
        Whether unit i of one text belongs to unit i of the other.
    """

    n_real: int
    n_generated: int
    paired: bool = False

    @property
    def relabellings(self) -> int:
        """How many distinct ways there are to label the units."""
        return 2**self.n_real if self.paired else comb(self.n_real + self.n_generated, self.n_real)

    def all_labels(self) -> Weights:
        """Every labelling, the observed one among them: (N, B), 1 where a unit is labelled real."""
        n = self.n_real + self.n_generated
        if self.paired:
            kept = np.array(list(product((1, 0), repeat=self.n_real)), dtype=np.float32).T
            return np.concatenate([kept, 1 - kept])
        labels = np.zeros((n, self.relabellings), dtype=np.float32)
        for column, rows in enumerate(combinations(range(n), self.n_real)):
            labels[list(rows), column] = 1
        return labels

    def labels(self, seed: int, chunk: int, size: int) -> Weights:
        """Random labellings, uniform over all of them."""
        rng = np.random.default_rng([seed, _PERMUTATION, chunk])
        if self.paired:
            kept = rng.integers(0, 2, (self.n_real, size)).astype(np.float32)
            return np.concatenate([kept, 1 - kept])
        n = self.n_real + self.n_generated
        fewer = min(self.n_real, self.n_generated)
        chosen = np.zeros((size, n), dtype=np.float32)
        for row in chosen:
            row[rng.choice(n, fewer, replace=False, shuffle=False)] = 1
        return np.ascontiguousarray((chosen if fewer == self.n_real else 1 - chosen).T)

    def multiplicities(self, seed: int, chunk: int, size: int) -> tuple[Weights, Weights]:
        """Draw units with replacement: how often each is drawn, for both texts (the same pairs where paired)."""
        rng = np.random.default_rng([seed, _BOOTSTRAP, chunk])
        real = _drawn(rng, self.n_real, size)
        return real, real if self.paired else _drawn(rng, self.n_generated, size)


def _drawn(rng: np.random.Generator, n: int, size: int) -> Weights:
    flat = rng.integers(0, n, (size, n)) + np.arange(size)[:, None] * n
    counts = np.bincount(flat.ravel(), minlength=size * n).reshape(size, n)
    return np.ascontiguousarray(counts.T, dtype=np.float32)


def chunks(total: int) -> Iterator[tuple[int, int]]:
    """Cut ``total`` resamples into chunks: (number, size).

    >>> list(chunks(100))
    [(0, 64), (1, 36)]
    """
    for number, start in enumerate(range(0, total, CHUNK)):
        yield number, min(CHUNK, total - start)
