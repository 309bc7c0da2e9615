"""Runs without a table of documents, since they were compared from shards of scores."""

from __future__ import annotations

import json
from pathlib import Path

from momus.errors import StoreError

RUN = "run.json"


def check_documents(table: Path) -> None:
    """Make sure that a run has its table of documents.

    Raises
    ------
    StoreError
        It was compared from shards of scores, and these hold the rows of its documents.
    """
    if table.exists():
        return
    run = table.parent
    try:
        corpora = json.loads((run / RUN).read_text(encoding="utf-8"))["corpora"]
        folders = [str(c["shards"]) for c in corpora if "shards" in c]
    except (OSError, ValueError, KeyError, TypeError):
        return  # what reads the table says that it is missing
    if folders:
        raise StoreError(
            f"{run}: this run was compared from shards, which hold the rows of its documents",
            hint=f"read the Parquet files in {', '.join(folders)}; the report shows the oddest documents",
        )
