"""Read any supported file or folder as a corpus."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from momus.errors import ReadingError, UsageError
from momus.reading import arrowfiles, jsonfiles, plain
from momus.reading.building import SPILL_BYTES, Builder
from momus.reading.encoding import check_head, codec
from momus.reading.files import OpenedFile, guarded, open_file
from momus.reading.folders import members
from momus.reading.location import Location
from momus.reading.records import Shaper
from momus.reading.sniffing import FORMATS, TEXTUAL, file_format, folder_format, split_name
from momus.text.corpus import Corpus

Progress = Callable[[int, int | None], None]
"""Called after each batch with the bytes read so far (of the files as stored on disk) and their total, which is None
for standard input and pipes."""

Records = Iterator[tuple[int, object, str | None]]


def read_corpus(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    field: str | None = None,
    fmt: str | None = None,
    skip_bad_lines: bool = False,
    encoding: str = "utf-8",
    keep: Sequence[str] = (),
    progress: Progress | None = None,
    spill: int = SPILL_BYTES,
) -> Corpus:
    r"""Read a file or a folder as a corpus, batch by batch.

    A record that is not a document keeps its row and its id, with the reason as its ``problem``. Documents without an
    id get ``stem:line`` (``stem:item`` in a JSON list, ``stem:row`` in Parquet); the id of a whole text file is
    ``stem``, or its path within the folder that is read.

    Parameters
    ----------
    path
        A file, a folder, ``-`` for standard input (JSON Lines), or ``FILE#FIELD`` to choose a field or a list.
    name
        Name of the corpus; default: the file name without extensions.
    field
        The field that holds the text, or a path to it such as ``result.text``. A list of strings is read as sections
        without titles. Default: ``sections``, then ``text``.
    fmt
        One of `momus.reading.FORMATS`; default: recognised by name and content.
    skip_bad_lines
        Keep lines that are not JSON or not UTF-8 as rows with a problem, instead of stopping at the first.
    encoding
        Encoding of text and JSON. A leading byte order mark is dropped.
    keep
        Metadata fields (or paths such as ``meta.topic``) to keep as `Corpus.field`; values that are not strings become
        compact JSON. Documents may lack them.
    progress
        Called after each batch; see `Progress`.
    spill
        Size in bytes above which the corpus goes to a temporary file that is mapped into memory.

    Raises
    ------
    ReadingError
        The file as a whole is unusable; the message says where and why, the hint what to do.
    UsageError
        The format or the encoding is unknown, or fields to keep are not a list of names.

    Notes
    -----
    Unpaired surrogates (``\ud800`` alone in JSON) become U+FFFD, and line ends of plain text become line feeds.
    """
    if fmt is not None and fmt not in FORMATS:
        raise UsageError(f"unknown format {fmt!r}", hint=f"use one of {', '.join(FORMATS)}")
    if isinstance(keep, str) or not all(isinstance(n, str) and n for n in keep):
        raise UsageError(f"keep is {keep!r}, expected a list of field names", hint='for example keep=["topic"]')
    file_path, field, selected = _select(os.fspath(path), field)
    stem = "stdin"
    if file_path:
        stem = split_name(file_path.resolve() if file_path.name in ("", "..") else file_path)[0]
    label = os.fspath(path).removesuffix(f"#{selected}") if selected else os.fspath(path)
    top = Location(file_path, "standard input" if file_path is None else label, stem)
    with guarded(top):
        locations = _locations(top, fmt)
        sizes = [_size(location) for location, _ in locations]
        total = None if None in sizes else sum(size or 0 for size in sizes)
    with Builder(spill) as builder:
        reading = _Reading(builder, field, codec(encoding), skip_bad_lines, tuple(keep), progress, total)
        for location, kind in locations:
            reading.read(location, kind, locations[0][0] is top)
        reading.check(top)
        table = builder.finish()
    try:
        return Corpus(table, name or (f"{stem}#{selected}" if selected else stem))
    except UsageError:
        raise reading.duplicate_id(table) from None


def sniff(path: str | os.PathLike[str]) -> str:
    r"""Recognise the format of a file or a folder: one of `momus.reading.FORMATS`.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "notes"
    >>> _ = file.write_text('{"text": "a"}\n{"text": "b"}\n')
    >>> sniff(file)
    'jsonl'
    """
    file_path = _select(os.fspath(path), None)[0]
    location = Location(file_path, os.fspath(path), "")
    with guarded(location):
        folder = folder_format(file_path) if file_path else None
        if folder:
            return folder
        with open_file(location) as file:
            return file_format(location, file.head)


def _select(path: str, field: str | None) -> tuple[Path | None, str | None, str | None]:
    """Split ``FILE#FIELD``: the file (None: standard input), the field, and the field again if the path names it."""
    head, mark, tail = path.rpartition("#")
    if not mark or not head or not tail or Path(path).exists():
        return (None if path == "-" else Path(path)), field, None
    if field is not None and field != tail:
        raise UsageError(f"two fields for {head}: {tail!r} after # and {field!r}", hint="give one of them")
    return (None if head == "-" else Path(head)), tail, tail


def _locations(top: Location, fmt: str | None) -> list[tuple[Location, str | None]]:
    """List the files to read, each with its format if that is settled."""
    folder = folder_format(top.path) if top.path else None
    if top.path is None or folder is None:
        if fmt in ("folder", "datasets"):
            top.path.stat() if top.path else None
            raise top.error(f"this is not a folder, which the format {fmt!r} needs", "omit the format", 0)
        if top.path is None and fmt == "arrow":
            raise top.error("Arrow data cannot be read from a pipe", "write the data to a file, and give that", 0)
        return [(top, fmt)]
    if folder == "datasets" and fmt in (None, "datasets"):
        paths = arrowfiles.datasets_files(top, top.path)
        return [(Location(path, str(path), top.prefix), "arrow") for path in paths]
    return members(top, top.path, None if fmt == "folder" else fmt)


def _size(location: Location) -> int | None:
    return location.path.stat().st_size if location.path and location.path.is_file() else None


class _Reading:
    """Reads files into a builder, and remembers where each row came from."""

    def __init__(
        self,
        builder: Builder,
        field: str | None,
        encoding: str,
        skip: bool,
        keep: tuple[str, ...],
        progress: Progress | None,
        total: int | None,
    ) -> None:
        self.builder, self.shaper, self.field = builder, Shaper(keep), field
        self.encoding, self.skip, self.progress = encoding, skip, progress
        self.problems: Counter[str] = Counter()
        self.positions = array("q")
        self.starts: list[tuple[int, Location]] = []  # the first row of each file
        self.total, self.bytes_before, self.rows_before = total, 0, 0

    def read(self, location: Location, kind: str | None, alone: bool) -> None:
        """Read one file into the builder; an empty file is an error if it is the only one."""
        # files of one prefix are parts of one data set: the rows of a part are numbered after those of the part before
        continues = bool(self.starts) and location.prefix == self.starts[-1][1].prefix
        self.rows_before = self.builder.rows if continues else 0
        self.starts.append((self.builder.rows, location))
        with guarded(location):
            size = _size(location)
            with open_file(location) as file:
                if alone and not file.head:
                    raise location.error("the file is empty", "give a file that holds documents", 0)
                for position, value, field in self._records(location, file, kind):
                    location.position = position
                    self._add(location, position, value, field, size)
            self.bytes_before += size or 0
        if self.progress is not None:
            self.progress(self.bytes_before, self.total)

    def _add(self, location: Location, position: int, value: object, field: str | None, size: int | None) -> None:
        row = self.shaper.row(value, field)
        if row.problem is not None:
            self.problems[row.problem] += 1
        default_id = f"{location.prefix}:{position + self.rows_before}" if position else location.prefix
        self.positions.append(position)
        if self.builder.add(row.id or default_id, row) and self.progress is not None:
            self.progress(self.bytes_before + min(location.tell(), size or 0), self.total)

    def _records(self, location: Location, file: OpenedFile, kind: str | None) -> Records:
        """Yield (position, value, field) from a file; ``kind`` is its format if that is settled."""
        field = self.field
        kind = kind or file_format(location, file.head)
        if kind in ("parquet", "arrow"):
            location.unit = "row"
            read = arrowfiles.parquet if kind == "parquet" else arrowfiles.arrow
            return ((n, value, field) for n, value in read(location, file, field, self.shaper.keep))
        check_head(location, file.head, self.encoding)
        if kind == "json":
            return jsonfiles.json_document(location, file, self.encoding, field, self.shaper.keep)
        if kind == "jsonl":
            pairs = jsonfiles.json_lines(location, file, self.encoding, self.skip)
        elif kind == "lines":
            pairs = plain.by_line(location, file, self.encoding, self.skip)
        elif kind == "paragraphs":
            pairs = plain.by_paragraph(location, file, self.encoding)
        else:
            pairs = plain.whole(location, file, self.encoding)
        if kind in TEXTUAL and field is not None:
            raise location.error(f"plain text has no field {field!r}", "omit the field", 0)
        return ((n, value, field) for n, value in pairs)

    def check(self, top: Location) -> None:
        """Raise an error if no record is a document."""
        rows = self.builder.rows
        if not rows:
            raise top.error("no documents found", "give a file that holds documents", 0)
        if self.problems.total() < rows:
            return
        reason, count = self.problems.most_common(1)[0]
        types = self.shaper.fields_seen
        fields = "; the fields are " + ", ".join(f"{k!r} ({v})" for k, v in types.items()) if types else ""
        texts = [k for k, v in types.items() if v in ("string", "list")]
        choice = texts[0] if len(texts) == 1 else "NAME"
        hint = f"choose the field that holds the text with --field {choice}" if types else "fix the records"
        unit, position = self.starts[0][1].unit, self.positions[0]
        start = f" (the first in {unit} {position})" if position else ""
        fault = f"none of the {rows:,} records is a document" if rows > 1 else "the only record is not a document"
        raise top.error(f"{fault}: {reason}{f' ({count:,} times)' if count > 1 else ''}{start}{fields}", hint, 0)

    def duplicate_id(self, table: pa.Table) -> ReadingError:
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
