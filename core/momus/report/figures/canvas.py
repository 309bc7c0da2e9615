"""A sheet of SVG: lines, marks and texts, with colours that are CSS variables of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from textwrap import wrap
from typing import Literal

from momus.report.safe import clean

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
FONT = 12
"""Size of the type, in units of the sheet."""
LETTER, LINE = 6.6, 14.0
"""Width of a letter, by which sheets are laid out, and the distance of lines of a text."""
RIM = 0.75
"""Half the width of the line around a hollow marker."""


def colour(name: str) -> str:
    """The CSS variable of a colour of the palette."""
    return f"var(--{name})"


def fixed(value: float) -> str:
    """A coordinate with one decimal, and no zero before the point.

    >>> fixed(3.0), fixed(2.456), fixed(-0.5)
    ('3', '2.5', '-.5')
    """
    written = f"{value:.1f}".removesuffix(".0")
    return written.replace("0.", ".") if abs(value) < 1 else written


@dataclass
class Canvas:
    """A sheet of some width and height, on which elements are laid in order."""

    width: float
    height: float
    elements: list[str] = field(default_factory=list)

    def add(self, tag: str, content: str = "", **attributes: str | float | None) -> None:
        """Lay an element on the sheet; underscores in names of attributes are hyphens, None leaves one out."""
        written = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{fixed(v) if isinstance(v, int | float) else escape(v)}"'
            for name, v in attributes.items()
            if v is not None
        )
        self.elements.append(f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>")

    @contextmanager
    def group(self, tag: str = "g", **attributes: str | float | None) -> Iterator[None]:
        """Give all elements that are laid inside the same attributes."""
        outer, self.elements = self.elements, []
        yield
        inner, self.elements = "".join(self.elements), outer
        if inner:
            self.add(tag, inner, **attributes)

    def line(self, start: Point, end: Point, stroke: str, width: float = 1, dashes: Sequence[float] = ()) -> None:
        """A straight line."""
        self.lines([(start, end)], stroke, width, dashes)

    def lines(
        self, ends: Iterable[tuple[Point, Point]], stroke: str, width: float = 1, dashes: Sequence[float] = ()
    ) -> None:
        """Straight lines of one look, as one element."""
        self.path("".join(steps(pair) for pair in ends), stroke, width, dashes)

    def path(
        self, d: str, stroke: str, width: float = 1, dashes: Sequence[float] = (), opacity: str | None = None
    ) -> None:
        """An open path."""
        pattern = " ".join(fixed(v) for v in dashes) or None
        self.add(
            "path", d=d, fill="none", stroke=colour(stroke), stroke_width=width, stroke_dasharray=pattern,
            opacity=opacity,
        )  # fmt: skip

    def rect(self, corner: Point, size: Point, fill: str) -> None:
        """A filled rectangle."""
        self.add("rect", x=corner[0], y=corner[1], width=size[0], height=size[1], fill=colour(fill))

    def text(
        self,
        place: Point,
        words: object,
        anchor: Anchor = "start",
        size: float = FONT,
        fill: str = "ink",
        turn: float = 0,
        clip: int = 80,
        bold: bool = False,
    ) -> None:
        """A line of text, cleaned and escaped; ``turn`` in degrees."""
        x, y = place
        self.add(
            "text",
            escape(clean(words, clip)),
            x=x,
            y=y,
            text_anchor=None if anchor == "start" else anchor,
            font_size=None if size == FONT else size,  # the sheet has the usual size and colour
            font_weight="600" if bold else None,
            fill=None if fill == "ink" else colour(fill),
            transform=f"rotate({turn:g} {fixed(x)} {fixed(y)})" if turn else None,
        )

    def paragraph(self, place: Point, lines: Iterable[str], anchor: Anchor = "start", size: float = FONT) -> None:
        """Lines of text below each other, the first at the place."""
        for i, line in enumerate(lines):
            self.text((place[0], place[1] + LINE * i), line, anchor, size, clip=120)

    def mark(
        self, place: Point, kind: str, stroke: str, filled: bool = True, radius: float = 4, title: str = ""
    ) -> None:
        """A marker, named as in matplotlib: ``o D s ^ v P X < >``; ``title`` is shown when the pointer rests on it."""
        self.add(
            "path", f"<title>{escape(clean(title, 200))}</title>" if title else "",
            d=outline(place, kind, radius + RIM * filled), fill=colour(stroke if filled else "paper"),
            stroke=None if filled else colour(stroke), stroke_width=None if filled else 2 * RIM,
        )  # fmt: skip

    def marks(
        self, places: Iterable[Point], kind: str, fill: str, radius: float = 3.4, opacity: str | None = None
    ) -> None:
        """Markers of one look, as one element."""
        if kind in _CORNERS:
            self.add("path", d="".join(outline(p, kind, radius) for p in places), fill=colour(fill), opacity=opacity)
            return
        # a line of no length with round caps is a disc
        dots = "".join(f"M{fixed(x)} {fixed(y)}h0" for x, y in places)
        self.add(
            "path", d=dots, stroke=colour(fill), stroke_width=2 * radius, stroke_linecap="round", opacity=opacity
        )  # fmt: skip

    def svg(self, label: str = "", role: str = "img") -> str:
        """The whole sheet; without a label it is hidden from screen readers, which then need its numbers beside it."""
        named = f'role="{role}" aria-label="{escape(clean(label, 200))}"' if label else 'aria-hidden="true"'
        size = f'viewBox="0 0 {fixed(self.width)} {fixed(self.height)}" style="width:{fixed(self.width)}px"'
        content = "".join(self.elements)
        type_ = f' font-size="{FONT}" fill="{colour("ink")}"' if "<text" in content else ""
        return f"<svg {size}{type_} {named}>{content}</svg>"


def broken(text: object, width: float) -> list[str]:
    """Lines of a text that fit a width.

    >>> broken("twelve letters", 70.0)
    ['twelve', 'letters']
    """
    return wrap(clean(text, 120), max(int(width / LETTER), 1))


def flow(words: Iterable[str], key: float, left: float, width: float) -> list[tuple[float, int]]:
    """Place the entries of a legend: from the left, and the number of the line; each has room for its key.

    >>> flow(["a", "bc"], 30.0, 0.0, 60.0)
    [(0.0, 0), (0.0, 1)]
    """
    places: list[tuple[float, int]] = []
    x, line = left, 0
    for text in words:
        room = key + LETTER * len(text)
        if x > left and x + room > width:
            x, line = left, line + 1
        places.append((x, line))
        x += room
    return places


def line_through(points: Iterable[Point]) -> str:
    """Path data of a line through points; points closer than a unit to the last one are left out.

    >>> line_through([(0, 0), (0.1, 0), (5, 2.25), (5, 4), (7, 4)])
    'M0 0l5 2.2v1.8h2'
    """
    kept: list[Point] = []
    for x, y in points:
        if not kept or abs(x - kept[-1][0]) >= 1 or abs(y - kept[-1][1]) >= 1:
            kept.append((x, y))
    return steps(kept)


def steps(points: Iterable[Point]) -> str:
    """Path data of straight lines: the first place, then the step to each next one, which is shorter to write.

    >>> steps([(0.04, 9), (2, 8), (2, 8.5)])
    'M0 9l2-1v.5'
    """
    tenths = [(round(10 * x), round(10 * y)) for x, y in points]  # whole numbers, so that steps add up
    moves = [(a - c, b - d) for (c, d), (a, b) in pairwise(tenths)]
    start = [f"M{fixed(x / 10)} {fixed(y / 10)}" for x, y in tenths[:1]]
    return "".join(start + [_step(fixed(x / 10), fixed(y / 10)) for x, y in moves])


def _step(x: str, y: str) -> str:
    if x == "0" or y == "0":
        return f"v{y}" if x == "0" else f"h{x}"
    return f"l{x}{y}" if y.startswith("-") else f"l{x} {y}"


_CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "D": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    "s": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "^": ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
    "v": ((0, 1.15), (1.1, -0.85), (-1.1, -0.85)),
    "<": ((-1.15, 0), (0.85, 1.1), (0.85, -1.1)),
    ">": ((1.15, 0), (-0.85, 1.1), (-0.85, -1.1)),
    "P": (
        *((-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4)),
        *((0.4, 1.1), (-0.4, 1.1), (-0.4, 0.4), (-1.1, 0.4), (-1.1, -0.4), (-0.4, -0.4)),
    ),
}
_CORNERS["X"] = tuple((0.75 * (x - y), 0.75 * (x + y)) for x, y in _CORNERS["P"])


def outline(place: Point, kind: str, radius: float) -> str:
    """Path data of a marker around a place; an unknown kind is a circle."""
    x, y = place
    corners = _CORNERS.get(kind)
    if corners is None:
        r = fixed(radius)
        return (
            f"M{fixed(x - radius)} {fixed(y)}a{r} {r} 0 1 0 {fixed(2 * radius)} 0a{r} {r} 0 1 0 {fixed(-2 * radius)} 0z"
        )
    return steps((x + radius * dx, y + radius * dy) for dx, dy in corners) + "z"


def turned(x: float, y: float, angle: float) -> Point:
    """A vector turned by an angle, in radians.

    >>> [round(v, 6) for v in turned(1.0, 0.0, math.pi / 2)]
    [0.0, 1.0]
    """
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)
