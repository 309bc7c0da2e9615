"""Figures of evidence as SVG, for pages and as files of their own, with the numbers that they show.

Graphs have nodes in order on a circle, and arrows of a width proportional to their weight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from momus.evidence import Chart, Edge, Evidence, Graph, Heatmap, Table
from momus.report.figures.canvas import Anchor, Canvas, Point, fixed, turned
from momus.report.figures.chart import chart_svg
from momus.report.figures.heatmap import heatmap_svg
from momus.report.figures.palette import COLOURS, LABEL, Look
from momus.report.safe import clean, csv_text

WIDTH, HEIGHT = 620.0, 400.0
RADIUS = 140.0
NODE = 4.0
BEND = 0.18
"""How far an arrow bends aside, as a share of its length, so that arrows both ways are seen."""


def graph_svg(graph: Graph) -> Canvas:
    """Draw a graph: an arrow's colour and dashes show the sign, its width the size; marked arrows show their weight."""
    canvas = Canvas(WIDTH, HEIGHT)
    middle = WIDTH / 2, HEIGHT / 2 + 10
    angles = [2 * math.pi * i / max(len(graph.nodes), 1) - math.pi / 2 for i in range(len(graph.nodes))]
    places = {
        name: (middle[0] + 1.25 * RADIUS * math.cos(a), middle[1] + RADIUS * math.sin(a))
        for name, a in zip(graph.nodes, angles, strict=True)
    }
    largest = max((abs(e.weight) for e in graph.edges), default=1.0) or 1.0
    for edge in graph.edges:
        width = 0.8 + 5 * abs(edge.weight) / largest
        if edge.source == edge.target:
            _loop(canvas, edge, places[edge.source], middle, width)
        else:
            _arrow(canvas, edge, places[edge.source], places[edge.target], width)
    for name, (x, y) in places.items():
        canvas.mark((x, y), "o", "ink", radius=NODE)
        side: Anchor = "start" if x > middle[0] + 20 else "end" if x < middle[0] - 20 else "middle"
        shift = {"start": 9.0, "end": -9.0, "middle": 0.0}[side]
        drop = 4.0 if side != "middle" else (18.0 if y > middle[1] else -10.0)
        canvas.text((x + shift, y + drop), name, side, clip=LABEL)
    canvas.text((8, 13), graph.label, size=11.5, clip=120)
    return canvas


def _style(edge: Edge) -> tuple[str, tuple[float, ...]]:
    return ("plus", ()) if edge.weight > 0 else ("minus", (5.0, 3.0))


def _arrow(canvas: Canvas, edge: Edge, start: Point, end: Point, width: float) -> None:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = math.hypot(dx, dy) or 1.0
    bend = (start[0] + end[0]) / 2 - BEND * dy, (start[1] + end[1]) / 2 + BEND * dx
    # the last piece of a quadratic curve points from its bend to its end
    angle = math.atan2(end[1] - bend[1], end[0] - bend[0])
    gap = NODE + 3
    tip = end[0] - gap * math.cos(angle), end[1] - gap * math.sin(angle)
    foot = start[0] + gap * dx / length, start[1] + gap * dy / length
    colour, dashes = _style(edge)
    head = 5 + width
    stop = turned(-0.8 * head, 0, angle)
    points = [f"{fixed(x)} {fixed(y)}" for x, y in (foot, bend, (tip[0] + stop[0], tip[1] + stop[1]))]
    canvas.path(f"M{points[0]}Q{points[1]} {points[2]}", colour, width, dashes, ".75")
    _head(canvas, tip, angle, head, colour)
    if edge.marked:
        place = (start[0] + end[0] + 2 * bend[0]) / 4, (start[1] + end[1] + 2 * bend[1]) / 4
        _weight(canvas, edge, place)


def _loop(canvas: Canvas, edge: Edge, place: Point, middle: Point, width: float) -> None:
    """From one side of a node around to the other, outwards."""
    colour, dashes = _style(edge)
    out = math.atan2(place[1] - middle[1], place[0] - middle[0])
    corners = [turned(r, s, out) for r, s in ((6, -3), (34, -20), (34, 20), (6, 3))]
    points = [f"{fixed(place[0] + x)} {fixed(place[1] + y)}" for x, y in corners]
    canvas.path(f"M{points[0]}C{points[1]} {points[2]} {points[3]}", colour, width, dashes, ".75")
    _head(canvas, (place[0] + corners[3][0], place[1] + corners[3][1]), out + math.pi, 5 + width, colour)
    if edge.marked:
        x, y = turned(40, 0, out)
        _weight(canvas, edge, (place[0] + x, place[1] + y))


def _weight(canvas: Canvas, edge: Edge, place: Point) -> None:
    canvas.text(place, f"{edge.weight:+.2f}".replace("-", "−"), "middle", 10.5, bold=True)


def _head(canvas: Canvas, tip: Point, angle: float, size: float, colour: str) -> None:
    sides = [turned(-size, s * size / 2, angle) for s in (-1, 1)]
    d = "M" + "L".join(f"{fixed(tip[0] + x)} {fixed(tip[1] + y)}" for x, y in ((0.0, 0.0), *sides)) + "z"
    canvas.add("path", d=d, fill=f"var(--{colour})", opacity=".85")


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
