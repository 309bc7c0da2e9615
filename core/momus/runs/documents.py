"""Documents of a comparison as data frames: one row per document and critic, and the least likely of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.errors import StoreError, UsageError
from momus.runs.oddity import Standing, is_sequence, named_steps, outlier_unit, outlier_values, reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from momus.numeric.types import Floats
    from momus.runs.result import Comparison, CriticResult

FILE = "documents.parquet"
COLUMNS = ("corpus", "id", "prompt", "group", "critic", "z", "nll", "steps", "nll_per_step", "reason", "oddity")
TEXT_COLUMNS = ("corpus", "id", "prompt", "group", "critic", "z", "reason")
OUTLIER_COLUMNS = (
    *("critic", "corpus", "rank", "id", "prompt", "group", "value", "unit", "z"),
    *("unlikely", "why"),
)


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
    if "oddity" not in table.column_names:
        table = table.append_column("oddity", pa.nulls(len(table), pa.float64()))
    frame = table.to_pandas().rename(columns={"states": "steps"})
    for name in TEXT_COLUMNS:
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    frame["nll_per_step"] = frame["nll"] / frame["steps"].where(frame["steps"] > 0, np.nan)
    return frame[list(COLUMNS)]


def outliers_frame(
    comparison: Comparison, critic: str | None = None, corpus: str | None = None, top: int = 10
) -> pd.DataFrame:
    """Tabulate the oddest documents of each critic and corpus.

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
    Rows with the columns critic, corpus, rank, id, prompt, group, value, unit, z, unlikely and why, the oddest first.
    ``value`` is the critic's own measure of oddity, or else the Latent NLL, per step for critics of sequences;
    documents of one value share a rank and are in the order of their ids. ``unlikely`` names unlikely steps where the
    run kept them (as many documents as the setting ``top``), else None; ``why`` says of every document why it is
    listed.

    Raises
    ------
    UsageError
        There is no such critic or corpus, or ``top`` is below 1.
    """
    import pandas as pd

    if top < 1:
        raise UsageError(f"top is {top}, expected at least 1")
    documents = documents_frame(comparison).rename(columns={"steps": "states"})
    critics = _chosen("critic", critic, [r.name for r in comparison.results])
    generated = list(dict.fromkeys(v.generated for v in comparison.verdicts))
    names = list(documents["corpus"].unique())
    corpora = generated if corpus is None else _chosen("corpus", corpus, names)
    results = {r.name: r for r in comparison.results}
    parts = []
    for name in critics:
        rows = documents[documents["critic"] == name]
        sequence = is_sequence(results[name].verdicts, name)
        rows = rows.assign(value=outlier_values(rows, sequence), unit=outlier_unit(results[name]))
        rows = rows[rows["value"].notna()]
        real = rows.loc[~rows["corpus"].isin(generated), "value"].to_numpy()
        for text in corpora:
            listed = rows[rows["corpus"] == text].sort_values(["value", "id"], ascending=[False, True], kind="stable")
            ranks = listed["value"].rank(method="min", ascending=False).astype(int)
            parts.append(_explained(listed.assign(rank=ranks).head(top), results[name], real))
    return pd.concat(parts, ignore_index=True)[list(OUTLIER_COLUMNS)]


def _explained(rows: pd.DataFrame, result: CriticResult, real: Floats) -> pd.DataFrame:
    """Add the columns unlikely and why to outliers of one critic; ``real`` holds the values of the real documents."""
    noun = result.verdicts[0].unit if result.verdicts else "document"
    odder = "odder" if result.oddity_unit else "less likely"
    typical = float(np.median(real)) if len(real) else None
    kept = {(o.corpus, o.id): o for o in (*result.odd_real, *result.outliers)}
    documents = [kept.get(key) for key in zip(rows["corpus"], rows["id"], strict=True)]
    above = [float((real < v).mean()) if len(real) else None for v in rows["value"]]
    return rows.assign(
        unlikely=np.array([named_steps(d) for d in documents], dtype=object),
        why=np.array(
            [
                reason_of(d, Standing(a, typical, noun, odder), z)
                for d, a, z in zip(documents, above, rows["z"], strict=True)
            ],
            dtype=object,
        ),
    )


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
