"""Read and write gzip JSON Lines files whose bytes depend only on the records."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def write_gzip(path: Path, records: Iterable[Record]) -> None:
    """Write records as gzip JSON Lines, without a time or a file name in the gzip header."""
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def read_gzip(path: Path) -> list[Record]:
    """Read all records of a gzip JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def append_line(path: Path, record: Record) -> None:
    """Append one record to a plain JSON Lines file, which stores an unfinished run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def read_lines(path: Path) -> list[Record]:
    """Read a plain JSON Lines file, skipping broken lines; a missing file has no records."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return records
