"""The overview as SVG for the page, wide for screens and narrow for phones."""

from __future__ import annotations

from collections.abc import Callable

from momus.report.figures.canvas import Canvas, fixed
from momus.report.figures.overview_rows import Dot, Overview
from momus.report.figures.palette import LABEL, Look, looks
from momus.report.figures.scale import GapScale
from momus.report.safe import anchor, clean

WIDE, NARROW = 750.0, 350.0
LEFT = 240.0
"""Room for the names of axes on a wide screen; on a narrow one they stand above their row."""
PITCH = 10.0
"""Height of one dot."""


def overview_svg(shown: Overview, narrow: bool = False) -> str:
    """Draw the overview: names of axes lead to their cards, a resting pointer shows the numbers."""
    corpora, scale = looks(shown.corpora), shown.scale
    width, left = (NARROW, 8.0) if narrow else (WIDE, LEFT)
    name_room = 18.0 if narrow else 0.0
    row = name_room + max(PITCH * len(shown.corpora) + 8, 22 - name_room)
    top = 22.0
    canvas = Canvas(width, top + row * len(shown.axes) + 44)
    bottom, right = top + row * len(shown.axes), width - 14

    def place(gap: float) -> float:
        return left + scale(gap) * (right - left)

    canvas.rect((left, top), (place(1) - left, bottom - top), "band")
    canvas.text(
        ((left + place(1)) / 2, top - 7), "human variation" if place(1) - left > 96 else "human", "middle", 10.5
    )
    for tick in scale.ticks:
        canvas.line((place(tick), top), (place(tick), bottom), "line" if tick == 1 else "grid", 0.9)
        canvas.text((place(tick), bottom + 15), f"{tick:g}", "middle")
    for i, (critic, name) in enumerate(shown.axes):
        _row(canvas, critic, name, top + row * i, row, narrow)
        dots = {d.generated: d for d in shown.dots if d.critic == critic}
        for j, corpus in enumerate(shown.corpora):
            middle = top + row * i + name_room + (row - name_room) / 2
            y = middle + PITCH * (j - (len(shown.corpora) - 1) / 2)
            if corpus in dots:
                _dot(canvas, dots[corpus], y, corpora[corpus], place)
            elif (critic, corpus) in shown.absent:
                canvas.text((place(0) + 4, y + 3), shown.absent[critic, corpus], size=9.5, fill="reference")
    root = ", square-root scale" if scale.root else ""
    words = f"human bands{root}" if narrow else f"distance from human text in human bands{root}"
    canvas.text(((left + right) / 2, bottom + 35), words, "middle")
    return canvas.svg("Distance of each corpus from human text on each axis; the numbers follow", "group")


def _row(canvas: Canvas, critic: str, name: str, y: float, height: float, narrow: bool) -> None:
    canvas.line((0, y), (canvas.width, y), "grid", 0.7)
    label = Canvas(0, 0)
    if narrow:
        label.text((8, y + 14), name, clip=LABEL)
    else:
        label.text((LEFT - 10, y + height / 2 + 4), name, "end", clip=LABEL)
    canvas.add("a", "".join(label.elements), href=f"#critic-{anchor(critic)}")


def _dot(canvas: Canvas, dot: Dot, y: float, look: Look, place: Callable[[float], float]) -> None:
    if dot.low is not None and dot.high is not None:
        canvas.line((place(dot.low), y), (place(dot.high), y), look.colour, 1.8)
    size = f"{dot.gap:.2g} human bands"
    interval = "" if dot.low is None or dot.high is None else f" ({dot.low:.2g} to {dot.high:.2g})"
    direction = f", {clean(dot.direction, 60)}" if dot.direction else ""
    title = f"{clean(dot.generated, LABEL)}: {size}{interval}{direction}; {dot.finding}"
    canvas.mark((place(dot.gap), y), look.marker, look.colour, dot.differs, 4, title)


def key_svg(look: Look, size: float = 14.0) -> str:
    """The marker of a corpus, to stand beside its name."""
    canvas = Canvas(size, size)
    canvas.mark((size / 2, size / 2), look.marker, look.colour, radius=4.5)
    return canvas.svg()


def row_svg(low: float, gap: float, high: float, scale: GapScale, differs: bool) -> str:
    """A gap with its interval for one row of a table, over the scale of the table; a line marks 1.

    Hundreds of them stand on a page, so that their colours come from its style sheet.
    """
    x = [fixed(3 + 84 * scale(v)) for v in (low, gap, high, 1.0)]
    dot = ' class="sure"' if differs else ""
    return (
        f'<svg viewBox="0 0 90 12" class="row" aria-hidden="true"><path d="M{x[3]} 0v12" class="one"/>'
        f'<path d="M{x[0]} 6H{x[2]}"/><circle cx="{x[1]}" cy="6" r="2.6"{dot}/></svg>'
    )
