"""The scored documents of a run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from momus.errors import StoreError
from momus.runs.folder import DOCUMENTS

if TYPE_CHECKING:
    import pandas as pd


def scored_documents(run: Path, critics: Sequence[str], corpora: Sequence[str] | None = None) -> pd.DataFrame:
    """Rows of all scored documents under some critics: corpus, id, critic, nll, states, and z and oddity if kept.

    Parameters
    ----------
    corpora
        Names of the corpora to read; None for all.

    Raises
    ------
    StoreError
        The table of documents is missing or damaged.
    """
    columns = ["corpus", "id", "critic", "nll", "states", "z", "oddity"]
    wanted = [("critic", "in", list(critics))]
    if corpora is not None:
        wanted.append(("corpus", "in", list(corpora)))
    try:
        has = set(pq.read_schema(run / DOCUMENTS).names)  # older runs lack the last two
        columns = [name for name in columns if name in has]
        table = pq.read_table(run / DOCUMENTS, columns=columns, filters=wanted)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{run / DOCUMENTS}: cannot be read ({str(error).splitlines()[0]})", hint="run `momus compare` again"
        ) from error
    return table.filter(pc.is_valid(table["nll"])).to_pandas()
