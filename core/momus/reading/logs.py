"""What readers of logs are made of: `LogReader`, the `Log` that it reads, and the `LogRecords` that it returns.

A reader is a plug-in of the group ``momus.readers``: it knows where a harness keeps texts, references, ids and
settings. Opening, limits, encodings, damaged files and rows are the business of `momus.reading`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import ClassVar

from momus.errors import MomusError, PluginError, ReadingError
from momus.limits import size_text
from momus.outputs import open_temporary, replacing
from momus.plugins import READERS, load_plugin, registered
from momus.reading.files import guarded, open_file
from momus.reading.location import Location
from momus.reading.streams import records_in

__all__ = ["Log", "LogReader", "LogRecords"]

RECORDS = (".jsonl", ".json", ".parquet")
"""Endings of files that may hold anything: the fields of a log say that it is one."""


@dataclass
class LogRecords:
    """The records of a log, and what it says about itself.

    Attributes
    ----------
    records
        Position and record of each answer. A record is a dict with ``id``, ``prompt_id`` and ``text`` (a string, a list
        of answers, chat messages, or whatever the log holds instead, which becomes a problem of that row), and any
        other fields, which ``--keep`` can name. A `momus.reading.location.Problem` stands for an unreadable record.
    about
        Provenance: model, task, settings of generation, versions; values are strings, numbers or dicts of them.
    task
        Name of the task, before the ids where one corpus is read from logs of several tasks.
    left_out
        Rows of the log that repeat others or hold no answer, counted by reason while the records are read.
    """

    records: Iterator[tuple[int, object]]
    about: Mapping[str, object] = field(default_factory=dict)
    task: str = ""
    left_out: Counter[str] = field(default_factory=Counter)


class LogReader(ABC):
    """Reads the logs of one harness.

    Attributes
    ----------
    name
        The name of its entry point, before the colon in ``lm-eval:samples.jsonl``.
    title
        What it reads, in a few words.
    pattern
        Files of a folder that are such logs, such as ``samples_*.jsonl``; of several patterns, a tuple.
    signs
        Fields that the records of such a log have, by which an error recognises a log without its reader's name.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    pattern: ClassVar[str | tuple[str, ...]]
    signs: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def patterns(cls) -> tuple[str, ...]:
        """The patterns of the names of such logs."""
        return (cls.pattern,) if isinstance(cls.pattern, str) else cls.pattern

    @classmethod
    def fits(cls, name: str) -> bool:
        """Whether a file of this name may be such a log."""
        return any(fnmatch(name, pattern) for pattern in cls.patterns())

    @abstractmethod
    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read a log; ``field`` chooses what counts as the text (None: what the model wrote)."""


class Log:
    """A log file, local or remote, and the ways to read it within the limits."""

    def __init__(self, location: Location, encoding: str = "utf-8", skip: bool = False) -> None:
        self.location, self._encoding, self._skip = location, encoding, skip

    @property
    def file_name(self) -> str:
        """The name of the file, without folders."""
        return self.location.name.name if self.location.name is not None else ""

    def json_lines(self) -> Iterator[tuple[int, object]]:
        """Yield (line number, value or `Problem`) of JSON Lines."""
        with open_file(self.location) as file:
            yield from records_in(self.location, file, "jsonl", self._encoding, self._skip)[0]

    def json(self) -> object:
        """Return the one JSON value of the file.

        Raises
        ------
        ReadingError
            The file is larger than the limit of one JSON document, or is not JSON.
        """
        limit = self.location.limits.value
        with open_file(self.location) as file:
            data = file.content.read(limit + 1)
        if len(data) > limit:
            raise self.location.too_long(f"the JSON document (the most is {size_text(limit)} as a whole)")
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self.error(f"not valid JSON ({error})", "the file may be cut off: write or fetch it again") from None

    def about(self, name: str) -> Mapping[str, object]:
        """The JSON object in another file of the same folder; empty if it is unusable.

        Settings beside a log are provenance: the log can be read without them.
        """
        place = self.location
        if place.stdin:
            return {}
        path = place.path.parent / name if place.path is not None else None
        url = f"{place.url.rpartition('/')[0]}/{name}" if place.url is not None else None
        other = Location(path, f"{name} beside {place.label}", "", limits=place.limits, url=url)
        with suppress(MomusError), guarded(other):
            value = Log(other, self._encoding).json()
            return value if isinstance(value, Mapping) else {}
        return {}

    @contextmanager
    def local(self) -> Iterator[Path]:
        """The path of the log on this machine; a remote log is copied to a temporary folder first."""
        if self.location.path is not None:
            with open_file(self.location):  # a missing file, a pipe or a folder is an error in words
                pass
            yield self.location.path
            return
        with tempfile.TemporaryDirectory(prefix="momus-") as folder:
            path = Path(folder) / (self.file_name or "log")
            with open_file(self.location) as file, replacing(path) as temporary, open_temporary(temporary) as copy:
                shutil.copyfileobj(file.content, copy, 1 << 20)
            yield path

    def error(self, message: str, hint: str = "") -> ReadingError:
        """Make an error about the log as a whole."""
        return self.location.error(message, hint)


def qualified(record: object, task: str) -> object:
    """Put the name of the task before the ids of a record, and into the field ``task`` unless it has one.

    >>> qualified({"id": "3", "prompt_id": "3", "text": "x"}, "qa")
    {'task': 'qa', 'id': 'qa/3', 'prompt_id': 'qa/3', 'text': 'x'}
    """
    if not isinstance(record, Mapping):
        return record
    named = {k: f"{task}/{record[k]}" for k in ("id", "prompt_id") if record.get(k) is not None}
    return {"task": task, **record, **named}


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


def reader_of(place: Path) -> str | None:
    """Name the reader whose logs a folder holds, or whose log a file of no other format is; None if there is none.

    The first file whose name fits says it: a log has the fields that its reader knows it by, or an ending that no other
    format has.
    """
    if place.is_dir():
        files = sorted(Path(parent, name) for parent, _, names in os.walk(place) for name in names)
    else:
        files = [place] if place.suffix not in RECORDS and place.is_file() else []
    if not files:
        return None
    for reader in _readers():
        path = next((p for p in files if reader.fits(p.name)), None)
        if path is not None and (path.suffix not in RECORDS or frozenset() < reader.signs <= _fields(path)):
            return reader.name
    return None


def _fields(path: Path) -> frozenset[str]:
    """The fields of the first record of a file; none if it cannot be read."""
    log = Log(Location(path, str(path), ""))
    with suppress(MomusError, OSError):
        if path.suffix == ".json":
            record: object = log.json()
        else:
            _, record = next(log.json_lines(), (0, None))
        return frozenset(record) if isinstance(record, Mapping) else frozenset()
    return frozenset()


def likely_reader(record: Mapping[str, object] | None) -> LogReader | None:
    """The reader that knows a record by the most of its fields; None if none does."""
    likely = [reader for reader in _readers() if reader.signs and record is not None and reader.signs <= record.keys()]
    return max(likely, key=lambda reader: len(reader.signs), default=None)
