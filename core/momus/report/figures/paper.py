"""Figures on paper: a sheet at the width of a paper's column, and the same sheet in matplotlib axes.

What is drawn is laid out once, as SVG (`momus.report.figures.chart`, `rows`, `svg`); matplotlib only paints its
elements, for PDF and PNG, and for `Comparison.plot`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import matplotlib as mpl
import numpy as np
from fontTools.pens.recordingPen import RecordingPen
from fontTools.svgLib.path.parser import parse_path
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Transform

from momus.errors import UsageError
from momus.evidence import Chart, Graph, Heatmap
from momus.joint.ranks import ALL_AXES
from momus.report.cards import overlay
from momus.report.figures.canvas import FONT, LETTER, Canvas, Point
from momus.report.figures.chart import chart_svg
from momus.report.figures.dots import ABOVE, rows_canvas
from momus.report.figures.palette import LABEL, CorpusLook, looks
from momus.report.figures.rows import FigureRows, overview_rows, ranks_rows
from momus.report.figures.svg import graph_svg, heatmap_svg, in_colours
from momus.report.safe import clean
from momus.runs.answer import answer_of
from momus.runs.result import CriticResult, Results

Plot = Literal["overview", "axis", "ranks"]
COLUMN, PAGE = 3.35, 6.9
"""Widths of figures in inches: one column of a two-column page, and both."""
POINTS = 0.625
"""Points of a unit of the sheet on paper, where the type (12 units) has 7.5 points."""
NARROWEST = 280.0
"""Narrower figures have a sheet of this width, scaled down."""
Style = Mapping[str, str]


def sheet(item: Chart | Heatmap | Graph | FigureRows, corpora: Mapping[str, CorpusLook], width: float) -> Canvas:
    """Lay a figure out on a sheet of this width, in units; one that needs more room is wider."""
    width = max(width, NARROWEST)
    if isinstance(item, FigureRows):
        names = LETTER * max((len(clean(n, LABEL)) for n in item.names.values()), default=0)
        canvas = rows_canvas(item, width, ABOVE if names > width / 2 else None)
    elif isinstance(item, Chart):
        canvas = chart_svg(item, corpora, width)
    else:
        canvas = heatmap_svg(item, width) if isinstance(item, Heatmap) else graph_svg(item, width)
    canvas.width = max(canvas.width, width)
    return canvas


def plot(comparison: Results, kind: Plot = "overview", critic: str | None = None, axes: Axes | None = None) -> Axes:
    """Draw a figure of a comparison; see `Comparison.plot`."""
    if kind not in get_args(Plot):
        raise UsageError(f"there is no plot {kind!r}", hint=f"choose one of {', '.join(get_args(Plot))}")
    names = [r.name for r in comparison.results]
    if critic is not None and critic not in names:
        raise UsageError(f"this comparison has no critic {critic!r}", hint=f"choose one of {', '.join(names)}")
    if critic is not None and kind == "overview":
        raise UsageError(f"the plot {kind!r} shows all critics", hint="leave out critic, or plot kind='axis'")
    item, corpora = _item(comparison, kind, critic), looks(v.generated for v in comparison.verdicts)
    if axes is None:
        import matplotlib.pyplot as plt

        canvas = sheet(item, corpora, 72 * PAGE / POINTS)
        axes = plt.figure(figsize=(PAGE, PAGE * canvas.height / canvas.width)).add_axes((0, 0, 1, 1))
    else:
        canvas = sheet(item, corpora, _size(axes)[0] / POINTS)
    return paint(canvas, axes)


def _item(comparison: Results, kind: Plot, critic: str | None) -> Chart | FigureRows:
    if kind == "overview":
        return overview_rows(answer_of(comparison))
    if kind == "ranks":
        if comparison.joint.ranking is None:
            raise UsageError("this comparison has no ranks", hint="compare two or more generated corpora")
        return ranks_rows(comparison.joint.ranking, ALL_AXES if critic is None else critic)
    name = critic or answer_of(comparison).axes[0].critic
    return axis_chart(next(r for r in comparison.results if r.name == name))


def axis_chart(result: CriticResult) -> Chart:
    """The chart that the report shows of one axis: human text and all generated corpora over each other.

    Raises
    ------
    UsageError
        The critic has no chart.
    """
    chart = overlay(result)
    if chart is None:
        raise UsageError(
            f"{result.name} has no chart of one number per document",
            hint="its tables, heat maps and graphs are in `result.evidence`, and in the report",
        )
    return chart


def paint(canvas: Canvas, axes: Axes) -> Axes:
    """Paint a sheet into axes, whose coordinates become its units, with the origin at the top left.

    >>> from matplotlib.figure import Figure
    >>> canvas = Canvas(90, 30)
    >>> canvas.text((0, 20), "a word")
    >>> axes = paint(canvas, Figure().add_subplot())
    >>> axes.texts[0].get_text(), [float(v) for v in axes.texts[0].get_position()], [float(v) for v in axes.get_xlim()]
    ('a word', [0.0, 20.0], [0.0, 90.0])
    """
    width, height = _size(axes)
    painter = _Painter(axes, min(width / canvas.width, height / canvas.height))
    with mpl.rc_context({"lines.scale_dashes": False}):
        for element, style, place in _elements(ElementTree.fromstring(in_colours(canvas.svg())), {}, Affine2D()):
            painter.add(element, style, place)
    axes.set_axis_off()
    axes.set(xlim=(0, canvas.width), ylim=(canvas.height, 0), aspect="equal", anchor="NW")
    return axes


def _size(axes: Axes) -> tuple[float, float]:
    """Width and height of axes in points."""
    figure, box = axes.get_figure(root=True), axes.get_window_extent()
    assert figure is not None
    return 72 * box.width / figure.dpi, 72 * box.height / figure.dpi


def _elements(node: Element, outer: Style, placed: Transform) -> Iterator[tuple[Element, Style, Transform]]:
    """The elements of a figure in the order of drawing, each with the attributes and the place that it inherits."""
    style, place = {**outer, **node.attrib}, Affine2D()
    for name, numbers in reversed(re.findall(r"(\w+)\(([^)]*)\)", node.get("transform", ""))):  # the last acts first
        values = [float(v) for v in numbers.split()]
        if name == "rotate":
            place.rotate_deg_around(values[1], values[2], values[0])
        else:
            place = place.scale(*values) if name == "scale" else place.translate(*values)
    if node.tag not in ("svg", "g", "a"):
        yield node, style, place + placed
        return
    for child in node:
        yield from _elements(child, style, place + placed)


@dataclass
class _Painter:
    """Adds elements of SVG to axes; ``points`` are those of a unit of the sheet."""

    axes: Axes
    points: float
    order: int = 2

    def add(self, element: Element, style: Style, place: Transform) -> None:
        """Add an element above those before it."""
        self.order += 1
        x, y, width, height = (element.get(name, "0") for name in ("x", "y", "width", "height"))
        if element.tag == "text":
            self._text(element.text or "", (float(x), float(y)), style, place)
        elif element.tag == "rect":
            self._path(f"M{x} {y}h{width}v{height}h-{width}z", style, place)
        else:
            self._path(element.get("d", ""), style, place)

    def _text(self, text: str, position: Point, style: Style, place: Transform) -> None:
        x, y = place.transform(position)
        self.axes.text(
            x,
            y,
            text,
            ha={"middle": "center", "end": "right"}.get(style.get("text-anchor", ""), "left"),
            va="baseline",
            family="sans-serif",
            fontsize=self.points * float(style.get("font-size", FONT)),
            weight="bold" if "font-weight" in style else "normal",
            color=style["fill"],
            rotation=-math.degrees(math.atan2(place.get_matrix()[1, 0], place.get_matrix()[0, 0])),  # y points down
            rotation_mode="anchor",
            parse_math=False,  # names are no formulas
            zorder=self.order,
        )

    def _path(self, d: str, style: Style, place: Transform) -> None:
        if not d:
            return
        path = place.transform_path(path_of(d))
        stroke = style.get("stroke", "none")
        scale = self.points * float(place.get_matrix()[0, 0])  # elements are moved and enlarged, and only texts turned
        width = scale * float(style.get("stroke-width", 1)) if stroke != "none" else 0.0
        alpha = float(style.get("opacity", style.get("fill-opacity", 1)))
        common: dict[str, Any] = {"alpha": alpha, "zorder": self.order, "clip_on": False}
        if style.get("stroke-linecap") == "round":  # dots are lines of no length, which some backends leave out
            x, y = np.asarray(path.vertices)[::2].T
            look: dict[str, Any] = {"marker": "o", "markersize": width, "markeredgewidth": 0, "color": stroke}
            self.axes.add_artist(Line2D(x, y, linestyle="", **look, **common))
            return
        dashes = [scale * float(v) for v in style.get("stroke-dasharray", "").split()]
        face = style.get("fill", "none") if "z" in d else "none"  # open paths have no area
        line: dict[str, Any] = {"linewidth": width, "linestyle": (0, dashes) if dashes else "-", "edgecolor": stroke}
        self.axes.add_artist(PathPatch(path, facecolor=face, capstyle="butt", **line, **common))


def path_of(d: str) -> Path:
    """The path of matplotlib for path data of SVG.

    >>> path_of("M1 2l3-1z").vertices.tolist()
    [[1.0, 2.0], [4.0, 1.0], [1.0, 2.0], [1.0, 2.0]]
    """
    codes = {"moveTo": Path.MOVETO, "lineTo": Path.LINETO, "qCurveTo": Path.CURVE3, "curveTo": Path.CURVE4}
    pen = RecordingPen()
    parse_path(d, pen)
    steps: list[tuple[Any, Any]] = []
    for name, places in pen.value:
        if name == "closePath":
            steps.append((steps[-1][0], Path.CLOSEPOLY))
        steps += [(p, codes[name]) for p in places]
    return Path([p for p, _ in steps], [code for _, code in steps])
