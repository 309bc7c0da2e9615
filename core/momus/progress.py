"""Progress: the library reports stages to a reporter; on a terminal they are shown as bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

Advance = Callable[[int], None]
"""Called with the number of units of a stage that are done."""


class Reporter(Protocol):
    """Receives the stages of a computation."""

    def stage(self, label: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Begin a stage of ``total`` units; it ends with the context."""
        ...


class Silent:
    """Ignores all stages."""

    @contextmanager
    def stage(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Do nothing."""
        yield lambda done: None


class Bars:
    """Progress bars on standard error, one per stage; the bar of a finished stage disappears."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )

    @contextmanager
    def stage(self, label: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar while the stage lasts."""
        from rich.markup import escape

        outermost = not self._progress.live.is_started
        if outermost:
            self._progress.start()
        task = self._progress.add_task(escape(label), total=total or 1)
        try:
            yield lambda done: self._progress.update(task, completed=done)
        finally:
            self._progress.remove_task(task)
            if outermost:
                self._progress.stop()


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

    @contextmanager
    def stage(self, kind: str, what: str = "", total: int | None = None) -> Iterator[Advance]:
        """Time a stage of this kind; ``what`` completes the label that is shown."""
        start = time.perf_counter()
        try:
            with self.inner.stage(f"{kind} {what}".rstrip(), total) as advance:
                yield advance
        finally:
            self.seconds[kind] = self.seconds.get(kind, 0.0) + time.perf_counter() - start


_SILENT = Silent()
_CURRENT: ContextVar[Reporter] = ContextVar("reporter", default=_SILENT)


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
    return _CURRENT.get().stage(label, total)


def default_reporter(show: bool | None = None) -> Reporter:
    """Return bars if standard error is a terminal (or ``show`` is true), else a silent reporter."""
    return Bars() if (sys.stderr.isatty() if show is None else show) else Silent()
