"""Scores of a part as an Arrow table with one row per document, and back.

Columns: ``id``, ``prompt``, ``group``, ``hash`` and ``characters`` of the text, ``fields`` (metadata), and for each
critic ``CRITIC.nll`` (null where unscored), ``CRITIC.states``, ``CRITIC.reason``, ``CRITIC.z``, ``CRITIC.oddity``,
and its sufficient statistics: ``CRITIC:KEY`` holds dense rows as lists of one length, ``CRITIC:KEY.labels`` and
``CRITIC:KEY.counts`` the counts of labelled items.
Counts that a critic shares with one before it are stored once; the metadata of the table name the columns to read.
Records of parts hold mergeable summaries: totals over the scored documents, from which evidence is computed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from momus.critic import Counted, Pooled, Rows
from momus.critic.rows import Summary, same_entries
from momus.critic.scores import Scores
from momus.files import plain
from momus.numeric.types import Floats
from momus.schema import build, parse_json
from momus.text.corpus import Corpus
from momus.text.sketches import SCHEMA as SKETCHED
from momus.text.sketches import TextSketch

SKETCH = "sketch."
"""Start of the columns of the sketch."""
PLACE, AGAIN = "metadata of the rows of a part", "score the text again"
SHARED = b"momus.shared"
"""Metadata: which columns hold counts that several critics have."""


def pack(corpus: Corpus, scored: Mapping[str, Scores], sketch: TextSketch | None = None) -> pa.Table:
    """Put the scores of a corpus under several critics into a table, and its sketch.

    >>> from momus.critic.scores import Scores
    >>> scores = Scores("c", "x", ["x:1"], [None], np.ones(1), np.ones(1, int), [None], {"a": np.array([[1.0, 2.0]])})
    >>> pack(Corpus.from_texts(["a"], name="x"), {"c": scores}).column_names
    ['id', 'prompt', 'group', 'hash', 'characters', 'fields', 'c.nll', 'c.states', 'c.reason', 'c:a']
    """
    columns: dict[str, pa.Array | pa.ChunkedArray] = {name: corpus.table[name] for name in ("id", "prompt", "group")}
    columns |= {"hash": pa.array(corpus.hashes), "characters": pa.array(corpus.characters)}
    columns["fields"] = corpus.table["fields"]
    more, metadata = scored_columns(scored)
    columns |= more
    if sketch is not None:
        table = sketch.to_table()
        metadata |= table.schema.metadata
        columns |= {f"{SKETCH}{name}": table[name] for name in table.column_names if name not in columns}
    return pa.table(columns).replace_schema_metadata(metadata)


def scored_columns(
    scored: Mapping[str, Scores],
) -> tuple[dict[str, pa.Array | pa.ChunkedArray], dict[bytes, bytes]]:
    """The columns of scores under several critics, and the metadata that reading them needs."""
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    # critics that count the same (words, say) store it once: in a part, counts are most of the bytes
    shared: dict[str, str] = {}
    seen: list[tuple[str, Counted]] = []
    for name, scores in scored.items():
        columns |= _of_critic(name, scores)
        for key, rows in scores.rows.items():
            column = column_of(name, key)
            if not isinstance(rows, Counted):
                columns[column] = _dense(np.asarray(rows, dtype=np.float64))
            elif (same := next((c for c, other in seen if _equal(rows, other)), None)) is not None:
                shared[column] = same
            else:
                seen.append((column, rows))
                columns[f"{column}.labels"], columns[f"{column}.counts"] = _counts(rows)
    return columns, {SHARED: json.dumps(shared, sort_keys=True).encode()}


def sketch_columns(schema: pa.Schema) -> list[str]:
    """The columns of a table that hold the sketch; empty if there is none."""
    names = {f"{SKETCH}{name}" for name in SKETCHED.names}
    return [n for n in schema.names if n in names or n in SKETCHED.names] if names & set(schema.names) else []


def unpack_sketch(table: pa.Table) -> TextSketch:
    """Read the sketch from the columns that `sketch_columns` names."""
    renamed = table.rename_columns([n.removeprefix(SKETCH) for n in table.column_names])
    return TextSketch.from_table(renamed.replace_schema_metadata(table.schema.metadata))


def column_of(critic: str, key: str) -> str:
    """Name of the column with rows of a critic under a key."""
    return f"{critic}:{key}"


def _of_critic(name: str, scores: Scores) -> dict[str, pa.Array]:
    columns = {
        f"{name}.nll": pa.array(scores.nll, mask=~scores.scored),
        f"{name}.states": pa.array(scores.steps, pa.int64()),
        f"{name}.reason": pa.array(list(scores.reasons), pa.string()),
    }
    if scores.z is not None:
        columns[f"{name}.z"] = scores.z
    for what, values in (("oddity", scores.oddity), ("error", scores.errors)):
        if values is not None:
            columns[f"{name}.{what}"] = pa.array(values, mask=~np.isfinite(values))
    if scores.parts is not None:
        columns[f"{name}.parts"] = _dense(scores.parts)
    return columns


def _dense(rows: Floats) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(rows).ravel()), rows.shape[1])


def _counts(rows: Counted) -> tuple[pa.Array, pa.Array]:
    """The labels and the counts of each document, as lists."""
    matrix = rows.matrix
    # offsets[i]:offsets[i + 1] are the entries of document i
    offsets = pa.array(matrix.indptr.astype(np.int32))
    codes = pa.array(matrix.indices.astype(np.int32))  # label of each entry, (entries,)
    if isinstance(rows.labels, np.ndarray):
        labels = pa.array(rows.labels).take(codes)
    else:
        labels = pa.DictionaryArray.from_arrays(codes, pa.array(list(rows.labels), pa.string()))
    # int32 takes half the bytes of float64, and compresses better
    whole = bool((matrix.data == np.round(matrix.data)).all() and (np.abs(matrix.data) < 2**31).all())
    counts = pa.array(matrix.data.astype(np.int32) if whole else matrix.data)
    return pa.ListArray.from_arrays(offsets, labels), pa.ListArray.from_arrays(offsets, counts)


def _equal(one: Counted, other: Counted) -> bool:
    if not same_entries(one.matrix, other.matrix):
        return False
    return one.labels is other.labels or list(one.labels) == list(other.labels)


def stored_column(schema: pa.Schema, critic: str, key: str) -> str:
    """The column that holds rows of a critic, which may be that of another critic with the same counts."""
    column = column_of(critic, key)
    return _shared(schema).get(column, column)


def _shared(schema: pa.Schema) -> Mapping[str, str]:
    """Columns that hold the counts of several critics, by those that they stand for."""
    return _parsed((schema.metadata or {}).get(SHARED, b"{}"))


@lru_cache
def _parsed(shared: bytes) -> Mapping[str, str]:
    """The parsed metadata: all parts of a text mostly have the same."""
    return build(dict[str, str], parse_json(shared, PLACE, AGAIN), PLACE, AGAIN)


def columns_of(schema: pa.Schema, critic: str, key: str) -> list[str]:
    """The columns of a table to read for rows of a critic; empty if a part has none, as without a scored document."""
    column = stored_column(schema, critic, key)
    return [name for name in (column, f"{column}.labels", f"{column}.counts") if name in schema.names]


def keys_of(schema: pa.Schema, critic: str) -> list[str]:
    """The keys of a critic's rows in a table."""
    shared = _shared(schema)
    begin = f"{critic}:"
    names = [n.removesuffix(".counts") for n in schema.names if n.startswith(begin) and not n.endswith(".labels")]
    return [name.removeprefix(begin) for name in [*names, *(c for c in shared if c.startswith(begin))]]


def unpack(table: pa.Table, critic: str, key: str) -> Rows:
    """Read the rows of a critic from the columns of a part that `columns_of` names."""
    column = stored_column(table.schema, critic, key)
    if column in table.column_names:
        values = table[column].combine_chunks()
        width = table.schema.field(column).type.list_size
        return np.asarray(values.flatten().to_numpy(zero_copy_only=False)).reshape(-1, width)
    labels, counts = (table[f"{column}.{what}"].combine_chunks() for what in ("labels", "counts"))
    words = labels.flatten()
    offsets = labels.offsets.to_numpy() - labels.offsets[0].as_py()  # int32, so that columns are too
    data = counts.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    if pa.types.is_dictionary(words.type):
        codes, names = words.indices.to_numpy(), words.dictionary.to_pylist()
    else:
        names, codes = np.unique(words.to_numpy(zero_copy_only=False), return_inverse=True)
    return Counted(sparse.csr_array((data, codes, offsets), shape=(len(labels), len(names))), names)


def dense_rows(column: pa.ChunkedArray) -> Floats:
    """Rows (n, d) that are stored as lists of one length; those of a part without rows are 0."""
    rows = np.zeros((len(column), column.type.list_size))  # (n, d)
    rows[column.is_valid().to_numpy()] = pc.list_flatten(column).to_numpy().reshape(-1, rows.shape[1])
    return rows


SCORES = ("nll", "states", "reason", "z", "oddity", "error", "parts")
"""What `scores_of` reads of a critic."""


def scores_of(
    table: pa.Table,
    critic: str,
    corpus: str,
    ids: Sequence[str],
    prompts: Sequence[str | None],
    groups: Sequence[str | None],
    rows: Mapping[str, Rows],
    summary: Summary | None,
) -> Scores:
    """Read scores from the columns of a critic, of which those after ``reason`` may be missing or null."""

    def column(what: str) -> pa.ChunkedArray | None:
        name = f"{critic}.{what}"
        values = table[name] if name in table.column_names else None
        return None if values is None or values.null_count == len(values) else values

    nll = floats_of(table[f"{critic}.nll"])
    z, parts, oddity, errors = (column(what) for what in ("z", "parts", "oddity", "error"))
    return Scores(
        critic=critic,
        corpus=corpus,
        ids=ids,
        prompts=prompts,
        nll=nll,
        steps=np.asarray(table[f"{critic}.states"].to_numpy(), dtype=np.int64),
        reasons=table[f"{critic}.reason"].to_pylist(),
        rows=rows,
        summary=summary,
        errors=None if errors is None else floats_of(errors),
        groups=groups if any(g is not None for g in groups) else (),
        z=None if z is None else z.combine_chunks(),
        oddity=None if oddity is None else floats_of(oddity),
        # NaN where unscored
        parts=None if parts is None else np.where(np.isfinite(nll)[:, None], dense_rows(parts), np.nan),
    )


def floats_of(column: pa.ChunkedArray) -> Floats:
    """Numbers of a column: float64 (n,), NaN where they are null."""
    return np.asarray(pc.fill_null(column.cast(pa.float64()), float("nan")).to_numpy(), dtype=np.float64)


def rows_to_json(rows: Mapping[str, Rows], documents: int) -> dict[str, Any]:
    """Convert the summary that is the sum of some rows; counts of labelled items are left to be added up from these."""
    dense = {key: table for key, table in rows.items() if not isinstance(table, Counted)}
    content = summary_to_json(Pooled.of_rows(dense, documents), {})
    assert content is not None
    return {**content, "counts": {key: {"rows": key} for key in rows if key not in dense}}


def summary_to_json(summary: object, rows: Mapping[str, Rows]) -> dict[str, Any] | None:
    """Convert a summary; None if it is not `Pooled`, so that evidence is computed from documents that are read again.

    Counts that are sums of stored rows are named by the key of the rows, and are added up from these.
    """
    if type(summary) is not Pooled:
        return None
    totals = Pooled.of_rows({k: r for k, r in rows.items() if isinstance(r, Counted)}, 0).counts
    counts: dict[str, Any] = {}
    for name, table in summary.counts.items():
        # equal totals: the counts need not be in the record of each part a second time
        same = next((key for key, total in totals.items() if total == table), None)
        if same is not None:
            counts[name] = {"rows": same}
        else:
            counts[name] = {"labels": [plain(k) for k in table], "values": list(map(float, table.values()))}
    arrays = {
        name: {"shape": list(np.shape(a)), "values": np.asarray(a, dtype=float).ravel().tolist()}
        for name, a in summary.arrays.items()
    }
    return {"documents": summary.documents, "arrays": arrays, "counts": counts}


def summary_from_json(content: Mapping[str, Any]) -> tuple[Pooled, dict[str, str]]:
    """Read a summary, and the keys of the rows that counts by these names are sums of."""
    arrays = {n: np.array(a["values"], dtype=float).reshape(a["shape"]) for n, a in content["arrays"].items()}
    counts = {
        name: dict(zip(c["labels"], map(float, c["values"]), strict=True))
        for name, c in content["counts"].items()
        if "labels" in c
    }
    from_rows = {name: str(c["rows"]) for name, c in content["counts"].items() if "rows" in c}
    return Pooled(int(content["documents"]), arrays, counts), from_rows
