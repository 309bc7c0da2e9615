"""Summaries that keep a few examples of what they count, and merge like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momus.critic import Pooled
from momus.numeric.types import Floats, Ints

LEAST = 3
"""Documents of generated text that have something that is named as over-used."""

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

    >>> a = Exampled.of(Pooled(1), {"x": [(2.0, "two"), (1.0, "one")]})
    >>> (a + Exampled.of(Pooled(1), {"x": [(0.0, "zero")]})).texts("x")
    ['zero']
    """

    examples: Mapping[str, tuple[Ranked, ...]] = field(default_factory=dict)
    kept: int = 1

    @classmethod
    def of(cls, pooled: Pooled, examples: Mapping[str, Iterable[Ranked]], kept: int = 1) -> Exampled:
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

    def first(self, keys: Iterable[str]) -> list[str]:
        """Of each thing the example of lowest rank; empty if it has none."""
        return [next(iter(self.texts(key)), "") for key in keys]


def counts_of(
    real: Pooled,
    generated: Pooled,
    key: str,
    kind: type[str] | type[float],
    totals: tuple[float, float] | None = None,
    least: float = 0,
) -> tuple[list[Any], Floats, Floats]:
    """What both texts count under a key, in order.

    Parameters
    ----------
    kind
        ``str`` or ``float``: what the labels are.
    totals
        What the counts are a part of, for each text; by default, the number of documents.
    least
        Count in both texts together that a label needs.

    Returns
    -------
    V labels, and of each text the total, at least 1, and the count of each label: (1 + V,).

    >>> sides = [Pooled(4, {}, {"names": {"Ann": n}}) for n in (1, 3)]
    >>> [x if isinstance(x, list) else x.tolist() for x in counts_of(*sides, "names", str)]
    [['Ann'], [4.0, 1.0], [4.0, 3.0]]
    """
    a: dict[Any, float] = {kind(k): v for k, v in real.counts.get(key, {}).items()}
    b: dict[Any, float] = {kind(k): v for k, v in generated.counts.get(key, {}).items()}
    labels = sorted(k for k in {*a, *b} if a.get(k, 0.0) + b.get(k, 0.0) >= least)
    of_a, of_b = totals or (real.documents, generated.documents)
    p = np.array([max(of_a, 1.0), *(a.get(k, 0.0) for k in labels)], dtype=np.float64)
    q = np.array([max(of_b, 1.0), *(b.get(k, 0.0) for k in labels)], dtype=np.float64)
    return labels, p, q


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
    total = np.zeros(len(starts), dtype=np.uint64)  # modulo 2⁶⁴: overflow is meant
    for shift in shifts:
        total = total * FACTOR + hashes[np.clip(starts + shift, 0, max(len(hashes) - 1, 0))]
    # 53 bits, which a float holds exactly: equal ranks are equal places
    return (total >> np.uint64(11)).astype(np.float64)


def first_of_each(kinds: Ints, rank: Floats) -> Ints:
    """The place of lowest rank of each kind.

    >>> first_of_each(np.array([7, 5, 7]), np.array([0.2, 0.1, 0.1])).tolist()
    [1, 2]
    """
    order = np.lexsort((rank, kinds))
    return np.asarray(order[np.unique(kinds[order], return_index=True)[1]])
