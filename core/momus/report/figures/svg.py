"""Figures of evidence as SVG, for pages and as files of their own, with the numbers that they show."""

from __future__ import annotations

import re
from collections.abc import Mapping

from momus.evidence import Chart, Evidence, Graph, Heatmap, Table
from momus.report.figures.chart import chart_svg
from momus.report.figures.heatmap import heatmap_svg
from momus.report.figures.network import graph_svg
from momus.report.figures.palette import COLOURS, Look
from momus.report.safe import clean, csv_text

FONT = "system-ui,'DejaVu Sans',sans-serif"
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


def draw(item: Chart | Heatmap | Graph, corpora: Mapping[str, Look] | None = None, label: str = "") -> str:
    """Draw a figure as an ``<svg>`` element.

    Colours are CSS variables (``--real``, ``--corpus-0``, …); corpora and roles also differ in marker and dashes. All
    labels are cleaned and escaped. The same data gives the same bytes.

    Parameters
    ----------
    item
        The figure.
    corpora
        Looks of generated corpora by name (`momus.report.figures.palette.looks`), for series that have such a label.
    label
        What screen readers say; empty where the numbers follow.
    """
    if isinstance(item, Chart):
        return chart_svg(item, corpora or {}).svg(label)
    return (heatmap_svg(item) if isinstance(item, Heatmap) else graph_svg(item)).svg(label)


def standalone(svg: str) -> str:
    r"""Give a figure of a page (`momus.report.figures.svg.draw`) what the page gives it: colours, a font, the paper.

    Raises
    ------
    KeyError
        The figure uses a colour that is not in the palette.

    >>> standalone('<svg viewBox="0 0 9 9" aria-hidden="true"><path stroke="var(--real)"/></svg>')[-47:]
    'fill="#ffffff"/><path stroke="#0a62a6"/></svg>\n'
    """
    painted = re.sub(r"var\(--([\w-]+)\)", lambda match: COLOURS[match.group(1)], svg)
    opening, _, content = painted.partition(">")
    opening = opening.replace(' aria-hidden="true"', "")
    if NAMESPACE not in opening:
        opening = opening.replace("<svg ", f"<svg {NAMESPACE} ", 1)
    style = f"<style>text{{font-family:{FONT}}}</style>"
    ground = f'<rect width="100%" height="100%" fill="{COLOURS["paper"]}"/>'
    return f"{opening}>{style}{ground}{content}\n"


def data_of(item: Evidence) -> Table | None:
    """Tabulate the numbers behind a figure; None for evidence that is not a figure."""
    if isinstance(item, Chart):
        rows = [(s.label, x, y) for s in item.series for x, y in zip(s.x, s.y, strict=True)]
        return Table(item.name, item.title, ("series", clean(item.x.label, 80), clean(item.y.label, 80)), rows)
    if isinstance(item, Heatmap):
        matrix = [(name, *row) for name, row in zip(item.rows, item.values, strict=True)]
        return Table(item.name, item.title, ("", *item.columns), matrix)
    if isinstance(item, Graph):
        edges = [(e.source, e.target, e.weight) for e in item.edges]
        return Table(item.name, item.title, ("from", "to", item.label), edges)
    return None


def figure_csv(item: Evidence, *, as_is: bool = False) -> str:
    """The numbers behind a figure as CSV; empty for evidence that is not a figure."""
    table = data_of(item)
    return "" if table is None else csv_text(table.columns, table.rows, as_is=as_is)
