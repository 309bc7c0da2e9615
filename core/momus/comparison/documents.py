"""Documents of a comparison as data frames: one row per document and critic, and the least likely of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.comparison.statistics import PPL
from momus.errors import StoreError, UsageError
from momus.evidence import MarkedDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from momus.comparison.result import Comparison

FILE = "documents.parquet"
COLUMNS = ("corpus", "id", "prompt", "group", "critic", "z", "nll", "steps", "nll_per_step", "reason")
TEXT_COLUMNS = ("corpus", "id", "prompt", "group", "critic", "z", "reason")
SHOWN_STEPS = 3
"""Unlikely steps of a document that a row of the outliers names."""


def documents_frame(comparison: Comparison) -> pd.DataFrame:
    """Tabulate the documents of a comparison, one row per document and critic, with the columns `COLUMNS`.

    Raises
    ------
    StoreError
        The run folder lacks the scores, or they cannot be read.
    """
    in_memory = {critic for critic, _ in comparison.scores} >= {r.name for r in comparison.results}
    if in_memory and comparison.scores:
        table = pa.concat_tables([s.table() for s in comparison.scores.values()])
    elif comparison.folder is not None:
        table = _read(comparison)
    else:
        raise StoreError(
            "the scores of this comparison are neither in memory nor in a folder",
            hint="compare with out=FOLDER, or read the folder with momus.read_comparison",
        )
    return _tidy(table)


def _read(comparison: Comparison) -> pa.Table:
    assert comparison.folder is not None
    path = comparison.folder / FILE
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path}: not readable ({error})", hint="run `momus compare` again") from error


def _tidy(table: pa.Table) -> pd.DataFrame:
    """Order the columns; those that a file of an older version lacks are empty."""
    for name in ("prompt", "group", "z"):
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), pa.string()))
    frame = table.to_pandas().rename(columns={"states": "steps"})
    for name in TEXT_COLUMNS:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    frame["nll_per_step"] = frame["nll"] / frame["steps"].where(frame["steps"] > 0, np.nan)
    return frame[list(COLUMNS)]


def outliers_frame(
    comparison: Comparison, critic: str | None = None, corpus: str | None = None, top: int = 10
) -> pd.DataFrame:
    """Tabulate the least likely documents of each critic and corpus.

    Parameters
    ----------
    critic
        Name of one critic; default: all.
    corpus
        Name of one corpus, which may be the real one; default: all generated ones.
    top
        Documents per critic and corpus.

    Returns
    -------
    Rows with the columns critic, corpus, rank, id, prompt, group, value, unit, z and unlikely, least likely first.
    ``value`` is the Latent NLL, per step for critics of sequences; documents of one value share a rank and are in the
    order of their ids. ``unlikely`` names the first unlikely steps where the run kept them (as many documents as the
    setting ``top``), else None.

    Raises
    ------
    UsageError
        There is no such critic or corpus, or ``top`` is below 1.
    """
    import pandas as pd

    if top < 1:
        raise UsageError(f"top is {top}, expected at least 1")
    documents = documents_frame(comparison)
    critics = _chosen("critic", critic, [r.name for r in comparison.results])
    generated = list(dict.fromkeys(v.generated for v in comparison.verdicts))
    corpora = generated if corpus is None else _chosen("corpus", corpus, list(documents["corpus"].unique()))
    sequences = {v.critic for v in comparison.verdicts if v.statistic == PPL.name}
    marked = {(r.name, o.corpus, o.id): _unlikely(o) for r in comparison.results for o in r.outliers}
    parts = []
    for name in critics:
        column, unit = ("nll_per_step", "nats per step") if name in sequences else ("nll", "nats")
        for text in corpora:
            of_both = (documents["critic"] == name) & (documents["corpus"] == text)
            rows = documents[of_both & documents[column].notna()]
            rows = rows.sort_values([column, "id"], ascending=[False, True], kind="stable")
            ranks = rows[column].rank(method="min", ascending=False).astype(int)
            parts.append(rows.assign(value=rows[column], unit=unit, rank=ranks).head(top))
    frame = pd.concat(parts, ignore_index=True)
    keys = zip(frame["critic"], frame["corpus"], frame["id"], strict=True)
    frame["unlikely"] = pd.Series([marked.get(key) for key in keys], index=frame.index, dtype=object)
    columns = ["critic", "corpus", "rank", "id", "prompt", "group", "value", "unit", "z", "unlikely"]
    return frame[columns]


def _chosen(what: str, name: str | None, names: Sequence[str]) -> list[str]:
    """All names, or one of them.

    Raises
    ------
    UsageError
        There is no such name.
    """
    if name is not None and name not in names:
        raise UsageError(f"this comparison has no {what} {name!r}", hint=f"choose one of {', '.join(names)}")
    return list(names) if name is None else [name]


def _unlikely(document: MarkedDocument) -> str | None:
    """The first unlikely steps of a document, such as ``Notes (P = 0.002); Summary``; None if none is marked."""
    steps: Iterable[str] = (f"{s.label} ({s.note})" if s.note else s.label for s in document.steps if s.marked)
    return "; ".join(list(steps)[:SHOWN_STEPS]) or None
