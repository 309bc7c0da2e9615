"""The file that is being read (or standard input): how messages name it, and the position reached in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from momus.errors import ReadingError
from momus.limits import VARIABLE, Limits, size_text


@dataclass
class Location:
    """A file that is being read, and the position reached in it.

    Parameters
    ----------
    path
        The file; None for standard input.
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

    def where(self, position: int | None = None) -> str:
        """Name the record at a position (default: the last one read)."""
        number = self.position if position is None else position
        return f"{self.label}, {self.unit} {number}" if number else self.label

    def error(self, message: str, hint: str = "", position: int | None = None) -> ReadingError:
        """Make an error about the file (position 0) or one of its records (default: the last one read)."""
        return ReadingError(f"{self.where(position)}: {message}", hint)

    def too_long(self, what: str, position: int | None = None, hint: str = "") -> ReadingError:
        """Make the error for a document that is larger than the limit."""
        limit = size_text(self.limits.document)
        return self.error(
            f"{what} is longer than {limit}, the most that one document may have",
            hint or "split the document, or allow more with --max-document, such as --max-document 1GB",
            position,
        )


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
