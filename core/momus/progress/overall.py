"""How far a computation of several like parts is, and how long it may still take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Called with the number of units of a stage that are done."""


class Overall:
    """How far a computation of several like parts is, and how long it may still take.

    Every kind of stage has its rate in seconds per document: the one of this part if some of it is done, else the mean
    over the finished parts, else the mean over all stages so far.

    Parameters
    ----------
    unit
        What a part is called, such as ``critic``.
    total
        Number of parts.
    work
        Number of documents that each part goes through, by kind of stage.
    clock
        Seconds, as by `time.perf_counter`.

    Attributes
    ----------
    number, name
        The current part; the name is empty between parts.
    last, seconds
        The part that ended last, and its time.

    >>> now = 0.0
    >>> overall = Overall("critic", 2, {"fitting": 100, "scoring": 300}, clock=lambda: now)
    >>> with overall.part("length"):
    ...     with overall.stage("fitting", "", 100):
    ...         now = 1.0
    ...     with overall.stage("scoring", "opt", 300) as advance:
    ...         now = 2.0
    ...         advance(100)
    ...         overall.remaining(), overall.where()
    (6.0, 'critic 1 of 2: length, scoring opt')
    """

    def __init__(
        self, unit: str, total: int, work: Mapping[str, int], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.unit, self.total, self.work, self._clock = unit, total, dict(work), clock
        self.number, self.name, self.what = 0, "", ""
        self.last, self.seconds = "", 0.0
        self._finished: list[dict[str, float]] = []
        self._spent: dict[str, float] = {}
        self._documents: dict[str, int] = {}
        self._all_documents = 0
        self._running: tuple[str, float] | None = None
        self._unseen = 0  # documents of the running stage, as long as it has not said how far it is
        self._share = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Begin the next part."""
        self.number, self.name, self.what = self.number + 1, name, ""
        self._spent, self._documents = {}, {}
        start = self._clock()
        try:
            yield
        finally:
            self.last, self.seconds = name, self._clock() - start
            if self._spent:  # a part that an earlier run has finished says nothing about the others
                self._finished.append(self._spent)
                self._all_documents += sum(self._documents.values())
            self._spent, self._documents, self.name, self.what = {}, {}, "", ""

    @contextmanager
    def stage(self, kind: str, what: str, documents: int) -> Iterator[Advance]:
        """Begin a stage of the current part; its advance counts documents."""
        before, start = self._documents.get(kind, 0), self._clock()

        def advance(done: int) -> None:
            self._documents[kind], self._unseen = before + done, 0 if done else self._unseen

        self.what, self._running, self._unseen = f"{kind} {what}".rstrip(), (kind, start), documents
        try:
            yield advance
            advance(documents)
        finally:
            self._running, self._unseen = None, 0
            self._spent[kind] = self._spent.get(kind, 0.0) + self._clock() - start

    def where(self) -> str:
        """The current part and stage, such as ``critic 3 of 17: topics, scoring opt``."""
        part = f"{self.unit} {self.number} of {self.total}: {self.name}" if self.name else ""
        return ", ".join(s for s in (part, self.what) if s)

    def share(self) -> float:
        """Share of the parts that is done, the current one by its time; it never falls."""
        left, done = self._left(), float(self.number - bool(self.name))
        if self.name and left is not None:
            spent = sum(self._seconds(k) for k in self._kinds())
            done += spent / (spent + left) if spent + left else 0.0
        self._share = max(self._share, done / max(self.total, 1))
        return self._share

    def remaining(self) -> float | None:
        """Seconds that the parts may still take; None as long as nothing is measured."""
        left, waiting = self._left() if self.name else 0.0, self.total - self.number
        if left is None or not (self.name or waiting):
            return None
        if not waiting:
            return left
        if self._finished:
            typical = sum(sum(part.values()) for part in self._finished) / len(self._finished)
        else:
            typical = left + sum(self._seconds(k) for k in self._kinds())
        return left + typical * waiting if typical else None

    def _kinds(self) -> set[str]:
        now = self._running  # read once: a display asks from another thread
        running = {now[0]} if now else set()
        return {*self.work, *self._spent, *running, *(kind for part in self._finished for kind in part)}

    def _seconds(self, kind: str) -> float:
        """Seconds of the current part in stages of a kind."""
        now = self._running
        return self._spent.get(kind, 0.0) + (self._clock() - now[1] if now and now[0] == kind else 0.0)

    def _left(self) -> float | None:
        """Seconds that the current part may still take."""
        done = self._all_documents + sum(self._documents.values())
        if not done:
            return None
        seconds = sum(sum(part.values()) for part in self._finished) + sum(self._seconds(k) for k in self._kinds())
        return sum(self._left_of(kind, seconds / done) for kind in self._kinds())

    def _left_of(self, kind: str, rate: float) -> float:
        """Seconds that stages of a kind may still take; ``rate`` is in seconds per document, over all kinds."""
        work, done, spent = self.work.get(kind, 0), self._documents.get(kind, 0), self._seconds(kind)
        now = self._running
        unseen = self._unseen if now and now[0] == kind else 0
        if work and done and not unseen:
            return spent * max(work - done, 0) / done
        running = spent - self._spent.get(kind, 0.0)
        if work and done:
            expected = self._spent.get(kind, 0.0) * max(work - done, 0) / done
        elif self._finished:
            mean = sum(part.get(kind, 0.0) for part in self._finished) / len(self._finished)
            expected = mean - self._spent.get(kind, 0.0)
        else:
            expected = work * rate
        # the stages of this kind that follow take at least as long per document as the running one
        after = running * max(work - done - unseen, 0) / unseen if unseen else 0.0
        return max(expected - running, after, 0.0)


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
