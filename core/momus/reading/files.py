"""Open plain and compressed files as bytes, and turn low-level errors into a `ReadingError`."""

from __future__ import annotations

import bz2
import difflib
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from momus.limits import size_text
from momus.reading.location import Location, open_remote, trusted, worded

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEAD = 1 << 20
CHUNK = 1 << 17
STREAMS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Paths that a shell gives for a stream on purpose, as in ``momus compare -r <(zcat a.gz)``."""
KINDS = {stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket", stat.S_ISCHR: "a device", stat.S_ISBLK: "a disk"}
"""What a path is if it is neither a file nor a folder."""
# the bytes that a compressed file starts with, by format and extension; "BZh9" alone could begin a text
COMPRESSIONS = {
    ("gzip", ".gz"): re.compile(rb"\x1f\x8b"),
    ("Zstandard", ".zst"): re.compile(rb"\x28\xb5\x2f\xfd"),
    ("bzip2", ".bz2"): re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    ("xz", ".xz"): re.compile(rb"\xfd7zXZ\x00"),
}
LONGEST_MAGIC = 10


class DamagedError(Exception):
    """Compressed data that cannot be decompressed."""


class _Stream(io.RawIOBase):
    """A stream of bytes that only reads."""

    def readable(self) -> bool:
        """Return True."""
        return True


class _Bounded(_Stream):
    """Fills buffers, and stops the decompression of a file beyond its limits: a few bytes can hold gigabytes."""

    def __init__(self, location: Location, content: io.BufferedIOBase, packed: BinaryIO | None) -> None:
        self._location, self._content, self._packed = location, content, packed
        self._size = 0

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read as many bytes as the buffer takes, and return their number, 0 at the end."""
        target, filled = memoryview(buffer), 0
        try:
            while filled < len(target) and (count := self._content.readinto(target[filled:])):
                filled += count
        except OSError as error:
            if self._packed is not None and type(error) is OSError and error.errno is None:  # of bzip2, and of Arrow
                raise (EOFError if "Truncated" in str(error) else DamagedError)(error) from None
            raise
        self._size += filled
        limits = self._location.limits
        if self._location.url is not None and self._size > limits.file:
            held = f"the remote file holds more than {size_text(limits.file)}"
            raise self._location.error(held, trusted("file=1TB"))
        if self._packed is not None and self._size > limits.free and filled:
            if self._size > limits.ratio * max(packed := self._packed.tell(), 1):
                fault = f"{size_text(packed)} of the compressed file hold more than {size_text(self._size)}"
                raise self._location.too_packed(fault, "ratio=2000")
            if self._size > limits.file:
                raise self._location.error(f"the file holds more than {size_text(limits.file)}", trusted("file=1TB"))
        return filled


class _Counted(_Stream):
    """Counts the bytes that are read from a stream; that of a pipe cannot tell its position."""

    def __init__(self, raw: io.BufferedIOBase) -> None:
        self._raw, self._count = raw, 0

    def readinto(self, buffer: WriteableBuffer) -> int:
        count = self._raw.readinto(buffer)
        self._count += count
        return count

    def tell(self) -> int:
        return self._count


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The uncompressed bytes of a file: all of them in ``content``, the first mebibyte also in ``head``."""

    content: io.BufferedReader
    head: bytes
    compressed: bool


@contextmanager
def open_file(location: Location) -> Iterator[OpenedFile]:
    """Open a file or standard input, and decompress it if its first bytes say that it is compressed.

    Raises
    ------
    ReadingError
        The name ends in ``.gz``, ``.zst``, ``.bz2`` or ``.xz`` and the content is something else.
    """
    raw = _open_raw(location)
    try:
        location.tell = raw.tell if location.path is not None and raw.seekable() else lambda: 0
        content, packed = _decompress(location, raw)
        filled: io.BufferedReader = io.BufferedReader(_Bounded(location, content, packed), HEAD)
        yield OpenedFile(filled, filled.peek(HEAD)[:HEAD], packed is not None)
    finally:
        location.tell = lambda: 0
        if location.stdin:  # leave standard input open
            raw.detach()
        else:
            raw.close()


@contextmanager
def open_lines(location: Location) -> Iterator[OpenedFile]:
    """Open the part of a plain file of lines that the location names; the part is read into memory, and checked.

    Raises
    ------
    ReadingError
        The part has other bytes than when the file was cut.
    """
    assert location.path is not None
    assert location.part is not None
    with location.path.open("rb") as file:
        file.seek(location.part.start)
        data = file.read(location.part.stop - location.part.start)
    if hashlib.sha256(data).hexdigest() != location.part.sha256:
        raise location.changed()
    yield OpenedFile(io.BufferedReader(io.BytesIO(data)), data[:HEAD], False)


def _open_raw(location: Location) -> io.BufferedReader:
    if location.url is not None:
        return io.BufferedReader(open_remote(location), CHUNK)
    if location.path is None:
        return io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
    file: io.BufferedReader = io.BufferedReader(io.FileIO(location.path, "rb", opener=_opened))
    mode = os.fstat(file.fileno()).st_mode
    kind = next((name for test, name in KINDS.items() if test(mode)), "")
    if kind and not str(location.path).startswith(STREAMS):
        file.close()
        raise location.error(
            f"this is {kind}, expected a file", "to read a stream, pass it on standard input and give - as the path"
        )
    return file


def _opened(path: str, flags: int) -> int:
    """Open without waiting: a named pipe that nobody writes to would hang otherwise."""
    if str(path).startswith(STREAMS):
        return os.open(path, flags)
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "set_blocking"):
        os.set_blocking(file, True)
    return file


def _decompress(location: Location, raw: io.BufferedReader) -> tuple[io.BufferedIOBase, BinaryIO | None]:
    """The content of a file, and what counts its bytes if it is compressed."""
    start = raw.peek(LONGEST_MAGIC)[:LONGEST_MAGIC]
    for (name, suffix), magic in COMPRESSIONS.items():
        if magic.match(start):
            counted = cast(BinaryIO, io.BufferedReader(_Counted(raw), CHUNK))
            return _decompressor(name, counted), counted
        if start and location.name is not None and location.name.suffix.lower() == suffix:
            raise location.error(
                f"the name ends in {suffix}, but this is not a {name} file (it starts with {start[:4]!r})",
                hint=f"remove {suffix} from the name if the file is not compressed, otherwise fetch it again",
            )
    return raw, None


def _decompressor(name: str, packed: BinaryIO) -> io.BufferedIOBase:
    """The decompressed bytes of a file; where a frame is cut off, Arrow raises OSError, the others EOFError."""
    if name == "gzip":
        return gzip.GzipFile(fileobj=packed)
    if name == "Zstandard":
        return cast(io.BufferedIOBase, pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd"))
    return cast(io.BufferedIOBase, bz2.BZ2File(packed) if name == "bzip2" else lzma.LZMAFile(packed))


DAMAGED = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, DamagedError)
"""Errors of compressed data that are damaged."""
FAULTS = {
    PermissionError: ("permission denied: the file exists but is not readable", "ask its owner, or use chmod"),
    IsADirectoryError: ("this is a folder, expected a file", "give a file in it"),
}
"""What errors of these types say of a file, and the way out."""


@contextmanager
def guarded(location: Location) -> Iterator[None]:
    """Turn errors of the operating system, of compression and of Arrow into a `ReadingError` about this file."""
    try:
        yield
    except (EOFError, *DAMAGED) as error:
        where = f" after {location.unit} {location.position:,}" if location.position else ""
        cut_off = f"the compressed file is cut off{where or ' at its beginning'}"
        fault = cut_off if isinstance(error, EOFError) else f"the compressed data are damaged{where} ({error})"
        hint = "fetch or write the file again; `gzip -t`, `zstd -t`, `bzip2 -t` or `xz -t` tests it"
        raise location.error(fault, hint) from None
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise location.error(f"Arrow cannot read the file ({reason})", "fetch or write the file again") from None
    except UnicodeDecodeError:
        fault = "a column name is not valid UTF-8; the file is damaged"
        raise location.error(fault, "fetch or write the file again") from None
    except Exception as error:
        if location.url is not None:
            raise worded(location, error) from None
        if isinstance(error, FileNotFoundError):
            raise location.error("no such file or folder", _similar_names(location)) from None
        if not isinstance(error, OSError):
            raise
        if type(error) in FAULTS:
            raise location.error(*FAULTS[type(error)]) from None
        reason = error.strerror or (str(error).splitlines() or [type(error).__name__])[0]
        raise location.error(f"the file cannot be read ({reason})", "check the disk and the path") from None


def _similar_names(location: Location) -> str:
    """Suggest files of the same folder with names similar to the missing one."""
    path = location.path
    if path is None or not path.parent.is_dir():
        return "check the path" if path is None else f"the folder {str(path.parent)!r} does not exist: check the path"
    if path.is_symlink():
        return f"it is a link to {os.readlink(path)}, where nothing is: correct the link"
    near = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=3)
    return "did you mean " + ", ".join(str(path.parent / n) for n in near) + "?" if near else "check the path"
