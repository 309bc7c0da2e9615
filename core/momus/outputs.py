"""The one way to write: how a file, a folder or a deletion gets to the disk.

No other module opens a file for writing, renames or deletes (a test over the syntax tree says so). What a user names
goes through `momus.ownership` first, before any work; `replacing_own` then writes beside it, and records what it wrote.
"""

from __future__ import annotations

import glob
import os
import secrets
import select
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from momus.errors import StoreError
from momus.locking import is_on_disk, try_lock
from momus.ownership import PART, check_own, record_line, record_of, refuse_irregular


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; it takes the place of ``path`` if the context ends without an error.

    The temporary file is hidden, and only its owner can read it; it is synced before it is renamed, and has the mode
    of the file that it replaces. Its name holds the process number and a random part: writers of the same file do not
    mix. What killed processes left behind is deleted first.

    Raises
    ------
    StoreError
        The path is a link, a folder, a device or a pipe.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("done")
    >>> target.read_text(), temporary.exists()
    ('done', False)
    """
    refuse_irregular(path)
    delete_leftovers(path)
    temporary = _beside(path)
    # exclusive: never through a link that somebody has put there
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)  # what the umask leaves: the mode of a new file
        _set_mode(temporary, 0o600)
        if sys.platform == "win32":  # which cannot rename an open file
            os.close(handle)
        else:
            try_lock(handle)
        try:
            yield temporary
            sync(temporary)
            with suppress(OSError):
                mode = stat.S_IMODE(path.stat().st_mode)
            _set_mode(temporary, mode)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    finally:
        if sys.platform != "win32":
            os.close(handle)


@contextmanager
def replacing_own(path: Path, kind: str) -> Iterator[Path]:
    """As `replacing`, for a place that a user names: only a file of its kind that Momus wrote there is replaced.

    What is new is recorded; ``kind`` is what it is, for messages ("a report"). The record is written before the file
    appears: after a kill, both are known.

    Raises
    ------
    StoreError
        The path is a link, a folder, …, or holds what Momus did not write.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing_own(target, "a report") as temporary:
    ...     _ = temporary.write_text("done")
    >>> _ = target.write_text("done, and a note")
    >>> try:
    ...     check_own(target, "a report")
    ... except StoreError as error:
    ...     print(error.message.removeprefix(str(target)))
     is not a report as Momus wrote it
    """
    check_own(path, kind)
    with replacing(path) as temporary:
        yield temporary
        check_own(path, kind)  # as somebody may have left it meanwhile
        earlier = [record_line(path, kind)] if path.exists() else []
        line = record_line(temporary, kind)
        write_bytes(record_of(path), b"".join([line, *earlier]))
    write_bytes(record_of(path), line)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}{PART}")


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, have reached the disk."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if sys.platform != "win32" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _set_mode(path: Path, mode: int) -> None:
    with suppress(OSError):  # file systems without modes
        path.chmod(mode)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder beside ``path``, which must be new or empty; it is renamed when it is whole."""
    make_folder(path.parent)
    delete_leftovers(path)
    temporary = _beside(path.resolve())
    temporary.mkdir()
    try:
        yield temporary
        if path.is_dir():  # an empty one is filled: somebody may be in it
            for child in sorted(temporary.iterdir()):
                child.rename(path / child.name)
            temporary.rmdir()
        else:
            temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@contextmanager
def writing(place: object, hint: str) -> Iterator[None]:
    """Word errors of the disk while a file or folder is written.

    Raises
    ------
    StoreError
        The disk is full, rights are missing, …; ``hint`` is the way out.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{place}: cannot be written ({error.strerror or error})", hint=hint) from error


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a file in one step."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str, hint: str = "name another file") -> Path:
    """Write a text file with the folders that it needs in one step, and return its path.

    Raises
    ------
    StoreError
        The file cannot be written, or is a link; ``hint`` is the way out.
    """
    with writing(path, hint):
        make_folder(path.parent)
        write_bytes(path, text.encode("utf-8"))
    return path


def write_own(path: Path, content: str | bytes, kind: str, hint: str = "name another file") -> Path:
    """As `write_text`, for a place that a user names: see `replacing_own`."""
    with writing(path, hint):
        make_folder(path.parent)
        with replacing_own(path, kind) as temporary:
            temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


@contextmanager
def appending(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file to add to it."""
    refuse_irregular(path)
    with path.open("ab") as file:
        yield file


def open_temporary(path: Path) -> IO[bytes]:
    """Open the temporary file of `replacing` for writing."""
    assert path.name.endswith(PART), path
    return path.open("wb")


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless they are there."""
    path.mkdir(parents=True, exist_ok=True)


def move(source: Path, target: Path) -> None:
    """Rename a file or a folder of Momus; a file takes the place of another."""
    os.replace(source, target)


def delete(*paths: Path) -> None:
    """Delete files of Momus, those that there are; a folder is deleted if it is empty."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            with suppress(OSError):  # it holds something
                path.rmdir()
        else:
            path.unlink(missing_ok=True)


def delete_folder(path: Path) -> None:
    """Delete a folder that Momus made and nobody else can have written to, with all that it holds."""
    shutil.rmtree(path)


def copy_folder(source: Path, target: Path, *, linked: bool = False) -> None:
    """Copy a folder; with ``linked``, files that are replaced and never changed get a second name where possible."""
    shutil.copytree(source, target, symlinks=True, copy_function=_link_or_copy if linked else shutil.copy2)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy2(source, target)


def delete_leftovers(path: Path) -> None:
    """Delete the temporary files and folders of ``path`` whose processes were killed.

    Such a file is nobody's if its process number is not in use on this machine and no process holds its lock. On
    Windows, which has no such test of a number, nothing is deleted.
    """
    if sys.platform == "win32":
        return
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*{PART}"):
        number = leftover.name.removesuffix(PART).split(".")[-2]
        if not number.isdecimal() or _is_running(int(number)):
            continue
        if leftover.is_dir() and not leftover.is_symlink():
            shutil.rmtree(leftover, ignore_errors=True)
            continue
        with suppress(OSError):
            handle = os.open(leftover, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if try_lock(handle) and is_on_disk(handle, leftover):
                    leftover.unlink()
            finally:
                os.close(handle)


def _is_running(number: int) -> bool:
    """Whether a process of this number still runs; True if that cannot be known.

    On Linux, one that has ended does not run even if nobody has asked for its status yet.
    """
    try:
        os.kill(number, 0)
        if sys.platform != "linux":
            return True
        handle = os.pidfd_open(number)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    try:
        return not select.select([handle], [], [], 0)[0]
    finally:
        os.close(handle)
