"""Write tables and JSON files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from momus.errors import UsageError


def write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet, CSV or JSON Lines, according to the file extension.

    Raises
    ------
    UsageError
        The extension is another one.
    """
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(table, path, compression="zstd")
    elif path.suffix == ".csv":
        pa_csv.write_csv(table, path)
    elif path.suffix == ".jsonl":
        table.to_pandas().to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        raise UsageError(f"{path}: unknown extension {path.suffix!r}", hint="use .parquet, .csv or .jsonl")


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically: a reader sees either the old file or the complete new one."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(path)
