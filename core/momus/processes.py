"""Pools of worker processes, which end with the process that started them, however it ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, Self, TypeVar

from momus.arguments import options, use_options
from momus.errors import StoreError
from momus.foreign import end_now

T = TypeVar("T")
R = TypeVar("R")
THREADS = "OMP_NUM_THREADS"
"""Variable that says in how many threads a process computes."""
TRIES = 3
"""How often a task is begun whose process ended before it had finished."""


def usable_cores() -> int:
    """Number of cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """Set a variable within the context, for this process and those that start in it."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def threads_each(number: int) -> AbstractContextManager[None]:
    """Let processes that start within the context compute in so many threads, unless the variable says otherwise.

    So do libraries that are loaded in the context.
    """
    return environment(THREADS, os.environ.get(THREADS) or str(number))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let libraries that are loaded compute in one thread within the context.

    The arrays of critics are small: for them, threads of BLAS and OpenMP wait for one another most of the time. What
    gains by them, such as a network, asks for `usable_threads` itself.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def safe_path() -> AbstractContextManager[None]:
    """Keep the working folder off the import path of Python processes that start within the context.

    A spawned process otherwise looks there first, and runs a ``pickle.py`` that lies beside the user's texts.

    >>> with safe_path():
    ...     os.environ["PYTHONSAFEPATH"]
    '1'
    """
    return environment("PYTHONSAFEPATH", "1")


def usable_threads() -> int:
    """Number of threads that this process may compute in: as the variable says, else the number of cores."""
    said = os.environ.get(THREADS, "")
    return int(said) if said.isdecimal() and int(said) else os.cpu_count() or 1


class Workers:
    """Processes that start afresh, share the cores among them, and end with the context, and with this process.

    A fork of this process would copy the threads of Arrow and BLAS in any state; so processes are forked from a server
    that has imported the module of ``prepare``, and that module once for all. Windows starts them one by one.

    Parameters
    ----------
    jobs
        Number of processes.
    prepare, arguments
        A function of a module, called once in each process, and its arguments. The processes ignore Ctrl-C: they are
        killed when the context is left by an exception.
    preload
        Other modules that the server imports, where they can be.
    """

    def __init__(self, jobs: int, prepare: Callable[..., None], *arguments: Any, preload: Collection[str] = ()) -> None:
        self.jobs, self._prepare, self._preload = jobs, (prepare, arguments), preload
        self._pools: list[ProcessPoolExecutor] = []
        self._left = ExitStack()
        self._context: BaseContext = get_context("spawn")

    def start(self) -> Self:
        """Start the server, unless the program has one; `__exit__` ends it."""
        with ExitStack() as settings:
            settings.enter_context(safe_path())
            settings.enter_context(threads_each(max(1, (os.cpu_count() or 1) // self.jobs)))
            if sys.platform == "win32" or not self._fork_from_server():
                self._left = settings.pop_all()  # each process is given them when it starts
        return self

    __enter__ = start

    def _fork_from_server(self) -> bool:
        """Whether there is a server; there is none where the path of its socket would be too long."""
        from multiprocessing.forkserver import _forkserver as server

        context = get_context("forkserver")
        if server._forkserver_pid is None:  # type: ignore[attr-defined]
            context.set_forkserver_preload([self._prepare[0].__module__, *self._preload])
            try:
                with _held():  # what the server forks inherits that
                    server.ensure_running()
            except OSError:
                return False
            self._left.callback(_stop, server)
        self._context = context
        return True

    def pool(self, size: int) -> ProcessPoolExecutor:
        """A pool of some of the processes."""
        pool = ProcessPoolExecutor(size, self._context, initializer=_prepare, initargs=(*self._prepare, options()))
        self._pools.append(pool)
        return pool

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        for pool in self._pools:
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=kind is None, cancel_futures=True)
            if kind is not None:
                for process in processes:
                    process.kill()
                    process.join()
        self._left.close()


def _stop(server: Any) -> None:
    """End a server at once; if processes that it forked go on, it would wait for them."""
    os.kill(server._forkserver_pid, signal.SIGKILL)
    server._stop()


@contextmanager
def pool_of(jobs: int, prepare: Callable[..., None], *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """Start a pool of `Workers`; if one of them is killed, the pool is broken."""
    with Workers(jobs, prepare, *arguments) as workers:
        yield workers.pool(jobs)


def outcomes_of(
    jobs: int, tasks: Sequence[T], hint: str, make: Callable[..., Callable[[T], R]], *arguments: Any
) -> Iterator[R]:
    """Do tasks by the function that ``make`` makes once in each process, and yield what it returns as they end.

    One job is this process. Any of several may be killed: each is a separate pool, so that the task of a killed process
    alone is lost, and begun again by a new process.

    Raises
    ------
    StoreError
        The processes of one task were killed `TRIES` times; ``hint`` is the way out.
    """
    if jobs == 1 or len(tasks) < 2:
        yield from map(make(*arguments), tasks)
        return
    jobs = min(jobs, len(tasks))
    waiting, begun = deque(range(len(tasks))), Counter[int]()
    running: dict[Future[R], tuple[int, ProcessPoolExecutor]] = {}
    with Workers(jobs, _begin, make, arguments, preload=[make.__module__]) as workers:
        idle = [workers.pool(1) for _ in range(jobs)]
        while waiting or running:
            while waiting and idle:
                number, pool = waiting.popleft(), idle.pop()
                begun[number] += 1
                try:
                    future = pool.submit(_do, tasks[number])
                except BrokenProcessPool:  # its process was killed while it had nothing to do
                    pool = workers.pool(1)
                    future = pool.submit(_do, tasks[number])
                running[future] = number, pool
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number, pool = running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool as error:
                    if begun[number] >= TRIES:
                        words = f"a process was killed {TRIES} times in the same part, perhaps for its memory"
                        raise StoreError(words, hint=hint) from error
                    waiting.append(number)
                    idle.append(workers.pool(1))
                    continue
                idle.append(pool)
                yield result


_WORK: list[Callable[[Any], Any]] = []
"""What a process of `outcomes_of` does with a task, set once by `_begin`."""


def _begin(make: Callable[..., Callable[[Any], Any]], arguments: tuple[Any, ...]) -> None:
    _WORK[:] = [make(*arguments)]


def _do(task: Any) -> Any:
    return _WORK[0](task)


@contextmanager
def _held() -> Iterator[None]:
    """Hold Ctrl-C back, also from processes that are started: Python would print a traceback before they ignore it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare(prepare: Callable[..., None], arguments: tuple[Any, ...], named: Mapping[str, str]) -> None:
    """Prepare a process; it ends as soon as that which started it has ended, however that ended."""
    threading.Thread(target=_end_with, args=(parent_process(),), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    without_pandas()
    use_options(named)
    prepare(*arguments)


def _end_with(process: BaseProcess) -> None:
    process.join()
    end_now(1)


class _NoPandas:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse to import pandas, and leave other modules to other finders."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def without_pandas() -> None:
    """Let Arrow do without pandas, which it imports for its first array: 45 MB and a quarter of a second.

    For commands and workers, to which nobody passes a data frame; ``to_pandas`` works as before.
    """
    import pyarrow as pa

    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
        try:
            pa.array([0])  # Arrow looks for pandas once
        finally:
            sys.meta_path.remove(_NoPandas)


def return_memory() -> None:
    """Give the system back what the allocators of C and of Arrow keep of freed memory."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).malloc_trim(0)
        except AttributeError:  # another C library than glibc
            return
