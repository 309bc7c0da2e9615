"""Charts as SVG: lines, step functions and points over two axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from momus.evidence import Axis, Chart, Series
from momus.report.figures.canvas import LETTER, LINE, Canvas, Point, broken, colour, flow, line_through
from momus.report.figures.palette import LABEL, MARKERS, CorpusLook, entries, look_of
from momus.report.figures.scales import Scale
from momus.report.safe import clean

WIDTH, HEIGHT = 520.0, 216.0
LEFT, RIGHT, TOP, BOTTOM = 66.0, 12.0, 26.0, 44.0
MANY = 60
"""Scatters of more points than this have smaller points."""
MARKED = 6
"""Lines have a marker about so many times."""
ROW = 17.0
"""Height of a row of a legend."""


def chart_svg(chart: Chart, corpora: Mapping[str, CorpusLook], width: float = WIDTH) -> Canvas:
    """Draw a chart, with a colour, marker and dashes for each corpus and role."""
    named = legend_places(chart, corpora, width)
    top = 10 + max((y for _, y in named.values()), default=0.0) + (5 if named else 0)
    below = broken(clean(chart.x.label, 2 * LABEL), width - LEFT + RIGHT)
    under = BOTTOM + LINE * max(len(below) - 1, 0)
    canvas = Canvas(width, HEIGHT * max(1.0, width / WIDTH) + max(0.0, top - TOP) + under - BOTTOM)
    x = _scale([v for s in chart.series for v in s.x], chart.x, LEFT, width - RIGHT, 0.01)
    y = _scale([v for s in chart.series for v in _heights(s)], chart.y, canvas.height - under, top, 0.04)
    _frame(canvas, chart, below, x, y)
    for i, series in enumerate(chart.series):
        points = [(a, b) for a, b in zip(series.x, series.y, strict=True) if _fits(a, x) and _fits(b, y)]
        if points:
            _draw(canvas, series, points, (x, y), look_of(series.role, series.label, corpora), i, len(chart.series))
    _legend(canvas, chart, corpora, named)
    return canvas


def _heights(series: Series) -> list[float]:
    return [*series.y, *(series.low or ()), *(series.high or ())]


def _scale(values: Sequence[float], axis: Axis, start: float, end: float, room: float) -> Scale:
    """The scale that holds all values, with some room at both ends."""
    log = axis.scale == "log"
    some = [v for v in values if v is not None and math.isfinite(v) and (v > 0 or not log)]
    low, high = (min(some), max(some)) if some else (1.0, 2.0)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    if log:
        factor = (high / low) ** room
        return Scale(low / factor, high * factor, start, end, "log")
    space = (high - low) * room
    below = 0.0 if low == 0 else space  # an axis that begins at 0 begins there
    return Scale(low - below, high + space, start, end)


def _fits(value: float, scale: Scale) -> bool:
    return value is not None and math.isfinite(value) and (value > 0 or scale.kind != "log")


def _frame(canvas: Canvas, chart: Chart, below: Sequence[str], x: Scale, y: Scale) -> None:
    bottom, right = y.start, x.end
    canvas.lines([((LEFT, y(value)), (right, y(value))) for value, _ in y.ticks], "grid", 0.7)
    with canvas.group(text_anchor="end"):
        for value, text in y.ticks:
            canvas.text((LEFT - 6, y(value) + 4), text)
    canvas.lines([((x(value), bottom), (x(value), bottom + 4)) for value, _ in x.ticks], "line")
    free = -math.inf
    with canvas.group(text_anchor="middle"):
        for value, text in x.ticks:
            half = LETTER * len(text) / 2
            if x(value) - half > free:  # ticks of logarithms crowd
                canvas.text((x(value), bottom + 17), text)
                free = x(value) + half + 2
    canvas.line((LEFT, bottom), (right, bottom), "line")
    canvas.paragraph(((LEFT + right) / 2, bottom + 36), below, "middle")
    canvas.text((14, (y.start + y.end) / 2), chart.y.label, "middle", turn=-90, clip=36)


def _draw(
    canvas: Canvas, series: Series, points: list[Point], scales: tuple[Scale, Scale], look: CorpusLook, i: int, n: int
) -> None:
    x, y = scales
    placed = [(x(a), y(b)) for a, b in points]
    if series.low is not None and series.high is not None:
        _band(canvas, series, scales, look)
    if series.style == "points":
        radius = 2.2 if len(placed) > MANY else 3.4
        places = dict.fromkeys((float(round(a)), float(round(b))) for a, b in placed)
        canvas.marks(places, look.marker or MARKERS[series.role], look.colour, radius, ".7")
    else:
        path = _steps(placed) if series.style == "steps" else placed
        thick = 2.4 if series.role == "real" else 1.7
        canvas.path(line_through(path), look.colour, thick, look.dashes)
        if look.marker:
            step = max(1, len(placed) // MARKED)
            canvas.marks(placed[i * step // max(n, 1) :: step], look.marker, look.colour)


def _steps(points: list[Point]) -> list[Point]:
    """Corners of a step function that keeps each value up to the next point."""
    corners = points[:1]
    for (_, before), (a, b) in pairwise(points):
        corners += [(a, before), (a, b)]
    return corners


def _band(canvas: Canvas, series: Series, scales: tuple[Scale, Scale], look: CorpusLook) -> None:
    x, y = scales
    low, high = series.low or (), series.high or ()
    edges = [
        (x(a), y(b), y(c))
        for a, b, c in zip(series.x, low, high, strict=True)
        if _fits(a, x) and _fits(b, y) and _fits(c, y)
    ]
    if edges:
        there, back = [(a, b) for a, b, _ in edges], [(a, c) for a, _, c in reversed(edges)]
        canvas.add("path", d=line_through([*there, *back]) + "z", fill=colour(look.colour), fill_opacity=".18")


def _legend(canvas: Canvas, chart: Chart, corpora: Mapping[str, CorpusLook], named: Mapping[int, Point]) -> None:
    """Line and marker, then the text, of each series that is named, by its number and place."""
    texts = entries(chart, corpora)
    for i, (x, y) in named.items():
        series = chart.series[i]
        look = look_of(series.role, series.label, corpora)
        if series.style in ("line", "steps"):
            canvas.line((x, y), (x + 24, y), look.colour, 2, look.dashes)
        if look.marker or series.style == "points":
            canvas.mark((x + 12, y), look.marker or MARKERS[series.role], look.colour, radius=3.4)
        canvas.text((x + 30, y + 4), texts[i], clip=LABEL)


def legend_places(chart: Chart, corpora: Mapping[str, CorpusLook], width: float) -> dict[int, Point]:
    """Place the series that are named in rows above a chart, by their numbers; nothing if there is a single series."""
    texts = {i: clean(text, LABEL) for i, text in enumerate(entries(chart, corpora)) if text}
    if len(chart.series) < 2:
        return {}
    places = flow(texts.values(), 44, LEFT, width)
    return {i: (x, 11 + ROW * line) for i, (x, line) in zip(texts, places, strict=True)}
