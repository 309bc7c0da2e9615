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


class Overall:
    """How far a computation of several like parts is.

    Parameters
    ----------
    unit
        What a part is called, such as ``critic``.
    total
        Number of parts.

    Attributes
    ----------
    number, name, what
        The current part and its stage; empty between parts.
    last, seconds
        The part that ended last, and its time.

    >>> overall = Overall("critic", 3)
    >>> with overall.item("length"):
    ...     overall.begin("scoring opt")
    ...     overall.where()
    'critic 1 of 3: length, scoring opt'
    """

    def __init__(self, unit: str, total: int) -> None:
        self.unit, self.total = unit, total
        self.number, self.name, self.what = 0, "", ""
        self.last, self.seconds = "", 0.0

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        """Begin the next part."""
        start = time.perf_counter()
        self.number, self.name, self.what = self.number + 1, name, ""
        try:
            yield
        finally:
            self.last, self.seconds = name, time.perf_counter() - start
            self.name, self.what = "", ""

    def begin(self, what: str) -> None:
        """Begin a stage of the current part."""
        self.what = what

    def where(self) -> str:
        """The current part and stage, such as ``critic 3 of 17: topics, scoring opt``."""
        current = f"{self.unit} {self.number} of {self.total}: {self.name}" if self.name else ""
        return ", ".join(s for s in (current, self.what) if s)


class Reporter:
    """Receives the stages of a computation, and its parts if there are several; this one ignores them."""

    def stage(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Begin a stage of ``total`` units; it ends with the context."""
        return nullcontext(lambda done: None)

    def overall(self, overall: Overall) -> AbstractContextManager[None]:
        """Begin a computation of several parts; it ends with the context."""
        return nullcontext()

    def finished(self, overall: Overall) -> None:
        """Show that a part has ended."""


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
    def overall(self, overall: Overall) -> Iterator[None]:
        """Show one bar over all parts while the context lasts."""
        with self._live():
            self._parts = self._progress.add_task("", total=overall.total, overall=overall)
            try:
                yield
            finally:
                self._progress.remove_task(self._parts)
                self._parts = None

    def finished(self, overall: Overall) -> None:
        """Let the bar over all parts grow."""
        if self._parts is not None:
            self._progress.update(self._parts, completed=overall.number)

    @contextmanager
    def stage(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar while the stage lasts, unless the bar over all parts says as much."""
        with self._live():
            shown = total is not None or self._parts is None or self._depth > 0
            task = self._progress.add_task(label, total=total, visible=shown, overall=None)
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
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class What(ProgressColumn):
        def render(self, task: Task) -> Text:
            overall = task.fields["overall"]
            return Text(task.description) if overall is None else Text(overall.where())

    class Numbers(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.completed:,.0f}/{task.total:,.0f}" if task.total else "", style="progress.remaining")

    wide = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = (SpinnerColumn(), What(wide), BarColumn(bar_width=16), Numbers(Column(no_wrap=True, justify="right")))
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, *times, console=safe_console(stderr=True), transient=True, expand=True)


class Lines(Reporter):
    """Writes one line per finished part, such as ``critic 3 of 17: topics, 12.3 s``; stages are not shown.

    Parameters
    ----------
    file
        Where to write; default: standard error.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file

    def finished(self, overall: Overall) -> None:
        """Write a line."""
        line = f"{overall.unit} {overall.number} of {overall.total}: {overall.last}, {overall.seconds:.1f} s"
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
        self._overall: Overall | None = None

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
        if self._overall is not None:
            self._overall.begin(label)
        try:
            with self.inner.stage(label, total) as advance:
                yield advance
        finally:
            self.seconds[kind] = self.seconds.get(kind, 0.0) + time.perf_counter() - start

    @contextmanager
    def overall(self, unit: str, total: int) -> Iterator[None]:
        """Begin a computation of several like parts, see `Overall`; each begins with `item`."""
        self._overall = Overall(unit, total)
        try:
            with self.inner.overall(self._overall):
                yield
        finally:
            self._overall = None

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        """Begin the next part; outside of `overall`, this does nothing."""
        if self._overall is None:
            yield
            return
        with self._overall.item(name):
            yield
        self.inner.finished(self._overall)


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
