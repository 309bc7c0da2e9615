"""Read tables row by row: Parquet and Arrow IPC, and comma- and tab-separated values, whose cells are all text."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from momus.arguments import arg
from momus.errors import ReadingError
from momus.limits import size_text
from momus.reading.building import BATCH_BYTES, BATCH_ROWS
from momus.reading.encoding import lines
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Part, Problem, open_remote, shorten
from momus.reading.paths import LABELS
from momus.reading.recognised import is_text, needed_columns

Batch = TypeVar("Batch", pa.RecordBatch, pa.Table)
DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
"""Characters that may separate cells, by format; the most frequent one of the first row does."""
MOST_BYTES = 4 * BATCH_BYTES
"""Bytes of the texts of a dictionary that are written out at a time; beyond, row by row."""
C_LONG = 2**31 - 1
"""The largest limit that the parser takes on all systems."""


def parquet(
    location: Location, file: OpenedFile, field: str | None = None, needed: Sequence[str] | None = None
) -> Iterator[tuple[int, object]]:
    """Yield (row number, record) from the columns of a Parquet file that are needed, about 4 MB at a time.

    These hold the text, in a field, labels, and what else is ``needed``; None: all.

    Raises
    ------
    ReadingError
        This is not a Parquet file.
    """
    location.unit = "row"
    if not file.head.startswith(b"PAR1"):
        start = file.head[:4]
        raise location.error(
            f"this is not a Parquet file (it starts with {start!r})", f"give its format with {arg('fmt')}"
        )
    with _seekable(location, file) as native:
        metadata = pq.read_metadata(native)
        names = _chosen(metadata.schema.to_arrow_schema(), field, needed)
        native.seek(0)
        # a value that a dictionary holds once may stand in every row: dictionaries stay as they are until `_numbered`
        try:
            table = pq.ParquetFile(native, read_dictionary=_dictionaries(metadata, names))
        except KeyError as error:
            fault = f"the file is damaged: its schema has no column {error}"
            raise location.error(fault, "fetch or write the file again") from None
        for group, number in groups_of(table.metadata, location.part):
            size = table.metadata.row_group(group)
            _check_packing(location, size)
            for batch in table.iter_batches(
                _batch_rows(size.num_rows, size.total_byte_size), row_groups=[group], columns=names
            ):
                before, number = number, number + batch.num_rows
                first = before if location.part is None else max(before, location.part.start)
                yield from _numbered(location, within(batch, before, location.part), first)


def _chosen(schema: pa.Schema, field: str | None, needed: Sequence[str] | None) -> list[str]:
    return list(schema.names) if needed is None else needed_columns(schema, field, needed)


def groups_of(metadata: pq.FileMetaData, part: Part | None) -> Iterator[tuple[int, int]]:
    """The row groups with rows of a part of the file, each with the number of rows before it."""
    before = 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        if part is None or (before < part.stop and before + rows > part.start):
            yield group, before
        before += rows


def within(batch: Batch, before: int, part: Part | None) -> Batch:
    """The rows of a batch or a row group, which has ``before`` rows of the file before it, that belong to the part."""
    if part is None:
        return batch
    start, stop = (min(max(row - before, 0), batch.num_rows) for row in (part.start, part.stop))
    return batch.slice(start, stop - start)


def _dictionaries(metadata: pq.FileMetaData, columns: Sequence[str]) -> list[str]:
    """The columns to read that hold texts in a dictionary in some row group."""
    names: dict[str, None] = {}
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for i in range(row_group.num_columns):
            chunk = row_group.column(i)
            name = chunk.path_in_schema
            if name.partition(".")[0] in columns and chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY":
                names[name] = None
    return list(names)


def _check_packing(location: Location, group: pq.RowGroupMetaData) -> None:
    """Refuse a row group that grows beyond the limits when it is decompressed."""
    limits = location.limits
    for i in range(group.num_columns):
        chunk = group.column(i)
        packed, size = chunk.total_compressed_size, chunk.total_uncompressed_size
        if size > max(limits.free, limits.ratio * max(packed, 1)):
            sizes = f"from {size_text(packed)} to {size_text(size)}"
            fault = f"the column {chunk.path_in_schema!r} grows {sizes} when it is decompressed"
            raise location.too_packed(fault, "ratio=100000")


def _written(location: Location, batch: pa.RecordBatch, before: int) -> int:
    """Bytes of the texts of a batch that stand in a dictionary, once they are written out; refuse too many.

    ``before`` is the number of rows before the batch, for messages.
    """
    coded = [size for size in map(_coded_sizes, batch.columns) if size is not None]
    if not coded or not batch.num_rows:
        return 0
    limits = location.limits
    sizes = np.sum(coded, axis=0)  # bytes of the texts of each row, (rows,)
    if int(sizes.max()) > limits.document:
        raise location.too_long("the document", before + int(np.argmax(sizes)) + 1)
    packed = location.size or 0
    if location.path is not None and location.path.is_file():
        packed = location.path.stat().st_size
    if (size := int(sizes.sum())) > max(limits.free, limits.ratio * packed):
        grown = f"{size_text(packed)} grow to {size_text(size)} and more"
        fault = f"a few texts of the file stand in many rows: {grown} when they are written out"
        raise location.too_packed(fault, "ratio=100000")
    return size


def _coded_sizes(column: pa.Array) -> NDArray[np.int64] | None:
    """Bytes of the texts of each row of a column, (rows,); None unless the column has its texts in a dictionary."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        if not is_text(kind):
            return None
        lengths = pc.binary_length(column.dictionary).fill_null(0)
        taken = lengths.take(column.indices).fill_null(0)
        return np.asarray(taken.to_numpy(zero_copy_only=False), dtype=np.int64)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = _coded_sizes(column.values)
        if inner is None:
            return None
        # offsets[i]:offsets[i + 1] are the texts of row i among all values, whatever the slice
        offsets = column.offsets.to_numpy(zero_copy_only=False)
        sums = np.concatenate([[0], np.cumsum(inner)])
        return np.asarray(sums[offsets[1:]] - sums[offsets[:-1]], dtype=np.int64)
    return None


@contextmanager
def _seekable(location: Location, file: OpenedFile) -> Iterator[pa.NativeFile]:
    """Open a plain file; copy a compressed file, a pipe, or one that cannot be read in parts to a temporary file first.

    The file is not mapped into memory: a mapped file that another process cuts off ends this one without a word.
    """
    if location.path is not None and location.path.is_file() and not file.compressed:
        with location.path.open("rb") as plain, pa.PythonFile(plain, "r") as native:
            yield native
        return
    if location.url is not None and not file.compressed:
        with open_remote(location) as remote:
            if remote.seekable():
                yield pa.PythonFile(remote, "r")
                return
    with tempfile.TemporaryFile(prefix="momus-") as temporary:
        shutil.copyfileobj(file.content, temporary, 1 << 20)
        temporary.seek(0)
        yield pa.PythonFile(temporary, "r")


def arrow(
    location: Location, file: OpenedFile, field: str | None, needed: Sequence[str] | None
) -> Iterator[tuple[int, object]]:
    """Yield (row number, record) from the columns of an Arrow IPC file or stream that are needed, see `parquet`."""
    location.unit = "row"
    number = 0
    with _seekable(location, file) as native:
        is_file = file.head.startswith(b"ARROW1")
        reader = pa.ipc.open_file(native) if is_file else pa.ipc.open_stream(native)
        names = _chosen(reader.schema, field, needed)
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
            columns = batch.select(names)
            step = _batch_rows(columns.num_rows, columns.nbytes)
            for start in range(0, columns.num_rows, step):
                yield from _numbered(location, columns.slice(start, step), number + start)
            number += columns.num_rows


def _numbered(location: Location, batch: pa.RecordBatch, before: int) -> Iterator[tuple[int, object]]:
    """Yield (row number, record or `Problem`) of a batch, after ``before`` rows of the file."""
    valid = True
    try:
        # Arrow trusts the offsets in a file: damaged ones are an error here, and a crash where they are used
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        valid = False
    if _written(location, batch, before) > MOST_BYTES or not valid:
        records = _one_by_one(batch)
    else:
        for i, column in enumerate(batch.columns):
            if pa.types.is_dictionary(column.type):
                batch = batch.set_column(i, batch.schema.names[i], column.dictionary_decode())
        records = iter(batch.to_pylist())
    yield from enumerate(records, before + 1)


def _one_by_one(batch: pa.RecordBatch) -> Iterator[object]:
    """The records of a batch, each made when it is asked for: a text of a dictionary may stand in all of them."""
    names = batch.schema.names
    for row in zip(*batch.columns, strict=True):
        record: object
        try:
            record = {name: value.as_py() for name, value in zip(names, row, strict=True)}
        except (UnicodeDecodeError, SystemError):
            record = Problem("not valid UTF-8")
        yield record


def _batch_rows(rows: int, size: int) -> int:
    """How many rows to read at a time, to hold about 4 MB in memory."""
    return max(1, min(BATCH_ROWS, rows * BATCH_BYTES // max(1, size)))


def table_rows(
    location: Location, file: OpenedFile, encoding: str, skip: bool, fmt: str
) -> Iterator[tuple[int, object]]:
    r"""Yield (row number from 1, record or `Problem`); the first row of the file names the columns.

    Cells may be quoted, and quoted cells may hold line ends. Empty cells of ids, prompts and groups are null.

    Raises
    ------
    ReadingError
        The first row does not name columns, or a row has another number of cells (with ``skip``, a `Problem`).
    """
    location.unit = "row"
    # the limit is that of the whole process; a document may be longer than 128 KiB
    previous = csv.field_size_limit(min(location.limits.document, C_LONG))
    try:
        yield from _parsed_rows(location, lines(location, file, encoding), skip, DELIMITERS[fmt])
    finally:
        csv.field_size_limit(previous)


def _parsed_rows(
    location: Location, numbered: Iterator[tuple[int, str | Problem]], skip: bool, delimiters: str
) -> Iterator[tuple[int, object]]:
    source = (line for _, line in numbered if isinstance(line, str))
    head = next((line for line in source if not line.isspace()), "")
    marks = Counter(head)
    delimiter = max(delimiters, key=lambda mark: marks[mark])
    reader = csv.reader(chain([head], source), delimiter=delimiter, strict=True)
    names: list[str] | None = None
    number = 0
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if "field limit" in str(error):
                raise location.too_long("a cell", number + 1) from None
            raise _not_parsed(location, number + 1, start, str(error)) from None
        if cells is None:
            return
        if not cells:  # a blank line
            continue
        if names is None:
            names = _column_names(location, cells)
            continue
        number += 1
        if len(cells) == len(names):
            yield number, {k: v if v or k not in LABELS else None for k, v in zip(names, cells, strict=True)}
        elif skip:
            yield number, Problem("a row with another number of cells than the first")
        else:
            raise _wrong_length(location, number, start, names, cells, delimiter)


def _column_names(location: Location, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise location.error(
            f"the first row names the column {shorten(repeated[0])} {names.count(repeated[0])} times",
            "give each column its own name in the first row, such as id,text",
        )
    return names


def _wrong_length(
    location: Location, number: int, line: int, names: list[str], cells: list[str], delimiter: str
) -> ReadingError:
    columns = ", ".join(shorten(name) for name in names[:8])
    mark = "tab" if delimiter == "\t" else repr(delimiter)
    return location.error(
        f"{len(cells)} cells (line {line}), expected {len(names)} for the columns {columns}",
        f'put cells that hold a {mark} or a line end in double quotes ("…"), or keep such '
        f"rows as counted exclusions with {arg('skip_bad_lines', True)}",
        number,
    )


def _not_parsed(location: Location, number: int, line: int, reason: str) -> ReadingError:
    if "unexpected end of data" in reason:
        return location.error(
            f"the file ends within a quoted cell that begins in line {line} or later",
            "close the quotation mark, and write each quotation mark within a quoted cell twice",
            number,
        )
    return location.error(
        f"not a row of cells: {reason} (line {line})",
        "write each quotation mark within a quoted cell twice, and nothing after the closing one",
        number,
    )
