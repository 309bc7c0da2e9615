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

LEVEL = 0.03
"""Probability that any kind of fault is told of a text that has none more often than its reference."""
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
        Mid-p of Fisher's exact test beside `reference_of` the fault, see `exceeds`; of groups, at least that of the
        test of the share by groups.
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
    told = [b for faults in _by_text(results, signature or {}).values() for b in _told(faults, LEVEL, apart)]
    return tuple(sorted(told, key=lambda b: (b.alone, b.reference_share - b.share, b.generated)))


def mended_of(results: Sequence[CriticResult], signature: Mapping[str, Any], reference: str) -> tuple[Broken, ...]:
    """What is broken in the reference, text of a model, and less often in a later one, the largest share first."""
    told = []
    for corpus, faults in (_by_text(results, signature) if signature.get("against") else {}).items():
        exchanged = [replace(f, corpus=reference, fault=_exchanged(f.fault)) for f in faults]
        told += [replace(b, reference=corpus) for b in _told(exchanged, LEVEL / 2)]
    return tuple(sorted(told, key=lambda b: (b.reference_share - b.share, b.reference)))


@dataclass(frozen=True)
class _Fault:
    """A fault, its critic (empty for what the texts show), its text, and the row of its share by groups."""

    critic: str
    corpus: str
    fault: Faulty
    grouped: Verdict | None


def _by_text(results: Sequence[CriticResult], signature: Mapping[str, Any]) -> dict[str, list[_Fault]]:
    """The faults of each generated text."""
    by_text: dict[str, list[_Fault]] = {}
    for result, corpus, table in _tables(results):
        of_groups = {v.statistic: v for v in result.verdicts if v.generated == corpus and _grouped(v)}
        for fault in (*table.faults, *_of_texts(corpus, results, signature)):
            critic = result.name * (fault in table.faults)
            by_text.setdefault(corpus, []).append(_Fault(critic, corpus, fault, of_groups.get(fault.of)))
    return by_text


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


def _told(faults: Sequence[_Fault], level: float, apart: bool = False) -> list[Broken]:
    """The faults of one text that are told, any by chance with probability ``level``; single documents by `MANY`."""
    beside = [reference_of(f.fault) if apart else f.fault.real for f in faults]
    level = level_of([(real, f.fault.generated) for real, f in zip(beside, faults, strict=True)], level)
    told = []
    for one, real in zip(faults, beside, strict=True):
        fault, grouped = one.fault, one.grouped
        p, (documents, total) = exceeds(real, fault.generated), fault.generated
        if grouped is not None:  # by the row of its share too, whose units they are
            p = max(p, 1.0 if grouped.p is None else grouped.p)
            total = _independent(fault, grouped)
            documents = round(documents * total / max(fault.generated[1], 1))
        if p <= level or fault.times >= MANY:
            interval = wilson(documents, total)
            told.append(Broken(one.corpus, fault, *interval, p, alone=p > level, critic=one.critic))
    return told


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


def level_of(counts: Sequence[tuple[tuple[int, int], tuple[int, int]]], level: float = LEVEL) -> float:
    """The level of each test, so that any rejects with probability ``level`` by chance.

    Bonferroni's, but what is too rare to be significant at all takes nothing from the others (Tarone 1990).

    Parameters
    ----------
    counts
        Of each test, the pairs that `exceeds` compares.

    >>> level_of([((0, 200), (9, 200)), ((0, 200), (1, 200))]), level_of([((2, 200), (9, 200))] * 3)
    (0.03, 0.01)
    """
    least = [exceeds((max(a + b - m, 0), n), (min(a + b, m), m)) for (a, n), (b, m) in counts]
    tests = range(1, max(len(least), 1) + 1)
    return level / next(k for k in tests if sum(p <= level / k for p in least) <= k)


def exceeds(real: tuple[int, int], generated: tuple[int, int]) -> float:
    """One-sided mid-p of Fisher's exact test that a share is larger in generated text; pairs of a number and its total.

    Half the probability of what is seen counts, so that p is not too large for what is rare (Lancaster 1961).

    >>> round(exceeds((0, 200), (10, 200)), 5), exceeds((3, 200), (0, 200)) > 0.9
    (0.00044, True)
    """
    from scipy.stats import hypergeom

    (a, n), (b, m) = real, generated
    margins = n + m, a + b, m
    return float(hypergeom.sf(b, *margins) + hypergeom.pmf(b, *margins) / 2)


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
