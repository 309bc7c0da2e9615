"""What the overview figure shows, as rows: one dot with its interval per axis and corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from momus.report.answer import Answer, Cell
from momus.report.downloads import csv_text
from momus.report.figures.scale import GapScale

Absence = Literal["not tested", "no human band"]


@dataclass(frozen=True)
class Dot:
    """One axis of one corpus in the overview.

    Attributes
    ----------
    critic, axis, generated
        The critic, what its axis is called, and the corpus.
    gap, low, high
        Gap in human bands with its interval; None where there is no interval.
    differs
        Whether the texts surely differ; such dots are filled.
    finding
        What the row shows, as `Verdict.finding`.
    direction
        Such as ``shorter``; empty if no direction is sure.
    """

    critic: str
    axis: str
    generated: str
    gap: float
    low: float | None
    high: float | None
    differs: bool
    finding: str
    direction: str


@dataclass(frozen=True)
class Overview:
    """The overview of a comparison.

    Attributes
    ----------
    axes
        Critics with the names of their axes, largest gap first.
    corpora
        Generated corpora in the order of the run, which gives them their looks.
    dots
        At most one per axis and corpus.
    absent
        Why an axis has no dot on a corpus, by (critic, corpus).
    """

    axes: tuple[tuple[str, str], ...]
    corpora: tuple[str, ...]
    dots: tuple[Dot, ...]
    absent: dict[tuple[str, str], Absence]

    @property
    def scale(self) -> GapScale:
        """The scale that holds all dots and intervals."""
        return GapScale.of([v for d in self.dots for v in (d.gap, d.high or 0.0)])


def overview_of(answer: Answer) -> Overview:
    """Collect the dots of an answer."""
    cells = [(c, _dot(a.axis, c)) for a in answer.axes for c in a.cells]
    return Overview(
        tuple((a.critic, a.axis) for a in answer.axes),
        run_order(c.generated for c, _ in cells),
        tuple(dot for _, dot in cells if dot is not None),
        {(c.headline.critic, c.generated): _why(c) for c, dot in cells if dot is None},
    )


def run_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names in the order in which they first occur."""
    return tuple(dict.fromkeys(names))


def _dot(axis: str, cell: Cell) -> Dot | None:
    v = cell.headline
    if v.gap is None or v.p_adjusted is None:
        return None
    low, high = v.gap_interval or (None, None)
    return Dot(v.critic, axis, cell.generated, v.gap, low, high, v.differs, v.finding, cell.direction)


def _why(cell: Cell) -> Absence:
    return "not tested" if cell.headline.p_adjusted is None else "no human band"


def overview_csv(shown: Overview, *, as_is: bool = False) -> str:
    """The dots of the overview as CSV."""
    columns = ("axis", "critic", "generated", "gap", "low", "high", "differs", "finding", "direction")
    rows = [
        (d.axis, d.critic, d.generated, d.gap, d.low, d.high, d.differs, d.finding, d.direction) for d in shown.dots
    ]
    return csv_text(columns, rows, as_is=as_is)
