"""Figures of rows: a dot with its interval for each corpus, in rows of axes or of corpora, as data.

The overview and the ranks of a comparison are such figures. Each is described once, by `overview_rows` and
`ranks_rows`, and drawn by `momus.report.figures.dots`, for pages and for paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from momus.against.versions import Path
from momus.errors import UsageError
from momus.evidence import Heatmap
from momus.joint.ranks import ALL_AXES, Ranking
from momus.joint.slices import Slices, of_axes
from momus.report.figures.palette import LABEL
from momus.report.figures.scales import Scale, gap_scale
from momus.report.safe import clean, csv_text
from momus.report.words.against import version_value
from momus.report.words.joint import chance
from momus.report.words.sentences import finding
from momus.runs.answer import Answer, Cell
from momus.verdicts.band import OWN
from momus.verdicts.verdict import Verdict

FULL = 3.0
"""Bands at which cells of slices have their full colour: one broken slice must not hide all others."""


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
class FigureRows:
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
    model
        Name of the reference where that is text of a model; empty otherwise.
    columns, numbers
        The numbers of the figure as a table.
    """

    names: Mapping[str, str]
    corpora: tuple[str, ...]
    dots: tuple[Dot, ...]
    label: str
    scale: Scale | None
    absent: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    head: str = ""
    model: str = ""
    columns: tuple[str, ...] = ()
    numbers: Sequence[tuple[object, ...]] = ()

    def csv(self) -> str:
        """The numbers as CSV; see `momus.report.safe.csv_text`."""
        return csv_text(self.columns, self.numbers)


def overview_rows(answer: Answer) -> FigureRows:
    """Describe the overview: the gap of each corpus on each axis, the largest at the top; filled where texts differ.

    95 % of pairs of human authors lie within 1.

    >>> overview_rows(Answer((), ())).label
    'distance from human text'
    """
    cells = [(axis.axis, cell) for axis in answer.axes for cell in axis.cells]
    model = next((cell.row.reference for _, cell in cells if cell.row.band_source == OWN), "")
    drawn = [(axis, cell) for axis, cell in cells if not _absence(cell)]
    dots = tuple(_gap_dot(cell) for _, cell in drawn)
    return FigureRows(
        {a.critic: a.axis for a in answer.axes},
        tuple(dict.fromkeys(cell.generated for _, cell in cells)),
        dots,
        f"distance from {model or 'human text'}",
        gap_scale([v for d in dots for v in (d.value, d.high or 0.0)]),
        absent={(cell.row.critic, cell.generated): why for _, cell in cells if (why := _absence(cell))},
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


def slices_heatmaps(slices: Sequence[Slices], verdicts: Sequence[Verdict]) -> list[Heatmap]:
    """Axes × slices of each field and text, as heat maps of bands; of standard deviations, where no axis has bands."""
    maps = []
    for s in (s for s in slices if s.cells):
        axes, names = of_axes(s, verdicts), [name for name in s.names if name not in s.small]
        known = [cells for cells in axes if any(bands is not None for _, bands in cells)]
        rows = [cells[0][0].axis for cells in known or axes]
        values = [
            {c.name: bands if known else c.shrunk / c.scale if c.scale else None for c, bands in cells}
            for cells in known or axes
        ]
        label = f"difference in {'bands of the whole text' if known else 'standard deviations'}, drawn to the mean"
        title, key = f"{s.generated} by {s.by}: higher or lower, axis by axis", f"slices {s.by} {s.generated}"
        cells = [[of.get(name) for name in names] for of in values]
        maps.append(Heatmap(key, title, rows, names, cells, label, limit=FULL if known else None))
    return maps


def ranks_rows(ranking: Ranking, of: str = ALL_AXES) -> FigureRows:
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
    return FigureRows(
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


def path_rows(path: Path, versions: Sequence[str]) -> FigureRows:
    """Describe the path of an axis: its statistic of each version, the reference at the top."""
    values = zip(versions, path.values, path.lows, path.highs, strict=True)
    return FigureRows(
        {name: name for name in versions},
        (*versions[1:], versions[0]),  # so that the new versions look as in other figures
        tuple(Dot(name, name, value, low, high) for name, value, low, high in values),
        f"{path.label} ({path.unit})" if path.unit else path.label,
        None,
        notes={name: version_value(path, value) for name, value in zip(versions, path.values, strict=True)},
        head="value",
    )
