"""Readers of logs, looked up by name: ``lm-eval:samples.jsonl`` is read by the reader ``lm-eval``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch

from momus.errors import PluginError
from momus.plugins import READERS, load_plugin, registered
from momus.reading.logs import LogReader
from momus.reading.remote import is_address

PREFIX = re.compile(r"(?:[^=:/\\]*=)?([A-Za-z][\w-]+):(?!//)(.+)", re.DOTALL)
"""The reader and the rest; a name before ``=`` says nothing more, since the option already names the text."""


@dataclass(frozen=True)
class Source:
    """A text as a user names it: the reader, the path or address, and what follows ``#``.

    >>> Source.parse("lm-eval:samples.jsonl#target")
    Source(reader='lm-eval', path='samples.jsonl', part='target')
    >>> Source.parse("s3://bucket/x.parquet"), Source.parse("docs.jsonl#body")
    (Source(reader=None, path='s3://bucket/x.parquet', part=None), Source(reader=None, path='docs.jsonl', part='body'))
    """

    reader: str | None
    path: str
    part: str | None

    @classmethod
    def parse(cls, text: str) -> Source:
        """Take the name of a text apart; whatever exists under the whole name is a file.

        Raises
        ------
        PluginError
            The name begins with that of a reader which is not registered.
        """
        if os.path.lexists(text):
            return cls(None, text, None)
        reader, match = None, PREFIX.fullmatch(text)
        if match is not None and not os.path.lexists(text.rpartition("#")[0]):
            known = registered(READERS)
            if match[1] not in known:
                load_plugin(READERS, match[1])  # an error that names those that there are
            reader, text = match[1], match[2]
        head, mark, tail = text.rpartition("#")
        if not mark or not head or not tail or (not is_address(text) and os.path.lexists(text)):
            return cls(reader, text, None)
        return cls(reader, head, tail)


def log_reader(name: str) -> LogReader:
    """Look up a reader, and check that it is one.

    Raises
    ------
    PluginError
        There is none of this name, its import fails, or it is something else.
    """
    cls = load_plugin(READERS, name)
    if not (isinstance(cls, type) and issubclass(cls, LogReader)):
        raise PluginError(
            f"plug-in {name!r} is {cls!r}, not a subclass of momus.reading.LogReader", hint="correct its entry point"
        )
    return cls()


def _readers() -> Iterator[LogReader]:
    """All readers that can be imported."""
    for name in registered(READERS):
        with suppress(PluginError):
            yield log_reader(name)


def advice(name: str, record: object = None) -> str:
    """Name the reader that a file seems to be for, by its name or a record in it; empty if none is likely.

    The more fields a reader knows the record by, the likelier it is.
    """
    fields = frozenset(record) if isinstance(record, Mapping) else frozenset()
    likely = [r for r in _readers() if (r.signs and r.signs <= fields) or fnmatch(name, r.pattern)]
    if not likely:
        return ""
    best = max(likely, key=lambda r: len(r.signs) if r.signs <= fields else 0)
    return f"these look like {best.title}: read them with {best.name}:PATH; otherwise "
