"""Bytes out of plain, gzip and Zstandard files, and errors instead of tracebacks where these are damaged."""

from __future__ import annotations

import difflib
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

import pyarrow as pa
import zstandard

from momus.reading.location import Location

HEAD = 1 << 20
CHUNK = 1 << 17
COMPRESSIONS = {b"\x1f\x8b": ("gzip", ".gz"), b"\x28\xb5\x2f\xfd": ("Zstandard", ".zst")}


class ZstdReader(io.RawIOBase):
    """Decompress Zstandard frames, one after the other.

    Raises
    ------
    EOFError
        The data break off within a frame (``zstandard``'s own reader would end without a word).
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 31)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._rest = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill the buffer with what comes next; 0 at the end."""
        while not self._ready:
            data = self._rest or self._raw.read(CHUNK)
            if not data:
                if self._frame is not None:
                    raise EOFError("Zstandard frame breaks off")
                return 0
            self._frame = self._frame or self._decompressor.decompressobj()
            self._ready, self._rest = memoryview(self._frame.decompress(data)), b""
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        target = memoryview(buffer)  # type: ignore[arg-type]
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


class _Rewound(io.RawIOBase):
    """A stream with the bytes that were read ahead put back in front."""

    def __init__(self, head: bytes, rest: io.BufferedIOBase) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer)  # type: ignore[arg-type]
        if not self._head:
            return self._rest.readinto(target)
        count = min(len(target), len(self._head))
        target[:count] = self._head[:count]
        self._head = self._head[count:]
        return count


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The uncompressed bytes of a file: all of them in ``file``, the first mebibyte also in ``head``."""

    file: io.BufferedReader
    head: bytes
    packed: bool


@contextmanager
def open_file(source: Location) -> Iterator[OpenedFile]:
    """Open a file, or standard input, and undo its compression, which is told by the first bytes.

    Raises
    ------
    ReadingError
        The name ends in ``.gz`` or ``.zst`` and the content is something else.
    """
    raw = _opened(source)
    try:
        source.tell = raw.tell if source.path is not None and raw.seekable() else lambda: 0
        unpacked = _unpacked(source, raw)
        head = _read_up_to(unpacked, HEAD)
        yield OpenedFile(io.BufferedReader(_Rewound(head, unpacked), HEAD), head, unpacked is not raw)
    finally:
        source.tell = lambda: 0
        if source.path is None:
            raw.detach()
        else:
            raw.close()


def _opened(source: Location) -> io.BufferedReader:
    if source.path is None:
        return io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
    return source.path.open("rb")


def _unpacked(source: Location, raw: io.BufferedReader) -> io.BufferedIOBase:
    start = raw.peek(4)[:4]
    for magic, (name, suffix) in COMPRESSIONS.items():
        if start.startswith(magic):
            return gzip.GzipFile(fileobj=raw) if name == "gzip" else io.BufferedReader(ZstdReader(raw), CHUNK)
        if start and source.path is not None and source.path.suffix.lower() == suffix:
            raise source.error(
                f"the name ends in {suffix}, but this is no {name} file (it starts with {start!r})",
                hint=f"take {suffix} off the name if the file is not compressed, else fetch it again",
                position=0,
            )
    return raw


def _read_up_to(stream: io.BufferedIOBase, size: int) -> bytes:
    parts, missing = [], size
    while missing and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


@contextmanager
def guarded(source: Location) -> Iterator[None]:
    """Turn the errors of the operating system, gzip, Zstandard and Arrow into a `ReadingError` about the source."""
    after = "fetch or write the file again; `gzip -t` or `zstd -t` tests it"
    try:
        yield
    except EOFError:
        where = f" after {source.unit} {source.position:,}" if source.position else " at its beginning"
        raise source.error(f"the compressed file is cut off: its data break off{where}", after, 0) from None
    except (gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        where = f" after {source.unit} {source.position:,}" if source.position else ""
        raise source.error(f"the compressed data are damaged{where} ({error})", after, 0) from None
    except FileNotFoundError:
        raise source.error("no such file or folder", _similar(source), 0) from None
    except PermissionError:
        raise source.error(
            "permission denied: the file is there but may not be read",
            "ask its owner for leave, or change its mode with chmod",
            0,
        ) from None
    except IsADirectoryError:
        raise source.error("is a folder, a file was expected", "name a file in it", 0) from None
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise source.error(f"Arrow cannot read the file ({reason})", "fetch or write the file again", 0) from None
    except UnicodeDecodeError:
        raise source.error("a column name is not valid UTF-8: damaged", "fetch or write the file again", 0) from None
    except OSError as error:
        reason = error.strerror or (str(error).splitlines() or [type(error).__name__])[0]
        raise source.error(f"the file cannot be read ({reason})", "check the disk and the path", 0) from None


def _similar(source: Location) -> str:
    """Name the files of the same folder that are spelled almost like the one that is missing."""
    path = source.path
    if path is None or not path.parent.is_dir():
        return "check the path" if path is None else f"there is no folder {str(path.parent)!r} either: check the path"
    near = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=3)
    return "did you mean " + ", ".join(str(path.parent / n) for n in near) + "?" if near else "check the path"
