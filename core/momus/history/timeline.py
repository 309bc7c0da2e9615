"""All runs below a folder in order of time: distances to real text on each axis, and what changed between runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from momus.errors import StoreError
from momus.files import plain
from momus.history.change import Gap
from momus.history.kept import InputChange, KeptRun, changed_inputs
from momus.history.rules import Limit, limit_of
from momus.report.against import said
from momus.runs.folder import RUN
from momus.verdicts.verdict import Verdict


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
                    points.append(Point(i, gap.value, *gap.interval(v.alpha), finding=said(v)))
            drawn = limit.value if limit is not None and limit.effect != bands else None
            axis = list(verdicts.values())[-1].axis
            lines.append(Line(critic, axis, corpus, bands, tuple(points), drawn))
    return lines


def _of_axis(tables: Sequence[Mapping[str, Verdict]], critic: str) -> dict[int, Verdict]:
    """The verdict of a critic in each run that has one, by number of the run."""
    return {i: table[critic] for i, table in enumerate(tables) if critic in table}


def timeline_json(timeline: Timeline) -> dict[str, Any]:
    """All fields."""
    content: dict[str, Any] = plain(asdict(timeline))
    return content
