"""The records of a part of a file as they stand there, each beside the document that was read from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.errors import UsageError
from momus.files import plain
from momus.numeric.types import Ints
from momus.reading.encoding import codec
from momus.reading.files import guarded, open_file, open_lines
from momus.reading.location import Part, Problem
from momus.reading.options import ReadingOptions
from momus.reading.parts import InputFile, read_rows
from momus.reading.tables import groups_of, within
from momus.text.corpus import Corpus

PLAIN = ("utf-8", "ascii")
"""Encodings whose lines are copied byte by byte."""
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Originals:
    """A part of a file.

    Attributes
    ----------
    corpus
        Its documents.
    records
        Its records in order, one per document: JSON values without line ends, or rows of a Parquet file.
    """

    corpus: Corpus
    records: Sequence[bytes] | pa.Table

    def __post_init__(self) -> None:
        assert len(self.records) == len(self.corpus)

    def lines(self, rows: Ints) -> list[bytes]:
        """Some of the records as JSON, without line ends."""
        if isinstance(self.records, pa.Table):
            return [_json(row) for row in self.records.take(rows).to_pylist()]
        return [self.records[i] for i in rows.tolist()]

    def table(self, rows: Ints) -> pa.Table:
        """Some of the records as rows of a table; they must come from a Parquet file."""
        assert isinstance(self.records, pa.Table)
        return self.records.take(rows)


def read_originals(file: InputFile, part: Part | None, options: ReadingOptions) -> Originals:
    """Read a part of a file, and its records as they stand there.

    Lines of JSON are kept byte by byte, rows of Parquet files with all columns; records of other formats become JSON:
    rows of CSV an object with all cells, plain text an object with ``id`` and ``text``.

    Raises
    ------
    ReadingError
        The part cannot be read.
    UsageError
        A record holds several documents, or the format does not keep records apart.
    """
    apart = file.kind != "arrow"
    if file.kind in ("json", "packed json"):
        with guarded(file.location), open_file(file.location) as opened:
            apart = opened.head.lstrip(BOM + b" \t\r\n").startswith(b"[")
    if not apart:
        raise UsageError(
            f"{file.path}: records of this format are not kept apart", hint="convert it to JSON Lines or Parquet first"
        )
    # the rows of a part of a Parquet file are read once more, with all columns
    corpus, reading = read_rows(file, part, options, values=file.kind != "parquet")
    positions = np.array(reading.positions)
    twice = positions[1:][np.diff(positions) == 0]
    if len(twice):
        count = np.count_nonzero(positions == twice[0])
        raise UsageError(
            f"{file.location.where(int(twice[0]))}: a record with {count} documents",
            hint="give each document its own record, and filter again",
        )
    if file.kind == "parquet" and part is not None:
        with guarded(file.location):
            return Originals(corpus, _rows(Path(file.path), part))
    if file.kind == "jsonl" and part is not None and codec(options.encoding) in PLAIN:
        with guarded(file.location), open_lines(replace(file.location, part=part)) as lines_of_part:
            data = lines_of_part.content.read().removeprefix(BOM if part.start == 0 else b"")
        lines = [line.rstrip(b"\r") for line in data.split(b"\n")]
        return Originals(corpus, [lines[n - part.before - 1] for n in reading.positions])
    return Originals(corpus, list(map(_record, reading.values or (), corpus.ids)))


def _rows(path: Path, part: Part) -> pa.Table:
    """The rows ``start:stop`` of a Parquet file, with all columns."""
    file = pq.ParquetFile(path)
    pieces = [within(file.read_row_group(group), before, part) for group, before in groups_of(file.metadata, part)]
    return pa.concat_tables(pieces) if pieces else file.schema_arrow.empty_table()


def _record(value: object, id: str) -> bytes:
    """A record as JSON: an object as it is, a text with the id of its document."""
    if isinstance(value, Problem):
        return _json({"id": id, "problem": value.reason})
    return _json(value if isinstance(value, Mapping | list) else {"id": id, "text": value})


def _json(value: Any) -> bytes:
    """A value as JSON; numbers that JSON does not have (NaN, ±∞) become null."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_listed, allow_nan=False)
    except ValueError:
        text = json.dumps(plain(value), ensure_ascii=False, default=_listed, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")  # an unpaired surrogate becomes the escape that it was


def _listed(value: Any) -> Any:
    """Dates and the like as texts, arrays as lists."""
    return value.tolist() if isinstance(value, np.ndarray) else str(value)
