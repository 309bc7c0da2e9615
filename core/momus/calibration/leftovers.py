"""Temporary folders of calibrations: private, locked while in use, and deleted later if their process was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from momus.errors import StoreError
from momus.locking import Lock

PREFIX, LOCK = "momus-calibration-", ".lock"
DAY = 86_400.0
"""Seconds after which a folder without a lock file is taken for a leftover."""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that only this user can read, deleted at the end; leftovers of killed processes are deleted first.

    >>> with temporary_folder() as folder:
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> folder.exists()
    False
    """
    delete_leftovers(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        lock = Lock(Path(name) / LOCK, "calibration").acquire()
        try:
            yield Path(name)
        finally:
            lock.release()


def delete_leftovers(parent: Path) -> list[Path]:
    """Delete this user's folders of calibrations that no process holds any more, and return them."""
    deleted = []
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            status = folder.lstat()
            own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
            if folder.is_symlink() or not folder.is_dir() or not own:
                continue
            if (folder / LOCK).exists():
                Lock(folder / LOCK, "calibration").acquire().release()
            elif time.time() - status.st_mtime < DAY:  # just made, not locked yet
                continue
        except (StoreError, OSError):  # in use, or deleted meanwhile
            continue
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            deleted.append(folder)
    return deleted
