"""Scores of the real text on disk, with their rows, so that another run can be compared without scoring it again.

The table is that of a part (`momus.runs.packing`), and its metadata hold the summary. Summaries of running text are not
kept: they are the text itself.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from momus.critic import Counted, Pooled
from momus.critic.scores import Scores
from momus.errors import StoreError
from momus.outputs import delete, make_folder, replacing
from momus.runs.manifest import AGAIN
from momus.runs.packing import floats_of, keys_of, scored_columns, summary_from_json, summary_to_json, unpack
from momus.runs.row_folder import SummaryRecord
from momus.schema import build, parse_json

NAME = "real.parquet"
KEPT = b"momus.scores"
"""Key of the metadata that say whose scores these are, and hold their summary."""


class _Kept(TypedDict):
    critic: str
    corpus: str
    summary: SummaryRecord | None


def write_scores(scores: Scores, folder: Path) -> bool:
    """Write scores into the folder of a critic; False (and nothing is kept) if their summary is of another kind."""
    delete(folder / NAME)
    if not (scores.summary is None or type(scores.summary) is Pooled):
        return False
    columns, metadata = scored_columns({scores.critic: scores})
    texts = {
        "id": list(scores.ids),
        "prompt": list(scores.prompts),
        "group": list(scores.groups) or [None] * len(scores),
    }
    kept = {"critic": scores.critic, "corpus": scores.corpus, "summary": summary_to_json(scores.summary, scores.rows)}
    table = pa.table({**{name: pa.array(values, pa.string()) for name, values in texts.items()}, **columns})
    make_folder(folder)
    with replacing(folder / NAME) as temporary:
        pq.write_table(
            table.replace_schema_metadata({**metadata, KEPT: json.dumps(kept).encode()}),
            temporary,
            compression="zstd",
            dictionary_pagesize_limit=1 << 26,
        )
    return True


def read_scores(folder: Path) -> Scores | None:
    """Read what `write_scores` wrote; None if there is nothing.

    Raises
    ------
    StoreError
        The file cannot be read, or holds something else.
    """
    path = folder / NAME
    if not path.exists():
        return None
    try:
        with pq.ParquetFile(path) as file:
            table = file.read(use_threads=False)
        kept = build(_Kept, parse_json(table.schema.metadata[KEPT], str(path), AGAIN), str(path), AGAIN)
        return _scores(table, kept)
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path}: not readable ({error})", hint=AGAIN) from error


def _scores(table: pa.Table, kept: _Kept) -> Scores:
    critic = kept["critic"]
    column = {name: table[f"{critic}.{name}"] for name in ("nll", "states", "reason")}
    optional = {
        n: table[f"{critic}.{n}"] for n in ("oddity", "error", "z", "parts") if f"{critic}.{n}" in table.schema.names
    }
    floats = {name: floats_of(values) for name, values in optional.items() if name in ("oddity", "error")}
    groups = table["group"].to_pylist()
    rows = {key: unpack(table, critic, key) for key in keys_of(table.schema, critic)}
    summary = None
    if kept["summary"] is not None:
        pooled, sums = summary_from_json(kept["summary"])
        totals = Pooled.of_rows({key: r for key, r in rows.items() if isinstance(r, Counted)}, 0).counts
        summary = replace(pooled, counts={**pooled.counts, **{name: totals[key] for name, key in sums.items()}})
    parts = None
    if "parts" in optional:
        values = optional["parts"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        parts = np.asarray(values, dtype=np.float64).reshape(len(table), -1)
    return Scores(
        critic=critic,
        corpus=kept["corpus"],
        ids=table["id"].to_pylist(),
        prompts=table["prompt"].to_pylist(),
        nll=floats_of(column["nll"]),
        steps=np.asarray(column["states"].to_numpy(), dtype=np.int64),
        reasons=column["reason"].to_pylist(),
        rows=rows,
        summary=summary,
        errors=floats.get("error"),
        groups=groups if any(g is not None for g in groups) else (),
        z=optional["z"].combine_chunks() if "z" in optional else None,
        oddity=floats.get("oddity"),
        parts=parts,
    )
