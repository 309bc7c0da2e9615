"""Figures of evidence as SVG, for pages and as files of their own, with the numbers that they show.

Matrices are coloured cells; graphs have nodes in order on a circle, and arrows of a width proportional to their weight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from html import escape

import numpy as np

from momus.evidence import Chart, Edge, Evidence, Graph, Heatmap, Table
from momus.numeric.types import Floats
from momus.report.figures.canvas import LINE, Anchor, Canvas, Point, broken, colour, fixed, steps, turned
from momus.report.figures.chart import chart_svg
from momus.report.figures.palette import COLOURS, LABEL, SMALL_MATRIX, CorpusLook
from momus.report.safe import clean, csv_text

WRITTEN = 14
"""Matrices with at most this many rows and columns have their larger values written into the cells."""
FAINT = 0.25
"""A matrix whose largest value is below this share of the critic's limit has its own largest value as limit."""
CELL, LETTER = 26.0, 6.2
FITTING = 21.0
"""Width of a cell that a value fits."""
SPACED = 11.5
"""Distance of labels that are not written over each other."""
LEVELS = 8
"""Opacities of cells of a large matrix, which have no titles: thousands of elements would make a huge file."""


def heatmap_svg(item: Heatmap, room: float = math.inf) -> Canvas:
    """Draw a matrix: hue shows the sign, opacity the size (0 has the page's colour), a dash a missing value.

    Cells are as large as fit the ``room`` across.
    """
    values = np.array([[np.nan if v is None else v for v in row] for row in item.values], dtype=float)
    values = values.reshape(len(item.rows), len(item.columns))
    limit = saturation(values, item.limit)
    rows = [clean(r, LABEL) for r in item.rows]
    columns = [clean(c, LABEL) for c in item.columns]
    large = max(values.shape, default=0) > SMALL_MATRIX
    left = 24 + LETTER * max((len(r) for r in rows), default=0)
    # labels of columns are turned by 45°, so that they need 0.7 of their length below the matrix, and to the left
    below = 14 + 0.7 * LETTER * max((len(c) for c in columns), default=0)
    left = max(left, below + 8)
    cell = CELL * SMALL_MATRIX / max(values.shape) if large else CELL
    cell = min(cell, max(room - left - 8, 100) / max(len(columns), 1))
    width, height = cell * len(columns), cell * len(rows)
    sheet = max(left + width + 8, 300.0)
    scale = f"colour is full at {'±' if item.diverging else ''}{limit:.2g}"
    caption = broken(f"{clean(item.label, 60)}; {scale}", sheet)
    top = 24.0 + LINE * (len(caption) - 1)
    canvas = Canvas(sheet, top + height + below + (18 if item.column_label else 4))
    _cells(canvas, item, values, limit, (left, top, cell), large)
    step = [max(1, -(-n // SMALL_MATRIX), math.ceil(SPACED / cell)) for n in (len(rows), len(columns))]
    with canvas.group(text_anchor="end", font_size=11.5):
        for i in range(0, len(rows), step[0]):
            canvas.text((left - 5, top + cell * (i + 0.5) + 4), rows[i], clip=LABEL)
        for j in range(0, len(columns), step[1]):
            canvas.text((left + cell * (j + 0.5) + 4, top + height + 12), columns[j], turn=-45, clip=LABEL)
    canvas.text((left + width / 2, canvas.height - 4), item.column_label, "middle")
    if item.row_label:
        canvas.text((11, top + height / 2), item.row_label, "middle", turn=-90, clip=40)
    canvas.paragraph((8, 13), caption, size=11.5)
    return canvas


def saturation(values: Floats, limit: float | None) -> float:
    """The size at which colours are full.

    The critic's limit, unless the largest value is far below it: then nothing would be seen.

    >>> saturation(np.array([[0.01, -0.02]]), 1.0), saturation(np.array([[0.5]]), 1.0)
    (0.02, 1.0)
    """
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if len(finite) else 0.0
    if not largest:
        return limit or 1.0
    return largest if limit is None or largest < FAINT * limit else limit


def _cells(
    canvas: Canvas, item: Heatmap, values: Floats, limit: float, place: tuple[float, float, float], large: bool
) -> None:
    """One square per cell, whose colours follow the theme of the page."""
    left, top, cell = place
    rows, columns = values.shape
    strengths = np.minimum(np.abs(values) / limit, 1.0)
    written = max(rows, columns) <= WRITTEN and cell >= FITTING
    faintest = 0.5 / LEVELS if large else 0.004
    for name, sign in (("plus", 1), ("minus", -1)):
        squares: dict[tuple[str, str], str] = {}  # squares of one look and title, as one path; NaN is in none
        for i, j in np.argwhere((strengths > faintest) & (sign * values > 0)):
            words = f"{clean(item.rows[i], LABEL)}, {clean(item.columns[j], LABEL)}: {values[i, j]:.3g}"
            opacity = f"{round(34 * strengths[i, j]) / 40:g}" if written else f"{0.85 * strengths[i, j]:.2f}"
            look = opacity, "" if written else f"<title>{escape(words)}</title>"
            if large:
                look = f"{0.85 * round(LEVELS * strengths[i, j]) / LEVELS:.2g}", ""
            squares[look] = squares.get(look, "") + f"M{j} {i}h1"  # a dash as wide as long, in units of cells
        with canvas.group(
            stroke=colour(name), transform=f"translate({fixed(left)} {fixed(top + cell / 2)}) scale({cell:g})"
        ):
            for (opacity, title), d in squares.items():
                canvas.add("path", title, d=d, opacity=opacity)
    if large:
        return
    with canvas.group(text_anchor="middle", font_size=9):
        for i, row in enumerate(values):
            with canvas.group(transform=f"translate({fixed(left + cell / 2)} {fixed(top + cell * (i + 0.5) + 3)})"):
                for j, value in enumerate(row):
                    missing = not np.isfinite(value)
                    if missing or (written and strengths[i, j] > 0.08):
                        canvas.add("text", "–" if missing else short(value, item.diverging), x=cell * j)
    across = "".join(f"M{fixed(left)} {fixed(top + cell * i)}h{fixed(cell * columns)}" for i in range(rows + 1))
    down = "".join(f"M{fixed(left + cell * j)} {fixed(top)}v{fixed(cell * rows)}" for j in range(columns + 1))
    canvas.path(across + down, "grid", 0.5)


def short(value: float, signed: bool) -> str:
    """A value that fits a cell.

    >>> short(0.123, True), short(-1.5, True), short(0.5, False), short(123.4, False)
    ('+.12', '−1.5', '.50', '123')
    """
    size = abs(value)
    digits = f"{size:.2f}".removeprefix("0") if size < 1 else f"{size:.1f}" if size < 100 else f"{size:.0f}"
    return ("−" if value < 0 else "+" if signed else "") + digits


WIDTH, HEIGHT = 620.0, 400.0
RADIUS, SMALL = 140.0, 60.0
"""Half the height of a graph, and the least that half its width can be."""
NODE = 4.0
BEND = 0.18
"""How far an arrow bends aside, as a share of its length, so that arrows both ways are seen."""


def graph_svg(graph: Graph, width: float = WIDTH) -> Canvas:
    """Draw a graph: an arrow's colour and dashes show the sign, its width the size; marked arrows show their weight."""
    names = 16 + 7.0 * max((len(clean(n, LABEL)) for n in graph.nodes), default=0)
    width = max(width, 2 * (SMALL + names))
    across = min(1.25 * RADIUS, width / 2 - names)
    caption = broken(graph.label, width - 8)
    canvas = Canvas(width, HEIGHT + LINE * (len(caption) - 1))
    middle = width / 2, canvas.height - HEIGHT / 2 + 10
    angles = [2 * math.pi * i / max(len(graph.nodes), 1) - math.pi / 2 for i in range(len(graph.nodes))]
    places = {
        name: (middle[0] + across * math.cos(a), middle[1] + RADIUS * math.sin(a))
        for name, a in zip(graph.nodes, angles, strict=True)
    }
    largest = max((abs(e.weight) for e in graph.edges), default=1.0) or 1.0
    for edge in graph.edges:
        thick = 0.8 + 5 * abs(edge.weight) / largest
        if edge.source == edge.target:
            _loop(canvas, edge, places[edge.source], middle, thick)
        else:
            _arrow(canvas, edge, places[edge.source], places[edge.target], thick)
    for name, (x, y) in places.items():
        canvas.mark((x, y), "o", "ink", radius=NODE)
        side: Anchor = "start" if x > middle[0] + 20 else "end" if x < middle[0] - 20 else "middle"
        shift = {"start": 9.0, "end": -9.0, "middle": 0.0}[side]
        drop = 4.0 if side != "middle" else (18.0 if y > middle[1] else -10.0)
        canvas.text((x + shift, y + drop), name, side, clip=LABEL)
    canvas.paragraph((8, 13), caption, size=11.5)
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
    d = steps((tip[0] + x, tip[1] + y) for x, y in ((0.0, 0.0), *sides)) + "z"
    canvas.add("path", d=d, fill=f"var(--{colour})", opacity=".85")


FONT = "system-ui,'DejaVu Sans',sans-serif"
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


def draw(item: Chart | Heatmap | Graph, corpora: Mapping[str, CorpusLook] | None = None) -> str:
    """Draw a figure as an ``<svg>`` element, hidden from screen readers, for which its numbers follow.

    Colours are CSS variables (``--real``, ``--corpus-0``, …); corpora and roles also differ in marker and dashes. All
    labels are cleaned and escaped. The same data gives the same bytes.

    Parameters
    ----------
    item
        The figure.
    corpora
        Looks of generated corpora by name (`momus.report.figures.palette.looks`), for series that have such a label.
    """
    if isinstance(item, Chart):
        return chart_svg(item, corpora or {}).svg()
    return (heatmap_svg(item) if isinstance(item, Heatmap) else graph_svg(item)).svg()


def in_colours(svg: str) -> str:
    """Put the colours of the palette in place of the CSS variables of a page."""
    return re.sub(r"var\(--([\w-]+)\)", lambda match: COLOURS[match.group(1)], svg)


def standalone(svg: str, title: str = "", size: str = "") -> str:
    r"""Give a figure of a page (`momus.report.figures.svg.draw`) what the page gives it: colours, a font, the paper.

    Parameters
    ----------
    svg
        The figure.
    title
        What viewers and screen readers say.
    size
        Attributes of its size, such as ``width="3in"``; default: the width that it has on a page.

    Raises
    ------
    KeyError
        The figure uses a colour that is not in the palette.

    >>> standalone('<svg viewBox="0 0 9 9" aria-hidden="true"><path stroke="var(--real)"/></svg>')[-47:]
    'fill="#ffffff"/><path stroke="#0a62a6"/></svg>\n'
    """
    opening, _, content = in_colours(svg).partition(">")
    opening = opening.replace(' aria-hidden="true"', "")
    if size:
        opening = re.sub(r'\sstyle="[^"]*"', f" {size}", opening)
    if NAMESPACE not in opening:
        opening = opening.replace("<svg ", f"<svg {NAMESPACE} ", 1)
    named = f"<title>{escape(clean(title))}</title>" if title else ""
    style = f"<style>text{{font-family:{FONT}}}</style>"
    ground = f'<rect width="100%" height="100%" fill="{COLOURS["paper"]}"/>'
    return f"{opening}>{named}{style}{ground}{content}\n"


def data_of(item: Evidence, once: bool = False) -> Table | None:
    """Tabulate the numbers behind a figure, naming series ``once``; None for evidence that is not a figure."""
    if isinstance(item, Chart):
        rows = [
            ("" if once and i else s.label, *point)
            for s in item.series
            for i, point in enumerate(zip(s.x, s.y, strict=True))
        ]
        return Table(item.name, item.title, ("series", clean(item.x.label, 80), clean(item.y.label, 80)), rows)
    if isinstance(item, Heatmap):
        matrix = [(name, *row) for name, row in zip(item.rows, item.values, strict=True)]
        return Table(item.name, item.title, ("", *item.columns), matrix)
    if isinstance(item, Graph):
        edges = [(e.source, e.target, e.weight) for e in item.edges]
        return Table(item.name, item.title, ("from", "to", item.label), edges)
    return None


def figure_csv(item: Evidence, page: bool = False) -> str:
    """The numbers behind a figure as CSV; empty for evidence that is not a figure.

    A page has four digits of each, and the name of a series in its first row only, which its script puts into all rows.
    """
    table = data_of(item, page)
    return "" if table is None else csv_text(table.columns, table.rows, digits=4 if page else 6)
