"""The page of a history: one small chart per axis over all runs, as static HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from momus.errors import StoreError
from momus.files import replace_file
from momus.history.drawing import draw_lines
from momus.history.timeline import Line, Timeline
from momus.history.words import input_line
from momus.report.format import number
from momus.report.page import asset, digest, environment
from momus.text.counting import counted, joined


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
        The file cannot be written, or is a link.
    """
    text = render_history(timeline)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
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
        environment()
        .get_template("history.html.j2")
        .render(
            timeline=timeline,
            runs=counted(len(timeline.runs), "run"),
            panels=[(p, Markup(p.figure)) for p in panels],
            has_limits=any(line.limit is not None for line in timeline.lines),
            broken=_broken(panels),
            changes=[[input_line(c) for c in run.changed] for run in timeline.runs],
            script=Markup(script),
            style=Markup(asset("style.css")),
            script_digest=digest(script),
        )
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
    return [f"{p.axis}: above its limit in {joined(p.broken)}" for p in panels if p.broken]
