"""What a user names as a text: its reader, its files, each with its format if that is settled, and its fields."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from momus.arguments import arg
from momus.errors import UsageError
from momus.ownership import kind_of
from momus.plugins import READERS, load_plugin, registered
from momus.reading.folders import Listed, datasets_files, folder_format, listing_of, log_files, members
from momus.reading.formats import format_named
from momus.reading.location import Location, remote_name
from momus.reading.logs import LogReader, reader_of
from momus.reading.remote import is_address
from momus.reading.sniffing import split_name
from momus.redact import redacted

PREFIX = re.compile(r"(?:[^=:/\\]*=)?([A-Za-z][\w-]+):(?!//)(.+)", re.DOTALL)
"""The reader and the rest; a name before ``=`` says nothing more, since the option already names the text."""


@dataclass(frozen=True)
class Source:
    """A text as a user names it: the reader, the path or address, and what follows ``#``.

    >>> Source.parse("lm-eval:samples.jsonl#target")
    Source(reader='lm-eval', path='samples.jsonl', fragment='target')
    >>> Source.parse("trl:completions.parquet").path  # a format of the table, which its records tell
    'completions.parquet'
    >>> Source.parse("docs.jsonl#body")
    Source(reader=None, path='docs.jsonl', fragment='body')
    >>> Source.parse("s3://bucket/x.parquet").reader is None
    True
    """

    reader: str | None
    path: str
    fragment: str | None

    @classmethod
    def parse(cls, text: str, recognise: bool = True) -> Source:
        """Take the name of a text apart; whatever exists under the whole name is a file.

        A folder of logs gets the reader that knows them, unless ``recognise`` is false, as where a format is given.

        Raises
        ------
        PluginError
            The name begins with that of a reader which is not registered.
        """
        if os.path.lexists(text):
            return cls(reader_of(Path(text)) if recognise else None, text, None)
        reader, match = None, PREFIX.fullmatch(text)
        if match is not None and not os.path.lexists(text.rpartition("#")[0]):
            known = registered(READERS)
            format = format_named(match[1])
            if match[1] not in known and format is None:
                load_plugin(READERS, match[1])  # an error that names those that there are
            reader, text = None if format is not None else match[1], match[2]
        head, mark, tail = text.rpartition("#")
        if not mark or not head or not tail or (not is_address(text) and os.path.lexists(text)):
            return cls(reader, text, None)
        if reader is None and recognise and not is_address(head):
            reader = reader_of(Path(head))
        return cls(reader, head, tail)


def field_of(source: Source, field: str | None) -> tuple[str | None, str | None]:
    """The field that holds the text, and the list that has it.

    What a path names after ``#`` is the field; with another field beside it, a list of objects that have this field.

    Raises
    ------
    UsageError
        Two fields of a log are named.
    """
    if source.fragment is None or field in (None, source.fragment):
        return field if source.fragment is None else source.fragment, None
    if source.reader is not None:
        raise UsageError(
            f"two fields for {redacted(source.path)}: {source.fragment!r} after # and {field!r}",
            hint=f"give one of them; {arg('field')} can also name a field for each text",
        )
    return field, source.fragment


def top_of(source: Source) -> Location:
    """The place that a text is read from: a file, a folder, a pattern, an address, or standard input."""
    if is_address(source.path):
        stem = split_name(remote_name(source.path.rstrip("/")))[0]
        return Location(None, redacted(source.path), stem, url=source.path)
    if source.path == "-":
        return Location(None, "standard input", "stdin")
    path = Path(source.path)
    return Location(path, source.path, split_name(path.resolve() if path.name in ("", "..") else path)[0])


def log_locations(top: Location, reader: LogReader) -> Listed:
    """List the logs to read: one file, or those of a folder or pattern that the reader knows by their names."""
    if top.stdin:
        raise top.error("a log is not read from standard input", "write it to a file, and give that", 0)
    listing = listing_of(top)
    if listing is None:
        return Listed([(top, None)])
    return members(listing, None) if listing.pattern and top.url is None else log_files(listing, reader.patterns())


def locations(top: Location, fmt: str | None, include: Sequence[str]) -> Listed:
    """List the files to read, each with its format if that is settled.

    Raises
    ------
    ReadingError
        The folder is a run, a fitted critic or the like, which holds no texts to read.
    """
    kind = kind_of(top.path) if top.path is not None else None
    if kind is not None:
        raise top.error(
            f"this is a folder of Momus ({kind.name}), expected texts", "name a file or a folder of texts", 0
        )
    if top.path is not None and fmt in (None, "datasets") and folder_format(top.path) == "datasets":
        return Listed([(Location(path, str(path), top.prefix), "arrow") for path in datasets_files(top, top.path)])
    if (listing := listing_of(top)) is not None:
        return members(listing, fmt, include)
    if fmt in ("folder", "datasets"):
        top.path.stat() if top.path else None
        raise top.error(f"this is not a folder, which the format {fmt!r} needs", "omit the format", 0)
    if top.stdin and fmt == "arrow":
        raise top.error("Arrow data cannot be read from a pipe", "write the data to a file, and give that", 0)
    return Listed([(top, fmt)])
