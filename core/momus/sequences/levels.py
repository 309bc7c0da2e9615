"""Levels of n-gram models: the mass of seen words per context length, the weight of the order below, and smoothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.numeric.ragged import offsets_of, owners_of, ranges_of
from momus.numeric.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Level:
    """The n-grams of one context length: p(w | h) = mass(h, w) + weight(h) p(w | h without its oldest symbol).

    Attributes
    ----------
    contexts
        int64 (H,): codes of the contexts, ascending.
    weight
        (H,): factor of the order below.
    starts
        int64 (H + 1,): the words seen after context i are ``words[starts[i]:starts[i + 1]]``, ascending.
    words, mass
        (N,): words, and what each adds to the order below; may be negative under a back-off.
    seen
        (N,): p(w | h) of a model that backs off only for unseen words; None for one that interpolates.
    """

    contexts: Ints
    weight: Floats
    starts: Ints
    words: Ints
    mass: Floats
    seen: Floats | None = None

    @classmethod
    def of(cls, keys: Ints, counts: Floats, discount: float) -> Level:
        """Interpolate context codes and words, (2, N), with one absolute discount; 0 is maximum likelihood."""
        contexts, row = np.unique(keys[0], return_inverse=True)
        mass, weight = interpolated(counts, row, len(contexts), discount)
        order = np.lexsort((keys[1], row))
        return cls(contexts, weight, offsets_of(np.bincount(row)), keys[1][order], mass[order])

    def rows(self, code: Ints, modulus: int) -> tuple[Ints, Bools]:
        """Row of each context (its code modulo ``modulus``), and whether the level contains it, both (B,)."""
        suffix = code % modulus
        row = np.minimum(np.searchsorted(self.contexts, suffix), len(self.contexts) - 1)
        return row, self.contexts[row] == suffix

    def entries(self, row: Ints, known: Bools) -> tuple[Ints, Ints]:
        """Numbers of the contexts and of their n-grams, concatenated; none for unknown contexts."""
        length = np.where(known, np.diff(self.starts)[row], 0)
        return owners_of(offsets_of(length)), ranges_of(self.starts[:-1][row], length)

    def masses(self, row: Ints, known: Bools, words: Ints, size: int) -> Floats:
        """Mass of one word after each context, (B,); 0 if it is not among the n-grams."""
        # both keys are single sortable integers
        key = owners_of(self.starts) * size + self.words
        wanted = row * size + words
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(known & (key[at] == wanted), self.mass[at], 0.0)


def discount(counts: Floats, needs_twos: bool = True) -> float:
    """The absolute discount of one order, n₁ / (n₁ + 2 n₂) (Ney et al. 1994).

    Parameters
    ----------
    counts
        (N,): counts of n-grams.
    needs_twos
        Whether it is ½ without counts of two, where the formula gives 1; without counts of one it is ½ anyway.

    >>> discount(np.array([1.0, 1.0, 2.0, 5.0])), discount(np.array([1.0, 3.0])), discount(np.array([1.0, 3.0]), False)
    (0.5, 0.5, 1.0)
    """
    one, two = float((counts == 1).sum()), float((counts == 2).sum())
    return one / (one + 2 * two) if one and (two or not needs_twos) else 0.5


def interpolated(counts: Floats, context: Ints, contexts: int, discount: float) -> tuple[Floats, Floats]:
    """Smooth one order by interpolation with absolute discounts (Kneser & Ney 1995; Chen & Goodman 1999).

    Parameters
    ----------
    counts
        (N,): count of each n-gram; below the highest order, its continuation count.
    context
        int (N,): number of the context of each n-gram, below ``contexts``.

    Returns
    -------
    mass
        (N,): max(c − D, 0) / c(h).
    weight
        (contexts,): D N(h) / c(h), the factor of the order below; 1 for a context without counts.

    >>> mass, weight = interpolated(np.array([2.0, 1.0]), np.array([0, 0]), 1, 0.5)
    >>> round(float(mass.sum() + weight[0]), 12)
    1.0
    """
    total = np.bincount(context, counts, contexts)
    types = np.bincount(context, counts > 0, contexts)
    safe = np.maximum(total, 1)
    weight = np.where(total > 0, discount * types / safe, 1.0)
    return np.maximum(counts - discount, 0.0) / safe[context], weight
