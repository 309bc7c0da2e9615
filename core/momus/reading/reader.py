"""`read_corpus`: one path, whatever is there, as a corpus."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
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
"""Called after each batch with the bytes read so far (of the files as they lie on the disk) and their total, which is
None for standard input and pipes."""

Found = Iterator[tuple[int, object, str | None]]


def read_corpus(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    field: str | None = None,
    fmt: str | None = None,
    skip_bad_lines: bool = False,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    spill: int = SPILL_BYTES,
) -> Corpus:
    """Read a file or a folder as a corpus, a batch at a time.

    A record that is no document keeps its row and its id, with the reason as its ``problem``. Documents without an
    id get ``stem:line`` (``stem:item`` in a JSON list, ``stem:row`` in Parquet); a whole text file is ``stem``, and
    its path within the folder where a folder is read.

    Parameters
    ----------
    path
        A file, a folder, ``-`` for standard input (JSON Lines), or ``FILE#FIELD`` to choose a field or a list.
    name
        Name of the corpus; the file name without its endings where it is left out.
    field
        The field that holds the text, a path such as ``result.text`` too. A list of strings is read as sections
        without titles. Where it is left out, ``sections`` is taken, then ``text``.
    fmt
        One of `momus.reading.FORMATS`; told from the name and the content where it is left out.
    skip_bad_lines
        Keep lines that are not JSON, or not in UTF-8, as rows with a problem instead of stopping at the first.
    encoding
        Of text and JSON. A byte order mark in front is dropped.
    progress
        Called after each batch; see `Progress`.
    spill
        Bytes from which on the corpus lies in a temporary file that is mapped into memory.

    Raises
    ------
    ReadingError
        The file as a whole cannot be used; the message says where and why, the hint what to do.
    UsageError
        The format or the encoding is not known.

    Notes
    -----
    Half surrogate pairs (``\\ud800`` alone in JSON) become U+FFFD, the line ends of plain text line feeds.
    """
    if fmt is not None and fmt not in FORMATS:
        raise UsageError(f"unknown format {fmt!r}", hint=f"use one of {', '.join(FORMATS)}")
    file, field, selected = _select(os.fspath(path), field)
    stem = split_name(file.resolve() if file.name in ("", "..") else file)[0] if file else "stdin"
    shown = os.fspath(path).removesuffix(f"#{selected}") if selected else os.fspath(path)
    top = Location(file, "standard input" if file is None else shown, stem)
    with guarded(top):
        sources = _sources(top, fmt)
        sizes = [_size(source) for source, _ in sources]
        total = None if None in sizes else sum(size or 0 for size in sizes)
    with Builder(spill) as builder:
        reading = _Reading(builder, field, codec(encoding), skip_bad_lines, progress, total)
        for source, kind in sources:
            reading.read(source, kind, sources[0][0] is top)
        reading.check(top)
        table = builder.finish()
    try:
        return Corpus(table, name or (f"{stem}#{selected}" if selected else stem))
    except UsageError:
        raise reading.doubled(table) from None


def sniff(path: str | os.PathLike[str]) -> str:
    """Tell which format a file or a folder would be read in: one of `momus.reading.FORMATS`.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "notes"
    >>> _ = file.write_text('{"text": "a"}\\n{"text": "b"}\\n')
    >>> sniff(file)
    'jsonl'
    """
    file = _select(os.fspath(path), None)[0]
    source = Location(file, os.fspath(path), "")
    with guarded(source):
        folder = folder_format(file) if file else None
        if folder:
            return folder
        with open_file(source) as stream:
            return file_format(source, stream.head)


def _select(path: str, field: str | None) -> tuple[Path | None, str | None, str | None]:
    """Cut ``FILE#FIELD``; gives the file (None: standard input), the field, and the field if it was cut off."""
    head, mark, tail = path.rpartition("#")
    if not mark or not head or not tail or Path(path).exists():
        return (None if path == "-" else Path(path)), field, None
    if field is not None and field != tail:
        raise UsageError(f"two fields for {head}: {tail!r} after # and {field!r}", hint="leave one of them out")
    return (None if head == "-" else Path(head)), tail, tail


def _sources(top: Location, fmt: str | None) -> list[tuple[Location, str | None]]:
    """List the files to read, each with its format where that is settled."""
    folder = folder_format(top.path) if top.path else None
    if top.path is None or folder is None:
        if fmt in ("folder", "datasets"):
            top.path.stat() if top.path else None
            raise top.error(f"this is no folder, and the format {fmt!r} wants one", "leave the format out", 0)
        if top.path is None and fmt == "arrow":
            raise top.error("Arrow data cannot be read from a pipe", "write them to a file, and name it", 0)
        return [(top, fmt)]
    if folder == "datasets" and fmt in (None, "datasets"):
        files = arrowfiles.datasets_files(top, top.path)
        return [(Location(file, str(file), top.prefix), "arrow") for file in files]
    return members(top, top.path, None if fmt == "folder" else fmt)


def _size(source: Location) -> int | None:
    return source.path.stat().st_size if source.path and source.path.is_file() else None


class _Reading:
    """What is known while files are read: the rows so far, and where each came from."""

    def __init__(
        self,
        builder: Builder,
        field: str | None,
        encoding: str,
        skip: bool,
        progress: Progress | None,
        total: int | None,
    ) -> None:
        self.builder, self.shaper, self.field = builder, Shaper(), field
        self.encoding, self.skip, self.progress = encoding, skip, progress
        self.problems: Counter[str] = Counter()
        self.positions = array("q")
        self.starts: list[tuple[int, Location]] = []
        self.total, self.before, self.shift = total, 0, 0

    def read(self, source: Location, kind: str | None, alone: bool) -> None:
        """Read one file into the builder; an empty one is an error where it is the only one."""
        part = bool(self.starts) and source.prefix == self.starts[-1][1].prefix
        self.shift = self.builder.rows if part else 0
        self.starts.append((self.builder.rows, source))
        with guarded(source):
            size = _size(source)
            with open_file(source) as stream:
                if alone and not stream.head:
                    raise source.error("the file is empty", "name a file that holds documents", 0)
                for position, value, field in self._found(source, stream, kind):
                    source.position = position
                    self._add(source, position, value, field, size)
            self.before += size or 0
        if self.progress is not None:
            self.progress(self.before, self.total)

    def _add(self, source: Location, position: int, value: object, field: str | None, size: int | None) -> None:
        row = self.shaper.row(value, field)
        if row.problem is not None:
            self.problems[row.problem] += 1
        made = f"{source.prefix}:{position + self.shift}" if position else source.prefix
        self.positions.append(position)
        if self.builder.add(row.id or made, row) and self.progress is not None:
            self.progress(self.before + min(source.tell(), size or 0), self.total)

    def _found(self, source: Location, stream: OpenedFile, kind: str | None) -> Found:
        """Yield (position, value, field) from a file in whatever format."""
        own = self.field
        kind = kind or file_format(source, stream.head)
        if kind in ("parquet", "arrow"):
            source.unit = "row"
            rows = (
                arrowfiles.parquet(source, stream, own) if kind == "parquet" else arrowfiles.arrow(source, stream, own)
            )
            return ((n, value, own) for n, value in rows)
        check_head(source, stream.head, self.encoding)
        if kind == "json":
            return jsonfiles.json_document(source, stream, self.encoding, own)
        if kind == "jsonl":
            pairs = jsonfiles.json_lines(source, stream, self.encoding, self.skip)
        elif kind == "lines":
            pairs = plain.by_line(source, stream, self.encoding, self.skip)
        elif kind == "paragraphs":
            pairs = plain.by_paragraph(source, stream, self.encoding)
        else:
            pairs = plain.whole(source, stream, self.encoding)
        if kind in TEXTUAL and own is not None:
            raise source.error(f"plain text has no field {own!r}", "leave the field out", 0)
        return ((n, value, own) for n, value in pairs)

    def check(self, top: Location) -> None:
        """Refuse a corpus without a single document."""
        rows = self.builder.rows
        if not rows:
            raise top.error("there is no document in it", "name a file that holds documents", 0)
        if self.problems.total() < rows:
            return
        reason, count = self.problems.most_common(1)[0]
        seen = self.shaper.fields_seen
        fields = "; fields found: " + ", ".join(f"{k!r} ({v})" for k, v in seen.items()) if seen else ""
        texts = [k for k, v in seen.items() if v in ("string", "list")]
        choice = texts[0] if len(texts) == 1 else "NAME"
        hint = f"name the field that holds the text with --field {choice}" if seen else "mend the records"
        unit, position = self.starts[0][1].unit, self.positions[0]
        start = f" (the first in {unit} {position})" if position else ""
        many = f"none of the {rows:,} records is a document" if rows > 1 else "the only record is no document"
        raise top.error(f"{many}: {reason}{f' ({count:,} times)' if count > 1 else ''}{start}{fields}", hint, 0)

    def doubled(self, table: pa.Table) -> ReadingError:
        """Make the error for an id that occurs twice: both places."""
        counts = pc.value_counts(table["id"])
        doubled = counts.filter(pc.greater(counts.field("counts"), 1))
        id = doubled[0]["values"].as_py()
        rows = np.flatnonzero(pc.equal(table["id"], id).to_numpy())
        first, second = (self._place(int(row)) for row in rows[:2])
        more = f"; {len(doubled) - 1:,} other ids occur more than once too" if len(doubled) > 1 else ""
        return ReadingError(
            f"{second}: the id {id!r} is that of {first} already{more}",
            "give each document its own id, or take the field out: ids are then made from the line numbers",
        )

    def _place(self, row: int) -> str:
        start = next(s for s in reversed(self.starts) if s[0] <= row)
        return start[1].where(self.positions[row])
