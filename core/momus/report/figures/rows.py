"""Figures of rows: a dot with its interval for each corpus, in rows of axes or of corpora, as data and as SVG.

The overview, the ranks and the power of a comparison are such figures. Each is described once, by `overview_rows`,
`ranks_rows` and `power_rows`, and drawn by `rows_canvas`, for pages and for paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from momus.errors import UsageError
from momus.joint.ranks import ALL_AXES, Ranking
from momus.report.figures.canvas import LETTER, LINE, Canvas, flow
from momus.report.figures.palette import LABEL, Look, looks
from momus.report.figures.scales import GapScale, Scale
from momus.report.safe import anchor, clean, csv_text
from momus.report.words.joint import chance
from momus.report.words.sentences import finding
from momus.runs.answer import Answer, Cell
from momus.verdicts.band import OWN
from momus.verdicts.verdict import Verdict

WIDE, NARROW = 750.0, 350.0
LEFT, ABOVE = 240.0, 8.0
"""Room for the names of rows on a wide screen, and what is left of it where they stand above their rows."""
TOP = 22.0
"""Room between the legend and the first row, where the band is named."""
PITCH, DENSE, FEW = 10.0, 6.5, 8
"""Height of one dot, that in a figure of more than a few rows, and how many rows are few."""
KEY = 17.0
"""Height of a row of the legend."""


@dataclass(frozen=True)
class Dot:
    """A value of one corpus in one row.

    Attributes
    ----------
    row, corpus
        The key of its row, and the generated corpus, which gives it its look.
    value, low, high
        The value with its interval; None where there is no interval.
    filled
        Whether the dot is filled, rather than hollow.
    title
        What is shown when the pointer rests on it.
    """

    row: str
    corpus: str
    value: float
    low: float | None = None
    high: float | None = None
    filled: bool = True
    title: str = ""


@dataclass(frozen=True)
class Rows:
    """A figure of rows.

    Attributes
    ----------
    names
        Names of the rows by their keys, the first row at the top.
    corpora
        Generated corpora in the order of the run, which gives them their looks.
    dots
        The values.
    label
        What the values are.
    scale
        Scale in human bands, on which the band from 0 to 1 is shaded; None if the values have another unit.
    absent
        Why a row has no dot of a corpus, by (row, corpus).
    notes, head
        Texts at the right end of rows, by their keys, and what stands above them.
    spread
        Whether the dots of a row stand below each other.
    model
        Name of the reference where that is text of a model; empty otherwise.
    columns, numbers
        The numbers of the figure as a table.
    """

    names: Mapping[str, str]
    corpora: tuple[str, ...]
    dots: tuple[Dot, ...]
    label: str
    scale: GapScale | None
    absent: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    head: str = ""
    spread: bool = False
    model: str = ""
    columns: tuple[str, ...] = ()
    numbers: Sequence[tuple[object, ...]] = ()

    def csv(self, *, as_is: bool = False) -> str:
        """The numbers as CSV; see `momus.report.safe.csv_text`."""
        return csv_text(self.columns, self.numbers, as_is=as_is)


def overview_rows(answer: Answer) -> Rows:
    """Describe the overview: the gap of each corpus on each axis, the largest at the top; filled where texts differ.

    95 % of pairs of human authors lie within 1.

    >>> overview_rows(Answer((), ())).label
    'distance from human text'
    """
    cells = [(axis.axis, cell) for axis in answer.axes for cell in axis.cells]
    model = next((cell.row.reference for _, cell in cells if cell.row.band_source == OWN), "")
    drawn = [(axis, cell) for axis, cell in cells if not _absence(cell)]
    dots = tuple(_gap_dot(cell) for _, cell in drawn)
    return Rows(
        {a.critic: a.axis for a in answer.axes},
        tuple(dict.fromkeys(cell.generated for _, cell in cells)),
        dots,
        f"distance from {model or 'human text'}",
        GapScale.of([v for d in dots for v in (d.value, d.high or 0.0)]),
        absent={(cell.row.critic, cell.generated): why for _, cell in cells if (why := _absence(cell))},
        spread=True,
        model=model,
        columns=("axis", "critic", "generated", "gap", "low", "high", "differs", "finding", "direction"),
        numbers=[
            (
                axis,
                d.row,
                d.corpus,
                d.value,
                d.low,
                d.high,
                d.filled,
                finding(cell.row),
                cell.direction,
            )
            for (axis, cell), d in zip(drawn, dots, strict=True)
        ],
    )


def _absence(cell: Cell) -> str:
    """Why a cell has no dot; empty if it has one."""
    if cell.row.p_adjusted is None:
        return "not tested"
    return "" if cell.row.gap is not None else "no band" if cell.row.band_source == OWN else "no human band"


def _gap_dot(cell: Cell) -> Dot:
    v = cell.row
    low, high = v.gap_interval or (None, None)
    gap = v.gap or 0.0
    interval = "" if low is None or high is None else f" ({low:.2g} to {high:.2g})"
    direction = f", {clean(cell.direction, 60)}" if cell.direction else ""
    bands = f"bands of {clean(v.reference, LABEL)}" if v.band_source == OWN else "human bands"
    title = f"{clean(cell.generated, LABEL)}: {gap:.2g} {bands}{interval}{direction}; {finding(v)}"
    return Dot(v.critic, cell.generated, gap, low, high, v.differs, title)


def ranks_rows(ranking: Ranking, of: str = ALL_AXES) -> Rows:
    """Describe the ranks: the mean distance of each corpus from human text, nearest first, with bootstrap share.

    Parameters
    ----------
    ranking
        ``comparison.joint.ranking``.
    of
        Name of a critic; default: the mean over all axes.

    Raises
    ------
    UsageError
        There are no ranks over these axes.
    """
    rows = ranking.of(of)
    if not rows:
        why = ranking.excluded.get(of, "no axis has ranks")
        raise UsageError(f"there are no ranks over {of}: {why}", hint="the critics with ranks are in `ranking.rows`")
    columns = ("distance", "low", "high", "rank_low", "rank_high", "p_nearest", "n", "n_real")
    unit = "human bands" if of == ALL_AXES else "units of the effect"
    return Rows(
        {r.model: r.model for r in rows},
        tuple(dict.fromkeys(r.model for r in ranking.rows)),
        tuple(Dot(r.model, r.model, r.distance, r.low, r.high) for r in rows),
        f"{'mean ' if of == ALL_AXES else ''}distance from human text ({unit})",
        None,
        notes={r.model: chance(r) for r in rows},
        head="bootstrap share",
        columns=("generated", *columns),
        numbers=[(r.model, *(getattr(r, c) for c in columns)) for r in rows],
    )


def power_rows(verdicts: Sequence[Verdict]) -> Rows:
    """Describe the power: the smallest difference that each axis would have detected, the smallest at the top.

    Values above 1 mean that the texts are too few: a difference as large as that of two human texts may go unseen.

    Raises
    ------
    UsageError
        No headline row has a detectable difference and a human band.
    """
    rows = [(v, d) for v in verdicts if v.headline and (d := detectable(v)) is not None]
    if not rows:
        raise UsageError(
            "no headline row has a detectable difference in human bands", hint="test more documents, or other critics"
        )
    worst = {c: max(d for v, d in rows if v.critic == c) for c in dict.fromkeys(v.critic for v, _ in rows)}
    names = {v.critic: v.axis for v, _ in rows}
    return Rows(
        {c: names[c] for c in sorted(worst, key=lambda c: worst[c])},
        tuple(dict.fromkeys(v.generated for v in verdicts)),
        tuple(Dot(v.critic, v.generated, d) for v, d in rows),
        "detectable difference",
        GapScale.of(list(worst.values())),
        columns=("axis", "critic", "generated", "detectable_in_human_bands"),
        numbers=[(v.axis, v.critic, v.generated, d) for v, d in rows],
    )


def detectable(v: Verdict) -> float | None:
    """The smallest difference that a row would have detected in 80 % of cases, in human bands.

    None where there is no band or no such difference. The unit of differences is brought to that of the effect: by
    their ratio for Hedges' g, by the logarithm for ratios.
    """
    if not v.mde or not v.band:
        return None
    if v.effect_kind == "log_ratio":
        if not v.real_value or not v.generated_value or v.real_value < 0 or v.generated_value < 0:
            return None
        # a difference d of two values a and b is 2 √(ab) sinh(log ratio / 2)
        return 2 * math.asinh(v.mde / (2 * math.sqrt(v.real_value * v.generated_value))) / v.band
    if v.effect_kind == "hedges_g":
        return abs(v.mde * v.effect / v.difference) / v.band if v.effect and v.difference else None
    return v.mde / v.band


def rows_svg(rows: Rows, narrow: bool = False) -> str:
    """Draw rows in human bands for a page: names lead to the cards of their axes, titles show the numbers.

    Parameters
    ----------
    narrow
        Whether to draw for phones, with the names above their rows.
    """
    canvas = rows_canvas(rows, NARROW, ABOVE, True) if narrow else rows_canvas(rows, WIDE, LEFT, True)
    of = rows.model or "human text"
    return canvas.svg(f"Distance of each corpus from {of} on each axis; the numbers follow", "group")


def rows_canvas(rows: Rows, width: float, left: float | None = None, links: bool = False) -> Canvas:
    """Draw rows on a sheet.

    Parameters
    ----------
    width
        Width of the sheet.
    left
        Room for the names; `ABOVE`: they stand above their rows; default: as much as they need.
    links
        Whether names lead to the cards of their axes.
    """
    if left is None:
        left = min(LEFT, 20 + LETTER * max((len(clean(n, LABEL)) for n in rows.names.values()), default=0))
    narrow = left == ABOVE
    name_room = 18.0 if narrow else 0.0
    dot_height = PITCH if len(rows.names) <= FEW else DENSE
    abreast = len(rows.corpora) if rows.spread else 1
    pitch = name_room + max(dot_height * abreast + 6, 20 - name_room)
    corpora = looks(rows.corpora)
    named = {clean(n, LABEL): look for n, look in corpora.items()} if rows.scale is not None else {}
    entries = flow(named, 30, left, width)
    top = TOP + KEY * (1 + max((line for _, line in entries), default=-1))
    axis = _ValueAxis.of(rows, left, width - 14 - (8 + LETTER * len(rows.head) if rows.head else 0))
    below = _label(rows, axis, width, narrow)
    canvas = Canvas(width, top + pitch * len(rows.names) + 44 + LINE * (len(below) - 1))
    for (words, look), (x, line) in zip(named.items(), entries, strict=True):
        canvas.mark((x + 5, 9 + KEY * line), look.marker, look.colour)
        canvas.text((x + 14, 13 + KEY * line), words, clip=LABEL)
    _frame(canvas, rows, axis, (top, top + pitch * len(rows.names)), below)
    heights: dict[tuple[str, str], float] = {}
    for i, (key, name) in enumerate(rows.names.items()):
        y = top + pitch * i
        canvas.line((0, y), (width, y), "grid", 0.7)  # parts a row from the one before
        with canvas.group("a" if links else "g", href=f"#critic-{anchor(key)}" if links else None):
            place = (8.0, y + 14) if narrow else (left - 10, y + pitch / 2 + 4)
            canvas.text(place, name, "start" if narrow else "end", clip=LABEL)
        middle = y + name_room + (pitch - name_room) / 2
        if key in rows.notes:
            canvas.text((axis.end + 8, middle + 4), rows.notes[key])
        for j, corpus in enumerate(rows.corpora):
            heights[key, corpus] = middle + dot_height * (j - (abreast - 1) / 2) * rows.spread
    _dots(canvas, rows, axis, heights, not narrow)
    return canvas


def _dots(canvas: Canvas, rows: Rows, axis: _ValueAxis, heights: Mapping[tuple[str, str], float], titles: bool) -> None:
    """The dots with their intervals, at the heights of (row, corpus), and why some are absent."""
    corpora = looks(rows.corpora)
    for corpus, look in corpora.items():
        ends = [
            ((axis(d.low), heights[d.row, corpus]), (axis(d.high), heights[d.row, corpus]))
            for d in rows.dots
            if d.corpus == corpus and d.low is not None and d.high is not None
        ]
        canvas.lines(ends, look.colour, 1.8)
    for dot in rows.dots:
        y, look = heights[dot.row, dot.corpus], corpora[dot.corpus]
        canvas.mark((axis(dot.value), y), look.marker, look.colour, dot.filled, 4, dot.title if titles else "")
    for (key, corpus), why in rows.absent.items():
        if len(rows.corpora) == 1 or any((key, other) not in rows.absent for other in rows.corpora):
            canvas.text((axis(0) + 4, heights[key, corpus] + 3), why, size=9.5, fill="reference")
        elif corpus == rows.corpora[0]:  # once for all corpora
            middle = (heights[key, corpus] + heights[key, rows.corpora[-1]]) / 2
            canvas.text((axis(0) + 4, middle + 3), why, size=9.5, fill="reference")


@dataclass(frozen=True)
class _ValueAxis:
    """Where values lie between two places on the sheet, and the ticks."""

    start: float
    end: float
    scale: GapScale | Scale

    @classmethod
    def of(cls, rows: Rows, start: float, end: float) -> _ValueAxis:
        """Human bands have their own scale; other values a linear one, from 0 or the lowest interval on."""
        if rows.scale is not None:
            return cls(start, end, rows.scale)
        ends = [0.0, *(v for d in rows.dots for v in (d.value, d.low, d.high) if v is not None)]
        return cls(start, end, Scale(min(ends), 1.04 * max(ends) or 1.0, 0, 1, False))

    def __call__(self, value: float) -> float:
        return self.start + self.scale(value) * (self.end - self.start)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Values with a tick, and what is written there."""
        return self.scale.ticks if isinstance(self.scale, Scale) else [(t, f"{t:g}") for t in self.scale.ticks]


def _label(rows: Rows, axis: _ValueAxis, width: float, narrow: bool) -> list[str]:
    """What the values are, in two lines where one is too long."""
    start, unit = rows.label.partition(" (")[::2]
    unit = f"({unit}" if unit else ""
    if isinstance(axis.scale, GapScale):
        bands = f"bands of {rows.model}" if rows.model else "human bands"
        unit = f"in {bands}{', square-root scale' * axis.scale.root}"
        if narrow:
            return [unit.removeprefix("in ")]
    middle = (axis.start + axis.end) / 2
    fits = LETTER * len(f"{start} {unit}") <= 2 * min(middle, width - middle)
    return [f"{start} {unit}"] if fits else [start, unit]


def _frame(canvas: Canvas, rows: Rows, axis: _ValueAxis, ends: tuple[float, float], below: Sequence[str]) -> None:
    """The band of human variation, lines at the ticks, and what the values are."""
    top, bottom = ends
    if rows.scale is not None:
        left, one = axis(0), axis(1)
        canvas.rect((left, top), (one - left, bottom - top), "band")
        wide, short = ("own variation", "own") if rows.model else ("human variation", "human")
        canvas.text(((left + one) / 2, top - 6), wide if one - left > 96 else short, "middle", 10.5)
    if rows.head:
        canvas.text((axis.end + 8, top - 6), rows.head)
    for tick, text in axis.ticks:
        one = rows.scale is not None and tick == 1
        canvas.line((axis(tick), top), (axis(tick), bottom), "line" if one else "grid", 0.9)
        canvas.text((axis(tick), bottom + 15), text, "middle")
    longest = LETTER * max(map(len, below))
    middle = min((axis.start + axis.end) / 2, max(canvas.width - 6 - longest / 2, canvas.width / 2))
    canvas.paragraph((middle, bottom + 35), below, "middle")


def key_svg(look: Look, size: float = 14.0) -> str:
    """The marker of a corpus, to stand beside its name."""
    canvas = Canvas(size, size)
    canvas.mark((size / 2, size / 2), look.marker, look.colour, radius=4.5)
    return canvas.svg()
