"""Write the figures of a comparison as files for papers, each with its numbers as CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from momus.errors import StoreError, UsageError
from momus.files import replace_file, replacing
from momus.joint.ranks import ALL_AXES
from momus.report.answer import Answer, answer_of
from momus.report.downloads import csv_text, figure_csv
from momus.report.figures.axis import axis_figure
from momus.report.figures.overview import overview
from momus.report.figures.overview_rows import overview_csv, overview_of
from momus.report.figures.power import detectable, power_figure
from momus.report.figures.ranks import rank_table, ranks_figure
from momus.report.figures.style import WIDTHS, paper_style
from momus.report.overlay import overlay
from momus.report.safe import anchor
from momus.runs.result import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("pdf", "svg", "png")
DOTS_PER_INCH = 300
NARROWEST, WIDEST = 1.5, 40.0
"""Widths that a figure can have, in inches."""


@dataclass(frozen=True)
class Paper:
    """A figure for a paper: file name without ending, height in inches for a width, painter, and numbers as CSV."""

    name: str
    height: Callable[[float], float]
    paint: Callable[[Axes], Axes]
    numbers: str


def figure_width(text: str) -> float:
    """Parse a width in inches: ``column``, ``page`` or a number.

    Raises
    ------
    UsageError
        It is neither.

    >>> figure_width("column"), figure_width("5")
    (3.35, 5.0)
    """
    if text in WIDTHS:
        return WIDTHS[text]
    try:
        inches = float(text)
    except ValueError:
        inches = math.nan
    if not NARROWEST <= inches <= WIDEST:
        raise UsageError(
            f"--width {text}: not a width", hint=f"column, page, or inches between {NARROWEST:g} and {WIDEST:g}"
        )
    return inches


def write_figures(
    comparison: Comparison,
    folder: Path,
    formats: Sequence[str] = FORMATS,
    width: float = WIDTHS["column"],
    *,
    csv_as_is: bool = False,
) -> list[Path]:
    """Write all figures of a comparison, and return the paths of their files.

    Parameters
    ----------
    comparison
        Just computed, or read from a run folder.
    folder
        Made if it does not exist; files of the same names are replaced.
    formats
        Some of ``pdf``, ``svg`` and ``png``.
    width
        In inches.
    csv_as_is
        Whether texts in CSV files that a spreadsheet would run as formulas are written as they are.

    Raises
    ------
    UsageError
        A format is unknown, or there is none.
    StoreError
        A file cannot be written.
    """
    unknown = [f for f in formats if f not in FORMATS]
    if unknown or not formats:
        raise UsageError(f"no format {unknown[0]!r}" if unknown else "no format is given", hint="pdf, svg or png")
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for paper in papers(comparison, csv_as_is):
            written += _write(paper, folder, formats, width)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written ({error.strerror})", hint="name another folder") from error
    return written


def papers(comparison: Comparison, csv_as_is: bool = False) -> Iterator[Paper]:
    """The figures of a comparison: overview, ranks, power, and one per axis, as far as the run has them."""
    answer = answer_of(comparison)
    rows = len(answer.axes)
    several = sum(len(a.cells) for a in answer.axes) / max(rows, 1)
    yield Paper(
        "overview",
        lambda width: 0.75 + rows * max(0.17, 0.07 * several),
        partial(overview, answer=answer),
        overview_csv(overview_of(answer), as_is=csv_as_is),
    )
    ranking = comparison.joint.ranking
    if ranking is not None and ranking.of(ALL_AXES):
        table = rank_table(ranking.of(ALL_AXES))
        yield Paper(
            "ranks",
            lambda width: 0.7 + 0.22 * len(table),
            partial(ranks_figure, ranking=ranking),
            csv_text(tuple(table[0]), [tuple(row.values()) for row in table], as_is=csv_as_is),
        )
    yield from _power(comparison, rows, csv_as_is)
    yield from _axes(comparison, answer, csv_as_is)


def _power(comparison: Comparison, rows: int, csv_as_is: bool) -> Iterator[Paper]:
    found = [(v.axis, v.critic, v.generated, d) for v in comparison.verdicts if v.headline and (d := detectable(v))]
    if found:
        yield Paper(
            "power",
            lambda width: 0.75 + 0.17 * rows,
            partial(power_figure, verdicts=comparison.verdicts),
            csv_text(("axis", "critic", "generated", "detectable_in_human_bands"), found, as_is=csv_as_is),
        )


def _axes(comparison: Comparison, answer: Answer, csv_as_is: bool) -> Iterator[Paper]:
    results = {r.name: r for r in comparison.results}
    for axis in answer.axes:
        result = results[axis.critic]
        chart = overlay(result)
        if chart is not None:
            yield Paper(
                f"axis-{anchor(axis.critic)}",
                lambda width: min(0.68 * width, 3.2),
                partial(axis_figure, result=result, chart=chart),
                figure_csv(chart, as_is=csv_as_is),
            )


def _write(paper: Paper, folder: Path, formats: Sequence[str], width: float) -> list[Path]:
    from matplotlib.figure import Figure

    numbers = folder / f"{paper.name}.csv"
    replace_file(numbers, paper.numbers)
    with paper_style(paper.name):
        figure = Figure(figsize=(width, paper.height(width)), layout="constrained")
        paper.paint(figure.add_subplot())
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is done; each format would repeat it
        paths = [folder / f"{paper.name}.{f}" for f in formats]
        for path in paths:
            date = {"CreationDate": None} if path.suffix == ".pdf" else {"Date": None} if path.suffix == ".svg" else {}
            with replacing(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], dpi=DOTS_PER_INCH, metadata=date)
    return [*paths, numbers]
