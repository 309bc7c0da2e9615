"""Collect rows into Arrow record batches, and batches into a table, which goes to a file when it grows large."""

from __future__ import annotations

import mmap
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import accumulate
from types import TracebackType
from typing import IO, Self

import pyarrow as pa

from momus.errors import ReadingError
from momus.reading.records import Row
from momus.text.corpus import SCHEMA

BATCH_ROWS = 4096
BATCH_BYTES = 4 << 20
SPILL_BYTES = 256 << 20
SURROGATE = re.compile("[\ud800-\udfff]")


class Builder:
    """Collects rows into record batches of at most 4,096 documents or about 4 MB.

    Batches of more than `SPILL_BYTES` together go to a temporary file that is mapped into memory.

    >>> with Builder() as builder:
    ...     _ = builder.add("a", Row("a", ["Text."], [None]), 5)
    ...     table = builder.finish()
    >>> table["sections"].to_pylist()
    [['Text.']]
    """

    def __init__(self) -> None:
        self.rows = 0
        self._batch: list[tuple[str, Row]] = []
        self._size = 0
        self._batches: list[pa.RecordBatch] = []  # those that are in memory
        self._bytes = 0
        self._open = ExitStack()  # the temporary file, and what writes to it
        self._file: IO[bytes] | None = None
        self._writer: pa.ipc.RecordBatchFileWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError, pa.ArrowException):
            self._open.close()

    def add(self, id: str, row: Row, characters: int) -> bool:
        """Append a row, with texts of so many characters, under an id; True if it completes a batch."""
        self._batch.append((id, row))
        self._size += characters + len(row.prompt or "") + sum(len(value) for _, value in row.fields)
        self.rows += 1
        if len(self._batch) < BATCH_ROWS and self._size < BATCH_BYTES:
            return False
        self._flush()
        return True

    def _flush(self) -> None:
        if not self._batch:
            return
        rows = [row for _, row in self._batch]
        # the sections, and the fields, of row i of the batch are ends[i]:ends[i + 1] of all of them
        sections, fields = (_ends(map(len, lists)) for lists in ([r.texts for r in rows], [r.fields for r in rows]))
        columns = [
            strings([id for id, _ in self._batch]),
            pa.ListArray.from_arrays(sections, strings([text for r in rows for text in r.texts], pa.large_string())),
            pa.ListArray.from_arrays(sections, strings([title for r in rows for title in r.titles])),
            pa.array([r.sectioned for r in rows], type=pa.bool_()),
            strings([r.prompt for r in rows]),
            strings([r.problem for r in rows]),
            strings([r.group for r in rows]),
            pa.MapArray.from_arrays(
                fields,
                strings([name for r in rows for name, _ in r.fields]),
                strings([value for r in rows for _, value in r.fields]),
            ),
        ]
        self._batch, self._size = [], 0
        batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
        self._batches.append(batch)
        self._bytes += batch.nbytes
        if self._bytes > SPILL_BYTES:
            with _writing():
                self._to_file()

    def _to_file(self) -> None:
        if self._writer is None:
            # the file has no name: nobody else can read or truncate it, and nothing remains if the process is killed
            file = tempfile.TemporaryFile(prefix="momus-")  # noqa: SIM115  closed with the others
            self._file = self._open.enter_context(file)
            self._writer = self._open.enter_context(pa.ipc.new_file(pa.PythonFile(self._file, "w"), SCHEMA))
        for batch in self._batches:
            self._writer.write_batch(batch)
        self._batches.clear()

    def finish(self) -> pa.Table:
        """Return the table of all rows."""
        self._flush()
        if self._writer is None:
            return pa.Table.from_batches(self._batches, schema=SCHEMA)
        with _writing():
            self._to_file()
            self._writer.close()
            assert self._file is not None
            self._file.flush()
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)  # outlives the file object
            return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped))).read_all()


def _ends(sizes: Iterable[int]) -> pa.Array:
    """The ends of lists in the order of their items, after a first 0."""
    return pa.array(list(accumulate(sizes, initial=0)), type=pa.int32())


def strings(values: list[str] | list[str | None], type: pa.DataType | None = None) -> pa.Array:
    r"""Make an Arrow array; unpaired surrogates, which are not characters, become U+FFFD.

    >>> strings(["a\ud800b"])[0].as_py()
    'a�b'
    """
    type = type or pa.string()
    try:
        return pa.array(values, type=type)
    except UnicodeEncodeError:
        return pa.array([None if v is None else SURROGATE.sub("\ufffd", v) for v in values], type=type)


@contextmanager
def _writing() -> Iterator[None]:
    """Turn errors of the disk into a `ReadingError` about the temporary file."""
    try:
        yield
    except OSError as error:
        folder = tempfile.gettempdir()
        raise ReadingError(
            f"{folder}: the temporary file of the corpus cannot be written ({error.strerror or error})",
            "free space there, or set TMPDIR to a folder on a larger disk",
        ) from None
