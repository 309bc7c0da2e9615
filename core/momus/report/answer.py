"""The answer of a comparison: which text is nearest to human text, on which axes each is off, and by how much.

All that the first screen of the report, the table in the terminal and the overview figure show, as data; sentences are
made of it in `momus.report.sentences`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from momus.evidence import Overuse, Table
from momus.inference import holm
from momus.joint.ranks import ALL_AXES, RankRow
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.runs.result import Comparison, CriticResult

Sign = Literal[-1, 0, 1]
OVERUSED = 6
"""Largest number of lines on what texts say too often."""


@dataclass(frozen=True)
class Cell:
    """One axis of one generated corpus.

    Attributes
    ----------
    headline
        The row that decides.
    told
        The row that tells direction and size in units that mean something; may be the headline. None if the critic has
        none.
    directed
        Whether the told row differs after Holm's adjustment over the told rows of all cells, so that the chance of any
        direction that does not exist is at most α over the table.
    """

    headline: Verdict
    told: Verdict | None
    directed: bool = True

    @property
    def generated(self) -> str:
        """Name of the generated corpus."""
        return self.headline.generated

    @property
    def differs(self) -> bool:
        """Whether the texts differ significantly on this axis."""
        return self.headline.differs

    @property
    def sign(self) -> Sign:
        """Whether the generated text is significantly higher (1) or lower (−1) in what the axis tells; 0 if not.

        The interval of the difference excludes 0, its row differs in all told rows of the table, and so does the
        headline row.
        """
        v = self.told
        if v is None or not (self.differs and self.directed) or v.low is None or v.high is None or not _has_sign(v):
            return 0
        return 1 if v.low > 0 else -1 if v.high < 0 else 0

    @property
    def direction(self) -> str:
        """What the generated text is, such as ``shorter``; empty if no direction is sure or the critic has no word."""
        words = () if self.told is None else self.told.wording.direction
        return "" if not words or not self.sign else words[self.sign > 0]

    @property
    def change(self) -> float | None:
        """Relative difference of what the axis tells, (generated − real) / real; None where it means nothing."""
        v = self.told
        if v is None or not v.real_value or v.generated_value is None or v.real_value < 0 or v.generated_value < 0:
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
        gaps = [c.headline.gap or 0.0 for c in self.cells if c.differs]
        tested = any(c.headline.p_adjusted is not None for c in self.cells)
        return max(gaps, default=0.0 if tested else -1.0)

    @property
    def worst(self) -> Cell:
        """The corpus that is farthest from human text on this axis."""
        return max(self.cells, key=lambda c: (c.differs, c.headline.gap or 0.0))


@dataclass(frozen=True)
class CorpusAnswer:
    """One generated corpus over all axes.

    Attributes
    ----------
    beyond, differs, tested
        Numbers of axes on which it is beyond human variation, on which it differs at all, and that were tested.
    rank
        Its row in the ranks over all axes; None with a single corpus, or without bands.
    """

    generated: str
    beyond: int
    differs: int
    tested: int
    rank: RankRow | None


@dataclass(frozen=True)
class Answer:
    """The answer of a comparison.

    Attributes
    ----------
    corpora
        Nearest to human text first: by their rank over all axes, else by the number of axes beyond human variation.
    axes
        Largest gap first; axes that were not tested last.
    ranked_axes
        Number of axes that count for the mean distance and the ranks.
    """

    corpora: tuple[CorpusAnswer, ...]
    axes: tuple[AxisAnswer, ...]
    ranked_axes: int = 0

    @property
    def nearest(self) -> CorpusAnswer | None:
        """The corpus that is significantly nearest to human text; None with a single corpus or where it is not sure."""
        first = self.corpora[0]
        return first if first.rank is not None and first.rank.rank_high == 1 else None

    @property
    def tied(self) -> tuple[str, ...]:
        """The corpora that may be the nearest one."""
        return tuple(c.generated for c in self.corpora if c.rank is not None and c.rank.rank_low == 1)

    @property
    def largest(self) -> Cell | None:
        """The largest gap of all; None if nothing differs."""
        cells = [a.worst for a in self.axes if a.worst.differs and a.worst.headline.gap is not None]
        return max(cells, key=lambda c: c.headline.gap or 0.0, default=None)

    def axis(self, critic: str) -> AxisAnswer:
        """The axis of a critic."""
        return next(a for a in self.axes if a.critic == critic)


def answer_of(comparison: Comparison) -> Answer:
    """Collect the answer of a comparison from its verdicts and ranks."""
    headlines = [v for v in comparison.verdicts if v.headline]
    told = {(v.critic, v.generated): v for v in comparison.verdicts if v.told}
    directed = _directed([v for v in told.values() if v.reference == headlines[0].reference]) if headlines else set()
    axes = []
    for critic in dict.fromkeys(v.critic for v in headlines):
        rows = [v for v in headlines if v.critic == critic]
        cells = tuple(Cell(v, told.get((critic, v.generated)), (critic, v.generated) in directed) for v in rows)
        axes.append(AxisAnswer(critic, rows[0].axis, cells))
    axes.sort(key=lambda a: -a.size)  # stable: axes of one size stay in the order of the critics
    ranking = comparison.joint.ranking
    return Answer(_corpora(comparison, headlines), tuple(axes), 0 if ranking is None else ranking.counted)


def _has_sign(v: Verdict) -> bool:
    return v.method.family != "distance"


def _directed(told: Sequence[Verdict]) -> set[tuple[str, str]]:
    """Critics and texts whose told rows differ after Holm's adjustment over all told rows of the table.

    Two-sided tests that are adjusted so name no direction wrongly, with a probability of 1 − α (Shaffer 1980).
    """
    tested = [v for v in told if v.p is not None and _has_sign(v)]
    adjusted = holm([float(v.p or 0.0) for v in tested])
    return {(v.critic, v.generated) for v, p in zip(tested, adjusted, strict=True) if p <= v.alpha}


def _corpora(comparison: Comparison, headlines: Sequence[Verdict]) -> tuple[CorpusAnswer, ...]:
    ranking = comparison.joint.ranking
    ranks = {r.model: r for r in (ranking.of(ALL_AXES) if ranking is not None else [])}
    corpora = []
    for name in dict.fromkeys(v.generated for v in headlines):
        rows = [v for v in headlines if v.generated == name]
        corpora.append(
            CorpusAnswer(
                name,
                sum(v.finding == "beyond human variation" for v in rows),
                sum(v.differs for v in rows),
                sum(v.p_adjusted is not None for v in rows),
                ranks.get(name),
            )
        )
    by_rank = all(c.rank is not None for c in corpora)
    return tuple(sorted(corpora, key=lambda c: c.rank.distance if by_rank and c.rank else (c.beyond, c.differs)))


@dataclass(frozen=True)
class CorpusOveruse:
    """What one generated corpus says too often."""

    generated: str
    overuse: Overuse


def overuse_of(results: Sequence[CriticResult], answer: Answer, most: int = OVERUSED) -> list[CorpusOveruse]:
    """Collect what the corpora say too often, on axes where they differ from human text.

    Returns
    -------
    At most ``most`` of them: of each kind the corpus with the largest gap first, then the second of each kind, …
    """
    evidence = {(r.name, corpus): items for r in results for corpus, items in r.evidence}
    ranked: list[tuple[int, CorpusOveruse]] = []
    for axis in answer.axes:
        differing = sorted((c for c in axis.cells if c.differs), key=lambda c: -(c.headline.gap or 0.0))
        places: dict[str, int] = {}
        for cell in differing:
            for item in evidence.get((axis.critic, cell.generated), ()):
                if isinstance(item, Table) and item.overuse is not None and item.overuse.items:
                    place = places[item.name] = places.get(item.name, -1) + 1
                    ranked.append((place, CorpusOveruse(cell.generated, item.overuse)))
    ranked.sort(key=lambda pair: pair[0])  # stable: axes of one place stay in the order of their gaps
    return [overuse for _, overuse in ranked[:most]]
