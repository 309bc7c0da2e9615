"""The outlier documents of a run, for the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from momus.comparison.folder import DOCUMENTS, RunFolder
from momus.errors import StoreError, UsageError
from momus.evidence import MarkedDocument

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType


def outlier_rows(run: Path, critic: str, top: int, corpus: str | None = None) -> pd.DataFrame:
    """The ``top`` least likely documents of each corpus, by Latent NLL per step: one row each.

    Raises
    ------
    UsageError
        The run has no such critic or corpus.
    StoreError
        The table of documents is missing or damaged.
    """
    folder = RunFolder(run)
    names = [c["name"] for c in folder.read_run()["critics"]]
    if critic not in names:
        raise UsageError(f"{run}: this run has no critic {critic!r}", hint=f"it has {', '.join(names)}")
    try:
        table = pq.read_table(run / DOCUMENTS, filters=[("critic", "=", critic)])
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{run / DOCUMENTS}: cannot be read ({str(error).splitlines()[0]})", hint="run `momus compare` again"
        ) from error
    corpora = table["corpus"].unique().to_pylist()
    if corpus is not None and corpus not in corpora:
        raise UsageError(f"{run}: this run has no corpus {corpus!r}", hint=f"it has {', '.join(corpora)}")
    frame = table.filter(pc.is_valid(table["nll"])).to_pandas()
    frame = frame if corpus is None else frame[frame["corpus"] == corpus]
    frame["per_step"] = frame["nll"] / frame["states"]
    ranked = frame.sort_values(["corpus", "per_step", "id"], ascending=[True, False, True], kind="stable")
    return ranked.groupby("corpus", sort=False).head(top)


def outlier_view(run: Path, critic: str, top: int, corpus: str | None = None) -> RenderableType:
    """Build a table of outliers, with the unlikely steps of those that the run has explained."""
    from rich.markup import escape
    from rich.table import Table

    rows = outlier_rows(run, critic, top, corpus)
    explained = {(o.corpus, o.id): o for r in RunFolder(run).results([critic]) for o in r.outliers}
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in ("corpus", "document"):
        table.add_column(name)
    for name in ("Latent NLL", "steps", "nats per step"):
        table.add_column(name, justify="right")
    table.add_column("unlikely steps")
    for row in rows.itertuples():
        outlier = explained.get((row.corpus, row.id))
        values = (f"{row.nll:.4g}", f"{row.states:,}", f"{row.per_step:.4g}")
        table.add_row(escape(row.corpus), escape(row.id), *values, escape(_unlikely(outlier)))
    return table


def _unlikely(outlier: MarkedDocument | None) -> str:
    """The marked steps of an explained document, in words."""
    if outlier is None:
        return ""
    steps = (step for step in outlier.steps if step.marked)
    return "; ".join(f"{step.label} ({step.note})" if step.note else step.label for step in steps)
