"""The answer of a comparison: which text is nearest to human text, on which axes each is off, and by how much.

All that the first screen of the report, the table in the terminal and the overview figure show, as data; sentences are
made of it in `momus.report.words.sentences`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from momus.evidence import Overuse, Table
from momus.joint.ranks import ALL_AXES, RankRow
from momus.runs.broken import Broken, broken_of
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.runs.result import CriticResult, Results

Sign = Literal[-1, 0, 1]
GENERAL, LEADING = 0.4, 1.5
"""What a gap of a general axis counts where axes are put in order, which moves with whatever narrower axes find, and of
a leading one, whose findings move others."""
OVERUSED, NAMED = 6, 3
"""Largest number of lines on what texts say too often, and of things that a line names."""


@dataclass(frozen=True)
class Cell:
    """One axis of one generated corpus.

    Attributes
    ----------
    row
        The row that speaks for the axis: of an axis that differs, the statistic that leads its family; otherwise the
        headline. Words, sign, values, size and interval are all of this row.
    also
        Other statistics of the family that differ, those with the smallest p first.
    beside
        Where a distance speaks, which has no direction: the first of the others, in the order of the critic, that has.
    """

    row: Verdict
    also: tuple[Verdict, ...] = ()
    beside: Cell | None = None

    @classmethod
    def of(cls, rows: Sequence[Verdict]) -> Cell:
        """The cell of all rows of one critic and corpus."""
        (row,) = speaking(rows)
        also = [v for v in rows if v.is_finding and v is not row] if row.differs else []
        beside = next((c for c in map(cls, also) if c.direction), None) if row.method.family == "distance" else None
        return cls(row, tuple(sorted(also, key=lambda v: v.p_adjusted or 0.0)), beside)

    @property
    def generated(self) -> str:
        """Name of the generated corpus."""
        return self.row.generated

    @property
    def differs(self) -> bool:
        """Whether the texts significantly differ on this axis."""
        return self.row.differs

    @property
    def differing(self) -> tuple[str, ...]:
        """Names of the statistics that differ, the leading one first."""
        return tuple(v.statistic for v in (self.row, *self.also)) if self.differs else ()

    @property
    def sign(self) -> Sign:
        """Whether the generated text is significantly higher (1) or lower (−1); 0 for distances, which have no sign."""
        v = self.row
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
    general: bool = False
    leading: bool = False

    @property
    def size(self) -> float:
        """Largest gap of a corpus that differs on this axis, in human bands; 0 if none does; −1 if none was tested."""
        gaps = [c.row.gap or 0.0 for c in self.cells if c.differs]
        tested = any(c.row.p_adjusted is not None for c in self.cells)
        return max(gaps, default=0.0 if tested else -1.0)

    @property
    def weight(self) -> float:
        """What axes are put in order by: their size, times `GENERAL` or `LEADING` for such axes."""
        return self.counted(self.worst) if self.size > 0 else self.size

    def counted(self, cell: Cell) -> float:
        """What the gap of a cell counts."""
        return (cell.row.gap or 0.0) * (GENERAL if self.general else LEADING if self.leading else 1.0)

    @property
    def worst(self) -> Cell:
        """The corpus that is farthest from human text on this axis."""
        return max(self.cells, key=lambda c: (c.differs, c.row.gap or 0.0))


@dataclass(frozen=True)
class CorpusAnswer:
    """One generated corpus over all axes.

    Attributes
    ----------
    beyond, differs, tested
        Numbers of axes on which it is beyond human variation, on which it differs at all, and that were tested.
    mean
        Mean of the gaps that are shown, over the axes on which all corpora have one; None if there is none.
    rank
        Its row in the ranks over all axes, by the headline statistic of each, which is the same for all corpora; None
        with a single corpus, or without bands.
    """

    generated: str
    beyond: int
    differs: int
    tested: int
    mean: float | None
    rank: RankRow | None


@dataclass(frozen=True)
class Answer:
    """The answer of a comparison.

    Attributes
    ----------
    corpora
        Nearest to human text first: by their mean gap if they have ranks, else by the number of axes beyond human
        variation.
    axes
        Largest gap first, general axes behind others (`AxisAnswer.weight`); axes that were not tested last.
    mean_axes
        Number of axes over which the mean gap is taken.
    layout
        What to doubt first: in which layout texts differ, and the axes that read it; empty where they do not.
    broken
        What is broken, told before anything else; None if no critic looked for faults.
    reference
        Name of the text that all are compared with.
    """

    corpora: tuple[CorpusAnswer, ...]
    axes: tuple[AxisAnswer, ...]
    mean_axes: int = 0
    layout: str = ""
    broken: tuple[Broken, ...] | None = None
    reference: str = "real"

    @property
    def nearest(self) -> CorpusAnswer | None:
        """The corpus that is significantly nearest to human text; None with a single corpus or where it is not sure.

        Its rank says so, and its mean gap is the smallest.
        """
        first = self.corpora[0]
        return first if first.rank is not None and first.rank.rank_high == 1 else None

    @property
    def tied(self) -> tuple[str, ...]:
        """The corpora that may be the nearest one, by their ranks or by their mean gap."""
        ranked = [c for c in self.corpora if c.rank is not None]
        return tuple(c.generated for c in ranked if c is ranked[0] or (c.rank is not None and c.rank.rank_low == 1))

    @property
    def largest(self) -> Cell | None:
        """The largest gap of all, where general axes count less (`AxisAnswer.weight`); None if nothing differs."""
        axes = [a for a in self.axes if a.worst.differs and a.worst.row.gap is not None]
        return max(axes, key=lambda a: a.weight).worst if axes else None

    def axis(self, critic: str) -> AxisAnswer:
        """The axis of a critic."""
        return next(a for a in self.axes if a.critic == critic)


def answer_of(comparison: Results) -> Answer:
    """Collect the answer of a comparison from its verdicts and ranks."""
    by_axis: dict[str, dict[str, list[Verdict]]] = {}
    for v in comparison.verdicts:
        by_axis.setdefault(v.critic, {}).setdefault(v.generated, []).append(v)
    cells = {critic: tuple(map(Cell.of, by_text.values())) for critic, by_text in by_axis.items()}
    weighed = {r.name: (r.general, r.leading) for r in comparison.results}
    axes = [
        AxisAnswer(name, of_axis[0].row.axis, of_axis, *weighed.get(name, (False, False)))
        for name, of_axis in cells.items()
    ]
    axes.sort(key=lambda a: -a.weight)  # stable: axes of one size stay in the order of the critics
    rows = [[cell.row for cell in of_axis] for of_axis in cells.values()]
    counted = [of_axis for of_axis in rows if all(v.gap is not None and v.p_adjusted is not None for v in of_axis)]
    means: dict[str, list[float]] = {}
    for v in (v for of_axis in counted for v in of_axis):
        means.setdefault(v.generated, []).append(v.gap or 0.0)
    corpora = _corpora(comparison, [v for of_axis in rows for v in of_axis], {k: fmean(m) for k, m in means.items()})
    reference = comparison.verdicts[0].reference if comparison.verdicts else "real"
    layout = str(comparison.signature.get("layout", ""))
    return Answer(corpora, tuple(axes), len(counted), layout, broken_of(comparison.results), reference)


def _corpora(comparison: Results, speaking: Sequence[Verdict], means: Mapping[str, float]) -> tuple[CorpusAnswer, ...]:
    ranking = comparison.joint.ranking
    ranks = {r.model: r for r in (ranking.of(ALL_AXES) if ranking is not None else [])}
    corpora = []
    for name in dict.fromkeys(v.generated for v in speaking):
        rows = [v for v in speaking if v.generated == name]
        corpora.append(
            CorpusAnswer(
                name,
                sum(v.finding == "beyond human variation" for v in rows),
                sum(v.differs for v in rows),
                sum(v.p_adjusted is not None for v in rows),
                means.get(name),
                ranks.get(name),
            )
        )
    by_rank = all(c.rank is not None and c.mean is not None for c in corpora)
    return tuple(sorted(corpora, key=lambda c: c.mean if by_rank and c.mean is not None else (c.beyond, c.differs)))


@dataclass(frozen=True)
class CorpusOveruse:
    """What one generated corpus says too often or too rarely, as a critic found it."""

    generated: str
    critic: str
    overuse: Overuse


def overuse_of(results: Sequence[CriticResult], answer: Answer, most: int = OVERUSED) -> list[CorpusOveruse]:
    """Collect what the corpora say too often or too rarely, as far as a statistic of it differs.

    Returns
    -------
    At most ``most`` of them: of each kind the corpus with the largest gap first, then the second of each kind, …
    """
    evidence = {(r.name, corpus): items for r in results for corpus, items in r.evidence}
    ranked: list[tuple[int, CorpusOveruse]] = []
    for axis in answer.axes:
        differing = sorted((c for c in axis.cells if c.differs), key=lambda c: -(c.row.gap or 0.0))
        places: dict[str, int] = {}
        for cell in differing:
            tables = [t for t in evidence.get((axis.critic, cell.generated), ()) if isinstance(t, Table) and t.overuse]
            for item, overuse in zip(tables, _significant([t.overuse for t in tables if t.overuse], cell), strict=True):
                if overuse.items:
                    place = places[item.name] = places.get(item.name, -1) + 1
                    ranked.append((place, CorpusOveruse(cell.generated, axis.critic, overuse)))
    ranked.sort(key=lambda pair: pair[0])  # stable: axes of one place stay in the order of their gaps
    return [overuse for _, overuse in ranked[:most]]


def _significant(overuses: Sequence[Overuse], cell: Cell) -> list[Overuse]:
    """What is significant of things that a text says too often or too rarely: nothing unless their statistic differs.

    Of many things, those with a size beyond the critical value of the largest one; if that does differ, at least it,
    whichever of the lists it is in.
    """
    rows = {v.statistic: v for v in (*cell.also, cell.row)}
    significant = []
    for overuse in overuses:
        row = rows.get(overuse.of)
        largest = max(
            (i.size for o in overuses for i in o.items if o.of == overuse.of and i.size is not None), default=0
        )
        critical = min(row.method.critical or 0.0, largest) if row else 0.0
        items = [i for i in overuse.items if row and (i.size is None or i.size >= critical)]
        significant.append(replace(overuse, items=tuple(items[:NAMED])))
    return significant
