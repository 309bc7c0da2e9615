"""The processes that do the work of a calibration: this one, or a pool of others."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from momus.calibration.cells import Cell
from momus.calibration.worker import Task, Work, Worker
from momus.locking import Lock
from momus.processes import pool_of
from momus.progress import Advance

LOOKED_EVERY = 0.3
"""Seconds between two looks at the progress of the other processes."""


class Crew:
    """Distributes fits and tasks over a process pool; without a pool, does them in this process."""

    def __init__(self, work: Work, pool: ProcessPoolExecutor | None, done: SharedCount | None = None) -> None:
        self.work, self.pool, self.done = work, pool, done
        self.worker = Worker(work) if pool is None else None

    def fit(self, names: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        """Fit critics: yield (name, why it cannot be fitted or None), in order of completion."""
        if self.worker is not None:
            for name in names:
                yield name, self.worker.fit(name)
        else:
            assert self.pool is not None
            futures: dict[Future[str | None], str] = {self.pool.submit(_fit, name): name for name in names}
            for future in as_completed(futures):
                yield futures[future], future.result()

    def run(self, tasks: Sequence[Task], advance: Advance) -> list[Cell]:
        """Measure the cells of all tasks, in any order; ``advance`` is called with the number of splits done."""
        if self.worker is not None:
            self.worker.advance = _cumulative(advance)
            return [cell for task in tasks for cell in self.worker.run(task)]
        assert self.pool is not None
        assert self.done is not None
        pending = {self.pool.submit(_run, task) for task in tasks}
        cells: list[Cell] = []
        while pending:
            finished, pending = wait(pending, timeout=LOOKED_EVERY, return_when=FIRST_COMPLETED)
            cells += [cell for future in finished for cell in future.result()]
            advance(self.done.value)
        return cells


def _cumulative(advance: Advance) -> Advance:
    """Wrap ``advance`` so that it can be called with the splits done since the last call, not in total."""
    total = 0

    def more(splits: int) -> None:
        nonlocal total
        total += splits
        advance(total)

    return more


class SharedCount(Protocol):
    """An integer in shared memory."""

    value: int

    def get_lock(self) -> AbstractContextManager[object]:
        """The lock to hold while the value is changed."""
        ...


_WORKER: list[Worker] = []
"""The worker of a pool process, set once by `_start_worker`."""


def _start_worker(work: Work, done: SharedCount, lock: Lock | None) -> None:
    """Prepare a pool process; it holds the lock, too, once it has been unpickled here."""

    def advance(splits: int) -> None:
        with done.get_lock():
            done.value += splits

    _WORKER[:] = [Worker(work, advance)]


def _fit(name: str) -> str | None:
    return _WORKER[0].fit(name)


def _run(task: Task) -> list[Cell]:
    return list(_WORKER[0].run(task))


@contextmanager
def crew_of(work: Work, jobs: int, lock: Lock | None = None) -> Iterator[Crew]:
    """Start ``jobs`` processes for the work (none for one job), and end them with the context."""
    if jobs == 1:
        yield Crew(work, None)
        return
    done: Any = multiprocessing.get_context("spawn").Value("q", 0)
    with pool_of(jobs, _start_worker, work, done, lock) as pool:
        yield Crew(work, pool, done)
