"""Files of records that appear when they are whole: JSON Lines, or Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from momus.arguments import arg
from momus.errors import StoreError, UsageError
from momus.numeric.types import Ints
from momus.outliers.originals import Originals
from momus.outputs import make_folder, open_temporary, replacing_own, writing
from momus.ownership import check_own, check_place
from momus.rows.folder import ROOM

SUFFIXES = (".jsonl", ".parquet")
RECORDS = "a file of `momus filter`"


class RecordWriter:
    """Writes records: JSON Lines, or Parquet where all come from Parquet files with the same columns."""

    def __init__(self, path: Path, suffix: str) -> None:
        self.path = path
        self.file: IO[bytes] | None = open_temporary(path) if suffix == ".jsonl" else None
        self.writer: pq.ParquetWriter | None = None
        self.schema = pa.schema([])

    def add(self, originals: Originals, rows: Ints) -> None:
        """Write some of the records of a part: one per line, or as a row group.

        Raises
        ------
        UsageError
            They are no rows of Parquet, or have other columns than those before.
        """
        if self.file is not None:
            self.file.writelines(line + b"\n" for line in originals.lines(rows))
            return
        if not isinstance(originals.records, pa.Table):
            raise UsageError(
                "only rows of Parquet files are written as Parquet", hint="name outputs that end in .jsonl"
            )
        table = originals.table(rows)
        if self.writer is None:
            self.schema = table.schema
            self.writer = pq.ParquetWriter(self.path, self.schema, compression="zstd")
        # Arrow would cast or fill columns in silence; a filter must not change records
        if not table.schema.equals(self.schema):
            raise UsageError(
                "the Parquet files have different columns, and cannot be written as one",
                hint="name outputs that end in .jsonl, or filter the files one by one",
            )
        # a part none of whose records come here adds no row group
        if len(table):
            self.writer.write_table(table)

    def close(self) -> None:
        """Finish the file."""
        (self.file or self.writer or pq.ParquetWriter(self.path, self.schema)).close()


def writers(
    kept: Path, dropped: Path, inputs: Sequence[str | Path], overwrite: bool
) -> AbstractContextManager[tuple[RecordWriter, RecordWriter]]:
    """Check two outputs, and give what writes them; they appear when both are whole.

    Raises
    ------
    UsageError
        The outputs are one file or inputs, or have another ending.
    StoreError
        An output exists and is not to be replaced, was not written by Momus, or was changed since.
    """
    for name, path in (("kept", kept), ("dropped", dropped)):
        if path.suffix not in SUFFIXES:
            raise UsageError(
                f"{arg(name, str(path))}: unknown ending {path.suffix!r}", hint=f"use {' or '.join(SUFFIXES)}"
            )
        check_place(path, inputs)
        if path.exists() and not overwrite:
            raise StoreError(f"{path} exists", hint=f"name another file, or replace it with {arg('overwrite', True)}")
        check_own(path, RECORDS)
    # two names may be links to one file
    if os.path.realpath(kept) == os.path.realpath(dropped):
        raise UsageError(f"{kept} is named twice", hint=f"name one file for each of {arg('kept')} and {arg('dropped')}")
    return _opened(kept, dropped)


@contextmanager
def _opened(kept: Path, dropped: Path) -> Iterator[tuple[RecordWriter, RecordWriter]]:
    for path in (kept, dropped):
        make_folder(path.parent)
    # the inner one appears first: where the kept records are, the dropped ones are too
    with writing(kept.parent, ROOM), replacing_own(kept, RECORDS) as stay, replacing_own(dropped, RECORDS) as go:
        both = RecordWriter(stay, kept.suffix), RecordWriter(go, dropped.suffix)
        try:
            yield both
        finally:
            # before `replacing_own` ends, which puts the files in their places
            for writer in both:
                writer.close()
