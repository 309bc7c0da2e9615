"""Where texts are read from: on disk, at addresses, or from standard input; names in messages, the position reached.

``fsspec`` does the transport to addresses such as ``s3://bucket/x.parquet``, ``hf://datasets/owner/name`` and ``https://…``;
credentials are those that its file systems find in the environment, and they are never part of a message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import has_magic
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from momus.arguments import arg
from momus.errors import MissingExtraError, MomusError, ReadingError, UsageError
from momus.limits import VARIABLE, Limits, size_text
from momus.redact import redacted
from momus.version import extra


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

    >>> Location(None, "docs.jsonl", "docs").where(3)
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

    def where(self, position: int) -> str:
        """Name the record at a position; the file for 0."""
        return f"{self.label}, {self.unit} {position}" if position else self.label

    def error(self, message: str, hint: str = "", position: int = 0) -> ReadingError:
        """Make an error about the file, or the record at a position."""
        return ReadingError(f"{self.where(position)}: {message}", hint)

    def changed(self) -> ReadingError:
        """Make the error for a file that was written to meanwhile."""
        return self.error("the file was changed while it was read", "start the run again when it is whole")

    def too_long(self, what: str, position: int = 0, hint: str = "") -> ReadingError:
        """Make the error for a document that is larger than the limit."""
        limit = size_text(self.limits.document)
        return self.error(
            f"{what} is longer than {limit}, the most that one document may have",
            hint or f"split the document, or allow more with {arg('limits')}",
            position,
        )

    def too_packed(self, fault: str, setting: str) -> ReadingError:
        """Make the error for data that grow more than the limit; the hint names a setting that lets them pass."""
        return self.error(f"{fault}; expected at most {self.limits.ratio} times as much", trusted(setting))


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


ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
WEB = ("http", "https")
DENIED = ("Credential", "401", "403", "Forbidden", "Unauthorized")
"""Words of errors of transports that let nobody in."""
CREDENTIALS = {
    "hf": "set HF_TOKEN to a token that may read it",
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS to a key file",
}
"""Where transports look for credentials."""


def is_address(path: str) -> bool:
    r"""Whether a path is an address.

    >>> is_address("s3://bucket/x.parquet"), is_address("C:\\x.parquet"), is_address("data/x.parquet")
    (True, False, False)
    """
    return ADDRESS.match(path) is not None


def open_remote(location: Location) -> Any:
    """Open the file at the address of a location, as a raw stream; whoever reads it words its errors (`worded`).

    Raises
    ------
    ReadingError
        There is none, or the server does not answer, or refuses.
    MissingExtraError
        The package for this kind of address is not installed.
    UsageError
        The address is a chain of addresses, or of no known kind.
    """
    with _reached(location) as (system, path):
        stream = system.open(path, "rb")  # `fsspec.open` would expand the ? of a query as a pattern
    size = getattr(stream, "size", None)
    location.size = size if isinstance(size, int) else None
    return stream


def list_remote(top: Location) -> list[PurePosixPath] | None:
    """The files of a remote folder or pattern, as paths within it; None if the address is that of one file.

    Addresses of the web name single files: a web server lists no folders.
    """
    assert top.url is not None
    if top.url.partition("://")[0].lower() in WEB:
        return None
    with _reached(top) as (system, path):
        if has_magic(path) and not system.exists(path):
            base, names = base_of(path), [n for n in system.glob(path) if not system.isdir(n)]
        elif system.isdir(path):
            base, names = path, system.find(path)
        else:
            return None
    return sorted(PurePosixPath(str(name).removeprefix(base).lstrip("/")) for name in names)


def base_of(place: str) -> str:
    """A folder or its address with a slash at its end; of a pattern, the part before its first magic character.

    >>> base_of("s3://bucket/a*/b.jsonl"), base_of("s3://bucket/data"), base_of("a*")
    ('s3://bucket/', 's3://bucket/data/', '')
    """
    head, *magic = re.split(r"[*?\[]", place, maxsplit=1)
    return head[: head.rfind("/") + 1] if magic else f"{place.rstrip('/')}/"


@contextmanager
def _reached(location: Location) -> Iterator[tuple[Any, str]]:
    """The file system of an address, and the path within it."""
    if "::" in (location.url or ""):  # the members of archives would be decompressed without limits
        raise UsageError(f"{location.label}: this is a chain of addresses", hint="unpack the archive, and give a file")
    try:
        from fsspec.core import url_to_fs

        yield url_to_fs(location.url)
    except Exception as error:  # each transport has errors of its kind
        raise worded(location, error) from None


def worded(location: Location, error: Exception) -> MomusError:
    """Whatever a transport raises as an error about the address, without secrets."""
    scheme = (location.url or "").partition("://")[0]
    if isinstance(error, MomusError):
        return error
    if isinstance(error, ImportError):
        package = (error.name or "").partition(".")[0] or str(error)
        fault = f"addresses that begin with {scheme}:// need a package that is not installed ({package})"
        return MissingExtraError(f"{location.label}: {fault}", extra("remote"))
    if isinstance(error, ValueError) and "Protocol not known" in str(error):
        return UsageError(
            f"{location.label}: {scheme}:// is no kind of address that can be read",
            hint="use https://, s3://, gs://, hf://datasets/OWNER/NAME, or a path",
        )
    status = getattr(error.__cause__, "status", None)  # of the web, where any answer but 200 is a missing file
    reason = (str(error).splitlines() or [""])[0].strip()
    fault = redacted(f"{type(error).__name__}: {reason}"[:300]) if status is None else f"status {status}"
    if isinstance(error, PermissionError) or any(word in fault for word in DENIED):
        return location.error(f"access is denied ({fault})", CREDENTIALS.get(scheme, "fetch the file yourself"))
    if "404" in fault or (isinstance(error, FileNotFoundError) and status is None):
        return location.error("there is no such file or folder at this address", "check the address")
    hint = "check the address and the connection, and try again"
    return location.error(f"the file cannot be fetched ({fault})", hint)
