"""The boundary of the command line: faults of disks, terminals and memory become errors with words and exit codes.

SIGTERM and SIGHUP end a command as Ctrl-C does, with its clean-up; a second Ctrl-C ends it at once.

The library raises what happened; only here is it put into words for the reader of a terminal. ``MOMUS_DEBUG=1`` shows
the traceback as well.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import traceback
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING

from momus.errors import MomusError, StoreError, lacks_memory
from momus.foreign import end_now, short_path
from momus.plugins import extra_of
from momus.visible import visible

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

DEBUG = "MOMUS_DEBUG"
HINTS = {
    errno.ENOSPC: "free space there, or name a folder on another disk with --out",
    errno.EDQUOT: "free space there, or name a folder on another disk with --out",
    errno.EROFS: "the disk is read-only: name a folder on another one with --out",
    errno.EACCES: "change its mode with chmod, ask its owner, or name another path",
    errno.EPERM: "change its mode with chmod, ask its owner, or name another path",
    errno.ENAMETOOLONG: "shorten the name",
    errno.ENOENT: "it was deleted, or never existed: check the path, and run the command again",
    errno.ENOTDIR: "a part of the path is a file, not a folder: check the path",
    errno.EISDIR: "name a file, not a folder",
    errno.EMFILE: "close other programs, or raise the limit of open files with ulimit -n",
    errno.EFBIG: "the file system or ulimit -f allows no larger file: name a folder on another disk with --out",
    errno.EEXIST: "a part of the path is a file, not a folder: name another path",
    errno.ENOMEM: "read fewer texts at once, or use a machine with more memory",
}
"""What to do about an error of the operating system, by its number."""
LEAST_SPACE = 1 << 30
"""Bytes of address space in which all libraries load; in 700 MB, some do not."""
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
AGAIN = "run the command again; if it happens again, check the disk"


def safe_streams() -> None:
    r"""Make sure that the three standard streams exist and take every character.

    A closed stream becomes the null device, else the next file to be opened would take its number. A terminal that
    does not know a character gets its number (``\u2026``) in its place. A pipe whose reader is gone takes the rest.
    """
    while True:
        number = os.open(os.devnull, os.O_RDWR)
        if number > 2:
            os.close(number)
            break
        os.set_inheritable(number, True)
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            try:
                number = stream.fileno()
            except OSError:  # a stream without a file, as in tests
                stream.reconfigure(errors="backslashreplace")
                continue
            raw = io.BufferedWriter(_ForAnyReader(number, "w", closefd=False))
            safe = io.TextIOWrapper(raw, stream.encoding, "backslashreplace", line_buffering=stream.line_buffering)
            setattr(sys, name, safe)


class _ForAnyReader(io.FileIO):
    """A stream that loses what is written after its reader, such as head, has closed the pipe: the command goes on."""

    def write(self, content: ReadableBuffer, /) -> int:
        try:
            return super().write(content)
        except BrokenPipeError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            return super().write(content)


def check_memory() -> None:
    """Refuse to start in less address space than libraries need to load: OpenBLAS would wait for it without end.

    Raises
    ------
    MomusError
        The space is limited, by ``ulimit -v`` for instance, to less than `LEAST_SPACE`.
    """
    space = _space()
    if space is None:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread reserves space of its own
    if space < LEAST_SPACE:
        raise MomusError(
            f"the memory does not suffice: the address space is limited to {space >> 20:,} MB",
            hint=f"allow {LEAST_SPACE >> 20:,} MB or more, such as ulimit -v {LEAST_SPACE >> 9}",
        )


def _space() -> int | None:
    """Bytes of address space that this process may have; None if there is no limit."""
    if sys.platform == "win32":
        return None
    import resource

    space = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if space == resource.RLIM_INFINITY else space


def discard_output() -> None:
    """Send what is still to be written to standard output to the null device: its disk is full."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):  # a stream without a file, as in tests
        sys.stdout = io.StringIO()
    finally:
        os.close(null)


def worded(error: BaseException) -> MomusError | None:
    """Put an error into words; None if it is a fault of the program.

    >>> print(worded(OSError(28, "No space left on device", "run/run.json")))
    run/run.json: No space left on device
      → free space there, or name a folder on another disk with --out
    >>> worded(TypeError("x")) is None
    True
    """
    # imported here, since it takes longer than all of `momus --help` without it
    from concurrent.futures.process import BrokenProcessPool

    if isinstance(error, MomusError):
        return error
    if isinstance(error, ModuleNotFoundError):
        return extra_of(error)
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, UnicodeError):
        return _of_encoding(error)
    if isinstance(error, RecursionError):
        return StoreError("something is nested too deeply to be read", hint=f"set {DEBUG}=1 to see where")
    # modules that are loaded in too small a space may fail without a word
    if lacks_memory(error) or (isinstance(error, SystemError) and _space() is not None):
        return MomusError("the memory does not suffice", hint=HINTS[errno.ENOMEM] + "; fewer --jobs need less, too")
    if isinstance(error, BrokenProcessPool):
        return MomusError(
            "a worker process ended unexpectedly: it was killed, or the memory does not suffice",
            hint="run the command again, with fewer --jobs if the memory is small",
        )
    if type(error).__module__.startswith(("pyarrow", "safetensors")):
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return StoreError(f"{_places()}: a table cannot be read or written ({reason})", hint=AGAIN)
    return None


def _of_system(error: OSError) -> MomusError:
    """Word an error of the operating system, with the paths that it names."""
    if isinstance(error, ConnectionError):
        return MomusError(f"the connection failed ({error.strerror or type(error).__name__})", hint="run it again")
    paths = [os.fsdecode(p) for p in (error.filename, error.filename2) if isinstance(p, (str, bytes)) and p]
    place = " → ".join(paths) or _places()
    reason = error.strerror or (str(error).splitlines() or [type(error).__name__])[0]
    return StoreError(f"{place}: {reason}", hint=HINTS.get(error.errno or 0, AGAIN))


def _places() -> str:
    """Where a command writes, for errors that do not say where they come from."""
    import tempfile

    words = sys.argv[1:]
    outputs = [b for a, b in pairwise(words) if a in ("--out", "-o")]
    outputs += [word.partition("=")[2] for word in words if word.startswith("--out=")]
    return f"{outputs[-1] if outputs else 'standard output'}, or the temporary folder {tempfile.gettempdir()}"


def _of_encoding(error: UnicodeError) -> MomusError:
    encoding = getattr(error, "encoding", "the encoding")
    if isinstance(error, UnicodeEncodeError):
        return StoreError(
            f"a name or text holds characters that {encoding} cannot write",
            hint="rename the file or the corpus with ordinary characters",
        )
    return StoreError(f"a file is not valid {encoding}", hint="it is damaged: write or fetch it again")


def report_error(error: BaseException) -> int:
    """Tell an error on standard error, and return the exit code."""
    if os.environ.get(DEBUG, "") not in ("", "0"):
        traceback.print_exception(error)
    known = worded(error)
    if known is not None:
        say(f"momus: {known}")
        return known.exit_code
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {short_path(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    say(f"momus: internal error, {type(error).__name__}{place}; {DEBUG}=1 shows the traceback")
    return 1


def say(text: str) -> None:
    """Print on standard error; if that is closed or full, nobody can be told."""
    try:
        print(visible(text), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return


class Interruption:
    """Turns signals into `KeyboardInterrupt`, and remembers which one came first.

    Attributes
    ----------
    number
        The first signal; 0 if none came.
    """

    def __init__(self) -> None:
        self.number = 0

    def install(self) -> None:
        """Handle the signals, but leave alone those that the caller ignores, as ``nohup`` does with SIGHUP."""
        if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
            return
        for name in SIGNALS:
            known = getattr(signal, name, None)
            if known is not None and signal.getsignal(known) != signal.SIG_IGN:
                signal.signal(known, self._received)

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self.number:
            _stop(number)
        self.number = number
        raise KeyboardInterrupt

    @property
    def exit_code(self) -> int:
        """128 and the number of the signal: 130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP."""
        return 128 + (self.number or signal.SIGINT)


def _stop(number: int) -> None:
    """End this process without any clean-up, but show the cursor again that a progress bar has hidden."""
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")
    end_now(128 + number)
