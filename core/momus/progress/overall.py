"""How far a computation of several like parts is, and how long it may still take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Called with the number of units of a stage that are done."""


class Overall:
    """How far a computation of several like parts is, and how long it may still take.

    A part is expected to take as long as the finished ones on average.

    Parameters
    ----------
    unit
        What a part is called, such as ``critic``.
    total
        Number of parts.
    clock
        Seconds, as by `time.perf_counter`.

    Attributes
    ----------
    number, name, what
        The current part and its stage; empty between parts.
    last, seconds
        The part that ended last, and its time.

    >>> now = 0.0
    >>> overall = Overall("critic", 3, clock=lambda: now)
    >>> with overall.item("length"):
    ...     overall.begin("scoring opt")
    ...     now = 4.0
    >>> with overall.item("unigram"):
    ...     overall.begin("fitting")
    ...     now = 5.0
    ...     overall.remaining(), overall.where()
    (7.0, 'critic 2 of 3: unigram, fitting')
    """

    def __init__(self, unit: str, total: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self.unit, self.total, self._clock = unit, total, clock
        self.number, self.name, self.what = 0, "", ""
        self.last, self.seconds = "", 0.0
        self._finished: list[float] = []
        self._start, self._works = 0.0, False

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        """Begin the next part."""
        self._start, self._works = self._clock(), False
        self.number, self.name, self.what = self.number + 1, name, ""
        try:
            yield
        finally:
            self.last, self.seconds = name, self._clock() - self._start
            if self._works:  # a part that an earlier run has finished says nothing about the others
                self._finished.append(self.seconds)
            self.name, self.what = "", ""

    def begin(self, what: str) -> None:
        """Begin a stage of the current part."""
        self.what, self._works = what, True

    def where(self) -> str:
        """The current part and stage, such as ``critic 3 of 17: topics, scoring opt``."""
        current = f"{self.unit} {self.number} of {self.total}: {self.name}" if self.name else ""
        return ", ".join(s for s in (current, self.what) if s)

    def share(self) -> float:
        """Share of the parts that is done, the current one by its time."""
        typical, spent = self._times()
        inside = min(spent / typical, 0.9) if typical else 0.0
        return (self.number - bool(self.name) + inside) / max(self.total, 1)

    def remaining(self) -> float | None:
        """Seconds that the parts may still take; None as long as no part has ended, and once all have."""
        typical, spent = self._times()
        waiting = self.total - self.number
        if not typical or not (self.name or waiting):
            return None
        return typical * waiting + (max(typical - spent, 0.0) if self.name else 0.0)

    def _times(self) -> tuple[float, float]:
        """Mean seconds of a finished part (0 without one), and those of the current part so far."""
        typical = sum(self._finished) / len(self._finished) if self._finished else 0.0
        return typical, self._clock() - self._start if self.name else 0.0


def duration(seconds: float) -> str:
    """A time that is left, rounded as a guess deserves.

    >>> duration(7.2), duration(100), duration(4000), duration(8000)
    ('7 s', '1 min 40 s', '67 min', '2 h 13 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 10:
        return f"{whole // 60} min {whole % 60} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
