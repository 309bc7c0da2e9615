"""The answer of a comparison: which text is nearest to human text, on which axes each is off, and by how much.

All that the first screen of the report, the table in the terminal and the overview figure show, as data; sentences are
made of it in `momus.report.words.sentences`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from momus.against.versions import Against
from momus.evidence import Overuse, Overused
from momus.joint.better import Better, Preference, better_of, rows_of
from momus.joint.dependence import Dependence
from momus.joint.partners import Win
from momus.joint.ranks import ALL_AXES, RankRow
from momus.joint.slices import Slices
from momus.runs.broken import Broken, broken_of, mended_of
from momus.runs.findings import GENERAL, LEADING, Finding, findings_of_axis, in_order, things_of
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.runs.result import Results

Sign = Literal[-1, 0, 1]
MAY = 0.05
"""Bootstrap share below which a text is not said to be perhaps the nearest one."""


@dataclass(frozen=True)
class Cell:
    """One axis of one generated corpus.

    Attributes
    ----------
    row
        The row that speaks for the axis: of an axis that differs, that of its first finding; otherwise the headline.
        Words, sign, values, size and interval are all of this row.
    also
        Other statistics of the family that differ, those with the smallest p first.
    beside
        Where a distance speaks, which has no direction: the first of the others, in the order of the critic, that has.
    findings
        What there is to say of the axis, what a reader would see first first; empty where nothing differs.
    """

    row: Verdict
    also: tuple[Verdict, ...] = ()
    beside: Cell | None = None
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(
        cls,
        rows: Sequence[Verdict],
        overuses: Sequence[Overuse] = (),
        factor: float = 1.0,
        broken: Sequence[str] = (),
    ) -> Cell:
        """The cell of all rows of one critic and corpus, with the things that it tells by name.

        Statistics that go with what is ``broken`` do not speak; see `momus.runs.findings.findings_of_axis`.
        """
        findings = tuple(findings_of_axis([v for v in rows if v.statistic not in broken], overuses, factor))
        (row,) = [findings[0].row] if findings else speaking(rows)
        also = [v for v in rows if v.is_finding and v is not row] if row.differs else []
        told = findings and findings[0].thing is not None
        distance = row.method.family == "distance" and not told
        beside = next((c for c in map(cls, also) if c.direction), None) if distance else None
        return cls(row, tuple(sorted(also, key=lambda v: v.p_adjusted or 0.0)), beside, findings)

    @property
    def generated(self) -> str:
        """Name of the generated corpus."""
        return self.row.generated

    @property
    def thing(self) -> Overused | None:
        """The thing by which the axis differs most, if it is told by name."""
        return self.findings[0].thing if self.findings else None

    @property
    def small(self) -> bool:
        """Whether the texts differ, and less than human authors do."""
        return self.differs and self.row.finding == "within human variation"

    @property
    def weight(self) -> float:
        """What the axis counts for the order of axes: its first finding, see `momus.runs.findings`."""
        return self.findings[0].weight if self.findings else 0.0

    @property
    def order(self) -> tuple[bool, bool, float, float]:
        """Where it stands: what a reader would see most of first, small changes later, then what does not differ.

        Cells of which nothing is to say are put in order by their gap; those that were not tested come last.
        """
        gap = -1.0 if self.row.p_adjusted is None else (self.row.gap or 0.0) * self.differs
        return not self.differs, self.small, -self.weight, -gap

    @property
    def differs(self) -> bool:
        """Whether the texts significantly differ on this axis."""
        return self.row.differs

    @property
    def sign(self) -> Sign:
        """Whether the generated text is significantly higher (1) or lower (−1); 0 for distances, which have no sign."""
        v = self.row
        if self.thing is not None:
            return 1 if self.thing.generated > self.thing.real else -1
        if not self.differs or v.low is None or v.high is None or v.method.family == "distance":
            return 0
        return 1 if v.low > 0 else -1 if v.high < 0 else 0

    @property
    def direction(self) -> str:
        """What the generated text is, such as ``shorter``; empty if the statistic has no word for it."""
        words = self.row.wording.direction
        return "" if not words or not self.sign else words[self.sign > 0]

    @property
    def change(self) -> float | None:
        """Relative difference, (generated − real) / real; None where it means nothing."""
        v = self.row
        if (
            v.method.family == "distance"
            or not v.real_value
            or v.generated_value is None
            or v.real_value < 0
            or v.generated_value < 0
        ):
            return None
        return v.generated_value / v.real_value - 1


@dataclass(frozen=True)
class AxisAnswer:
    """One axis over all generated corpora."""

    critic: str
    axis: str
    cells: tuple[Cell, ...]

    @property
    def size(self) -> float:
        """Largest gap of a corpus that differs on this axis, in human bands; 0 if none does; −1 if none was tested."""
        gaps = [c.row.gap or 0.0 for c in self.cells if c.differs]
        tested = any(c.row.p_adjusted is not None for c in self.cells)
        return max(gaps, default=0.0 if tested else -1.0)

    @property
    def order(self) -> tuple[bool, bool, float, float]:
        """Where the axis stands among others: by its first cell, see `Cell.order`."""
        return min(c.order for c in self.cells)

    @property
    def worst(self) -> Cell:
        """The corpus of which there is most to say on this axis; if nothing differs, the one with the largest gap."""
        return min(self.cells, key=lambda c: (*c.order, -(c.row.gap or 0.0)))


@dataclass(frozen=True)
class CorpusAnswer:
    """One generated corpus over all axes.

    Attributes
    ----------
    beyond, differs, small, tested
        Numbers of axes on which it is beyond human variation, on which it differs at all, or by a small change (it
        differs, and less than human authors do), and that were tested.
    rank
        Its row in the ranks over all axes, by the headline statistic of each, which is the same for all corpora; None
        with a single corpus, or without bands.
    """

    generated: str
    beyond: int
    differs: int
    small: int
    tested: int
    rank: RankRow | None


@dataclass(frozen=True)
class Answer:
    """The answer of a comparison.

    Attributes
    ----------
    corpora
        Nearest to human text first: by the distance of their ranks if they have any, else by the number of axes beyond
        human variation.
    axes
        Those of which a reader would see most first (`AxisAnswer.order`); axes that were not tested last.
    findings
        What there is to say of all texts, in the order in which it is told (`momus.runs.findings.in_order`).
    mean_axes
        Number of axes over which the mean distance of the ranks is taken.
    layout
        What to doubt first: in which layout texts differ, and the axes that read it; empty where they do not.
    broken
        What is broken, told before anything else; None if no critic looked for faults.
    reference
        Name of the text that all are compared with.
    slices, wins, alpha
        What is said of slices and pairs of answers, and the level of findings.
    better
        Whether texts are better than the reference by what the user named.
    against
        What changed from the reference, where that is text of a model.
    dependences
        Differences that go with broken documents, or that one document carries.
    mended
        What is broken in the reference, and less often in a later text.
    """

    corpora: tuple[CorpusAnswer, ...]
    axes: tuple[AxisAnswer, ...]
    findings: tuple[Finding, ...] = ()
    mean_axes: int = 0
    layout: str = ""
    broken: tuple[Broken, ...] | None = None
    reference: str = "real"
    slices: tuple[Slices, ...] = ()
    wins: tuple[Win, ...] = ()
    alpha: float = 0.05
    better: Sequence[Better] = ()
    against: Against | None = None
    dependences: tuple[Dependence, ...] = ()
    mended: tuple[Broken, ...] = ()

    @property
    def nearest(self) -> CorpusAnswer | None:
        """The corpus that is significantly nearest to human text; None with a single corpus or where it is not sure."""
        first = self.corpora[0]
        return first if first.rank is not None and first.rank.rank_high == 1 else None

    @property
    def tied(self) -> tuple[str, ...]:
        """The corpora that may be the nearest one: by their rank, and in at least `MAY` of the replicates."""
        ranked = [(c.generated, c.rank) for c in self.corpora if c.rank is not None]
        may_be = ((rank.rank_low == 1 and rank.p_nearest >= MAY) for _, rank in ranked)
        return tuple(name for i, ((name, _), may) in enumerate(zip(ranked, may_be, strict=True)) if may or not i)

    @property
    def told_broken(self) -> frozenset[tuple[str, str]]:
        """Critics whose findings are told as broken documents or go with them, each with the generated text."""
        mended = ((b.critic, b.reference) for b in self.mended)
        alike = ((d.critic, d.generated) for d in self.dependences if d.vanishes and not d.document)
        return frozenset((b.critic, b.generated) for b in self.broken or () if not b.alone) | {*mended, *alike}

    @property
    def largest(self) -> Cell | None:
        """The cell of which there is most to say, beside what is broken; None if nothing else differs."""
        cells = (a.worst for a in self.axes)
        return next((c for c in cells if c.differs and (c.row.critic, c.generated) not in self.told_broken), None)

    def first_axis(self, generated: str) -> str:
        """The critic of the axis on which there is most to say of a corpus."""
        cells = [c for a in self.axes for c in a.cells if c.generated == generated]
        return min(cells, key=lambda c: c.order).row.critic

    def axis(self, critic: str) -> AxisAnswer:
        """The axis of a critic."""
        return next(a for a in self.axes if a.critic == critic)


def answer_of(comparison: Results) -> Answer:
    """Collect the answer of a comparison from its verdicts and ranks."""
    by_axis: dict[str, dict[str, list[Verdict]]] = {}
    for v in comparison.verdicts:
        by_axis.setdefault(v.critic, {}).setdefault(v.generated, []).append(v)
    counts = {r.name: GENERAL if r.general else LEADING if r.leading else 1.0 for r in comparison.results}
    things = things_of(comparison.results)
    # of an axis that goes with broken documents as a whole, the answer says so
    broken = {(d.critic, d.generated): d.rows for d in comparison.joint.dependences if not (d.document or d.vanishes)}
    axes = []
    for critic, by_text in by_axis.items():
        factor = counts.get(critic, 1.0)
        cells = tuple(
            Cell.of(rows, things.get((critic, text), ()), factor, broken.get((critic, text), ()))
            for text, rows in by_text.items()
        )
        axes.append(AxisAnswer(critic, cells[0].row.axis, cells))
    axes.sort(key=lambda a: a.order)  # stable: axes of one size stay in the order of the critics
    findings = in_order(f for a in axes for c in a.cells for f in c.findings)
    alpha = comparison.verdicts[0].alpha if comparison.verdicts else 0.05
    reference = comparison.verdicts[0].reference if comparison.verdicts else "real"
    ranking = comparison.joint.ranking
    return Answer(
        _corpora(comparison, [c for a in axes for c in a.cells]),
        tuple(axes),
        tuple(findings),
        0 if ranking is None else ranking.counted,
        str(comparison.signature.get("layout", "")),
        broken_of(comparison.results, comparison.signature),
        reference,
        comparison.joint.slices,
        comparison.joint.wins,
        alpha,
        _better(comparison, alpha),
        comparison.against,
        comparison.joint.dependences,
        mended_of(comparison.results, comparison.signature, reference),
    )


def _better(comparison: Results, alpha: float) -> list[Better]:
    preferences = [Preference.parse(text) for text in comparison.signature.get("better", ())]
    verdicts, nearer = comparison.verdicts, comparison.joint.nearer
    texts = dict.fromkeys((v.generated, v.reference) for v in verdicts)
    level, rows = alpha / max(len(preferences), 1), [rows_of(verdicts, *text) for text in texts]
    return [better_of(p, p.row(of_text), nearer, level) for of_text in rows for p in preferences]


def _corpora(comparison: Results, cells: Sequence[Cell]) -> tuple[CorpusAnswer, ...]:
    ranking = comparison.joint.ranking
    ranks = {r.model: r for r in (ranking.of(ALL_AXES) if ranking is not None else [])}
    corpora = []
    for name in dict.fromkeys(v.generated for v in comparison.verdicts):
        mine = [c for c in cells if c.generated == name]
        corpora.append(
            CorpusAnswer(
                name,
                sum(c.row.finding == "beyond human variation" for c in mine),
                sum(c.differs for c in mine),
                sum(c.small for c in mine),
                sum(c.row.p_adjusted is not None for c in mine),
                ranks.get(name),
            )
        )
    by_rank = all(c.rank is not None for c in corpora)
    return tuple(sorted(corpora, key=lambda c: (c.rank.distance,) if by_rank and c.rank else (c.beyond, c.differs)))
