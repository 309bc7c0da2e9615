"""Documents of a comparison as a data frame: one row per document and critic, from memory or from the run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.errors import StoreError

if TYPE_CHECKING:
    import pandas as pd

    from momus.runs.result import Results

FILE = "documents.parquet"
COLUMNS = ("corpus", "id", "prompt", "group", "critic", "z", "nll", "steps", "nll_per_step", "reason", "oddity")
TEXT_COLUMNS = ("corpus", "id", "prompt", "group", "critic", "z", "reason")


def documents_frame(comparison: Results) -> pd.DataFrame:
    """Tabulate the documents of a comparison, one row per document and critic, with the columns `COLUMNS`.

    Raises
    ------
    StoreError
        The run folder lacks the scores, or they cannot be read.
    """
    frame = documents_table(comparison).to_pandas().rename(columns={"states": "steps"})
    for name in TEXT_COLUMNS:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    frame["nll_per_step"] = frame["nll"] / frame["steps"].where(frame["steps"] > 0, np.nan)
    return frame[list(COLUMNS)]


def documents_table(
    comparison: Results, critics: Sequence[str] | None = None, corpora: Sequence[str] | None = None
) -> pa.Table:
    """Rows of the documents of a comparison, with the columns of `Scores.table`.

    Parameters
    ----------
    critics, corpora
        Names of those to tabulate; None for all.

    Raises
    ------
    StoreError
        The run folder lacks the scores, or they cannot be read.
    """
    in_memory = {critic for critic, _ in comparison.scores} >= {r.name for r in comparison.results}
    if in_memory and comparison.scores:
        tables = [
            scores.table()
            for (critic, corpus), scores in comparison.scores.items()
            if (critics is None or critic in critics) and (corpora is None or corpus in corpora)
        ]
        return pa.concat_tables(tables or [next(iter(comparison.scores.values())).table()[:0]])
    if comparison.folder is None:
        raise StoreError(
            "the scores of this comparison are neither in memory nor in a folder",
            hint="compare with out=FOLDER, or read the folder with momus.read_results",
        )
    return read_documents(comparison.folder, critics, corpora)


def read_documents(run: Path, critics: Sequence[str] | None = None, corpora: Sequence[str] | None = None) -> pa.Table:
    """Read the rows of `documents_table` from a run folder.

    Raises
    ------
    StoreError
        The table of documents is missing or damaged.
    """
    path = run / FILE
    wanted = [(name, "in", list(some)) for name, some in (("critic", critics), ("corpus", corpora)) if some is not None]
    try:
        return pq.read_table(path, filters=wanted or None)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{path}: not readable ({str(error).splitlines()[0]})", hint="run `momus compare` again"
        ) from error
