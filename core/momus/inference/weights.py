"""Document weights: bootstrap multiplicities and permutation labels, chunk by chunk.

Weights come in arrays (N, B), float32, a column a resample. A chunk depends on the seed and its own number only, so
that neither the number of threads nor the statistics asked for change a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
Numbers = NDArray[np.int64]
CHUNK = 64
_PERMUTATION, _BOOTSTRAP = 1, 2


@dataclass(frozen=True)
class Design:
    """How the documents of both texts belong together.

    Attributes
    ----------
    n_real, n_generated
        Numbers of documents.
    paired
        Whether document i of one text belongs to document i of the other.
    strata
        For each real and each generated document, the number (from 0) of the prompt that both texts share: documents
        are relabelled within prompts, and prompts are resampled. None without.
    clusters
        For each real and each generated document, the number (from 0) of its cluster, counted by text: whole clusters
        are relabelled and resampled. None where each document stands for itself.
    """

    n_real: int
    n_generated: int
    paired: bool = False
    strata: tuple[Numbers, Numbers] | None = None
    clusters: tuple[Numbers, Numbers] | None = None

    @property
    def units(self) -> tuple[int, int]:
        """Numbers of units that are drawn: documents, prompts (the same for both texts), or clusters."""
        numbered = self.strata or self.clusters
        if numbered is None:
            return self.n_real, self.n_generated
        if self.strata is not None:
            both = int(max(n.max(initial=-1) for n in numbered)) + 1
            return both, both
        one, other = (int(n.max(initial=-1)) + 1 for n in numbered)
        return one, other

    @property
    def relabellings(self) -> int:
        """How many distinct ways there are to label the units."""
        if self.paired:
            return int(2**self.n_real)
        if self.strata is not None:
            n = self.units[0]
            counts = [np.bincount(s, minlength=n).tolist() for s in self.strata]
            return int(prod(comb(r + g, r) for r, g in zip(*counts, strict=True)))
        return comb(sum(self.units), self.units[0])

    @property
    def enumerable(self) -> bool:
        """Whether `all_labels` knows how to list them."""
        return self.strata is None

    def all_labels(self) -> Weights:
        """Every labelling, the observed one among them: (N, B), 1 where a document is labelled real."""
        if self.paired:
            kept = np.array(list(product((1, 0), repeat=self.n_real)), dtype=np.float32).T
            return np.concatenate([kept, 1 - kept])
        labels = np.zeros((sum(self.units), self.relabellings), dtype=np.float32)
        for column, rows in enumerate(combinations(range(len(labels)), self.units[0])):
            labels[list(rows), column] = 1
        return self._spread(labels)

    def _spread(self, labels: Weights) -> Weights:
        """From labels of clusters to labels of documents."""
        if self.clusters is None:
            return labels
        numbers = np.concatenate([self.clusters[0], self.clusters[1] + self.units[0]])
        return np.asarray(labels[numbers], dtype=np.float32)

    def labels(self, seed: int, chunk: int, size: int) -> Weights:
        """Random labellings, uniform over all of them."""
        rng = np.random.default_rng([seed, _PERMUTATION, chunk])
        if self.paired:
            kept = rng.integers(0, 2, (self.n_real, size)).astype(np.float32)
            return np.concatenate([kept, 1 - kept])
        if self.strata is not None:
            return self._within(rng, np.concatenate(self.strata), size)
        n, fewer = sum(self.units), min(self.units)
        chosen = np.zeros((size, n), dtype=np.float32)
        for row in chosen:
            row[rng.choice(n, fewer, replace=False, shuffle=False)] = 1
        return self._spread(np.ascontiguousarray((chosen if fewer == self.units[0] else 1 - chosen).T))

    def _within(self, rng: np.random.Generator, strata: Numbers, size: int) -> Weights:
        """Deal the labels of each prompt out anew among its documents."""
        n = len(strata)
        observed = np.arange(n) < self.n_real
        dealt = observed[np.lexsort((~observed, strata))].astype(np.float32)
        labels = np.empty((n, size), dtype=np.float32)
        for column in range(size):
            labels[np.lexsort((rng.random(n), strata)), column] = dealt
        return labels

    def multiplicities(self, seed: int, chunk: int, size: int) -> tuple[Weights, Weights]:
        """Draw units with replacement: how often each document is drawn, for both texts (the same prompts or pairs)."""
        rng = np.random.default_rng([seed, _BOOTSTRAP, chunk])
        real = _drawn(rng, self.units[0], size)
        together = self.paired or self.strata is not None
        generated = real if together else _drawn(rng, self.units[1], size)
        numbered = self.strata or self.clusters
        return (real, generated) if numbered is None else (real[numbered[0]], generated[numbered[1]])


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
