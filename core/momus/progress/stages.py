"""Stages: where computations say what they do, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from momus.progress.overall import Advance, Overall
from momus.progress.reporters import PartsReporter, Reporter, Silent


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
        """Begin a computation of several like parts, see `Overall`; each begins with `part`."""
        self._overall = Overall(unit, total)
        try:
            if isinstance(self.inner, PartsReporter):
                with self.inner.overall(self._overall):
                    yield
            else:
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
        if isinstance(self.inner, PartsReporter):
            self.inner.finished(self._overall)


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
