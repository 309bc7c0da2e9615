"""Reporters: what shows the stages of a computation, as bars on a terminal or as lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO, runtime_checkable

from momus.progress.overall import Advance, Overall, duration
from momus.visible import safe_console, visible

if TYPE_CHECKING:
    from rich.progress import Progress, Task


class Reporter(Protocol):
    """Receives the stages of a computation."""

    def stage(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Begin a stage of ``total`` units; it ends with the context."""
        ...


@runtime_checkable
class PartsReporter(Protocol):
    """A reporter that also shows the parts of a computation; `Timed` tells it of them."""

    def overall(self, overall: Overall) -> AbstractContextManager[None]:
        """Begin a computation of several parts; it ends with the context."""
        ...

    def finished(self, overall: Overall) -> None:
        """Show that a part has ended."""
        ...


class Silent:
    """Ignores all stages."""

    @contextmanager
    def stage(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Do nothing."""
        yield lambda done: None


class Bars:
    """Progress bars on standard error: one over all parts, if there are several, and one for the current stage.

    The bar of a finished stage disappears.
    """

    def __init__(self) -> None:
        self._progress = _bars()
        self._depth, self._parts = 0, False

    @contextmanager
    def overall(self, overall: Overall) -> Iterator[None]:
        """Show one bar over all parts while the context lasts."""
        with self._live():
            task, self._parts = self._progress.add_task("", total=1.0, overall=overall), True
            try:
                yield
            finally:
                self._parts = False
                self._progress.remove_task(task)

    def finished(self, overall: Overall) -> None:
        """Do nothing: the bar shows it."""

    @contextmanager
    def stage(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar while the stage lasts, unless the bar over all parts says as much."""
        with self._live():
            shown = total is not None or not self._parts or self._depth > 0
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
    """The display of `Bars`: a spinner, what is done, a bar, and counts or times."""
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn
    from rich.progress_bar import ProgressBar
    from rich.table import Column
    from rich.text import Text

    class What(ProgressColumn):
        def render(self, task: Task) -> Text:
            overall = task.fields["overall"]
            return Text(task.description) if overall is None else Text(overall.where())

    class Share(BarColumn):
        def render(self, task: Task) -> ProgressBar:
            if task.fields["overall"] is not None:
                task.completed = task.fields["overall"].share()
            return super().render(task)

    class Numbers(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(_numbers(task), style="progress.remaining")

    wide = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = (SpinnerColumn(), What(wide), Share(bar_width=16), Numbers(Column(no_wrap=True, justify="right")))
    return Progress(*columns, console=safe_console(stderr=True), transient=True, expand=True)


def _numbers(task: Task) -> str:
    """Units done of a stage, with its time; of all parts, the time and what is left of it."""
    elapsed = duration(task.elapsed or 0.0)
    overall = task.fields["overall"]
    if overall is None:
        return f"{task.completed:,.0f}/{task.total:,.0f} {elapsed}" if task.total else elapsed
    left = overall.remaining()
    return elapsed if left is None else f"{elapsed}, about {duration(left)} left"


class Lines(Silent):
    """Writes one line per finished part, such as ``critic 3 of 17: topics, 12.3 s``; stages are not shown.

    Parameters
    ----------
    file
        Where to write; default: standard error.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file

    @contextmanager
    def overall(self, overall: Overall) -> Iterator[None]:
        """Do nothing."""
        yield

    def finished(self, overall: Overall) -> None:
        """Write a line."""
        line = f"{overall.unit} {overall.number} of {overall.total}: {overall.last}, {overall.seconds:.1f} s"
        print(visible(line), file=self.file or sys.stderr, flush=True)


def default_reporter(show: bool | None = None, lines: bool = False) -> Reporter:
    """Return bars if standard error is a terminal (or ``show`` is true), else a silent reporter, or one of lines."""
    if sys.stderr.isatty() if show is None else show:
        return Bars()
    return Lines() if lines else Silent()
