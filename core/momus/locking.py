"""Locks between processes: one process at a time writes to a folder or a file.

The lock belongs to an open file (``flock``), not to a process number: the system releases it when the last process
that holds the file ends, however it ends, and it holds between users. Workers that a process starts hold it too.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from multiprocessing import reduction
from pathlib import Path
from typing import Any, Self

from momus.arguments import arg
from momus.errors import StoreError

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, 1 << 30, os.SEEK_SET)  # a byte beyond the content, which others may read
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


BUSY = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}
"""Numbers of the errors that mean that another process holds the lock."""
TRIES = 50
"""How often a lock file that was deleted meanwhile is opened again."""


class BusyError(StoreError):
    """Another process holds the lock."""


class Lock:
    """An exclusive lock on a path, held until `release` or the end of the process and of the workers that hold it.

    Parameters
    ----------
    path
        The lock file. It is created, holds the process number for readers of messages, and is deleted by `release`.
    of
        What is locked, for messages.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / ".lock"
    >>> lock = Lock(path, "run").acquire()
    >>> path.exists(), lock.release(), path.exists()
    (True, None, False)
    """

    def __init__(self, path: Path, of: str) -> None:
        self.path, self.of = path, of
        self._file: int | None = None

    def wait(self, seconds: float = 60.0) -> Self:
        """Lock, once other processes have ended or released it.

        Raises
        ------
        StoreError
            Another process still holds the lock after this time, or the file cannot be written.
        """
        end = time.monotonic() + seconds
        while True:
            try:
                return self.acquire()
            except BusyError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def acquire(self) -> Self:
        """Lock, or fail at once.

        Raises
        ------
        StoreError
            Another process holds the lock, or the file cannot be written.
        """
        for _ in range(TRIES):
            try:
                file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
            except OSError as error:
                hint = f"name another folder with {arg('out')}"
                raise StoreError(f"{self.path}: cannot be written ({error.strerror})", hint=hint) from error
            try:
                _lock(file)
            except OSError as error:
                holder = _holder(file)
                os.close(file)
                if error.errno in BUSY:
                    raise BusyError(
                        f"{self.of} is in use by {holder}",
                        hint=f"wait for it, or name another folder with {arg('out')}",
                    ) from None
                raise StoreError(
                    f"{self.path}: this file system has no locks ({error.strerror})",
                    hint=f"name a folder on a local disk with {arg('out')}",
                ) from error
            # whoever held the lock before may have deleted the file after we opened it: ours must be the one on disk
            if is_on_disk(file, self.path):
                self._file = file
                self._name_holder()
                return self
            os.close(file)
        raise BusyError(f"{self.of} is in use by other processes", hint="wait for them")

    def _name_holder(self) -> None:
        """Write the process number into the lock file; if the disk takes no more, do not keep the lock."""
        assert self._file is not None
        try:
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, str(os.getpid()).encode())
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """Delete the lock file and unlock, in this order: nobody can lock a file that is about to be deleted."""
        if self._file is None:
            return
        file, self._file = self._file, None
        try:
            if is_on_disk(file, self.path):
                self.path.unlink(missing_ok=True)
        except OSError:  # the folder is read-only or gone: the lock ends all the same
            pass
        finally:
            os.close(file)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle for a worker that is being started: it gets the open file, and thereby holds the lock too."""
        handle = None if self._file is None or sys.platform == "win32" else reduction.DupFd(self._file)
        return {"path": self.path, "of": self.of, "handle": handle}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the open file over; a worker never deletes the lock file."""
        self.path, self.of = state["path"], state["of"]
        self._file = None
        if state["handle"] is not None:
            state["handle"].detach()  # a number, not an object: the file stays open until the worker ends


def try_lock(file: int) -> bool:
    """Lock an open file until it is closed; False if another holds it, or if the file system has no locks."""
    try:
        _lock(file)
    except OSError:
        return False
    return True


def is_on_disk(file: int, path: Path) -> bool:
    """Whether an open file is the one that the path names now: nobody has deleted or replaced it."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False))
    except OSError:
        return False


def _holder(file: int) -> str:
    """Name the process that a lock file names; its content may be anything."""
    try:
        text = os.read(file, 20).decode("ascii")
    except (OSError, ValueError):
        text = ""
    return f"process {text}" if text.isdigit() else "another process"
