"""Gather the records of files as the rows of a corpus, and remember where each came from."""

from __future__ import annotations

import json
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from momus.arguments import arg
from momus.errors import MomusError, ReadingError, UsageError
from momus.limits import Limits
from momus.progress import Advance
from momus.reading.building import Builder
from momus.reading.checking import FieldsSeen, TwoTextsError
from momus.reading.encoding import refuse_others
from momus.reading.files import DAMAGED, OpenedFile, guarded, open_file, open_lines
from momus.reading.formats import Format, Threads, value_at, wrapped
from momus.reading.location import Location, is_address, shorten
from momus.reading.logs import Log, LogReader, qualified
from momus.reading.messages import said
from momus.reading.options import ReadingOptions
from momus.reading.paths import PARTS, Where, as_string
from momus.reading.recognised import PLAIN, SAMPLE, asked_by, packed, recognised
from momus.reading.records import Row, Shaper, shortened
from momus.reading.streams import TEXTUAL, file_format, records_in
from momus.redact import redacted, redacted_value
from momus.text.corpus import Corpus
from momus.text.documents import Answers, Origin

LONGEST = 1000
"""Characters of a value of a log's provenance, as JSON; longer ones are shortened."""
NO_TEXT = "they hold no text (calls of tools, reasoning)"
Records = Iterator[tuple[int, object]]
"""Positions and values of records."""


class Rows(Builder):
    """Reads files into record batches, and remembers where each row came from.

    Parameters
    ----------
    options
        Those `ReadingOptions.of_text`.
    advance
        Called after each batch with the percentage of ``total`` that was read: bytes of the files as they are stored.
    """

    def __init__(self, options: ReadingOptions, advance: Advance | None = None, total: int = 0) -> None:
        super().__init__()
        named = options.for_text(None)
        self.limits = options.limits or Limits.current()
        self.field = named["field"]
        self.shaper = Shaper(tuple(options.keep), turns=options.turns, prompt=named["prompt"])
        self.where = None if named["where"] is None else Where(named["where"])
        self.formats: dict[str, tuple[Format, bool]] = {}  # how records are read, by name; whether chats are unpacked
        self.models: Counter[str] = Counter()  # number of answers of each model, where records say whose they are
        self.writers: dict[str, None] = {}  # the paths that say it
        self.abouts: list[Mapping[str, object]] = []  # what each log says about itself
        self.left_out: Counter[str] = Counter()  # rows of logs that are no documents, by reason
        self.encoding, self.skip, self.advance = options.encoding, options.skip_bad_lines, advance
        self.problems: Counter[str] = Counter()
        self.lists: Counter[str] = Counter()  # records with a list of answers, by field
        self.listed: Counter[str] = Counter()  # the answers in them
        self.looked = FieldsSeen()  # what the first records hold
        self.filled = False  # whether a document holds text
        self.positions = array("q")
        self.values: list[object] | None = None  # on request, the record of each row
        self.starts: list[tuple[int, Location]] = []  # the first row of each file
        self.total, self.bytes_before, self.rows_before = total, 0, 0

    def read(self, location: Location, kind: str | None, alone: bool, reader: LogReader | None = None) -> None:
        """Read one file into the builder, a log by its reader; an empty file is an error if it is the only one."""
        # files of one prefix are parts of one data set: the rows of a part are numbered after those of the part before
        continues = bool(self.starts) and location.prefix == self.starts[-1][1].prefix
        self.rows_before = self.rows if continues else 0
        self.starts.append((self.rows, location))
        location.limits = self.limits
        with guarded(location):
            size = size_of(location)
            if reader is not None:
                self._add_all(location, self._log(location, reader, alone), "text", size)
            else:
                by_lines = location.part is not None and kind in ("jsonl", "lines")
                with open_lines(location) if by_lines else open_file(location) as file:
                    if alone and not file.head:
                        raise location.error("the file is empty", "give a file that holds documents")
                    self._add_all(location, *self._records(location, file, kind), size)
            self.bytes_before += size or 0
        self._tell(0)

    def _tell(self, read: int) -> None:
        """Say how much was read, with so many bytes of the present file."""
        if self.advance is not None and self.total:
            self.advance(round(100 * (self.bytes_before + read) / self.total))

    def _log(self, location: Location, reader: LogReader, alone: bool) -> Records:
        """Yield the records of a log; beside others, its ids begin with the name of its task.

        Raises
        ------
        ReadingError
            The log cannot be read; also where the reader, which may be anybody's, fails in another way.
        """
        try:
            log = reader.read(Log(location, self.encoding, self.skip), self.field)
            for position, record in log.records:
                if self.looked.records < SAMPLE and isinstance(record, Mapping):
                    self.looked.add(record)
                if self._meets(record):
                    yield position, qualified(record, log.task) if log.task and not alone else record
        except (MomusError, OSError, EOFError, pa.ArrowException, *DAMAGED):
            raise
        except Exception as error:  # readers are plug-ins, and logs of other versions break them in any way
            reason = shorten(f"{type(error).__name__}: {error}".splitlines()[0], 300)
            raise location.error(
                f"the reader {reader.name!r} cannot read this as {reader.title} ({reason})",
                "the log may be of another version, damaged, or of another tool",
            ) from error
        self.abouts.append(log.about)
        self.left_out.update(log.left_out)

    def _origin(self, source: str, reader: str | None) -> Origin | None:
        """Where the rows come from; None for plain files of which nothing was set apart."""
        if reader is None and not self.shaper.set_apart and not is_address(source) and not self.read_as:
            return None
        distinct = [redacted_value(json.loads(about)) for about in dict.fromkeys(map(as_string, self.abouts))]
        logs = [
            {k: v if len(as_string(v)) <= LONGEST else shortened(v) for k, v in about.items()} for about in distinct
        ]
        return Origin(redacted(source), reader, logs, dict(self.left_out), dict(self.shaper.set_apart), self.read_as)

    @property
    def read_as(self) -> str:
        """The formats that records were recognised by; empty without one."""
        return ", ".join(known.title for known, _ in self.formats.values() if known.title)

    def take(self, location: Location, records: Iterable[object]) -> None:
        """Add records that are in memory already."""
        self.limits = replace(self.limits, document=sys.maxsize)  # it is in memory, whatever its size
        self.starts.append((self.rows, location))
        self._add_all(location, *self._told(location, enumerate(records, 1), self.field), None)

    @property
    def needed(self) -> tuple[str, ...]:
        """Paths that rows need beside the text and the labels."""
        prompt = () if self.shaper.prompt is None else (self.shaper.prompt,)
        return (*self.shaper.keep, *prompt, *(() if self.where is None else self.where.names))

    def _add_all(self, location: Location, records: Records, field: str | None, size: int | None) -> None:
        """Add the rows of all records of a file of this size, whose text is in a field."""
        for position, value in records:
            location.position = position
            for row in self.shaper.rows(value, field):
                if self.values is not None:
                    self.values.append(value)
                if self._add(location, position, row):
                    self._tell(min(location.tell(), size or 0))

    def _add(self, location: Location, position: int, row: Row) -> bool:
        """Add a row; True if it completes a batch."""
        if row.problem is not None:
            self.problems[row.problem] += 1
        characters = sum(map(len, row.texts))
        self.filled = self.filled or characters > 0
        if characters > self.limits.document:
            raise location.too_long("the document", position)
        self.positions.append(position)
        id = row.id or self._default_id(location, position)
        if row.answer:
            id, row = self._answer(row, id, self._default_id(location, position))
        return self.add(id, row, characters)

    def _default_id(self, location: Location, position: int) -> str:
        return f"{location.prefix}:{position + self.rows_before}" if position else location.prefix

    def _answer(self, row: Row, id: str, default_id: str) -> tuple[str, Row]:
        """Give one of several answers its id, and the prompt that it shares with the others of its record."""
        self.lists[row.source] += row.answer == 1
        self.listed[row.source] += 1
        # without a prompt, the record stands for it, named so that no record of another file has the same name
        prompt = row.prompt or (default_id if row.id is None else f"{default_id} {row.id}")
        return f"{id}#{row.answer}", replace(row, prompt=prompt)

    def _records(self, location: Location, file: OpenedFile, kind: str | None) -> tuple[Records, str | None]:
        """The records of a file, and the field of their text; ``kind`` is its format if that is settled."""
        if kind is None:
            refuse_others(location, file.head)
            kind = file_format(location, file.head)
        plain = kind in (*TEXTUAL, "markup")
        read = records_in(location, file, kind, self.encoding, self.skip, self.field, self.needed)
        if plain and self.field is not None:
            raise location.error(f"plain text has no field {self.field!r}", "omit the field")
        return read if plain else self._told(location, *read)

    def _told(self, location: Location, records: Records, field: str | None) -> tuple[Records, str | None]:
        """The records that count, as their format has them, which the first of them tell; and the field of the text."""
        if self.where is not None:
            records = filter(lambda record: self._meets(record[1]), records)
        first: list[tuple[int, object]] = []
        for location.position, value in islice(records, SAMPLE):
            first.append((location.position, value))
        rest, values = chain(first, records), [value for _, value in first]
        for value in values if not self.looked.records else ():
            if isinstance(value, Mapping):
                self.looked.add(value)
        known = recognised(values)
        if known is not None and known.sides and field is None:
            raise TwoTextsError(location, known)
        if field is not None and known is not None and not known.name and field.rpartition(".")[2] in PARTS:
            known = None  # works of several hands are one text where their parts are asked for
        if field is not None and known is None and self.shaper.prompt is None:
            known = asked_by(values, field)
        paths = () if known is None else known.sides.get(field or "", known.answer if field is None else (field,))
        unpack = any(packed(values, path) for path in (paths or (field,)) if path is not None)
        if known is None and not unpack:
            return rest, field
        known = known or PLAIN
        known, unpack = self.formats.setdefault(known.name, (known, unpack))  # the same in all files of a text
        shapes = unpack or field in known.sides or (field is None and bool(known.answer))
        return self._shaped(rest, known, field, unpack), "text" if shapes else field

    def _shaped(self, records: Records, known: Format, field: str | None, within: bool) -> Records:
        """The records that are answers, as their format shapes them."""
        threads = Threads(known) if known.thread else None
        first = None
        for number, value in records:
            record = wrapped(value)
            if not isinstance(record, Mapping):
                yield number, value
                continue
            if threads is not None:
                threads.add(record)
            shared = value_at(record, known.alike)
            first = shared if first is None else first
            if not known.counts(record) or shared != first:
                self.left_out[known.other] += 1
                continue
            shaped = known.record(record, field, self.shaper.turns, within)
            if threads is not None:
                prompt = threads.prompt()
                shaped["prompt_id"] = prompt if prompt is not None else shaped.get("prompt_id")
                if isinstance(shaped.get("text"), list) and not any(map(said, shaped["text"])):
                    self.left_out[NO_TEXT] += 1
                    continue
            path, models = known.who(record)
            self.writers |= dict.fromkeys([path] * bool(models))
            self.models.update(models)
            yield number, shaped

    def _meets(self, record: object) -> bool:
        """Whether a record meets the condition; those that do not are counted."""
        if self.where is None or self.where(record):
            return True
        self.left_out[f"they do not meet {arg('where', self.where.text)}"] += 1
        return False

    def corpus(self, name: str, source: str | None = None, reader: str | None = None) -> Corpus:
        """The corpus of all rows; of a whole source, with where these come from.

        Raises
        ------
        ReadingError
            An id occurs twice.
        """
        table = self.finish()
        try:
            corpus = Corpus(table, name)
        except UsageError:
            raise self._duplicate_id(table) from None
        if source is not None:
            corpus.answers = tuple(Answers(f, records, self.listed[f]) for f, records in self.lists.items())
            corpus.origin = self._origin(source, reader)
        return corpus

    def _duplicate_id(self, table: pa.Table) -> ReadingError:
        """Make the error for an id that occurs twice, with both positions."""
        counts = pc.value_counts(table["id"])
        duplicates = counts.filter(pc.greater(counts.field("counts"), 1))
        id = duplicates[0]["values"].as_py()
        rows = np.flatnonzero(pc.equal(table["id"], id).to_numpy())
        places = [next(at for start, at in reversed(self.starts) if start <= row) for row in rows[:2]]
        first, second = (at.where(self.positions[row]) for at, row in zip(places, rows, strict=False))
        more = f"; {len(duplicates) - 1:,} other ids also occur more than once" if len(duplicates) > 1 else ""
        return ReadingError(
            f"{second}: the id {id!r} is already used in {first}{more}",
            "give each document a unique id, or omit the ids to have them made from line numbers",
        )


def size_of(location: Location) -> int | None:
    """Bytes of a file; None for standard input, pipes, and addresses."""
    return location.path.stat().st_size if location.path and location.path.is_file() else None
