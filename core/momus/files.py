"""Write tables and JSON files, and digests of files."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.errors import UsageError
from momus.outputs import make_folder, replacing, write_bytes
from momus.ownership import Kind
from momus.schema import SEAL, seal

if TYPE_CHECKING:
    import pyarrow as pa

FORMULA = r"^[=+\-@\t\r]"
"""Spreadsheets read texts that begin so as formulas."""
MOST_HEAD = 1 << 24
"""Bytes in which the first line of a table must end."""


def write_table(table: pa.Table, path: Path, *, as_is: bool = False) -> None:
    """Write Parquet, CSV or JSON Lines, according to the file extension; the file appears when it is complete.

    In CSV, texts that a spreadsheet would run as formulas get an apostrophe in front, unless ``as_is``.

    Raises
    ------
    UsageError
        The extension is another one.
    """
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    if path.suffix not in (".parquet", ".csv", ".jsonl"):
        raise UsageError(f"{path}: unknown extension {path.suffix!r}", hint="use .parquet, .csv or .jsonl")
    make_folder(path.parent)
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            pq.write_table(table, temporary, compression="zstd")
        elif path.suffix == ".csv":
            pa_csv.write_csv(table if as_is else _without_formulas(table), temporary)
        else:
            table.to_pandas().to_json(temporary, orient="records", lines=True, force_ascii=False)


def _without_formulas(table: pa.Table) -> pa.Table:
    """Put an apostrophe in front of texts and heads that look like formulas; numbers stay numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = pc.replace_substring_regex(table.column(i), FORMULA, r"'\0")
            table = table.set_column(i, field, column)
    return table.rename_columns([re.sub(FORMULA, r"'\g<0>", name) for name in table.column_names])


def table_kind(name: str, columns: Collection[str]) -> Kind:
    """The kind of the tables that have these columns, among others."""
    return Kind(name, lambda path: set(columns) <= set(columns_of(path)))


def columns_of(path: Path) -> list[str]:
    """Names of the columns of a table, of JSON Lines those of the first line; none for files that are no tables."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix == ".parquet":
            return list(pq.read_schema(path).names)
        with pa.input_stream(path, compression="detect") as file:
            line = pa.PythonFile(file, "r").read(MOST_HEAD).partition(b"\n")[0].decode("utf-8")
        if path.suffix == ".csv":
            return next(csv.reader([line]), [])
        record = json.loads(line)
        return list(record) if isinstance(record, dict) else []
    except (OSError, ValueError, TypeError, pa.ArrowException, csv.Error):
        return []


def plain(value: Any) -> Any:
    """Lists for tuples and arrays, and None for numbers that are not finite: what JSON can hold.

    >>> import numpy as np
    >>> plain({"a": (1.0, float("nan")), "b": np.array([np.inf])})
    {'a': [1.0, None], 'b': [None]}
    """
    value = value.tolist() if hasattr(value, "tolist") else value  # also numbers of NumPy
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def file_digest(path: Path) -> str:
    """SHA-256 of the content of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sealed(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object with the SHA-256 of its content, which `momus.schema.read_json` checks."""
    write_json(path, {**content, SEAL: seal(content)})


def write_json(path: Path, content: Any, indent: int | None = 1) -> None:
    """Write JSON atomically: a reader sees either the old file or the complete new one.

    Without ``indent``, on one line, which is written many times as fast.
    """
    text = json.dumps(content, ensure_ascii=False, indent=indent, allow_nan=False) + "\n"
    # of names that are not UTF-8, Python makes unpaired surrogates: JSON holds them as escapes
    write_bytes(path, text.encode("utf-8", "backslashreplace"))
