"""One file (or standard input) on its way into a corpus: how messages name it, and how far it has been read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from momus.errors import ReadingError


@dataclass
class Location:
    """A file that is being read.

    Parameters
    ----------
    path
        The file; None is standard input.
    label
        How messages name it.
    prefix
        What an id is made of where a record has none: ``prefix:position``, or the prefix alone for a whole file.
    unit
        What positions count: ``line``, ``item``, ``row``, ``paragraph``.
    position
        The record that was read last, from 1.

    >>> Location(None, "docs.jsonl", "docs", position=3).where()
    'docs.jsonl, line 3'
    """

    path: Path | None
    label: str
    prefix: str
    unit: str = "line"
    position: int = 0
    tell: Callable[[], int] = field(default=lambda: 0, repr=False)

    def where(self, position: int | None = None) -> str:
        """Name the record at this position (the last one read where it is left out)."""
        number = self.position if position is None else position
        return f"{self.label}, {self.unit} {number}" if number else self.label

    def error(self, message: str, hint: str = "", position: int | None = None) -> ReadingError:
        """Make an error about the file (position 0) or one of its records."""
        return ReadingError(f"{self.where(position)}: {message}", hint)


@dataclass(frozen=True, slots=True)
class Problem:
    """In place of a record: the short reason why it cannot be read as a document."""

    reason: str


def shorten(text: str, width: int = 40) -> str:
    """Quote the beginning of a text.

    >>> shorten("a" * 99, 5)
    "'aaaaa…'"
    """
    return repr(text if len(text) <= width else text[:width] + "…")
