"""The file that is being read (on disk, remote, or standard input): its name in messages, the position reached."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath

from momus.arguments import arg
from momus.errors import ReadingError
from momus.limits import VARIABLE, Limits, size_text


@dataclass(frozen=True)
class Part:
    """A part of a file that is read by itself.

    Attributes
    ----------
    start, stop
        Bytes of a file of lines, rows of a Parquet file: ``start:stop``.
    before
        Records (lines, rows) of the file before the part, so that positions and ids are those of the whole file.
    sha256
        Of the bytes that hold the part; empty where the file is only being cut.

    >>> Part(0, 100, 0)
    Part(start=0, stop=100, before=0, sha256='')
    """

    start: int
    stop: int
    before: int
    sha256: str = ""


@dataclass
class Location:
    """A file that is being read, and the position reached in it.

    Parameters
    ----------
    path
        The file; None for standard input and for addresses.
    label
        How messages name it.
    prefix
        Start of the ids of records without one: ``prefix:position``, or the prefix alone for a whole file.
    unit
        What positions count: ``line``, ``item``, ``row``, ``paragraph``.
    position
        The last record read, from 1.
    tell
        Returns the number of bytes read from the disk.
    limits
        How large a document and a file may be.
    url
        The address of a remote file, such as ``s3://bucket/docs.jsonl``; None otherwise.
    size
        Bytes of a remote file, once it is open and where its server tells.
    part
        What is read of a file of lines or of a Parquet file; None: all of it.

    >>> Location(None, "docs.jsonl", "docs", position=3).where()
    'docs.jsonl, line 3'
    """

    path: Path | None
    label: str
    prefix: str
    unit: str = "line"
    position: int = 0
    tell: Callable[[], int] = field(default=lambda: 0, repr=False)
    limits: Limits = field(default=Limits(), repr=False)
    url: str | None = field(default=None, repr=False)
    size: int | None = None
    part: Part | None = None

    @property
    def before(self) -> int:
        """Records of the file before the first one that is read."""
        return 0 if self.part is None else self.part.before

    @property
    def stdin(self) -> bool:
        """Whether this is standard input."""
        return self.path is None and self.url is None

    @property
    def name(self) -> PurePath | None:
        """The path whose last part names the file, also of an address; None for standard input.

        >>> Location(None, "", "", url="https://host/a/docs.jsonl.gz?token=x").name
        PurePosixPath('host/a/docs.jsonl.gz')
        """
        return self.path if self.url is None else remote_name(self.url)

    def where(self, position: int | None = None) -> str:
        """Name the record at a position (default: the last one read)."""
        number = self.position if position is None else position
        return f"{self.label}, {self.unit} {number}" if number else self.label

    def error(self, message: str, hint: str = "", position: int | None = None) -> ReadingError:
        """Make an error about the file (position 0) or one of its records (default: the last one read)."""
        return ReadingError(f"{self.where(position)}: {message}", hint)

    def changed(self) -> ReadingError:
        """Make the error for a file that was written to meanwhile."""
        return self.error("the file was changed while it was read", "start the run again when it is whole", 0)

    def too_long(self, what: str, position: int | None = None, hint: str = "") -> ReadingError:
        """Make the error for a document that is larger than the limit."""
        limit = size_text(self.limits.document)
        return self.error(
            f"{what} is longer than {limit}, the most that one document may have",
            hint or f"split the document, or allow more with {arg('limits')}",
            position,
        )

    def too_packed(self, fault: str, setting: str) -> ReadingError:
        """Make the error for data that grow more than the limit; the hint names a setting that lets them pass."""
        return self.error(f"{fault}; expected at most {self.limits.ratio} times as much", trusted(setting), 0)


def remote_name(url: str) -> PurePosixPath:
    """The path within an address.

    >>> remote_name("s3://bucket/a.jsonl")
    PurePosixPath('bucket/a.jsonl')
    """
    scheme, _, path = url.partition("://")
    return PurePosixPath(re.split("[?#]", path, maxsplit=1)[0] if scheme in ("http", "https") else path)


def trusted(setting: str) -> str:
    """The hint of an error about a file that grows too much, with a limit that lets it pass.

    >>> trusted("file=1TB")
    'if the file is to be trusted, set the variable MOMUS_LIMITS to file=1TB, say'
    """
    return f"if the file is to be trusted, set the variable {VARIABLE} to {setting}, say"


@dataclass(frozen=True, slots=True)
class Problem:
    """Takes the place of a record that cannot be read as a document; ``reason`` says why, in a few words."""

    reason: str


def shorten(text: str, width: int = 40) -> str:
    """Quote a text, cut after ``width`` characters.

    >>> shorten("a" * 99, 5)
    "'aaaaa…'"
    """
    return repr(text if len(text) <= width else text[:width] + "…")
