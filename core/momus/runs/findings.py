"""Findings: what a person would say of a generated text, put in the order in which a reader would see it.

Rows (shares, means) and things that are told by name (words, phrases, openings, endings, names) compete as equals: by
the share of documents that would surely have to change. What is broken is told before: faults that occur more often
than in the text they are compared with. Sentences are made of them in `momus.report.words`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from momus.critic.scoring import EMPTY
from momus.evidence import Faulty, Overuse, Overused, Table
from momus.verdicts.table import of_documents, surely_touched
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.runs.result import CriticResult

GENERAL, LEADING, INDEX, NAMED, RATE = 0.4, 1.5, 0.4, 0.7, 0.7
"""What a finding of a general axis counts, which moves with whatever narrower axes find; of a leading one, whose
findings move others; of an index, of which a reader sees nothing; at least, of a thing that is named; and of a rate per
1,000 words, such as that of commas, which a reader sees later than a share of documents."""
LEVEL, OF_BOTH = 0.02, 0.01
"""Levels at which each kind of fault is told, beside the reference alone, and beside it and the text that critics were
fitted on, which shows more: of some ten kinds, most are too rare to be told by chance."""
ALIKE = 0.1
"""Least p at which text that critics were fitted on counts as real text that has faults as often."""
MANY = 100
"""Rounds of a loop from which a single document is told."""
SILENT = frozenset({"of", "in", "its", "the", "a", "with", "that", "to", "mean", "share", "number", "document"})
"""Words of names of statistics that do not say what they count."""


@dataclass(frozen=True)
class Finding:
    """One thing to say of a generated text.

    Attributes
    ----------
    row
        The statistic that differs: of a thing, the largest of whose sizes it is.
    thing, unit
        The word, phrase, opening, …, and the unit of its frequencies; None for a statistic.
    touched
        Share of documents that would surely have to change, see `momus.verdicts.table`.
    weight
        What it counts for the order of findings.
    others
        Further things that change in the same direction, and of which a document has one at most: shares add up.
    """

    row: Verdict
    thing: Overused | None = None
    unit: str = ""
    touched: float = 0.0
    weight: float = 0.0
    others: tuple[Overused, ...] = ()

    @property
    def rises(self) -> bool:
        """Whether the generated text has more of it."""
        if self.thing is not None:
            return self.thing.generated > self.thing.real
        return (self.row.difference or 0.0) > 0

    @property
    def small(self) -> bool:
        """Whether it differs, and less than human authors do."""
        return self.row.finding == "within human variation"

    @property
    def subject(self) -> frozenset[str]:
        """The words that say what it is about, to tell findings that are one; empty where none does."""
        if self.thing is None:
            words = self.row.wording.label.lower().replace("-", " ").split() if self.row.wording.concrete else []
            return frozenset(w.rstrip("s") for w in words) - SILENT
        return frozenset(w for w in self.thing.text.lower().split() if any(map(str.isalnum, w)))

    def tells(self, other: Finding) -> bool:
        """Whether another finding on the same text is about the same: one has all words of the other."""
        a, b = self.subject, other.subject
        alike = self.rises == other.rises and (self.thing is None) == (other.thing is None)
        return bool(a and b) and alike and self.row.generated == other.row.generated and (a <= b or b <= a)


def significant(overuse: Overuse, row: Verdict | None, others: Iterable[Overuse] = ()) -> list[Overused]:
    """Things of which a statistic that differs says that they do, too; none without such a statistic.

    Of many things, those with a size beyond the critical value of the largest one; if that does differ, at least it,
    whichever of the ``others`` it is in.
    """
    if row is None:
        return []
    sizes = [i.size for o in (overuse, *others) if o.of == overuse.of for i in o.items if i.size is not None]
    critical = min(row.method.critical or 0.0, max(sizes, default=0.0))
    return [i for i in overuse.items if i.size is None or i.size >= critical]


def findings_of_axis(rows: Sequence[Verdict], overuses: Sequence[Overuse], factor: float = 1.0) -> list[Finding]:
    """All that one critic finds of one generated text, what a reader would see first first.

    An index has its say only where nothing concrete differs.

    Parameters
    ----------
    factor
        What the findings of the axis count: 1, `GENERAL` or `LEADING`.
    """
    differing = {v.statistic: v for v in rows if v.is_finding}
    findings: list[Finding] = []
    for overuse in overuses:
        row = differing.get(overuse.of)
        if row is not None and row.wording.item:
            things = [_of_thing(i, overuse.unit, row) for i in significant(overuse, row, overuses)]
            findings += _added(things) if overuse.exclusive else things
    named = {f.row.statistic for f in findings}
    findings += [Finding(v, touched=surely_touched(v)) for v in differing.values() if v.statistic not in named]
    concrete = [f for f in findings if f.thing is not None or _concrete(f.row, factor)]
    counts = factor if concrete else factor * INDEX
    # a thing is seen where it stands, whatever its axis reads besides
    kept = [replace(f, weight=_counts(f, counts) * f.touched) for f in concrete or findings]
    # the words of an axis are those of the row that leads it
    return sorted(kept, key=lambda f: (not f.row.leads, -f.weight))


def _concrete(row: Verdict, factor: float) -> bool:
    """Whether a reader can count what a row says; of a general axis, no shares of words."""
    general_share = factor == GENERAL and row.wording.format == "share" and not of_documents(row)
    return row.wording.concrete and not row.wording.item and not general_share


def _counts(f: Finding, factor: float) -> float:
    """What a finding counts on an axis that counts ``factor``."""
    if f.thing is not None:
        return max(factor, NAMED)
    return factor * (RATE if f.row.wording.unit.startswith("per ") else 1.0)


def _of_thing(thing: Overused, unit: str, row: Verdict) -> Finding:
    """The finding of a thing: the change of its share of documents, less what chance makes of the largest of all."""
    sure = surely_touched(row)
    if unit.startswith("% of documents"):
        beyond = 1 - min((row.method.critical or 0.0) / thing.size, 0.95) if thing.size else 1.0
        sure = abs(thing.generated - thing.real) / 100 * beyond
    return Finding(row, thing, unit, sure)


def _added(things: Sequence[Finding]) -> list[Finding]:
    """Things of which a document has one at most as one finding for those that came, and one for those that went.

    Their changes add up, and what chance makes of each by squares, since it goes off for each on its own.
    """
    merged = []
    for kind in ([f for f in things if f.rises is rises] for rises in (False, True)):
        named = [f.thing for f in kind if f.thing is not None]
        changes = [abs(t.generated - t.real) / 100 for t in named]
        chance = math.hypot(*(change - f.touched for change, f in zip(changes, kind, strict=True)))
        if kind:
            merged.append(replace(kind[0], others=tuple(named[1:]), touched=sum(changes) - chance))
    return sorted(merged, key=lambda f: -f.touched)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings of all axes by weight, small ones last; what several tell is told once, by the first of them."""
    told: list[Finding] = []
    for f in sorted(findings, key=lambda f: (f.small, -f.weight)):
        if not any(t.tells(f) for t in told):
            told.append(f)
    return told


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
    tables = _tables(results)
    if not tables:
        return None
    # against a model, critics are fitted on what is compared
    apart = bool(signature) and not (signature or {}).get("against")
    told = [
        replace(b, critic=critic * (fault in table.faults))
        for critic, corpus, table, grouped in tables
        for fault in (*table.faults, *_of_texts(corpus, results, signature or {}))
        if (b := _told(corpus, fault, grouped.get(fault.of), apart)) is not None
    ]
    return tuple(sorted(told, key=lambda b: (b.alone, b.reference_share - b.share, b.generated)))


def _tables(results: Sequence[CriticResult]) -> list[tuple[str, str, Table, dict[str, Verdict]]]:
    """Tables of faults: the critic, the generated text, the table, and the rows of groups by their statistic."""
    return [
        (result.name, corpus, table, {v.statistic: v for v in result.verdicts if v.generated == corpus and _grouped(v)})
        for result in results
        for corpus, items in result.evidence
        for table in items
        if isinstance(table, Table) and table.name == "faults"
    ]


def mended_of(results: Sequence[CriticResult], signature: Mapping[str, Any], reference: str) -> tuple[Broken, ...]:
    """What is broken in the reference, text of a model, and less often in a later one, the largest share first."""
    told = [
        replace(b, critic=critic * (fault in table.faults), reference=corpus)
        for critic, corpus, table, grouped in (_tables(results) if signature.get("against") else ())
        for fault in (*table.faults, *_of_texts(corpus, results, signature))
        if (b := _told(reference, _exchanged(fault), grouped.get(fault.of), apart=False)) is not None and b.p <= OF_BOTH
    ]
    return tuple(sorted(told, key=lambda b: (b.reference_share - b.share, b.reference)))


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
