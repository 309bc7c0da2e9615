"""Read Parquet, Arrow IPC, and folders saved by Hugging Face ``datasets``, with Arrow alone."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from momus.errors import ReadingError
from momus.limits import size_text
from momus.reading.building import BATCH_BYTES, BATCH_ROWS
from momus.reading.fields import field_hint
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Part, Problem, trusted
from momus.reading.records import CHATS, LABELS, OBVIOUS
from momus.reading.remote import open_remote


class NoTextColumnError(ReadingError):
    """No column holds the text; ``columns`` are the names of those that there are."""

    def __init__(self, message: str, hint: str, columns: Sequence[str]) -> None:
        super().__init__(message, hint)
        self.columns = columns


def parquet(
    location: Location,
    file: OpenedFile,
    field: str | None,
    keep: Sequence[str] = (),
    columns: Sequence[str] | None = None,
) -> Iterator[tuple[int, object]]:
    """Yield (row number, record) from the needed columns of a Parquet file, about 32 MB at a time.

    ``columns`` names the needed ones, of which the file may lack some (none: all); otherwise the field and ``keep``
    choose them.

    Raises
    ------
    ReadingError
        No column holds the text, or this is not a Parquet file.
    """
    if not file.head.startswith(b"PAR1"):
        start = file.head[:4]
        raise location.error(
            f"this is not a Parquet file (it starts with {start!r})", "give its format with --format", 0
        )
    with _seekable(location, file) as native:
        schema = pq.read_schema(native)
        if columns is None:
            columns = _choose_columns(location, schema, field, keep)
        else:
            columns = [name for name in schema.names if name in columns or not columns]
        native.seek(0)
        # a value that a dictionary holds once may stand in every row: dictionaries stay as they are until `_slices`
        metadata = pq.read_metadata(native)
        native.seek(0)
        try:
            table = pq.ParquetFile(native, read_dictionary=_dictionaries(metadata, columns))
        except KeyError as error:
            fault = f"the file is damaged: its schema has no column {error}"
            raise location.error(fault, "fetch or write the file again", 0) from None
        for group, number in _groups_of(table.metadata, location.part):
            size = table.metadata.row_group(group)
            _check_packing(location, size)
            step = _batch_rows(size.num_rows, size.total_byte_size)
            for batch in table.iter_batches(step, row_groups=[group], columns=columns):
                before, number = number, number + batch.num_rows
                wanted = _within(batch, before, location.part)
                valid = _all_utf8(wanted)
                first = before if location.part is None else max(before, location.part.start)
                for rows in _slices(location, wanted, first):
                    yield from enumerate(_records(rows, valid), first + 1)
                    first += rows.num_rows


def _groups_of(metadata: pq.FileMetaData, part: Part | None) -> Iterator[tuple[int, int]]:
    """The row groups with rows of a part of the file, each with the number of rows before it."""
    before = 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        if part is None or (before < part.stop and before + rows > part.start):
            yield group, before
        before += rows


def _within(batch: pa.RecordBatch, before: int, part: Part | None) -> pa.RecordBatch:
    """The rows of a batch, which has ``before`` rows of the file before it, that belong to the part."""
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
            raise location.error(
                f"the column {chunk.path_in_schema!r} grows from {size_text(packed)} to {size_text(size)} when it is "
                f"decompressed; expected at most {limits.ratio} times as much",
                trusted("ratio=100000"),
                0,
            )


def _slices(location: Location, batch: pa.RecordBatch, before: int) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that the texts of each piece take about 32 MB once they are written out.

    ``before`` is the number of rows before the batch, for messages.
    """
    coded = [size for size in map(_coded_sizes, batch.columns) if size is not None]
    if not coded:
        yield batch
        return
    sizes = np.sum(coded, axis=0)  # bytes of the texts of each row, (rows,)
    if batch.num_rows and int(sizes.max()) > location.limits.document:
        raise location.too_long("the document", before + int(np.argmax(sizes)) + 1)
    totals = np.cumsum(sizes)
    _check_growth(location, int(totals[-1]) if len(totals) else 0)
    start = 0
    while start < batch.num_rows:
        used = int(totals[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(totals, used + BATCH_BYTES, "right")))
        yield batch.slice(start, end - start)
        start = end


def _check_growth(location: Location, size: int) -> None:
    """Refuse a batch whose texts, written out, take far more than the whole file."""
    limits = location.limits
    packed = location.size or 0
    if location.path is not None and location.path.is_file():
        packed = location.path.stat().st_size
    if size > max(limits.free, limits.ratio * packed):
        raise location.error(
            f"a few texts of the file stand in many rows: {size_text(packed)} grow to {size_text(size)} and more when "
            f"they are written out; expected at most {limits.ratio} times as much",
            trusted("ratio=100000"),
            0,
        )


def _coded_sizes(column: pa.Array) -> NDArray[np.int64] | None:
    """Bytes of the texts of each row of a column, (rows,); None unless the column has its texts in a dictionary."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        if not _is_text(kind):
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
                yield pa.PythonFile(io.BufferedReader(remote, 1 << 20), "r")
                return
    with tempfile.TemporaryFile(prefix="momus-") as temporary:
        shutil.copyfileobj(file.content, temporary, 1 << 20)
        temporary.seek(0)
        yield pa.PythonFile(temporary, "r")


def arrow(
    location: Location, file: OpenedFile, field: str | None, keep: Sequence[str] = ()
) -> Iterator[tuple[int, object]]:
    """Yield (row number, record) from an Arrow IPC file or stream, batch by batch."""
    number = 0
    with _seekable(location, file) as native:
        batches = _Batches(native, file.head.startswith(b"ARROW1"))
        columns = _choose_columns(location, batches.schema, field, keep)
        for batch in batches:
            needed = batch.select(columns)
            valid = _all_utf8(needed)
            step = _batch_rows(needed.num_rows, needed.nbytes)
            for start in range(0, needed.num_rows, step):
                for rows in _slices(location, needed.slice(start, step), number):
                    for record in _records(rows, valid):
                        number += 1
                        yield number, record


class _Batches:
    """The record batches of an Arrow file or stream."""

    def __init__(self, native: pa.NativeFile, is_file: bool) -> None:
        self.is_file = is_file
        self.reader = pa.ipc.open_file(native) if is_file else pa.ipc.open_stream(native)
        self.schema = self.reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if not self.is_file:
            return iter(self.reader)
        return (self.reader.get_batch(i) for i in range(self.reader.num_record_batches))


def _batch_rows(rows: int, size: int) -> int:
    """Return how many rows to read at a time, to hold about 32 MB in memory."""
    return max(1, min(BATCH_ROWS, rows * BATCH_BYTES // max(1, size)))


def _choose_columns(location: Location, schema: pa.Schema, field: str | None, keep: Sequence[str]) -> list[str]:
    """Choose the columns with the text or sections, ids, prompts, groups, and the metadata to keep."""
    names = list(schema.names)
    kept = [name if name in names else name.partition(".")[0] for name in keep]
    extra = [n for n in dict.fromkeys((*LABELS, *kept)) if n in names]
    if field is not None:
        column = field if field in names else field.partition(".")[0]
        if column not in names:
            raise _no_column(location, schema, f"no column {field!r}")
        titles = ["section_names"] if field == "sections" and "section_names" in names else []
        return list(dict.fromkeys([column, *titles, *extra]))
    content = [n for n in ("sections", "section_names", "text") if n in names]
    if "sections" in content or "text" in content:
        return list(dict.fromkeys([*content, *extra]))
    chats = [name for name in CHATS if name in names]
    if chats:
        return [chats[0], *extra]
    texts = [name for name in _text_columns(schema) if name not in kept]
    if len(texts) == 1 and texts[0] in OBVIOUS:
        return [texts[0], *extra]
    raise _no_column(location, schema, "no column 'text' or 'sections'")


def _text_columns(schema: pa.Schema) -> list[str]:
    return [f.name for f in schema if _is_text(f.type) and f.name not in LABELS]


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _no_column(location: Location, schema: pa.Schema, fault: str) -> ReadingError:
    columns = ", ".join(f"{f.name!r} ({f.type})" for f in list(schema)[:20])
    paths = [path for f in schema if f.name not in LABELS for path in _text_paths(f)]
    hint = field_hint(paths, "no column holds text: give a file that does")
    return NoTextColumnError(f"{location.where(0)}: {fault}; the columns are {columns}", hint, schema.names)


def _text_paths(field: pa.Field) -> list[str]:
    """The paths to the texts of a column: itself, or fields within."""
    if pa.types.is_struct(field.type):
        return [f"{field.name}.{path}" for inner in field.type for path in _text_paths(inner)]
    listed = pa.types.is_list(field.type) or pa.types.is_large_list(field.type)
    return [field.name] if _is_text(field.type.value_type if listed else field.type) else []


def _all_utf8(batch: pa.RecordBatch) -> bool:
    """Whether all texts are valid UTF-8.

    Arrow trusts the offsets in a file. Checking them here makes damaged ones an error instead of a crash.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True


def _records(batch: pa.RecordBatch, valid: bool) -> list[object]:
    """Convert rows to Python objects; unless all are ``valid`` UTF-8, rows that are not become a `Problem`."""
    if valid:
        return list(batch.to_pylist())
    return [_record(batch.slice(i, 1)) for i in range(batch.num_rows)]


def _record(row: pa.RecordBatch) -> object:
    try:
        return row.to_pylist()[0]
    except (UnicodeDecodeError, SystemError):
        return Problem("not valid UTF-8")
