"""Document weights: bootstrap multiplicities and permutation labels, chunk by chunk.

Weights are float32 arrays (N, B), one column per resample. A chunk depends only on the seed and on its own number, so
neither the number of threads nor the statistics asked for change a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from momus.inference.design import Design
from momus.numeric.types import Floats, Ints

Weights = NDArray[np.float32]
CHUNK = 64
FEW = 1 << 15
"""Documents or clusters up to which labellings are kept, as bits: 512 chunks of 64 take 134 MB at most."""
KEPT = 8
"""Chunks of labellings within prompts or bins that are kept."""
_PERMUTATION, _BOOTSTRAP, _SIGNS, _COUPLED = 1, 2, 8, 10


def all_labels(design: Design) -> Weights:
    """Every labelling of units, the observed one among them: (rows, B), 1 where a row is labelled real.

    The rows are documents; clusters, those of the real text first; or, where whole units change sides, the real and
    then the generated side of each unit.
    """
    if design.flips:
        kept = np.array(list(product((1, 0), repeat=design.units[0])), dtype=np.float32).T  # (units, 2^units)
        return np.concatenate([kept, 1 - kept])
    labels = np.zeros((sum(design.units), design.relabellings), dtype=np.float32)
    for column, rows in enumerate(combinations(range(len(labels)), design.units[0])):
        labels[list(rows), column] = 1
    return labels


def random_labels(design: Design, seed: int, chunk: int, size: int) -> Weights:
    """Random labellings, uniform over all of them: (rows, size), rows as in `all_labels`.

    Within prompts and bins, rows are documents. In bins with groups, whole groups are labelled, and rows are documents.
    """
    if _whole_units(design) and sum(design.units) <= FEW:
        return _of_units(*design.units, seed, chunk, size)
    rng = np.random.default_rng([seed, _PERMUTATION, chunk])
    if design.flips:
        kept = rng.integers(0, 2, (design.units[0], size)).astype(np.float32)
        return np.concatenate([kept, 1 - kept])
    if design.strata is not None and design.numbers is not None and design.groups is None:
        strata, drawn = np.concatenate(design.numbers), design.drawn  # strata: (N,)
        # axes ask for the same chunks one after another; as bits, a label takes a 32nd of its memory
        if (seed, chunk, size) not in drawn:
            labels = lowest(rng.random((size, len(strata))).T, strata, design.n_real)
            if chunk >= KEPT:
                return labels
            drawn[seed, chunk, size] = np.packbits(labels.astype(bool), axis=1)
        return np.unpackbits(drawn[seed, chunk, size], axis=1, count=size).astype(np.float32)
    labels = _permuted(rng, *design.units, size)
    if design.groups is not None:  # from groups to their documents
        labels = labels[np.concatenate([design.groups[0], design.groups[1] + design.units[0]])]
    return labels


def _whole_units(design: Design) -> bool:
    """Whether labels go to documents or clusters, all of which are exchangeable."""
    return design.kind == "documents" or (design.kind == "clusters" and not design.flips and design.groups is None)


def _of_units(n_real: int, n_generated: int, seed: int, chunk: int, size: int) -> Weights:
    """Labellings of independent documents or clusters, which all critics that score the same documents share."""
    bits = (_bits_of_few if n_real + n_generated <= FEW >> 3 else _bits)(n_real, n_generated, seed, chunk, size)
    labels = np.unpackbits(bits, axis=1, count=size)  # (N, size)
    return labels.astype(np.float32)


def _packed(n_real: int, n_generated: int, seed: int, chunk: int, size: int) -> NDArray[np.uint8]:
    labels = _permuted(np.random.default_rng([seed, _PERMUTATION, chunk]), n_real, n_generated, size)
    return np.packbits(labels.astype(bool), axis=1)


_bits, _bits_of_few = lru_cache(maxsize=512)(_packed), lru_cache(maxsize=4096)(_packed)


def _permuted(rng: np.random.Generator, n_real: int, n_generated: int, size: int) -> Weights:
    # a row per resample, which is permuted in one piece of memory; transposed, as resamples are columns elsewhere
    labels = np.zeros((size, n_real + n_generated), dtype=np.float32)
    labels[:, :n_real] = 1
    return np.ascontiguousarray(rng.permuted(labels, axis=1).T)


def random_signs(design: Design, seed: int, chunk: int, size: int) -> Weights:
    """Random signs of units, (units, size): those of the real text first, or one for both sides of a unit."""
    units = design.units[0] if design.together else sum(design.units)
    rng = np.random.default_rng([seed, _SIGNS, chunk])
    return (2 * rng.integers(0, 2, (units, size)) - 1).astype(np.float32)


def coupled(design: Design, seed: int, chunk: int, size: int) -> tuple[Weights, Weights]:
    """Random labellings of units and random signs of them that follow from the same keys, as in `random_labels`.

    A unit has a positive sign where its label tends to be that of its text, so that a statistic under relabelling and
    another one under random signs depend on each other as they do in the texts.
    """
    rng = np.random.default_rng([seed, _COUPLED, chunk])
    if design.flips:
        kept = rng.integers(0, 2, (design.units[0], size)).astype(np.float32)
        return np.concatenate([kept, 1 - kept]), 2 * kept - 1
    one = design.units[0]
    keys = rng.random((sum(design.units), size))  # (units, B); a label and a sign of one unit follow from one key
    # the units with the lowest keys are real, as many as there were: a uniform relabelling
    labels = np.asarray(keys <= np.partition(keys, one - 1, axis=0)[one - 1], dtype=np.float32)
    signs = np.where(keys < 0.5, np.float32(1), np.float32(-1))
    # a low key labels a unit real, which agrees with the text of a real unit and disagrees with that of a generated one
    signs[one:] *= -1
    if design.groups is not None:  # from groups to their documents
        labels = labels[np.concatenate([design.groups[0], design.groups[1] + one])]
    return labels, signs


def multiplicities(design: Design, seed: int, chunk: int, size: int) -> tuple[Weights, Weights]:
    """Draw units with replacement: how often each document is drawn, (n, size) for each text."""
    rng = np.random.default_rng([seed, _BOOTSTRAP, chunk])
    real = multiplicities_of(rng, design.units[0], size)
    # both sides of a pair or prompt must be drawn equally often, or their difference is no observation
    generated = real if design.together else multiplicities_of(rng, design.units[1], size)
    if design.kind == "documents":
        return real, generated
    numbers = design.unit_numbers
    return real[numbers[0]], generated[numbers[1]]


def lowest(keys: Floats, strata: Ints, n_real: int) -> Weights:
    """Label as real the rows with the lowest keys (N, B) of each stratum, as many as the first ``n_real`` rows have.

    >>> lowest(np.array([[0.9], [0.5], [0.1], [0.2]]), np.array([0, 1, 0, 1]), 2).ravel().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    real = np.arange(len(strata)) < n_real
    # the labels in the order of strata, real ones first: (N,), given to the rows in the order of stratum, then key
    in_order = real[np.lexsort((~real, strata))].astype(np.float32)
    order = np.argsort(strata[:, None] + keys, axis=0)  # keys are in [0, 1), so strata never mix
    labels = np.empty(keys.shape, dtype=np.float32)
    np.put_along_axis(labels, order, np.broadcast_to(in_order[:, None], keys.shape), axis=0)
    return labels


def multiplicities_of(rng: np.random.Generator, n: int, size: int) -> Weights:
    """How often each of n units is drawn, if n are drawn with replacement: (n, size)."""
    # one bincount for all resamples: resample b counts in the cells b · n … (b + 1) · n
    flat = rng.integers(0, n, (size, n)) + np.arange(size)[:, None] * n  # (size, n)
    counts = np.bincount(flat.ravel(), minlength=size * n).reshape(size, n)
    return np.ascontiguousarray(counts.T, dtype=np.float32)


def chunks(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Cut resamples ``start`` to ``stop`` into chunks: (number, size); ``start`` must be a multiple of the chunk.

    >>> list(chunks(0, 100))
    [(0, 64), (1, 36)]
    >>> list(chunks(64, 100))
    [(1, 36)]
    """
    for begin in range(start, stop, CHUNK):
        yield begin // CHUNK, min(CHUNK, stop - begin)
