"""Who does the work of a calibration: this process, or several others."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from momus.calibration.cells import Cell
from momus.calibration.worker import Task, Work, Worker
from momus.progress import Advance

LOOKED_EVERY = 0.3
"""Seconds after which the progress of other processes is shown."""


class Crew:
    """Processes that do the work, or this one."""

    def __init__(self, work: Work, pool: ProcessPoolExecutor | None, done: SharedCount | None = None) -> None:
        self.work, self.pool, self.done = work, pool, done
        self.mine = Worker(work) if pool is None else None

    def fit(self, names: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        """Fit critics: (name, why not)."""
        if self.mine is not None:
            for name in names:
                yield name, self.mine.fit(name)
        else:
            assert self.pool is not None
            futures: dict[Future[str | None], str] = {self.pool.submit(_fit, name): name for name in names}
            for future in as_completed(futures):
                yield futures[future], future.result()

    def run(self, tasks: Sequence[Task], advance: Advance) -> list[Cell]:
        """Measure cells, in any order; ``advance`` is told of splits."""
        if self.mine is not None:
            self.mine.advance = _counting(advance)
            return [cell for task in tasks for cell in self.mine.run(task)]
        assert self.pool is not None
        assert self.done is not None
        waiting = {self.pool.submit(_run, task) for task in tasks}
        cells: list[Cell] = []
        while waiting:
            ended, waiting = wait(waiting, timeout=LOOKED_EVERY, return_when=FIRST_COMPLETED)
            cells += [cell for future in ended for cell in future.result()]
            advance(self.done.value)
        return cells


def _counting(advance: Advance) -> Advance:
    """From splits done since the last call to splits done."""
    total = 0

    def more(splits: int) -> None:
        nonlocal total
        total += splits
        advance(total)

    return more


class SharedCount(Protocol):
    """A number that processes share."""

    value: int

    def get_lock(self) -> AbstractContextManager[object]:
        """Hold it while it is changed."""
        ...


_WORKER: list[Worker] = []


def _enlist(work: Work, done: SharedCount) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted parent ends its processes itself

    def advance(splits: int) -> None:
        with done.get_lock():
            done.value += splits

    _WORKER[:] = [Worker(work, advance)]


def _fit(name: str) -> str | None:
    return _WORKER[0].fit(name)


def _run(task: Task) -> list[Cell]:
    return list(_WORKER[0].run(task))


@contextmanager
def crew_of(work: Work, jobs: int) -> Iterator[Crew]:
    """So many processes for the work, ended with the context."""
    if jobs == 1:
        yield Crew(work, None)
        return
    before = set(multiprocessing.active_children())
    threads = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = threads or str(max(1, (os.cpu_count() or 1) // jobs))
    context = multiprocessing.get_context("spawn")
    done: Any = context.Value("q", 0)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_enlist, initargs=(work, done))
    try:
        yield Crew(work, pool, done)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        if threads is None:
            os.environ.pop("OMP_NUM_THREADS", None)
    pool.shutdown()
