"""Files cut into parts that are read one by one: rows of Parquet files, stretches of lines, and other files whole."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.errors import UsageError
from momus.files import file_digest
from momus.reading.checking import check as check_rows
from momus.reading.checking import check_models
from momus.reading.encoding import codec
from momus.reading.files import guarded, open_file
from momus.reading.folders import locations
from momus.reading.gathering import Rows
from momus.reading.location import Location, Part, is_address
from momus.reading.options import ReadingOptions, Source
from momus.reading.paths import decoded
from momus.reading.recognised import SAMPLE, recognised
from momus.reading.streams import file_format
from momus.reading.tables import groups_of
from momus.text.corpus import Corpus
from momus.text.documents import LeftOut

BY_LINE = ("jsonl", "lines")
ONE_BYTE = ("utf-8", "ascii", "iso8859-1", "cp1252")
"""Encodings in which the byte of a line feed is nothing else."""
CHUNK = 8 << 20


@dataclass(frozen=True)
class InputFile:
    """A file to read in parts.

    Attributes
    ----------
    path, prefix
        The file, and the start of the ids of its records without one.
    kind
        Its format, see `momus.reading.FORMATS`; after ``packed``, if it can only be read whole.
    field
        The field that holds the text.
    size, modified
        Bytes, and time of the last change in nanoseconds.
    sha256
        Of the content, once the file was cut into parts (`cut`).
    """

    path: str
    prefix: str
    kind: str
    field: str | None
    size: int
    modified: int
    sha256: str = ""

    @property
    def location(self) -> Location:
        """Where it is read from."""
        return Location(Path(self.path), self.path, self.prefix)

    def has_changed(self, part: Part | None) -> bool:
        """Whether a part no longer holds what it held when the file was cut; size and time prove nothing.

        A file that was listed and not cut has changed if its size or time has.
        """
        path, known = Path(self.path), self.sha256 if part is None else part.sha256
        if not known:
            status = os.stat(path)
            return (status.st_size, status.st_mtime_ns) != (self.size, self.modified)
        if part is None:
            return known != file_digest(path)
        if self.kind != "parquet":
            return known != _digest(path, part.start, part.stop)
        try:
            metadata = pq.read_metadata(path)
            return known != _digest(path, *_bytes_of(metadata, part), _columns(metadata))
        except (pa.ArrowException, OSError, IndexError, ValueError):  # cut short, or no Parquet file any more
            return True


def list_inputs(paths: Sequence[str], options: ReadingOptions) -> tuple[list[InputFile], list[LeftOut]]:
    """List the files of paths, folders and patterns, in the order given, and what folders leave out.

    Raises
    ------
    ReadingError
        A path does not exist or holds no file that can be read.
    UsageError
        A path is standard input, an address, a log, or named twice.
    """
    files: list[InputFile] = []
    left_out: list[LeftOut] = []
    for path in paths:
        source = Source.parse(path, recognise=options.fmt is None)
        if source.path == "-" or is_address(source.path) or source.reader is not None:
            raise UsageError(
                f"{path}: only files and folders on disk are read in parts",
                hint="fetch or convert it to files of JSON Lines or Parquet first",
            )
        field = source.field(options.for_text(None)["field"])
        top = source.top
        with guarded(top):
            listed = locations(top, options.fmt, options.include)
            for location, settled in listed.files:
                kind = settled or _kind(location)
                assert location.path is not None
                status = location.path.stat()
                place = str(location.path)
                files.append(InputFile(place, location.prefix, kind, field, status.st_size, status.st_mtime_ns))
        left_out.append(listed.left_out)
    return _told_apart(files), left_out


def _kind(location: Location) -> str:
    with open_file(location) as file:
        if not file.head:
            return "lines"  # an empty file has no part
        kind = file_format(location, file.head)
        lines = file.head.splitlines()[:SAMPLE] if kind == "jsonl" else []
        known = recognised([decoded(line.decode("utf-8", "replace")) for line in lines])
        # what is compressed is read from its beginning, hence whole; so are records that answer others before them
        whole = file.compressed or (known is not None and known.thread)
        return f"packed {kind}" if whole else kind


def _told_apart(files: list[InputFile]) -> list[InputFile]:
    """Give files of one prefix, whose records would get the same ids, their paths as prefixes.

    Raises
    ------
    UsageError
        A file is named twice: its documents would count twice.
    """
    twice = [path for path, n in Counter(os.path.realpath(f.path) for f in files).items() if n > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice: its documents would count twice", hint="name each file once")
    prefixes = Counter(f.prefix for f in files)
    return [replace(f, prefix=Path(f.path).as_posix()) if prefixes[f.prefix] > 1 else f for f in files]


def cut(file: InputFile, documents: int, size: int, encoding: str) -> tuple[InputFile, list[Part | None]]:
    """Cut a file into parts of at most ``documents`` records and about ``size`` bytes, and hash each.

    Returns
    -------
    The file with its SHA-256 (of the digests of its parts, if there are several), and its parts; one part that is None
    if the file can only be read whole.

    Raises
    ------
    ReadingError
        The file cannot be read.
    """
    with guarded(file.location):
        parts = _parts(file, documents, size, encoding)
        if parts is None:
            return replace(file, sha256=file_digest(Path(file.path))), [None]
        hashed = list(parts)
    digests = "".join(part.sha256 for part in hashed)
    return replace(file, sha256=hashlib.sha256(digests.encode("ascii")).hexdigest()), list(hashed)


def read_first(file: InputFile, documents: int, size: int, options: ReadingOptions) -> Corpus:
    """Read the first part of a file as `cut` makes it, without the others.

    Raises
    ------
    ReadingError
        The file cannot be read.
    """
    with guarded(file.location):
        parts = _parts(file, documents, size, options.encoding)
        part = None if parts is None else next(parts, None)
    return Corpus.from_texts([]) if parts is not None and part is None else read_part(file, part, options)


def _parts(file: InputFile, documents: int, size: int, encoding: str) -> Iterator[Part] | None:
    """The parts of a file, each hashed when it is asked for; None if it can only be read whole."""
    if file.kind in BY_LINE and codec(encoding) in ONE_BYTE:
        return _cut_lines(Path(file.path), documents, size)
    return _cut_rows(Path(file.path), documents, size) if file.kind == "parquet" else None


def _cut_lines(path: Path, documents: int, size: int) -> Iterator[Part]:
    digest = hashlib.sha256()
    start = before = position = lines = 0  # of the part that is growing: first byte, lines before; then where we are
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            hashed = 0
            for end in (np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1 + position).tolist():
                lines += 1
                if lines - before == documents or end - start >= size:
                    digest.update(memoryview(data)[hashed : end - position])
                    yield Part(start, end, before, digest.hexdigest())
                    start, before, hashed, digest = end, lines, end - position, hashlib.sha256()
            digest.update(memoryview(data)[hashed:])
            position += len(data)
    if position > start:
        yield Part(start, position, before, digest.hexdigest())


def _cut_rows(path: Path, documents: int, size: int) -> Iterator[Part]:
    """Whole row groups where they are small, and equal stretches of rows of a large one."""
    metadata = pq.read_metadata(path)
    parts: list[Part] = []
    start = stop = held = 0
    for group in range(metadata.num_row_groups):
        rows, length = metadata.row_group(group).num_rows, metadata.row_group(group).total_byte_size
        if stop > start and (stop + rows - start > documents or held + length > size):
            parts.append(Part(start, stop, start))
            start, held = stop, 0
        pieces = max(-(-rows // documents), min(-(-length // size), rows))
        if pieces > 1:  # decoded once for each piece, so that no piece takes more memory than it should
            edges = np.linspace(stop, stop + rows, pieces + 1).astype(int).tolist()
            parts += [Part(a, b, a) for a, b in pairwise(edges)]
            start, held = stop + rows, 0
        else:
            held += length
        stop += rows
    if stop > start:
        parts.append(Part(start, stop, start))
    digest = cache(partial(_digest, path, columns=_columns(metadata)))  # pieces of one row group have one digest
    yield from (replace(part, sha256=digest(*_bytes_of(metadata, part))) for part in parts)


def _bytes_of(metadata: pq.FileMetaData, part: Part) -> tuple[int, int]:
    """First and last byte of the row groups of a Parquet file that hold some rows."""
    groups = [metadata.row_group(group) for group, _ in groups_of(metadata, part)]
    columns = [group.column(c) for group in groups for c in range(group.num_columns)]
    begins = [column.dictionary_page_offset or column.data_page_offset for column in columns]
    ends = [begin + column.total_compressed_size for begin, column in zip(begins, columns, strict=True)]
    return min(begins), max(ends)


def _columns(metadata: pq.FileMetaData) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in metadata.schema.to_arrow_schema())


def _digest(path: Path, start: int, stop: int, columns: str = "") -> str:
    """SHA-256 of a stretch of a file, and of names and types of its columns."""
    digest = hashlib.sha256(columns.encode("utf-8", "surrogatepass"))
    with path.open("rb") as file:
        file.seek(start)
        while data := file.read(min(CHUNK, stop - file.tell())):
            digest.update(data)
    return digest.hexdigest()


def read_part(file: InputFile, part: Part | None, options: ReadingOptions, *, check: bool = False) -> Corpus:
    """Read a part of a file as a corpus, whose ids and positions are those of the whole file.

    Parameters
    ----------
    check
        Whether it is an error that no record of the part is a document.

    Raises
    ------
    ReadingError
        The file changed since it was listed, or the part cannot be read.
    """
    return read_rows(file, part, options, check)[0]


def read_rows(
    file: InputFile, part: Part | None, options: ReadingOptions, check: bool = False, values: bool = False
) -> tuple[Corpus, Rows]:
    """Read a part, see `read_part`, and give what gathered its rows, on request with the values of its records."""
    location = replace(file.location, part=part)
    with guarded(location):
        # the bytes of lines are hashed as they are read (`open_lines`)
        if (part is None or file.kind == "parquet") and file.has_changed(part):
            raise location.changed()
    with Rows(replace(options.of_text(None), field=file.field)) as reading:
        reading.values = [] if values else None
        reading.read(location, file.kind.removeprefix("packed "), False)
        if check and reading.rows:
            check_rows(reading, location)
        check_models(reading, location)
        return options.of_documents(reading.corpus(file.prefix)), reading
