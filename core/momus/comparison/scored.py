"""The scored documents of a run folder, and the values that rank them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from momus.comparison.folder import DOCUMENTS
from momus.comparison.statistics import PPL
from momus.comparison.verdict import Verdict
from momus.errors import StoreError
from momus.numeric.types import Floats

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 9
"""Values that agree in so many significant digits are equal: the rest is rounding."""


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


def is_sequence(verdicts: Iterable[Verdict], critic: str) -> bool:
    """Whether the latents of a critic are sequences: those have a Latent PPL."""
    return any(v.critic == critic and v.statistic == PPL.name for v in verdicts)


def values_of(frame: pd.DataFrame, sequence: bool) -> Floats:
    """What ranks the documents of one critic, (n,): its own measure of oddity if it has one, else Latent NLL.

    Latent NLL is per step for sequences. Values are rounded to nine significant digits.
    """
    values = frame["nll"].to_numpy(dtype=np.float64)
    if "oddity" in frame and not frame["oddity"].isna().all():
        values = frame["oddity"].to_numpy(dtype=np.float64)
    elif sequence:
        values = values / np.maximum(frame["states"].to_numpy(), 1)
    return np.array([float(f"{v:.{DIGITS}g}") for v in values])
