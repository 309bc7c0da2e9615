"""n-gram models with Katz's back-off (Katz 1987)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.sequences.ngram import Level, NGramModel, discount


class Katz(NGramModel):
    """Back-off to shorter contexts for unseen words, with Good–Turing discounts."""

    def _levels(self, keys: Ints, counts: Ints) -> list[Level]:
        orders = [(keys, counts.astype(np.float64))]
        for m in range(self.order - 2, -1, -1):
            (contexts, words), sums = orders[-1]
            shorter, row = np.unique(np.stack([contexts % self.base**m, words]), axis=1, return_inverse=True)
            orders.append((shorter, np.bincount(row.ravel(), sums)))
        return katz_levels(orders[::-1], self.base, self.size)


@dataclass(frozen=True)
class BackedOff(Level):
    """A level of a model that backs off only for unseen words; ``seen`` holds p(w | h) of the others, (N,), or None."""

    seen: Floats | None = None


def probabilities(levels: Sequence[Level], code: Ints, words: Ints, base: int, size: int) -> Floats:
    """p of one word after each context, (B,), under levels for contexts of 0, 1, … symbols."""
    p = np.full(len(words), 1 / size)
    for m, level in enumerate(levels):
        row, known = level.rows(code, base**m)
        p *= np.where(known, level.weight[row], 1.0)
        p += level.masses(row, known, words, size)
    return p


LARGEST = 5
"""Counts above this are not discounted (k of Katz 1987)."""


def good_turing(counts: Floats, largest: int = LARGEST) -> Floats:
    """The factors by which Katz (1987) multiplies the counts r = 0 … ``largest``.

    d_r = (r* / r − A) / (1 − A) with r* = (r + 1) n_{r+1} / n_r and A = (k + 1) n_{k+1} / n_1. Where the counts of
    counts of a small text give a factor outside of (0, 1), all r take the absolute discount of `discount` instead:
    1 − D / r.

    >>> good_turing(np.repeat([1.0, 2, 3, 4, 5, 6, 7], [100, 40, 20, 12, 8, 5, 3])).round(3).tolist()
    [1.0, 0.714, 0.643, 0.714, 0.762, 0.643]
    """
    n = np.bincount(np.minimum(counts, largest + 2).astype(np.int64), minlength=largest + 3).astype(np.float64)
    r = np.arange(1, largest + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        common = (largest + 1) * n[largest + 1] / n[1]
        factors = ((r + 1) * n[r + 1] / n[r] / r - common) / (1 - common)
    if not (np.isfinite(factors).all() and (factors > 0).all() and (factors < 1).all()):
        factors = 1 - discount(counts) / r
    return np.concatenate([[1.0], factors])


def katz_levels(orders: list[tuple[Ints, Floats]], base: int, size: int) -> list[Level]:
    """Levels of Katz's back-off; those of `distributions` add ``mass``, which a seen word gets above its back-off.

    A word seen after h gets d_c c(h, w) / c(h); the others share what is left in proportion to the order below. A
    context whose counts are all above the largest discounted one gets one more count in its denominator, which is what
    it leaves. The first order is interpolated with the uniform distribution.

    Parameters
    ----------
    orders
        For m = 0, 1, …: n-grams with a context of m symbols, (2, N) context codes and words, and their counts, (N,).
    base
        Base of the context codes.
    size
        V.
    """
    levels: list[Level] = []
    for m, (keys, counts) in enumerate(orders):
        contexts, row = np.unique(keys[0], return_inverse=True)
        factors = good_turing(counts)
        kept = counts * np.where(counts <= LARGEST, factors[np.minimum(counts, LARGEST).astype(np.int64)], 1.0)
        total = np.bincount(row, counts)
        total += np.bincount(row, counts - kept) <= 0
        seen = kept / total[row]
        left = 1 - np.bincount(row, seen).astype(np.float64)
        if m == 0:
            mass, weight = seen, np.asarray(left, dtype=np.float64)
        else:
            below = probabilities(levels, keys[0] % base ** (m - 1), keys[1], base, size)
            free = 1 - np.bincount(row, below)  # what the order below gives to unseen words
            spare = free > 1e-9
            weight = np.where(spare, left / np.where(spare, free, 1.0), 0.0)
            # all V words were seen: what is left has no other place to go
            seen = np.where(spare[row], seen, seen / (1 - left)[row])
            mass = seen - weight[row] * below
        order = np.lexsort((keys[1], row))
        starts = offsets_of(np.bincount(row))
        levels.append(BackedOff(contexts, weight, starts, keys[1][order], mass[order], None if m == 0 else seen[order]))
    return levels
