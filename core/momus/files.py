"""Write tables and JSON files."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.errors import UsageError
from momus.outputs import make_folder, replacing_own, write_bytes, write_own
from momus.ownership import file_digest as file_digest
from momus.schema import SEAL, seal

if TYPE_CHECKING:
    import pyarrow as pa

FORMULA = r"^[=+\-@\t\r]"
"""Spreadsheets read texts that begin so as formulas."""
LARGE = 1 << 26
"""Files above 64 MiB (weights of models) are identified by length and time of change instead of content."""
TABLE = "a table"
"""What `write_table` writes, for `momus.ownership`."""


def write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet, CSV or JSON Lines, according to the file extension; the file appears when it is complete.

    In CSV, texts that a spreadsheet would run as formulas get an apostrophe in front.

    Raises
    ------
    UsageError
        The extension is another one, or two columns have one name, which readers refuse or lose.
    StoreError
        The path holds what Momus did not write.
    """
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    if path.suffix not in (".parquet", ".csv", ".jsonl"):
        raise UsageError(f"{path}: unknown extension {path.suffix!r}", hint="use .parquet, .csv or .jsonl")
    names = table.column_names
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{path}: two columns are called {twice!r}", hint="give each column another name")
    make_folder(path.parent)
    with replacing_own(path, TABLE) as temporary:
        if path.suffix == ".parquet":
            pq.write_table(table, temporary, compression="zstd")
        elif path.suffix == ".csv":
            pa_csv.write_csv(_without_formulas(table), temporary)
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


def content_digest(path: Path) -> str:
    """The SHA-256 of a file; of one above `LARGE`, its length and time of change instead; why it cannot be read."""
    try:
        status = path.stat()
        if status.st_size > LARGE:
            return f"{status.st_size} bytes, changed {status.st_mtime_ns}"
        return file_digest(path)
    except OSError as error:
        return f"not readable ({error.strerror})"


def write_sealed(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object with the SHA-256 of its content, which `momus.schema.read_json` checks."""
    write_json(path, {**content, SEAL: seal(content)})


def write_json(path: Path, content: Any, indent: int | None = 1, *, kind: str | None = None) -> None:
    """Write JSON atomically: a reader sees either the old file or the complete new one.

    Without ``indent``, on one line, which is written many times as fast. ``kind`` is what it is, at a place that a
    user names: see `momus.outputs.replacing_own`.
    """
    text = json.dumps(content, ensure_ascii=False, indent=indent, allow_nan=False) + "\n"
    # of names that are not UTF-8, Python makes unpaired surrogates: JSON holds them as escapes
    data = text.encode("utf-8", "backslashreplace")
    if kind is not None:
        write_own(path, data, kind)
    else:
        write_bytes(path, data)
