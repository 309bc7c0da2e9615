"""Parquet, Arrow IPC, and the folders that Hugging Face ``datasets`` saves, read with Arrow alone."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from momus.errors import ReadingError
from momus.reading.building import BATCH_BYTES, BATCH_ROWS
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Problem
from momus.reading.records import ID_FIELDS, OBVIOUS, PROMPT_FIELDS


def parquet(source: Location, stream: OpenedFile, field: str | None) -> Iterator[tuple[int, object]]:
    """Yield (row number, record) of a Parquet file: the columns that are needed, some 32 MB at a time.

    Raises
    ------
    ReadingError
        No column holds the text, or the file is no Parquet file.
    """
    if not stream.head.startswith(b"PAR1"):
        start = stream.head[:4]
        raise source.error(f"this is no Parquet file (it starts with {start!r})", "name its format with --format", 0)
    with _seekable(source, stream) as place:
        file = pq.ParquetFile(place)
        columns = _choose(source, file.schema_arrow, field)
        number = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group)
            step = _step(size.num_rows, size.total_byte_size)
            for batch in file.iter_batches(step, row_groups=[group], columns=columns):
                for record in _records(batch, _sound(batch)):
                    number += 1
                    yield number, record


@contextmanager
def _seekable(source: Location, stream: OpenedFile) -> Iterator[pa.NativeFile]:
    """Map a plain file; what is compressed or comes through a pipe goes to a temporary file first."""
    if source.path is not None and source.path.is_file() and not stream.packed:
        with pa.memory_map(str(source.path)) as mapped:
            yield mapped
        return
    with tempfile.TemporaryFile(prefix="momus-") as unpacked:
        shutil.copyfileobj(stream.file, unpacked, 1 << 20)
        unpacked.seek(0)
        yield pa.PythonFile(unpacked, "r")


def arrow(source: Location, stream: OpenedFile, field: str | None) -> Iterator[tuple[int, object]]:
    """Yield (row number, record) of an Arrow IPC file or stream, which is mapped and not read as a whole."""
    number = 0
    with _seekable(source, stream) as place:
        reader = _Batches(place, stream.head.startswith(b"ARROW1"))
        columns = _choose(source, reader.schema, field)
        for batch in reader:
            chosen = batch.select(columns)
            sound = _sound(chosen)
            step = _step(chosen.num_rows, chosen.nbytes)
            for start in range(0, chosen.num_rows, step):
                for record in _records(chosen.slice(start, step), sound):
                    number += 1
                    yield number, record


class _Batches:
    """The record batches of an Arrow file or stream."""

    def __init__(self, place: pa.NativeFile, file: bool) -> None:
        self.file = file
        self.reader = pa.ipc.open_file(place) if file else pa.ipc.open_stream(place)
        self.schema = self.reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if not self.file:
            return iter(self.reader)
        return (self.reader.get_batch(i) for i in range(self.reader.num_record_batches))


def datasets_files(source: Location, folder: Path) -> list[Path]:
    """List the Arrow files of a folder that ``Dataset.save_to_disk`` wrote, in order.

    Raises
    ------
    ReadingError
        The folder holds several splits, or a file that it lists is missing.
    """
    if (folder / "dataset_dict.json").is_file():
        splits = _json(source, folder / "dataset_dict.json").get("splits")
        names = [str(s) for s in splits] if isinstance(splits, list) else []
        raise source.error(
            f"this folder holds the splits {', '.join(names)} of a Hugging Face DatasetDict, one is expected",
            "name one of them: " + " or ".join(str(folder / name) for name in names),
            0,
        )
    state = _json(source, folder / "state.json") if (folder / "state.json").is_file() else {}
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise source.error(
            "the rows were reordered or filtered without being written anew (state.json lists index files)",
            "save it again with dataset.flatten_indices().save_to_disk(…)",
            0,
        )
    listed = state.get("_data_files")
    if isinstance(listed, list) and listed:
        files = [folder / str(entry["filename"]) for entry in listed if isinstance(entry, dict) and "filename" in entry]
    else:
        files = sorted(folder.glob("*.arrow"))
    missing = [f.name for f in files if not f.is_file()]
    if missing or not files:
        found = f"{missing[0]} is missing" if missing else "there is no .arrow file"
        raise source.error(f"this Hugging Face dataset is not whole: {found}", "save or fetch the folder again", 0)
    return files


def _json(source: Location, path: Path) -> dict[str, object]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise source.error(f"{path.name} is not valid JSON", "save or fetch the folder again", 0) from None
    return value if isinstance(value, dict) else {}


def _step(rows: int, size: int) -> int:
    """Rows to read at a time, so that some 32 MB are in memory."""
    return max(1, min(BATCH_ROWS, rows * BATCH_BYTES // max(1, size)))


def _choose(source: Location, schema: pa.Schema, field: str | None) -> list[str]:
    """Choose the columns that are needed."""
    names = list(schema.names)
    extra = [n for n in (*ID_FIELDS, *PROMPT_FIELDS) if n in names]
    if field is not None:
        column = field if field in names else field.partition(".")[0]
        if column not in names:
            raise _no_column(source, schema, f"no column {field!r}")
        titles = ["section_names"] if field == "sections" and "section_names" in names else []
        return list(dict.fromkeys([column, *titles, *extra]))
    wanted = [n for n in ("sections", "section_names", "text") if n in names]
    if "sections" in wanted or "text" in wanted:
        return [*wanted, *extra]
    texts = _text_columns(schema)
    if len(texts) == 1 and texts[0] in OBVIOUS:
        return [texts[0], *extra]
    raise _no_column(source, schema, "no column 'text' or 'sections'")


def _text_columns(schema: pa.Schema) -> list[str]:
    def is_text(kind: pa.DataType) -> bool:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    return [f.name for f in schema if is_text(f.type) and f.name not in (*ID_FIELDS, *PROMPT_FIELDS)]


def _no_column(source: Location, schema: pa.Schema, found: str) -> ReadingError:
    columns = ", ".join(f"{f.name!r} ({f.type})" for f in list(schema)[:20])
    texts = _text_columns(schema)
    hint = "name the column that holds the text with --field " + (texts[0] if len(texts) == 1 else "NAME")
    return source.error(f"{found}; there are {columns}", hint, 0)


def _sound(batch: pa.RecordBatch) -> bool:
    """Say whether all texts are in UTF-8.

    Arrow trusts the offsets in a file: they are checked here, so that damaged ones are an error and not a crash.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True


def _records(batch: pa.RecordBatch, sound: bool) -> list[object]:
    """Make Python objects; where a text is not in UTF-8, its row is a `Problem` and the others stay."""
    if sound:
        return list(batch.to_pylist())
    return [_record(batch.slice(i, 1)) for i in range(batch.num_rows)]


def _record(row: pa.RecordBatch) -> object:
    try:
        return row.to_pylist()[0]
    except (UnicodeDecodeError, SystemError):
        return Problem("not valid UTF-8")
