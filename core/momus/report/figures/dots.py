"""Figures of rows as SVG: names on the left, a dot with its interval for each corpus, and the scale below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from momus.report.figures.canvas import LETTER, LINE, Canvas, flow
from momus.report.figures.palette import LABEL, CorpusLook, looks
from momus.report.figures.rows import FigureRows
from momus.report.figures.scales import Scale
from momus.report.safe import anchor, clean

WIDE, NARROW = 750.0, 350.0
LEFT, ABOVE = 240.0, 8.0
"""Room for the names of rows on a wide screen, and what is left of it where they stand above their rows."""
TOP = 22.0
"""Room between the legend and the first row, where the band is named."""
PITCH, DENSE, FEW = 10.0, 6.5, 8
"""Height of one dot, that in a figure of more than a few rows, and how many rows are few."""
KEY = 17.0
"""Height of a row of the legend."""


def rows_svg(rows: FigureRows, narrow: bool = False) -> str:
    """Draw rows in human bands for a page: names lead to the cards of their axes, titles show the numbers.

    Parameters
    ----------
    narrow
        Whether to draw for phones, with the names above their rows.
    """
    canvas = rows_canvas(rows, NARROW, ABOVE, True) if narrow else rows_canvas(rows, WIDE, LEFT, True)
    of = rows.model or "human text"
    return canvas.svg(f"Distance of each corpus from {of} on each axis; the numbers follow", "group")


def rows_canvas(rows: FigureRows, width: float, left: float | None = None, links: bool = False) -> Canvas:
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
    # a row of several corpora has their dots below each other
    abreast = len(rows.corpora) if len(rows.dots) + len(rows.absent) > len(rows.names) else 1
    pitch = name_room + max(dot_height * abreast + 6, 20 - name_room)
    corpora = looks(rows.corpora)
    named = {clean(n, LABEL): look for n, look in corpora.items()} if rows.scale is not None else {}
    entries = flow(named, 30, left, width)
    top = TOP + KEY * (1 + max((line for _, line in entries), default=-1))
    axis = _value_axis(rows, left, width - 14 - (8 + LETTER * len(rows.head) if rows.head else 0))
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
            heights[key, corpus] = middle + dot_height * (j - (abreast - 1) / 2) * (abreast > 1)
    _dots(canvas, rows, axis, heights, not narrow)
    return canvas


def _dots(
    canvas: Canvas, rows: FigureRows, axis: Scale, heights: Mapping[tuple[str, str], float], titles: bool
) -> None:
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


def _value_axis(rows: FigureRows, start: float, end: float) -> Scale:
    """Human bands have their own scale; other values a linear one, from 0 or the lowest interval on."""
    ends = [0.0, *(v for d in rows.dots for v in (d.value, d.low, d.high) if v is not None)]
    scale = rows.scale or Scale(min(ends), 1.04 * max(ends) or 1.0)
    return replace(scale, start=start, end=end)


def _label(rows: FigureRows, axis: Scale, width: float, narrow: bool) -> list[str]:
    """What the values are, in two lines where one is too long."""
    start, unit = rows.label.partition(" (")[::2]
    unit = f"({unit}" if unit else ""
    if rows.scale is not None:
        bands = f"bands of {rows.model}" if rows.model else "human bands"
        unit = f"in {bands}{', square-root scale' * (axis.kind == 'root')}"
        if narrow:
            return [unit.removeprefix("in ")]
    middle = (axis.start + axis.end) / 2
    fits = LETTER * len(f"{start} {unit}") <= 2 * min(middle, width - middle)
    return [f"{start} {unit}"] if fits else [start, unit]


def _frame(canvas: Canvas, rows: FigureRows, axis: Scale, ends: tuple[float, float], below: Sequence[str]) -> None:
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


def key_svg(look: CorpusLook, size: float = 14.0) -> str:
    """The marker of a corpus, to stand beside its name."""
    canvas = Canvas(size, size)
    canvas.mark((size / 2, size / 2), look.marker, look.colour, radius=4.5)
    return canvas.svg()
