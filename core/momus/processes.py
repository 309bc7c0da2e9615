"""Worker processes end with the process that started them, however it ends."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOOKED_EVERY = 0.5
"""Seconds between two looks at the parent, where the system does not tell."""
PR_SET_PDEATHSIG = 1


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


@contextmanager
def safe_path() -> Iterator[None]:
    """Keep the working folder off the import path of Python processes that start within the context.

    A spawned process otherwise looks there first, and runs a ``pickle.py`` that lies beside the user's texts.

    >>> with safe_path():
    ...     os.environ["PYTHONSAFEPATH"]
    '1'
    """
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
