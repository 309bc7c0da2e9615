"""What is broken in generated texts: faults that occur more often than in the text they are compared with, as data.

Sentences are made of it in `momus.report.words.broken`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from momus.evidence import Faulty, Table

if TYPE_CHECKING:
    from momus.runs.result import CriticResult
    from momus.verdicts.verdict import Verdict

LEVEL = 0.02
"""Level at which each kind of fault is told: of some ten kinds, most are too rare to be told by chance."""
MANY = 100
"""Rounds of a loop from which a single document is told."""


@dataclass(frozen=True)
class Broken:
    """A kind of fault that a generated text has more often than its reference, or a document that is one long loop.

    Attributes
    ----------
    low, high
        95 % interval of the share of documents that have it (Wilson 1927), of fewer documents where those of a group
        are alike.
    p
        Probability of as many by chance, by Fisher's exact test, one-sided; of groups, at least that of the test of
        the share by groups.
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
        (corpus, table, {v.statistic: v for v in result.verdicts if v.generated == corpus and _grouped(v)})
        for result in results
        for corpus, items in result.evidence
        for table in items
        if isinstance(table, Table) and table.name == "faults"
    ]
    if not tables:
        return None
    told = [
        b
        for corpus, table, grouped in tables
        for fault in table.faults
        if (b := _told(corpus, fault, grouped.get(fault.of))) is not None
    ]
    return tuple(sorted(told, key=lambda b: (b.alone, b.reference_share - b.share, b.generated)))


def _grouped(v: Verdict) -> bool:
    """Whether units of a test are larger than documents, or than pairs of them."""
    return v.method.grouped or v.method.design not in ("documents", "pairs")


def _told(corpus: str, fault: Faulty, grouped: Verdict | None) -> Broken | None:
    """A fault, if it is told; where documents have groups, by the row of its share too, whose units they are."""
    p = exceeds(fault.real, fault.generated)
    documents, total = fault.generated
    if grouped is not None:
        p = max(p, 1.0 if grouped.p is None else grouped.p)
        total = _independent(fault, grouped)
        documents = round(documents * total / max(fault.generated[1], 1))
    if p > LEVEL and fault.times < MANY:
        return None
    return Broken(corpus, fault, *wilson(documents, total), p, alone=p > LEVEL)


def _independent(fault: Faulty, row: Verdict) -> int:
    """As how many independent documents those of a generated text count, by the standard error of the row."""
    (a, n), (b, m) = fault.real, fault.generated
    variance = sum(k * (size - k) / size**3 for k, size in ((a, n), (b, m)) if size)
    inflation = row.standard_error**2 / variance if row.standard_error and variance else 1.0
    return max(round(m / max(inflation, 1.0)), 1) if m else 0


def exceeds(real: tuple[int, int], generated: tuple[int, int]) -> float:
    """One-sided p of Fisher's exact test that a share is larger in generated text; pairs of a number and its total.

    >>> round(exceeds((0, 200), (10, 200)), 5), exceeds((3, 200), (0, 200))
    (0.00087, 1.0)
    """
    from scipy.stats import fisher_exact

    (a, n), (b, m) = real, generated
    return float(fisher_exact([[b, m - b], [a, n - a]], alternative="greater").pvalue)


def wilson(documents: int, total: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927).

    >>> tuple(round(x, 3) for x in wilson(1, 200))
    (0.001, 0.028)
    """
    from scipy.stats import binomtest

    if not total:
        return 0.0, 1.0
    interval = binomtest(documents, total).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)
