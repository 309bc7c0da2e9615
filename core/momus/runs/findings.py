"""Findings: what a person would say of a generated text, put in the order in which a reader would see it.

Rows (shares, means) and things that are told by name (words, phrases, openings, endings, names) compete as equals: by
the share of documents that would surely have to change. What is broken is told before (`momus.runs.broken`). Sentences
are made of them in `momus.report.words`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from momus.evidence import Overuse, Overused, Table
from momus.verdicts.table import INDEX, of_documents, rate_weight, surely_touched
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.runs.result import CriticResult

GENERAL, LEADING, NAMED = 0.4, 1.5, 0.7
"""What a finding of a general axis counts, which moves with whatever narrower axes find; of a leading one, whose
findings move others; and at least, of a thing that is named."""
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
        if self.row.critic == other.row.critic and _others_of(self.row, other.row):
            return True
        alike = self.rises == other.rises and (self.thing is None) == (other.thing is None)
        return bool(a and b) and alike and self.row.generated == other.row.generated and (a <= b or b <= a)


def _others_of(a: Verdict, b: Verdict) -> bool:
    """Whether two shares of documents are of those that have something, and of all others."""
    shares = (a.real_value, b.real_value), (a.generated_value, b.generated_value)
    both = of_documents(a) and of_documents(b) and a.generated == b.generated
    return both and all(x is not None and y is not None and math.isclose(x + y, 1, abs_tol=1e-9) for x, y in shares)


def things_of(results: Sequence[CriticResult]) -> dict[tuple[str, str], list[Overuse]]:
    """What texts say more or less often, by critic and generated text."""
    return {
        (r.name, corpus): [t.overuse for t in items if isinstance(t, Table) and t.overuse]
        for r in results
        for corpus, items in r.evidence
    }


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
    counts = min(factor, GENERAL) if f.row.wording.general else factor
    return counts if counts < GENERAL else counts * rate_weight(f.row)  # what speaks as an index is no rate besides


def _of_thing(thing: Overused, unit: str, row: Verdict) -> Finding:
    """The finding of a thing: the change of its share of documents, less what chance makes of the largest of all."""
    sure = surely_touched(row)
    if unit.startswith("% of documents"):
        beyond = 1 - min((row.method.critical or 0.0) / thing.size, 0.95) if thing.size else 1.0
        sure = abs(thing.generated - thing.real) / 100 * beyond
    if thing.documents is not None:  # however often a few documents have it, no others would have to change
        sure = min(sure, thing.documents[thing.generated > thing.real])
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
