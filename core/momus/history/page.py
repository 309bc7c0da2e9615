"""The page of a history: one small chart per axis over all runs, as static HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from momus.errors import StoreError
from momus.history.drawing import draw_lines
from momus.history.timeline import Line, Timeline
from momus.history.words import input_line, listed, plural
from momus.report.figures.palette import COLOURS, DARK
from momus.report.format import number
from momus.report.page import asset, digest
from momus.report.safe import clean

if TYPE_CHECKING:
    from jinja2 import Environment

ACCENT = {"light": "#8a3324", "dark": "#f0a58f"}


@dataclass(frozen=True)
class Panel:
    """One axis: its chart, and the numbers that it shows.

    Attributes
    ----------
    broken
        Runs whose interval lies above the limit of the gate.
    rows
        Run, generated corpus, distance, lower and upper end of its interval, finding.
    """

    critic: str
    axis: str
    unit: str
    figure: str
    broken: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def write_history(timeline: Timeline, path: Path) -> Path:
    """Write the page, and return its path.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    text = render_history(timeline)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror})", hint="name another file with --out"
        ) from error
    return path


def render_history(timeline: Timeline) -> str:
    """Render the page; names of runs, corpora and critics are cleaned and escaped."""
    from markupsafe import Markup

    panels = [_panel(timeline, critic) for critic in dict.fromkeys(line.critic for line in timeline.lines)]
    panels.sort(key=lambda p: not p.broken)
    script = asset("report.js")
    return (
        _environment()
        .get_template("history.html.j2")
        .render(
            timeline=timeline,
            runs=plural(len(timeline.runs), "run"),
            panels=[(p, Markup(p.figure)) for p in panels],
            has_limits=any(line.limit is not None for line in timeline.lines),
            broken=_broken(panels),
            changes=[[input_line(c) for c in run.changed] for run in timeline.runs],
            script=Markup(script),
            style=Markup(_variables() + asset("style.css")),
            script_digest=digest(script),
        )
    )


def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    jinja = Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters["clean"] = clean
    return jinja


def _variables() -> str:
    """Colours of figures as CSS variables, on light and on dark screens."""
    light = ";".join(f"--{k}:{v}" for k, v in {**COLOURS, "accent": ACCENT["light"]}.items())
    dark = ";".join(f"--{k}:{v}" for k, v in {**DARK, "accent": ACCENT["dark"]}.items())
    return (
        f":root{{{light}}}@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}}}\n"
    )


def _panel(timeline: Timeline, critic: str) -> Panel:
    lines = [line for line in timeline.lines if line.critic == critic]
    unit = "in human bands" if lines[0].bands else "in units of the effect"
    broken = {
        p.run
        for line in lines
        for p in line.points
        if line.limit is not None and p.low is not None and p.low > line.limit
    }
    names = tuple(timeline.runs[i].name for i in sorted(broken))
    return Panel(critic, lines[-1].axis, unit, draw_lines(timeline, lines), names, _rows(timeline, lines))


def _rows(timeline: Timeline, lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            timeline.runs[p.run].name,
            line.corpus or timeline.runs[p.run].generated[0],
            number(p.value),
            number(p.low),
            number(p.high),
            p.finding or p.reason,
        )
        for line in lines
        for p in line.points
    )


def _broken(panels: Sequence[Panel]) -> list[str]:
    """A sentence per axis whose limit some run breaks."""
    return [f"{p.axis}: above its limit in {listed(p.broken)}" for p in panels if p.broken]
