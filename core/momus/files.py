"""Write tables and JSON files, and digests of files."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from momus.errors import StoreError, UsageError

FORMULA = r"^[=+\-@\t\r]"
"""Spreadsheets read texts that begin so as formulas."""


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
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            pq.write_table(table, temporary, compression="zstd")
        elif path.suffix == ".csv":
            pa_csv.write_csv(table if as_is else _without_formulas(table), temporary)
        else:
            table.to_pandas().to_json(temporary, orient="records", lines=True, force_ascii=False)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; it takes the place of ``path`` if the context ends without an error.

    The temporary file is hidden, and its name holds the process number: processes that write the same file do not mix.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("done")
    >>> target.read_text(), temporary.exists()
    ('done', False)
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.unlink(missing_ok=True)  # never through a link that somebody has put there
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def replace_file(path: Path, text: str) -> None:
    """Write a text file in one step; the old one stays until the new one is complete.

    Raises
    ------
    StoreError
        The path is a link: the file that it points to is somebody's, and is not overwritten.
    OSError
        The file cannot be written.
    """
    if path.is_symlink():
        raise StoreError(
            f"{path} is a link to {os.readlink(path)}, which is not overwritten",
            hint="remove the link, or name another file",
        )
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _without_formulas(table: pa.Table) -> pa.Table:
    """Put an apostrophe in front of texts that look like formulas; numbers stay numbers."""
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = pc.replace_substring_regex(table.column(i), FORMULA, r"'\0")
            table = table.set_column(i, field, column)
    return table


def plain(value: Any) -> Any:
    """Lists for tuples, and None for numbers that are not finite: what JSON can hold.

    >>> plain({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


def file_digest(path: Path) -> str:
    """SHA-256 of the content of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically: a reader sees either the old file or the complete new one."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    # of names that are not UTF-8, Python makes unpaired surrogates: JSON holds them as escapes
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))
