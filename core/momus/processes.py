"""Pools of worker processes, which end with the process that started them, however it ends."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

LOOKED_EVERY = 0.5
"""Seconds between two looks at the parent, where the system does not tell."""
PR_SET_PDEATHSIG = 1
HELD = {signal.SIGINT}
"""Signals that a process does not get while it starts; the others end it without a word."""
THREADS = "OMP_NUM_THREADS"
"""Variable that says in how many threads a process computes."""


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


@contextmanager
def pool_of(jobs: int, prepare: Callable[..., None], *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """Start processes afresh that share the cores among them, and end them with the context.

    Parameters
    ----------
    prepare, given
        A function of a module, called once in each process, and its arguments. The processes ignore Ctrl-C: the pool
        ends them when the context is left by an exception.
    """
    before = set(multiprocessing.active_children())
    with safe_path(), threads_each(max(1, (os.cpu_count() or 1) // jobs)):
        pool = ProcessPoolExecutor(
            jobs,
            mp_context=_Context(),
            initializer=_prepare,
            initargs=(os.getpid(), prepare, arguments),
        )
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - before:
                process.terminate()
            raise
    pool.shutdown()


class _Process(SpawnProcess):
    """A process that signals reach only once it can end in silence: before, Python would print a traceback."""

    def start(self) -> None:
        """Start the process with the signals held back, which it inherits."""
        if not hasattr(signal, "pthread_sigmask"):
            super().start()
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Context(SpawnContext):
    """Starts such processes."""

    Process = _Process


def _prepare(parent: int, prepare: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
    without_pandas()
    prepare(*arguments)


def die_with_parent(parent: int) -> None:
    """End this process as soon as its parent has ended; call it once, at the start of a worker.

    Linux sends the signal itself, even if the parent was killed. Elsewhere, a thread looks at the parent's number.

    Parameters
    ----------
    parent
        The process number of the parent, read in the parent: it may have ended before this process began.
    """
    told = False
    if sys.platform == "linux":
        try:
            told = ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0
        except (OSError, AttributeError):  # a C library without prctl
            told = False
    if os.getppid() != parent:
        os._exit(1)
    if not told:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def end_with(number: int) -> None:
    """End this process as soon as the process of this number has ended, which need not be its parent.

    Workers of a fork server are children of that server, which itself waits for its workers: they watch the process
    that gives them work. A killed process counts as ended before anybody has asked for its status.
    """
    handle = None
    if sys.platform == "linux":
        try:
            handle = os.pidfd_open(number)
        except ProcessLookupError:
            os._exit(1)
        except OSError:  # an old kernel, or a sandbox
            handle = None
    threading.Thread(target=_wait_for, args=(number, handle), daemon=True).start()


def _wait_for(number: int, handle: int | None) -> None:
    if handle is not None:
        select.select([handle], [], [])
        os._exit(1)
    while True:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            os._exit(1)
        except OSError:
            pass
        time.sleep(LOOKED_EVERY)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOKED_EVERY)
    os._exit(1)


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
