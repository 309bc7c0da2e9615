"""Summaries that keep a few examples of what they count, and merge like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momus.critic import Pooled
from momus.numeric.types import Floats, Ints
from momus_critics.evidence import percent

KEPT = 3
"""Examples kept of each thing, by default."""
LEAST = 3
"""Documents that share something that is named as over-used."""

Ranked = tuple[float, str]
"""Rank of an example, the lowest is kept, and its text."""


@dataclass(frozen=True)
class Exampled(Pooled):
    """Totals over documents, and examples.

    Attributes
    ----------
    examples
        By what they are examples of, at most ``kept`` different texts with their ranks, in ascending order.
    kept
        Number of examples kept.

    >>> a = Exampled.of(Pooled(1), {"x": [(2.0, "two"), (1.0, "one")]}, kept=1)
    >>> (a + Exampled.of(Pooled(1), {"x": [(0.0, "zero")]}, kept=1)).texts("x")
    ['zero']
    """

    examples: Mapping[str, tuple[Ranked, ...]] = field(default_factory=dict)
    kept: int = KEPT

    @classmethod
    def of(cls, pooled: Pooled, examples: Mapping[str, Iterable[Ranked]], kept: int = KEPT) -> Exampled:
        """Keep the examples of lowest rank."""
        best = {k: tuple(sorted(set(v))[:kept]) for k, v in examples.items()}
        return cls(pooled.documents, pooled.arrays, pooled.counts, best, kept)

    def __add__(self, other: Pooled) -> Exampled:
        theirs = other.examples if isinstance(other, Exampled) else {}
        keys = sorted({*self.examples, *theirs})
        merged = {k: (*self.examples.get(k, ()), *theirs.get(k, ())) for k in keys}
        return Exampled.of(super().__add__(other), merged, self.kept)

    def texts(self, key: str) -> list[str]:
        """The examples of something, those of lowest rank first."""
        return [text for _, text in self.examples.get(key, ())]


class Recurring(NamedTuple):
    """Something that documents share: % of documents that have it, and whether it is worth naming as over-used."""

    text: str
    real: float
    generated: float
    overused: bool


def recurring(real: Pooled, generated: Pooled, key: str, most: int) -> list[Recurring]:
    """What documents share, by how much their share of documents differs, the largest difference first.

    >>> sides = [Pooled(4, {}, {"names": {"Ann": n}}) for n in (1, 3)]
    >>> recurring(*sides, "names", 1)
    [Recurring(text='Ann', real=25.0, generated=75.0, overused=True)]
    """
    sides = [({str(k): v for k, v in t.counts[key].items()}, max(t.documents, 1)) for t in (real, generated)]
    shares = {
        text: tuple(counts.get(text, 0) / n for counts, n in sides) for text in {*sides[0][0], *sides[1][0]}
    }  # fmt: skip
    texts = sorted(shares, key=lambda text: (-abs(shares[text][1] - shares[text][0]), text))
    return [
        Recurring(text, percent(a), percent(b), b > a and sides[1][0][text] >= LEAST)
        for text, (a, b) in ((text, shares[text]) for text in texts[:most])
    ]


FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor, by which a hash of tokens is multiplied for each further token."""


def ranks(hashes: NDArray[np.uint64], starts: Ints, shifts: range) -> Floats:
    """An arbitrary number of each place that depends on the tokens around it alone, float64 (places,).

    Parameters
    ----------
    hashes
        uint64 (N,): a hash of each token.
    starts, shifts
        The places, and the tokens that count, relative to each of them.
    """
    total = np.zeros(len(starts), dtype=np.uint64)
    for shift in shifts:
        total = total * FACTOR + hashes[np.clip(starts + shift, 0, max(len(hashes) - 1, 0))]
    return (total >> np.uint64(11)).astype(np.float64)


def first_of_each(kinds: Ints, rank: Floats, kept: int) -> Ints:
    """Places of lowest rank, at most ``kept`` of each kind.

    >>> first_of_each(np.array([7, 5, 7]), np.array([0.2, 0.1, 0.1]), 1).tolist()
    [1, 2]
    """
    order = np.lexsort((rank, kinds))
    ordered = kinds[order]
    return np.asarray(order[np.arange(len(order)) - np.searchsorted(ordered, ordered) < kept])
