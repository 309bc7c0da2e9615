"""All runs below a folder in order of time, and their page: a small chart of distances per axis, as static HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from momus.errors import StoreError
from momus.history.change import Gap
from momus.history.checks import BEYOND
from momus.history.kept import InputChange, KeptRun, changed_inputs
from momus.history.rules import Limit, limit_of
from momus.history.view import input_line
from momus.outputs import write_own
from momus.ownership import check_output
from momus.report.figures.canvas import Canvas, line_through
from momus.report.figures.palette import Look, looks
from momus.report.figures.scales import Scale, linear_ticks, tick_text
from momus.report.format import number
from momus.report.html import render_page
from momus.report.safe import clean
from momus.report.sentences import finding
from momus.runs.folder import RUN
from momus.text.counting import counted, joined
from momus.verdicts.verdict import Verdict

WIDTH, HEIGHT = 400.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 10.0, 26.0, 28.0
TICKS, LETTERS, LETTER = 10, 9, 6.2
"""Runs that are named below a chart, at most; letters of their names; width of a letter."""
APART = 5.0
"""Lines of several corpora are moved apart by so many units, so that their intervals do not cover each other."""


@dataclass(frozen=True)
class TimelineRun:
    """One run.

    Attributes
    ----------
    name
        Its folder, relative to that of the timeline.
    started, momus
        When it began, and by which version.
    generated
        Names of its generated corpora.
    against
        Name of the reference, if that is text of a model; else empty.
    changed
        Inputs that differ from the run before, generated texts left aside.
    """

    name: str
    started: str
    momus: str
    generated: tuple[str, ...]
    against: str
    changed: tuple[InputChange, ...]


@dataclass(frozen=True)
class Point:
    """The distance of one run to real text on an axis, with its interval (None if it was not tested)."""

    run: int
    value: float | None
    low: float | None = None
    high: float | None = None
    finding: str = ""
    beyond: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Line:
    """One axis of one generated corpus over all runs.

    Attributes
    ----------
    critic, axis, corpus
        What is drawn; ``corpus`` is empty where each run has a single generated corpus.
    bands
        Whether distances are in human bands; otherwise in units of the effect.
    points
        One per run that has the axis.
    limit
        Limit of the gate, or None.
    """

    critic: str
    axis: str
    corpus: str
    bands: bool
    points: tuple[Point, ...]
    limit: float | None

    def broken(self, point: Point) -> bool:
        """Whether the interval of a point lies above the limit."""
        return self.limit is not None and point.low is not None and point.low > self.limit


@dataclass(frozen=True)
class Timeline:
    """All runs below a folder.

    Attributes
    ----------
    folder
        The folder.
    runs
        Runs in order of time.
    lines
        One per axis and generated corpus.
    skipped
        Folders that hold a run which cannot be read, and why.
    """

    folder: str
    runs: tuple[TimelineRun, ...]
    lines: tuple[Line, ...]
    skipped: tuple[str, ...]


def read_timeline(folder: str | Path, limits: Sequence[Limit] = ()) -> Timeline:
    """Read all runs below a folder.

    Parameters
    ----------
    limits
        Limits of the gate, to be drawn.

    Raises
    ------
    StoreError
        There is no folder, or no run in it.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise StoreError(f"{folder}: no such folder", hint="name a folder that holds run folders")
    kept: list[KeptRun] = []
    skipped: list[str] = []
    for path in sorted(folder.rglob(RUN)):
        try:
            kept.append(KeptRun.read(path.parent))
        except StoreError as error:
            skipped.append(error.message)
    if not kept:
        reasons = f" ({'; '.join(skipped)})" if skipped else ""
        raise StoreError(f"{folder}: no run below this folder{reasons}", hint="write some with momus compare --out")
    kept.sort(key=lambda run: (run.started, str(run.path)))
    runs = tuple(_run(folder, run, kept[i - 1] if i else None) for i, run in enumerate(kept))
    return Timeline(str(folder), runs, tuple(_lines(kept, limits)), tuple(skipped))


def _run(folder: Path, run: KeptRun, before: KeptRun | None) -> TimelineRun:
    changed = [] if before is None else changed_inputs(before, run)
    name = run.path.relative_to(folder).as_posix()
    return TimelineRun(
        run.path.resolve().name if name == "." else name,
        run.started,
        str(run.signature.get("momus", "")),
        tuple(run.generated),
        run.reference if run.against else "",
        tuple(changed),
    )


def _lines(runs: Sequence[KeptRun], limits: Sequence[Limit]) -> list[Line]:
    single = all(len(run.generated) == 1 for run in runs)
    corpora = [""] if single else list(dict.fromkeys(name for run in runs for name in run.generated))
    critics = list(dict.fromkeys(name for run in runs for name in run.critics))
    lines = []
    for critic in critics:
        limit = limit_of(limits, critic)
        for corpus in corpora:
            names = [corpus or run.generated[0] for run in runs]
            verdicts = _of_axis([run.speaking(name) for run, name in zip(runs, names, strict=True)], critic)
            if not verdicts:
                continue
            bands = all(v.band for v in verdicts.values()) and not (limit is not None and limit.effect)
            if not bands:  # statistics have effects of different units
                verdicts = _of_axis([run.headlines(name) for run, name in zip(runs, names, strict=True)], critic)
            points = []
            for i, v in verdicts.items():
                gap = Gap.of(v, effect=not bands)
                if isinstance(gap, str):
                    points.append(Point(i, None, reason=gap))
                else:
                    points.append(Point(i, gap.value, *gap.interval(v.alpha), finding(v), v.finding == BEYOND))
            drawn = limit.value if limit is not None and limit.effect != bands else None
            axis = list(verdicts.values())[-1].axis
            lines.append(Line(critic, axis, corpus, bands, tuple(points), drawn))
    return lines


def _of_axis(tables: Sequence[Mapping[str, Verdict]], critic: str) -> dict[int, Verdict]:
    """The verdict of a critic in each run that has one, by number of the run."""
    return {i: table[critic] for i, table in enumerate(tables) if critic in table}


def write_history(timeline: Timeline, path: Path) -> Path:
    """Write the page, and return its path.

    Raises
    ------
    StoreError
        The file cannot be written, or is a link.
    """
    check_output(path, "a history")
    return write_own(path, render_history(timeline), "a history", "name another file with --out")


def beyond_sentence(timeline: Timeline) -> str:
    """On how many axes each corpus lies beyond human variation (its model's own) in its last run, and in its first."""
    said = []
    for corpus in dict.fromkeys(line.corpus for line in timeline.lines):
        marks: dict[int, list[bool]] = {}
        for point in (p for line in timeline.lines if line.corpus == corpus for p in line.points if p.finding):
            marks.setdefault(point.run, []).append(point.beyond)
        if not marks:
            continue
        first, last = min(marks), max(marks)
        before = f" ({sum(marks[first])} of {len(marks[first])} in {timeline.runs[first].name})" if first < last else ""
        on = f"on {sum(marks[last])} of {counted(len(marks[last]), 'axis', 'axes')}{before}"
        said.append(f"{corpus or timeline.runs[last].generated[0]} {on}")
    whose = "own" if all(run.against for run in timeline.runs) else "human"
    return f"Beyond {whose} variation in the last run: {'; '.join(said)}." if said else ""


def render_history(timeline: Timeline) -> str:
    """Render the page; names of runs, corpora and critics are cleaned and escaped."""
    from markupsafe import Markup

    panels = []
    for critic in dict.fromkeys(line.critic for line in timeline.lines):
        lines = [line for line in timeline.lines if line.critic == critic]
        points = [(line, p) for line in lines for p in line.points]
        broken = sorted({p.run for line, p in points if line.broken(p)})
        rows = [
            (
                timeline.runs[p.run].name,
                line.corpus or timeline.runs[p.run].generated[0],
                *(number(x) for x in (p.value, p.low, p.high)),
                p.finding or p.reason,
            )
            for line, p in points
        ]
        names = [timeline.runs[i].name for i in broken]
        panels.append((lines[-1], rows, names, Markup(draw_lines(timeline, lines))))
    panels.sort(key=lambda panel: not panel[2])
    return render_page(
        "history.html.j2",
        timeline=timeline,
        runs=counted(len(timeline.runs), "run"),
        panels=panels,
        references=joined(list(dict.fromkeys(run.against or "human text" for run in timeline.runs))),
        own=all(run.against for run in timeline.runs),
        answer=beyond_sentence(timeline),
        has_limits=any(line.limit is not None for line in timeline.lines),
        broken=[f"{line.axis}: above its limit in {joined(names)}" for line, _, names, _ in panels if names],
        changes=[[input_line(c) for c in run.changed] for run in timeline.runs],
    )


def draw_lines(timeline: Timeline, lines: Sequence[Line]) -> str:
    """Draw the lines of one axis as ``<svg>``; all names are cleaned and escaped."""
    canvas = Canvas(WIDTH, HEIGHT)
    tops = [v for line in lines for p in line.points for v in (p.value, p.high) if v is not None]
    limit = next((line.limit for line in lines if line.limit is not None), None)
    top = max([*tops, *([limit] if limit is not None else []), 1e-9])
    x = Scale(0.5, len(timeline.runs) + 0.5, LEFT, WIDTH - RIGHT, False)
    y = Scale(0.0, top * 1.06, HEIGHT - BOTTOM, TOP, False)
    if lines[0].bands:
        canvas.rect((LEFT, y(1.0)), (WIDTH - RIGHT - LEFT, y(0.0) - y(1.0)), "band")
    _frame(canvas, timeline, x, y, "bands" if lines[0].bands else "effect")
    corpora = looks(line.corpus for line in lines)
    for i, line in enumerate(lines):
        _line(canvas, line, (x, y), corpora[line.corpus], (i - (len(lines) - 1) / 2) * APART)
    if limit is not None:
        canvas.line((LEFT, y(limit)), (WIDTH - RIGHT, y(limit)), "accent", 1.4, (6, 3))
        canvas.text((WIDTH - RIGHT, y(limit) - 4), "limit", "end", 11, "accent")
    _legend(canvas, corpora)
    return canvas.svg()


def _frame(canvas: Canvas, timeline: Timeline, x: Scale, y: Scale, unit: str) -> None:
    bottom = y.start
    for tick in linear_ticks(y.low, y.high, 4):
        canvas.line((LEFT, y(tick)), (WIDTH - RIGHT, y(tick)), "grid", 0.7)
        canvas.text((LEFT - 5, y(tick) + 4), tick_text(tick), "end", 11)
    canvas.line((LEFT, bottom), (WIDTH - RIGHT, bottom), "line")
    canvas.text((12, (y.start + y.end) / 2), unit, "middle", 11, turn=-90)
    step = -(-len(timeline.runs) // TICKS)
    for i, run in enumerate(timeline.runs):
        if run.changed:  # a dotted line before a run with other inputs
            canvas.line((x(i + 0.5), bottom), (x(i + 0.5), TOP), "line", 1.2, (1, 3))
        if i % step == 0:
            name = clean(run.name.rsplit("/", 1)[-1], LETTERS)
            canvas.line((x(i + 1), bottom), (x(i + 1), bottom + 4), "line")
            canvas.text((x(i + 1), bottom + 18), name, "middle", 11)


def _line(canvas: Canvas, line: Line, scales: tuple[Scale, Scale], look: Look, moved: float) -> None:
    x, y = scales
    drawn = [(x(p.run + 1) + moved, p) for p in line.points if p.value is not None]
    canvas.path(line_through([(place, y(p.value or 0.0)) for place, p in drawn]), look.colour, 1.7, look.dashes)
    for place, p in drawn:
        if p.low is not None and p.high is not None:
            canvas.line((place, y(p.low)), (place, y(p.high)), look.colour, 1.3)
            for end in (p.low, p.high):
                canvas.line((place - 3, y(end)), (place + 3, y(end)), look.colour, 1.3)
        title = f"{p.value:.3g}" if p.low is None else f"{p.value:.3g} [{p.low:.3g}, {p.high:.3g}]"
        canvas.mark(
            (place, y(p.value or 0.0)), look.marker, look.colour, radius=5.5 if line.broken(p) else 3.4, title=title
        )


def _legend(canvas: Canvas, corpora: Mapping[str, Look]) -> None:
    """Name the generated corpora in a row above the chart, where there are several."""
    named = [(name, look) for name, look in corpora.items() if name]
    room = (WIDTH - LEFT - RIGHT) / max(len(named), 1)
    for i, (name, look) in enumerate(named):
        left = LEFT + i * room
        canvas.line((left, 11), (left + 20, 11), look.colour, 1.7, look.dashes)
        canvas.mark((left + 10, 11), look.marker, look.colour, radius=3.4)
        canvas.text((left + 25, 15), name, size=11, clip=max(3, int((room - 30) / LETTER)))
