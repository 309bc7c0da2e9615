"""What is broken in generated texts: faults that occur more often than in the text they are compared with, as data.

Sentences are made of it in `momus.report.words.broken`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from momus.evidence import Faulty, Table

if TYPE_CHECKING:
    from momus.runs.result import CriticResult

LEVEL = 0.02
"""Level at which each kind of fault is told: of some ten kinds, most are too rare to be told by chance."""
MANY = 100
"""Rounds of a loop from which a single document is told."""
Z = 1.959963984540054


@dataclass(frozen=True)
class Broken:
    """A kind of fault that a generated text has more often than its reference, or a document that is one long loop.

    Attributes
    ----------
    low, high
        95 % interval of the share of documents that have it (Wilson 1927).
    p
        Probability of as many by chance, by Fisher's exact test, one-sided.
    alone
        Whether only the first document is told, since it says the same `MANY` times, and not the share.
    """

    generated: str
    fault: Faulty
    low: float
    high: float
    p: float
    alone: bool = False

    @property
    def share(self) -> float:
        """Share of the generated documents that have the fault."""
        documents, total = self.fault.generated
        return documents / total if total else 0.0

    @property
    def reference_share(self) -> float:
        """Share of the documents of the reference that have the fault."""
        documents, total = self.fault.real
        return documents / total if total else 0.0


def broken_of(results: Sequence[CriticResult]) -> tuple[Broken, ...] | None:
    """Collect what is broken, the largest share first; None if no critic looked for faults."""
    tables = [
        (corpus, table)
        for result in results
        for corpus, items in result.evidence
        for table in items
        if isinstance(table, Table) and table.name == "faults"
    ]
    if not tables:
        return None
    told = [b for corpus, table in tables for fault in table.faults if (b := _told(corpus, fault)) is not None]
    return tuple(sorted(told, key=lambda b: (b.alone, b.reference_share - b.share, b.generated)))


def _told(corpus: str, fault: Faulty) -> Broken | None:
    """A fault, if it is told."""
    p = exceeds(fault.real, fault.generated)
    if p <= LEVEL:
        return Broken(corpus, fault, *wilson(*fault.generated), p)
    if fault.times >= MANY:
        return Broken(corpus, fault, *wilson(*fault.generated), p, alone=True)
    return None


def exceeds(real: tuple[int, int], generated: tuple[int, int]) -> float:
    """One-sided p of Fisher's exact test that a share is larger in generated text; pairs of a number and its total.

    >>> round(exceeds((0, 200), (10, 200)), 5), exceeds((3, 200), (0, 200))
    (0.00087, 1.0)
    """
    from scipy.stats import hypergeom

    (a, n), (b, m) = real, generated
    return float(hypergeom.sf(b - 1, n + m, a + b, m))


def wilson(documents: int, total: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927).

    >>> tuple(round(x, 3) for x in wilson(1, 200))
    (0.001, 0.028)
    """
    if not total:
        return 0.0, 1.0
    share, z = documents / total, Z**2 / total
    centre, half = share + z / 2, math.sqrt(z * (share * (1 - share) + z / 4))
    return max((centre - half) / (1 + z), 0.0), min((centre + half) / (1 + z), 1.0)
