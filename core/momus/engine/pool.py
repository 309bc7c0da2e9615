"""Workers of this machine: processes with one part each, of which any may be killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from multiprocessing.context import BaseContext

from momus.engine.interface import TRIES, Done, Job
from momus.engine.worker import PartScorer
from momus.errors import StoreError
from momus.processes import end_with, safe_path, threads_each, without_pandas

_SCORER: list[PartScorer] = []
"""The scorer of a worker process, set once by `_begin`."""


class Pool:
    """Scores parts in ``workers`` processes; with one worker, in this process.

    Each worker is a pool of one process: if it is killed, its part alone is lost, and begun again by a new process.
    """

    def __init__(self, job: Job, workers: int) -> None:
        self.job, self.workers = job, workers

    def run(self, parts: Sequence[int]) -> Iterator[Done]:
        """Yield finished parts; see `momus.engine.interface.Engine`."""
        if self.workers == 1 or len(parts) < 2:
            scorer = PartScorer(self.job)
            yield from map(scorer.score, parts)
            return
        with safe_path(), threads_each(1):
            yield from self._spread(parts)

    def _spread(self, parts: Sequence[int]) -> Iterator[Done]:
        waiting, begun = deque(parts), Counter[int]()
        running: dict[Future[Done], tuple[int, ProcessPoolExecutor]] = {}
        idle = [self._worker() for _ in range(min(self.workers, len(parts)))]
        try:
            while waiting or running:
                while waiting and idle:
                    part, worker = waiting.popleft(), idle.pop()
                    begun[part] += 1
                    running[worker.submit(_score, part)] = part, worker
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    part, worker = running.pop(future)
                    try:
                        done = future.result()
                    except BrokenProcessPool as error:
                        worker.shutdown(wait=False)
                        if begun[part] >= TRIES:
                            raise StoreError(
                                f"part {part}: its process was killed {TRIES} times, perhaps for its memory",
                                hint="use fewer --jobs or a smaller --part-size; finished parts stay for --resume",
                            ) from error
                        waiting.append(part)
                        idle.append(self._worker())
                        continue
                    idle.append(worker)
                    yield done
        finally:
            for worker in [*idle, *(w for _, w in running.values())]:
                end(worker)

    def _worker(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, fresh_processes(), initializer=_begin, initargs=(self.job, os.getpid()))


def fresh_processes() -> BaseContext:
    """Start processes afresh: a fork of this one would copy the threads of Arrow and BLAS in any state."""
    kind = "spawn" if sys.platform == "win32" else "forkserver"
    context = multiprocessing.get_context(kind)
    if kind == "forkserver":
        context.set_forkserver_preload(["momus.engine.worker"])
    return context


def end_server() -> None:
    """End the process that workers are forked from; the next pool starts another."""
    if sys.platform != "win32":
        forkserver._forkserver._stop()  # type: ignore[attr-defined]


def end(worker: ProcessPoolExecutor) -> None:
    """End the processes of a pool without waiting for their work."""
    processes = list((worker._processes or {}).values())
    worker.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


def _begin(job: Job, driver: int) -> None:
    """Prepare a worker process."""
    end_with(driver)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted driver ends its workers itself
    without_pandas()
    _SCORER[:] = [PartScorer(job)]


def _score(part: int) -> Done:
    return _SCORER[0].score(part)
