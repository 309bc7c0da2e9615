"""Gather the records of files as the rows of a corpus, and remember where each came from."""

from __future__ import annotations

import json
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from momus.arguments import arg
from momus.errors import MomusError, ReadingError, UsageError
from momus.limits import Limits
from momus.reading import jsonfiles, tables
from momus.reading.building import Builder
from momus.reading.encoding import by_line, by_paragraph, check_head, whole
from momus.reading.fields import LABELS, FieldsSeen, NoTextColumnError, field_hint
from momus.reading.files import DAMAGED, OpenedFile, guarded, open_file, open_lines
from momus.reading.formats import SAMPLE, Format, packed, recognised
from momus.reading.location import Location, shorten
from momus.reading.logs import Log, LogReader, qualified, refused
from momus.reading.markup import NO_HEADINGS, markup_record
from momus.reading.markup import SUFFIXES as MARKUP
from momus.reading.paths import Where, as_string, check_path
from momus.reading.recognised import Recognised
from momus.reading.records import Row, Shaper, shortened
from momus.reading.remote import is_address
from momus.reading.sniffing import PACKED, SUFFIXES, TABULAR, TEXTUAL, file_format, split_name
from momus.redact import redacted, redacted_value
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.documents import Answers, Origin

Progress = Callable[[int, int | None], None]
"""Called after each batch with the bytes read so far (of the files as stored on disk) and their total, which is None
for standard input and pipes."""

LEFT = "check the condition, or give a file that holds answers"
LONGEST = 1000
"""Characters of a value of a log's provenance, as JSON; longer ones are shortened."""
Records = Iterator[tuple[int, object, str | None]]


class Rows:
    """Reads files into a builder, and remembers where each row came from."""

    def __init__(
        self,
        builder: Builder,
        field: str | None,
        items: str | None,
        encoding: str,
        skip: bool,
        keep: tuple[str, ...],
        progress: Progress | None,
        total: int | None,
        limits: Limits | None = None,
        turns: str = "assistant",
        prompt: str | None = None,
        where: str | None = None,
    ) -> None:
        self.limits = limits or Limits.current()
        self.builder, self.field, self.items = builder, field, items
        self.shaper = Shaper(keep, turns=turns, prompt=prompt)
        self.where = None if where is None else Where(where)
        self.recognised: dict[str, Recognised] = {}  # how records are read, by the name of their format
        self.abouts: list[Mapping[str, object]] = []  # what each log says about itself
        self.left_out: Counter[str] = Counter()  # rows of logs that are no documents, by reason
        self.encoding, self.skip, self.progress = encoding, skip, progress
        self.problems: Counter[str] = Counter()
        self.lists: Counter[str] = Counter()  # records with a list of answers, by field
        self.listed: Counter[str] = Counter()  # the answers in them
        self.looked = FieldsSeen()  # what the first records hold
        self.filled = False  # whether a document holds text
        self.positions = array("q")
        self.starts: list[tuple[int, Location]] = []  # the first row of each file
        self.total, self.bytes_before, self.rows_before = total, 0, 0

    def read(self, location: Location, kind: str | None, alone: bool) -> None:
        """Read one file into the builder; an empty file is an error if it is the only one."""
        self._begin(location)
        with guarded(location):
            size = size_of(location)
            by_lines = location.part is not None and kind in ("jsonl", "lines")
            with open_lines(location) if by_lines else open_file(location) as file:
                if alone and not file.head:
                    raise location.error("the file is empty", "give a file that holds documents", 0)
                for position, value, field in self._records(location, file, kind):
                    location.position = position
                    self._add(location, position, value, field, size)
            self.bytes_before += size or 0
        self._report()

    def read_log(self, location: Location, reader: LogReader, alone: bool) -> None:
        """Read one log into the builder; beside others, its ids begin with the name of its task.

        Raises
        ------
        ReadingError
            The log cannot be read; also where the reader, which may be anybody's, fails in another way.
        """
        self._begin(location)
        with guarded(location):
            size = size_of(location)
            try:
                log = reader.read(Log(location, self.encoding, self.skip), self.field)
                for position, record in log.records:
                    if self.where is not None and not self.where(record):
                        self._leave_out(self.where)
                        continue
                    location.position = position
                    value = qualified(record, log.task) if log.task and not alone else record
                    self._add(location, position, value, "text", size)
            except (MomusError, OSError, EOFError, pa.ArrowException, *DAMAGED):
                raise
            except Exception as error:  # readers are plug-ins, and logs of other versions break them in any way
                reason = shorten(f"{type(error).__name__}: {error}".splitlines()[0], 300)
                raise location.error(
                    f"the reader {reader.name!r} cannot read this as {reader.title} ({reason})",
                    "the log may be of another version, damaged, or of another tool",
                    0,
                ) from error
            self.abouts.append(log.about)
            self.left_out.update(log.left_out)
            self.bytes_before += size or 0
        self._report()

    def _begin(self, location: Location) -> None:
        """Note where the rows of a file begin."""
        # files of one prefix are parts of one data set: the rows of a part are numbered after those of the part before
        continues = bool(self.starts) and location.prefix == self.starts[-1][1].prefix
        self.rows_before = self.builder.rows if continues else 0
        self.starts.append((self.builder.rows, location))
        location.limits = self.limits

    def _report(self) -> None:
        """Report the bytes that were read."""
        if self.progress is not None:
            self.progress(self.bytes_before, self.total)

    def origin(self, source: str, reader: str | None) -> Origin | None:
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
        return ", ".join(r.format.title for r in self.recognised.values() if r.format is not None)

    def take(self, location: Location, records: Iterable[object]) -> None:
        """Add records that are in memory already."""
        self.limits = replace(self.limits, document=sys.maxsize)  # it is in memory, whatever its size
        self.starts.append((self.builder.rows, location))
        for position, value, field in self._told(location, ((n, v, self.field) for n, v in enumerate(records, 1))):
            self._add(location, position, value, field, None)

    @property
    def needed(self) -> tuple[str, ...]:
        """Paths that rows need beside the text and the labels."""
        return (*self.shaper.needed, *(self.where.names if self.where is not None else ()))

    def _add(self, location: Location, position: int, value: object, field: str | None, size: int | None) -> None:
        default_id = f"{location.prefix}:{position + self.rows_before}" if position else location.prefix
        for row in self.shaper.rows(value, field):
            if row.problem is not None:
                self.problems[row.problem] += 1
            size_of_text = sum(map(len, row.texts))
            self.filled = self.filled or size_of_text > 0
            if size_of_text > self.limits.document:
                raise location.too_long("the document", position)
            self.positions.append(position)
            id = row.id or default_id
            if row.answer:
                id, row = self._answer(row, id, default_id)
            if self.builder.add(id, row) and self.progress is not None:
                self.progress(self.bytes_before + min(location.tell(), size or 0), self.total)

    def _answer(self, row: Row, id: str, default_id: str) -> tuple[str, Row]:
        """Give one of several answers its id, and the prompt that it shares with the others of its record."""
        self.lists[row.source] += row.answer == 1
        self.listed[row.source] += 1
        # without a prompt, the record stands for it, named so that no record of another file has the same name
        prompt = row.prompt or (default_id if row.id is None else f"{default_id} {row.id}")
        return f"{id}#{row.answer}", replace(row, prompt=prompt)

    def answers(self) -> tuple[Answers, ...]:
        """How many answers of how many records became documents."""
        return tuple(Answers(field, records, self.listed[field]) for field, records in self.lists.items())

    def _records(self, location: Location, file: OpenedFile, kind: str | None) -> Records:
        """Yield (position, value, field) from a file; ``kind`` is its format if that is settled."""
        field = self.field
        kind = kind or file_format(location, file.head)
        if self.items is not None and kind != "json":
            raise UsageError(
                f"two fields for {location.label}: {self.items!r} after # and {field!r}", hint="give one of them"
            )
        if kind in ("parquet", "arrow"):
            return self._told(location, self._table(location, file, kind))
        check_head(location, file.head, self.encoding)
        if kind == "json":
            records = jsonfiles.json_document(location, file, self.encoding, field, self.needed, self.items)
            return self._told(location, records)
        if kind in TEXTUAL:
            _refuse_table(location, kind)
        if kind in TABULAR:
            pairs = tables.table_rows(location, file, self.encoding, self.skip, kind)
        elif kind == "jsonl":
            pairs = jsonfiles.json_lines(location, file, self.encoding, self.skip)
        elif kind == "lines":
            pairs = by_line(location, file, self.encoding, self.skip)
        elif kind == "paragraphs":
            pairs = by_paragraph(location, file, self.encoding)
        elif kind == "markup":
            markup = markup_of(location)
            pairs = ((n, markup_record(str(text), markup)) for n, text in whole(location, file, self.encoding))
        else:
            pairs = whole(location, file, self.encoding)
        if kind in (*TEXTUAL, "markup") and field is not None:
            raise location.error(f"plain text has no field {field!r}", "omit the field", 0)
        if kind in (*TEXTUAL, "markup"):
            return ((n, value, field) for n, value in pairs)
        return self._told(location, ((n, value, field) for n, value in pairs))

    def _told(self, location: Location, records: Records) -> Records:
        """The records that count, as their format has them, which the first of them tell."""
        if self.where is not None:
            records = self._filtered(records, self.where)
        first, rest = ahead(records, SAMPLE)
        values = [value for _, value, _ in first]
        for value in values if not self.looked.records else ():
            if isinstance(value, Mapping):
                self.looked.add(value)
        known = None if self.items is not None else recognised(values)
        field = self.field
        if known is not None and known.sides and field is None:
            raise _two_texts(location, known)
        unpack = field is not None and (known is None or field not in known.sides) and packed(values, field)
        if known is None and not unpack:
            return rest
        name = known.name if known is not None else ""
        shaped = self.recognised.setdefault(name, Recognised(known, field, self.shaper.turns, unpack))
        return shaped.records(rest, self.left_out)

    def _filtered(self, records: Records, where: Where) -> Records:
        for record in records:
            if where(record[1]):
                yield record
            else:
                self._leave_out(where)

    def _leave_out(self, where: Where) -> None:
        self.left_out[f"they do not meet {arg('where', where.text)}"] += 1

    def _table(self, location: Location, file: OpenedFile, kind: str) -> Records:
        """Yield the rows of a Parquet or Arrow file; the error for a log names its reader."""
        location.unit = "row"
        read = tables.parquet if kind == "parquet" else tables.arrow
        try:
            for number, value in read(location, file, self.field, self.needed):
                yield number, value, self.field
        except NoTextColumnError as error:
            name = location.name.name if location.name is not None else ""
            raise refused(error.message, error.hint or "", name, dict.fromkeys(error.columns)) from None

    def check(self, top: Location) -> None:
        """Raise an error if no record is a document."""
        rows = self.builder.rows
        if not rows:
            if self.left_out:
                reason, count = self.left_out.most_common(1)[0]
                raise top.error(f"no record is left to read: {count:,} are left out, {reason}", LEFT, 0)
            raise top.error("no documents found", "give a file that holds documents", 0)
        self.check_models(top)
        if self.problems.total() < rows:
            if not self.filled and rows > 1 and self.read_as:
                self._refuse_empty(top, rows)
            return
        reason, count = self.problems.most_common(1)[0]
        if reason == NO_HEADINGS:
            raise top.error(
                f"none of {counted(rows, 'document')} has headings" if rows > 1 else "the document has no headings",
                "headings are those of the markup (in Markdown, lines that begin with #); to read running text, pass "
                f"{arg('fmt', 'text')}",
                0,
            )
        if self.field is not None:
            check_path(self.field, "field")
        seen = self.shaper.fields_seen
        # of a log, the reader has put what it found under the names that every log has
        reserved = ("id", "prompt_id", "text") if self.abouts else ()
        types = ", ".join(f"{shorten(k)} ({v})" for k, v in seen.types.items() if k not in reserved)
        fields = f"; the fields are {types}" if types else ""
        if seen.records and not self.abouts:
            fields += f"; the first record is {shortened(self.shaper.first)}"
        tried = self.field or ("sections" if "sections" in seen.types else "text")
        texts = seen.with_text((*LABELS, *reserved, tried))
        hint = field_hint(texts, "no field holds text: give another file", seen)
        if self.abouts and texts:
            hint = "name another field after #, such as #" + " or #".join(texts[:4])
        unit, position = self.starts[0][1].unit, self.positions[0]
        start = f" (the first in {unit} {position})" if position else ""
        fault = f"none of the {rows:,} records is a document" if rows > 1 else "the only record is not a document"
        message = f"{top.label}: {fault}: {reason}{f' ({count:,} times)' if count > 1 else ''}{start}{fields}"
        raise ReadingError(message, hint) if self.abouts else refused(message, hint, "", self.shaper.first)

    def _refuse_empty(self, top: Location, rows: int) -> None:
        """Raise an error for texts that are all empty."""
        raise top.error(
            f"all {rows:,} documents are empty (read as {self.read_as})",
            f"the text may stand in another field: name it with {arg('field')}; of chats, {arg('turns', 'all')} reads "
            "all turns",
            0,
        )

    def check_models(self, top: Location) -> None:
        """Raise an error if the answers are of several models, unless these are kept as a field, or split by."""
        models = Counter[str]()
        paths: dict[str, None] = {}
        for known in (r for r in self.recognised.values() if r.format is not None):
            assert known.format is not None
            models.update(known.models)
            paths.update(dict.fromkeys(known.paths))
        if len(models) < 2 or any(path in self.shaper.keep for path in paths):
            return
        path = next(iter(paths))
        listed = ", ".join(f"{shorten(name)} ({count:,})" for name, count in models.most_common(4))
        more = f" and {len(models) - 4:,} more" if len(models) > 4 else ""
        title = f"this is {self.read_as}: " if self.read_as else ""
        raise top.error(
            f"{title}{path!r} names {len(models)} writers of these texts: {listed}{more}",
            f"compare them with {arg('split_by', path)}, read one of them with "
            f"{arg('where', f'{path}={models.most_common(1)[0][0]}')}, or all as one text with {arg('keep', [path])}",
            0,
        )

    def corpus(self, name: str) -> Corpus:
        """The corpus of all rows.

        Raises
        ------
        ReadingError
            An id occurs twice.
        """
        table = self.builder.finish()
        try:
            return Corpus(table, name)
        except UsageError:
            raise self._duplicate_id(table) from None

    def _duplicate_id(self, table: pa.Table) -> ReadingError:
        """Make the error for an id that occurs twice, with both positions."""
        counts = pc.value_counts(table["id"])
        duplicates = counts.filter(pc.greater(counts.field("counts"), 1))
        id = duplicates[0]["values"].as_py()
        rows = np.flatnonzero(pc.equal(table["id"], id).to_numpy())
        first, second = (self._where(int(row)) for row in rows[:2])
        more = f"; {len(duplicates) - 1:,} other ids also occur more than once" if len(duplicates) > 1 else ""
        return ReadingError(
            f"{second}: the id {id!r} is already used in {first}{more}",
            "give each document a unique id, or omit the ids to have them made from line numbers",
        )

    def _where(self, row: int) -> str:
        location = next(location for first, location in reversed(self.starts) if first <= row)
        return location.where(self.positions[row])


class TwoTextsError(ReadingError):
    """A file holds two texts of the same prompts, whose names are ``sides``."""

    def __init__(self, message: str, hint: str, sides: tuple[str, str]) -> None:
        super().__init__(message, hint)
        self.sides = sides


def _two_texts(location: Location, known: Format) -> TwoTextsError:
    """Make the error for a file with two texts of the same prompts."""
    first, second = known.sides
    return TwoTextsError(
        f"{location.label}: the file holds two texts, {first!r} and {second!r} ({known.title})",
        f"read one of them with {arg('field', first)} or {arg('field', second)}, or compare both in pairs with "
        f"{arg('pairs', location.label)} of momus compare",
        (first, second),
    )


def ahead(records: Records, count: int) -> tuple[list[tuple[int, object, str | None]], Records]:
    """The first records, and all of them; what reading ahead raises is raised once these were read."""
    first: list[tuple[int, object, str | None]] = []
    try:
        first.extend(islice(records, count))
    except Exception as error:  # whatever it is, it is said of the right record
        return first, _and_then(first, error)
    return first, chain(first, records)


def _and_then(first: Sequence[tuple[int, object, str | None]], error: Exception) -> Records:
    yield from first
    raise error


def size_of(location: Location) -> int | None:
    """Bytes of a file; None for standard input, pipes, and addresses."""
    return location.path.stat().st_size if location.path and location.path.is_file() else None


def markup_of(location: Location) -> str:
    """The markup of a file, by its name.

    Raises
    ------
    ReadingError
        The name does not say it.
    """
    suffix = split_name(location.name)[1] if location.name else ""
    if suffix not in MARKUP:
        raise location.error(
            f"the name does not say the markup (extension {suffix!r})",
            f"give the file an extension that does: {', '.join(MARKUP)}, also with {', '.join(PACKED)}",
            0,
        )
    return MARKUP[suffix]


def _refuse_table(location: Location, kind: str) -> None:
    """Refuse to read a table as plain text, which would make the column names and broken cells documents.

    Raises
    ------
    UsageError
        The name of the file is that of a table.
    """
    table = SUFFIXES.get(split_name(location.name)[1]) if location.name else None
    if table in TABULAR:
        raise UsageError(
            f"{location.label}: the name is that of a table, which {arg('fmt', kind)} would not take apart",
            hint=f"leave out {arg('fmt', kind)}; if the file is plain text after all, rename it to .txt",
        )
