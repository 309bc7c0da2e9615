"""What is broken: faults that occur more often in a generated text than in the text that it is compared with.

They are told before all findings (`momus.runs.findings`); sentences are made of them in `momus.report.words`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from momus.critic.scoring import EMPTY
from momus.evidence import Faulty, Table
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.runs.result import CriticResult

LEVEL, OF_BOTH = 0.02, 0.01
"""Levels at which each kind of fault is told, beside the reference alone, and beside it and the text that critics were
fitted on, which shows more: of some ten kinds, most are too rare to be told by chance."""
ALIKE = 0.1
"""Least p at which text that critics were fitted on counts as real text that has faults as often."""
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
        Probability of as many by chance, by Fisher's exact test beside `reference_of` the fault; of groups, at least
        that of the test of the share by groups.
    alone
        Whether only the first document is told, since it says the same `MANY` times, and not the share.
    critic
        The critic that found it; empty for what the texts themselves show.
    reference
        The text that has it less often; empty for the reference of the comparison.
    """

    generated: str
    fault: Faulty
    low: float
    high: float
    p: float
    alone: bool = False
    critic: str = ""
    reference: str = ""

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


def broken_of(results: Sequence[CriticResult], signature: Mapping[str, Any] | None = None) -> tuple[Broken, ...] | None:
    """Collect what is broken, the largest share first; None if no critic looked for faults.

    With the ``signature`` of a run, empty documents and copies of others count too, which critics do not see.
    """
    if not _tables(results):
        return None
    # against a model, critics are fitted on what is compared
    apart = bool(signature) and not (signature or {}).get("against")
    told = [
        replace(b, critic=critic)
        for critic, corpus, fault, grouped in _faults(results, signature or {})
        if (b := _told(corpus, fault, grouped, apart)) is not None
    ]
    return tuple(sorted(told, key=lambda b: (b.alone, b.reference_share - b.share, b.generated)))


def mended_of(results: Sequence[CriticResult], signature: Mapping[str, Any], reference: str) -> tuple[Broken, ...]:
    """What is broken in the reference, text of a model, and less often in a later one, the largest share first."""
    told = [
        replace(b, critic=critic, reference=corpus)
        for critic, corpus, fault, grouped in (_faults(results, signature) if signature.get("against") else ())
        if (b := _told(reference, _exchanged(fault), grouped, apart=False)) is not None and b.p <= OF_BOTH
    ]
    return tuple(sorted(told, key=lambda b: (b.reference_share - b.share, b.reference)))


def _faults(
    results: Sequence[CriticResult], signature: Mapping[str, Any]
) -> Iterator[tuple[str, str, Faulty, Verdict | None]]:
    """The critic (empty for what the texts show), the generated text, each of its faults, and the row of groups."""
    for result, corpus, table in _tables(results):
        of_groups = {v.statistic: v for v in result.verdicts if v.generated == corpus and _grouped(v)}
        for fault in (*table.faults, *_of_texts(corpus, results, signature)):
            yield result.name * (fault in table.faults), corpus, fault, of_groups.get(fault.of)


def _tables(results: Sequence[CriticResult]) -> list[tuple[CriticResult, str, Table]]:
    """Tables of faults, each with its critic's results and its generated text."""
    return [
        (result, corpus, table)
        for result in results
        for corpus, items in result.evidence
        for table in items
        if isinstance(table, Table) and table.name == "faults"
    ]


def _exchanged(fault: Faulty) -> Faulty:
    """A fault with the texts exchanged; documents are named of generated text alone."""
    return replace(fault, real=fault.generated, generated=fault.real, fitted=(0, 0), ids=(), quotes=(), times=0)


def _of_texts(corpus: str, results: Sequence[CriticResult], signature: Mapping[str, Any]) -> Iterator[Faulty]:
    """Documents of a text that are empty, and those that repeat others, beside those of its reference."""
    sizes = {c["name"]: (c["role"], int(c["documents"])) for c in signature.get("corpora", ())}
    reference = next((name for name, (role, _) in sizes.items() if role == "real"), "")
    if corpus not in sizes or not reference:
        return
    empty = {u.corpus: u.count for r in results for u in r.unscored if u.reason == EMPTY}
    real, generated = ((empty.get(name, 0), sizes[name][1]) for name in (reference, corpus))
    yield Faulty("empty", "unscored_share", "are empty", real, generated)
    copies = {c["corpus"]: c for c in signature.get("checks", ()) if c["kind"] == "repeated"}
    if corpus in copies and reference in copies and copies[corpus]["warns"]:
        real, generated = ((copies[name]["documents"], copies[name]["total"]) for name in (reference, corpus))
        yield Faulty("copies", "", "repeat another one", real, generated)


def _grouped(v: Verdict) -> bool:
    """Whether units of a test are larger than documents, or than pairs of them."""
    return v.method.grouped or v.method.design not in ("documents", "pairs")


def _told(corpus: str, fault: Faulty, grouped: Verdict | None, apart: bool) -> Broken | None:
    """A fault, if it is told; where documents have groups, by the row of its share too, whose units they are."""
    reference = reference_of(fault) if apart else fault.real
    p, level = exceeds(reference, fault.generated), LEVEL if reference == fault.real else OF_BOTH
    documents, total = fault.generated
    if grouped is not None:
        p = max(p, 1.0 if grouped.p is None else grouped.p)
        total = _independent(fault, grouped)
        documents = round(documents * total / max(fault.generated[1], 1))
    if p > level and fault.times < MANY:
        return None
    return Broken(corpus, fault, *wilson(documents, total), p, alone=p > level)


def _independent(fault: Faulty, row: Verdict) -> int:
    """As how many independent documents those of a generated text count, by the standard error of the row."""
    (a, n), (b, m) = fault.real, fault.generated
    variance = sum(k * (size - k) / size**3 for k, size in ((a, n), (b, m)) if size)
    inflation = row.standard_error**2 / variance if row.standard_error and variance else 1.0
    return max(round(m / max(inflation, 1.0)), 1) if m else 0


def reference_of(fault: Faulty) -> tuple[int, int]:
    """Real documents that have a fault, and all: those fitted on, too, unless they have it less often than the others.

    >>> reference_of(Faulty("loop", "", "", (1, 200), (10, 200), fitted=(0, 200)))
    (1, 400)
    >>> reference_of(Faulty("loop", "", "", (20, 200), (10, 200), fitted=(0, 200)))
    (20, 200)
    """
    (a, n), (b, m) = fault.fitted, fault.real
    return (a + b, n + m) if n and exceeds((a, n), (b, m)) > ALIKE else (b, m)


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
