"""Progress: the library reports stages to a reporter; on a terminal they are shown as bars, elsewhere as lines.

A computation of several like parts, such as the critics of a comparison, reports those parts too: then one bar shows
them all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

from momus.visible import safe_console, visible

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

Advance = Callable[[int], None]
"""Called with the number of units of a stage that are done."""


LINES_EVERY = 30.0
"""Seconds between two lines on the units of a stage, where there are no bars."""


class Reporter:
    """Receives the stages of a computation, and its parts if there are several; this one ignores them."""

    def stage(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Begin a stage of ``total`` units; it ends with the context."""
        return nullcontext(lambda done: None)

    def overall(self, total: int) -> AbstractContextManager[None]:
        """Begin a computation of so many like parts; it ends with the context."""
        return nullcontext()

    def at(self, where: str) -> None:
        """Say where the computation is, such as ``critic 3 of 17: topics, scoring opt``."""

    def finished(self, number: int, line: str) -> None:
        """Say that the part of this number, from 1, has ended: ``critic 3 of 17: topics, 12.3 s``."""


class Silent(Reporter):
    """Ignores all stages."""


class Bars(Reporter):
    """Progress bars on standard error: one over all parts, if there are several, and one for the current stage.

    The bar of a finished stage disappears.
    """

    def __init__(self) -> None:
        self._progress = _bars()
        self._depth = 0
        self._parts: TaskID | None = None

    @contextmanager
    def overall(self, total: int) -> Iterator[None]:
        """Show one bar over all parts while the context lasts."""
        with self._live():
            self._parts = self._progress.add_task("", total=total)
            try:
                yield
            finally:
                self._progress.remove_task(self._parts)
                self._parts = None

    def at(self, where: str) -> None:
        """Write the place beside the bar over all parts."""
        if self._parts is not None:
            self._progress.update(self._parts, description=where)

    def finished(self, number: int, line: str) -> None:
        """Let the bar over all parts grow."""
        if self._parts is not None:
            self._progress.update(self._parts, completed=number)

    @contextmanager
    def stage(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar while the stage lasts, unless the bar over all parts says as much."""
        with self._live():
            shown = total is not None or self._parts is None or self._depth > 0
            task = self._progress.add_task(label, total=total, visible=shown)
            self._depth += 1
            try:
                yield lambda done: self._progress.update(task, completed=done)
            finally:
                self._depth -= 1
                self._progress.remove_task(task)

    @contextmanager
    def _live(self) -> Iterator[None]:
        """Start the display, and stop it at the end of the outermost context."""
        outermost = not self._progress.live.is_started
        if outermost:
            self._progress.start()
        try:
            yield
        finally:
            if outermost:
                self._progress.stop()


def _bars() -> Progress:
    """The display of `Bars`: a spinner, what is done, a bar, counts, and times."""
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Numbers(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.completed:,.0f}/{task.total:,.0f}" if task.total else "", style="progress.remaining")

    wide = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    what = TextColumn("{task.description}", markup=False, table_column=wide)
    columns = (SpinnerColumn(), what, BarColumn(bar_width=16), Numbers(Column(no_wrap=True, justify="right")))
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, *times, console=safe_console(stderr=True), transient=True, expand=True)


class Lines(Reporter):
    """Writes one line per finished part, such as ``critic 3 of 17: topics, 12.3 s``, and some of long stages.

    Parameters
    ----------
    file
        Where to write; default: standard error.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file
        self._last = time.monotonic()

    def stage(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Begin a stage, of which a line is written now and then."""

        def advance(done: int) -> None:
            if done < (total or 0) and time.monotonic() - self._last > LINES_EVERY:
                self._write(f"{label}: {done:,} of {total:,}")

        return nullcontext(advance)

    def finished(self, number: int, line: str) -> None:
        """Write a line."""
        self._write(line)

    def _write(self, line: str) -> None:
        self._last = time.monotonic()
        print(visible(line), file=self.file or sys.stderr, flush=True)


def default_reporter(show: bool | None = None, lines: bool = False) -> Reporter:
    """Return bars if standard error is a terminal (or ``show`` is true), else a silent reporter, or one of lines."""
    if sys.stderr.isatty() if show is None else show:
        return Bars()
    return Lines() if lines else Silent()


class Timed:
    """Passes stages to another reporter, and adds up the seconds of each kind of stage.

    >>> timed = Timed(Silent())
    >>> with timed.stage("scoring", "a"):
    ...     pass
    >>> list(timed.seconds)
    ['scoring']
    """

    def __init__(self, inner: Reporter) -> None:
        self.inner = inner
        self.seconds: dict[str, float] = {}
        self._parts = ""  # "critic {} of 17" within `overall`
        self._number, self._item = 0, ""

    @contextmanager
    def stage(self, kind: str, what: str = "", total: int | None = None) -> Iterator[Advance]:
        """Time a stage of this kind.

        Parameters
        ----------
        what
            Completes the label that is shown.
        total
            Number of units that the stage reports one by one.
        """
        start, label = time.perf_counter(), f"{kind} {what}".rstrip()
        if self._parts:
            self.inner.at(f"{self._item}, {label}" if self._item else label)
        try:
            with self.inner.stage(label, total) as advance:
                yield advance
        finally:
            self.seconds[kind] = self.seconds.get(kind, 0.0) + time.perf_counter() - start

    @contextmanager
    def overall(self, unit: str, total: int) -> Iterator[None]:
        """Begin a computation of ``total`` like parts, such as ``critic``; each begins with `item`."""
        self._parts, self._number = f"{unit} {{}} of {total}", 0
        try:
            with self.inner.overall(total):
                yield
        finally:
            self._parts = ""

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        """Begin the next part; outside of `overall`, this does nothing."""
        if not self._parts:
            yield
            return
        start = time.perf_counter()
        self._number += 1
        self._item = f"{self._parts.format(self._number)}: {name}"
        try:
            yield
            self.inner.finished(self._number, f"{self._item}, {time.perf_counter() - start:.1f} s")
        finally:
            self._item = ""


_CURRENT: ContextVar[Reporter] = ContextVar("reporter")


@contextmanager
def reporting(reporter: Reporter) -> Iterator[None]:
    """Send the stages that `stage` begins in this context to a reporter."""
    token = _CURRENT.set(reporter)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def stage(label: str, total: int | None = None) -> AbstractContextManager[Advance]:
    """Begin a stage within the long work of a critic (steps of EM, epochs), for the reporter of the context.

    >>> with stage("EM", 10) as advance:
    ...     advance(1)
    """
    return _CURRENT.get(Reporter()).stage(label, total)
