"""Figures as files: those of a comparison for papers, each with its numbers as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

from momus.errors import UsageError
from momus.evidence import Chart, Graph, Heatmap
from momus.joint.ranks import ALL_AXES
from momus.outputs import make_folder, replacing_own, write_own, writing
from momus.ownership import check_output
from momus.report.cards import cards_of
from momus.report.figures.canvas import Canvas
from momus.report.figures.palette import looks
from momus.report.figures.paper import COLUMN, POINTS, paint, sheet
from momus.report.figures.rows import overview_rows, ranks_rows, slices_heatmaps
from momus.report.figures.svg import figure_csv, standalone
from momus.report.safe import anchor, clean
from momus.runs.answer import answer_of
from momus.runs.result import Results

FORMATS = ("pdf", "svg", "png")
CREATOR = "momus figures"
ABOUT: dict[str, dict[str, str | None]] = {
    "pdf": {"CreationDate": None, "Creator": CREATOR},
    "png": {"Software": CREATOR},
}
"""Metadata: who made a figure, and no time, so that the same data give the same bytes."""
FIGURE = "a figure of a run"
DOTS_PER_INCH = 300


class Paper(NamedTuple):
    """A figure for a paper: name of its files, what viewers and screen readers say, its sheet, its numbers as CSV."""

    name: str
    title: str
    canvas: Canvas
    numbers: str


def write_figures(
    comparison: Results,
    folder: Path,
    formats: Sequence[str] = FORMATS,
    width: float = COLUMN,
) -> list[Path]:
    """Write all figures of a comparison, and return the paths of their files.

    Parameters
    ----------
    comparison
        Just computed, or read from a run folder.
    folder
        Made if it does not exist; earlier figures are replaced.
    formats
        Some of ``pdf``, ``svg`` and ``png``.
    width
        In inches.

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
    with writing(folder, "name another folder"):
        make_folder(folder)
        for paper in papers(comparison, width):
            written += _write(paper, folder, formats, width)
    return written


def papers(comparison: Results, width: float) -> Iterator[Paper]:
    """The figures of a comparison: overview, ranks, and those of each axis, as far as the run has them."""
    answer, ranking, units = answer_of(comparison), comparison.joint.ranking, 72 * width / POINTS
    figures = [("overview", overview_rows(answer))]
    if ranking is not None and ranking.of(ALL_AXES):
        figures.append(("ranks", ranks_rows(ranking)))
    for name, rows in figures:
        yield Paper(name, rows.label.capitalize(), sheet(rows, {}, units), rows.csv())
    for matrix in slices_heatmaps(comparison.joint.slices, comparison.verdicts):
        yield Paper(anchor(matrix.name), matrix.title, sheet(matrix, {}, units), figure_csv(matrix))
    corpora = looks(v.generated for v in comparison.verdicts)
    for card in cards_of(comparison, answer):
        charts = [c for c in (card.chart, *card.more) if c is not None]
        shown: list[tuple[Chart | Heatmap | Graph, list[str]]] = [(c, [c.name] * (i > 0)) for i, c in enumerate(charts)]
        shown += [
            (item, [item.name, corpus])
            for corpus, items in card.evidence
            for item in items
            if isinstance(item, Chart | Heatmap | Graph)
        ]
        for item, names in shown:
            title = clean(": ".join([card.axis.axis, *names[1:], item.title]), 200)
            numbers = figure_csv(item)
            yield Paper(anchor("axis", card.axis.critic, *names), title, sheet(item, corpora, units), numbers)


def _write(paper: Paper, folder: Path, formats: Sequence[str], width: float) -> list[Path]:
    numbers = folder / f"{paper.name}.csv"
    paths = [folder / f"{paper.name}.{kind}" for kind in formats]
    for path in (*paths, numbers):
        check_output(path, FIGURE)
    write_own(numbers, paper.numbers, FIGURE)
    height = width * paper.canvas.height / paper.canvas.width
    figure = Figure(figsize=(width, height))
    if set(formats) - {"svg"}:
        paint(paper.canvas, figure.add_axes((0, 0, 1, 1)))
    for kind, path in zip(formats, paths, strict=True):
        if kind == "svg":
            size = f'width="{72 * width:g}pt" height="{72 * height:g}pt"'
            write_own(path, standalone(paper.canvas.svg(), paper.title, size), FIGURE)
            continue
        about = {"Title": paper.title, **ABOUT[kind]}
        with replacing_own(path, FIGURE) as temporary, mpl.rc_context({"pdf.fonttype": 42}):
            figure.savefig(temporary, format=kind, dpi=DOTS_PER_INCH, metadata=about)
    return [*paths, numbers]
