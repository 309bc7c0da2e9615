"""Document weights: bootstrap multiplicities and permutation labels, chunk by chunk.

Weights are float32 arrays (N, B), one column per resample. A chunk depends only on the seed and on its own number, so
neither the number of threads nor the statistics asked for change a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from momus.inference.design import Design
from momus.numeric.types import Ints

Weights = NDArray[np.float32]
CHUNK = 64
_PERMUTATION, _BOOTSTRAP = 1, 2


def all_labels(design: Design) -> Weights:
    """Every labelling, the observed one among them: (N, B), 1 where a document is labelled real."""
    if design.kind == "pairs":
        kept = np.array(list(product((1, 0), repeat=design.n_real)), dtype=np.float32).T
        return np.concatenate([kept, 1 - kept])
    labels = np.zeros((sum(design.units), design.relabellings), dtype=np.float32)
    for column, rows in enumerate(combinations(range(len(labels)), design.units[0])):
        labels[list(rows), column] = 1
    return _spread(design, labels)


def random_labels(design: Design, seed: int, chunk: int, size: int) -> Weights:
    """Random labellings, uniform over all of them: (N, size)."""
    rng = np.random.default_rng([seed, _PERMUTATION, chunk])
    if design.kind == "pairs":
        kept = rng.integers(0, 2, (design.n_real, size)).astype(np.float32)
        return np.concatenate([kept, 1 - kept])
    if design.kind == "prompts" and design.numbers is not None:
        return _within_prompts(rng, np.concatenate(design.numbers), design.n_real, size)
    # draw the smaller side of each labelling; its complement is the other side
    n, fewer = sum(design.units), min(design.units)
    chosen = np.zeros((size, n), dtype=np.float32)
    for row in chosen:
        row[rng.choice(n, fewer, replace=False, shuffle=False)] = 1
    return _spread(design, np.ascontiguousarray((chosen if fewer == design.units[0] else 1 - chosen).T))


def multiplicities(design: Design, seed: int, chunk: int, size: int) -> tuple[Weights, Weights]:
    """Draw units with replacement: how often each document is drawn, (n, size) for each text."""
    rng = np.random.default_rng([seed, _BOOTSTRAP, chunk])
    real = _drawn(rng, design.units[0], size)
    generated = real if design.together else _drawn(rng, design.units[1], size)
    if design.numbers is None:
        return real, generated
    return real[design.numbers[0]], generated[design.numbers[1]]


def _spread(design: Design, labels: Weights) -> Weights:
    """From labels of clusters (units, B) to labels of documents (N, B)."""
    if design.kind != "clusters" or design.numbers is None:
        return labels
    numbers = np.concatenate([design.numbers[0], design.numbers[1] + design.units[0]])
    return np.asarray(labels[numbers], dtype=np.float32)


def _within_prompts(rng: np.random.Generator, prompts: Ints, n_real: int, size: int) -> Weights:
    """Shuffle the labels of each prompt among its documents."""
    n = len(prompts)
    observed = np.arange(n) < n_real
    # labels sorted by prompt, real ones first: (n,), given to a random order of each prompt's documents
    labels_by_prompt = observed[np.lexsort((~observed, prompts))].astype(np.float32)
    labels = np.empty((n, size), dtype=np.float32)
    for column in range(size):
        labels[np.lexsort((rng.random(n), prompts)), column] = labels_by_prompt
    return labels


def _drawn(rng: np.random.Generator, n: int, size: int) -> Weights:
    # one bincount for all resamples: resample b counts in the cells b · n … (b + 1) · n
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
