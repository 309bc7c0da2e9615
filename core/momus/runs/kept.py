"""Tables of a run folder: documents with their scores, for people and programs, and what later runs take from them.

``documents.parquet`` has one row per document and critic; ``texts.parquet`` the ids, prompts, groups and hashes of all
documents; ``critics/NAME/real.parquet`` the scores of the real text with their rows, in the columns of a part
(`momus.rows.packing`); ``critics/NAME/headline.parquet`` the rows of the headline of all texts, for analyses of all
axes. The latter two have a record in their metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from momus.critic import Counted, Pooled
from momus.critic.scores import Scores
from momus.errors import StoreError
from momus.inference.samples import Rows
from momus.joint.axes import AxisRows
from momus.outputs import delete, make_folder, replacing
from momus.rows.packing import keys_of, scored_columns, scores_of, summary_from_json, summary_to_json, unpack
from momus.runs.manifest import AGAIN
from momus.runs.texts import Texts
from momus.schema import build, parse_json
from momus.verdicts.statistics import all_statistics

if TYPE_CHECKING:
    import pandas as pd

    from momus.critic import Critic
    from momus.runs.result import Results
    from momus.text.corpus import Corpus

T = TypeVar("T")
TEXTS, REAL, HEADLINE = "texts.parquet", "real.parquet", "headline.parquet"
SCORED, OF_AXIS = b"momus.scores", b"momus.axis"
"""Keys of the metadata that hold the record of a table."""
LABELS = pa.schema([(name, pa.string()) for name in ("corpus", "id", "prompt", "group")] + [("hash", pa.uint64())])
AXIS = pa.schema(
    [
        ("corpus", pa.string()),
        ("scored", pa.bool_()),
        ("value", pa.float64()),
        ("columns", pa.list_(pa.int32())),
        ("counts", pa.list_(pa.float64())),
    ]
)


def _write(path: Path, table: pa.Table, key: bytes, record: Mapping[str, Any], **more: Any) -> None:
    """Write a table with a record."""
    metadata = {**(table.schema.metadata or {}), key: json.dumps(record).encode()}
    make_folder(path.parent)
    with replacing(path) as temporary:
        pq.write_table(table.replace_schema_metadata(metadata), temporary, compression="zstd", **more)


def _read(path: Path, key: bytes, kind: type[T], schema: pa.Schema | None = None) -> tuple[pa.Table, T]:
    """Read a table and its record."""
    with pq.ParquetFile(path) as file:
        table = file.read(use_threads=False)
    place = f"{path}: metadata"
    record = build(kind, parse_json((table.schema.metadata or {}).get(key, b"null"), place, AGAIN), place, AGAIN)
    return table if schema is None else table.cast(schema), record


FAULTS = (OSError, pa.ArrowException, ValueError, KeyError, IndexError, TypeError, AttributeError)
"""What a damaged file may raise when it is read."""


def _unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(f"{path}: not readable ({error})", hint=AGAIN)


@dataclass(frozen=True)
class KeptTexts:
    """What a run folder keeps of the real and the generated corpora: one entry per document.

    Documents are in the order of `Corpus.sorted`.

    Attributes
    ----------
    ids, prompts, groups, hashes
        By corpus. Equal texts have equal hashes (`momus.Corpus.hashes`).
    """

    ids: Mapping[str, Sequence[str]]
    prompts: Mapping[str, Sequence[str | None]]
    groups: Mapping[str, Sequence[str | None]]
    hashes: Mapping[str, NDArray[np.uint64]]


def write_texts(texts: Texts, folder: Path) -> None:
    """Write ``texts.parquet`` of a run folder."""
    parts = [
        pa.table(
            [pa.array([c.name] * len(c), pa.string()), *(c.table[n] for n in ("id", "prompt", "group")), c.hashes],
            schema=LABELS,
        )
        for c in (texts.real, *texts.generated)
    ]
    with replacing(folder / TEXTS) as temporary:
        pq.write_table(pa.concat_tables(parts), temporary, compression="zstd")


def read_kept_texts(folder: Path) -> KeptTexts:
    """Read what `write_texts` wrote.

    Raises
    ------
    StoreError
        The file cannot be read, or holds something else.
    """
    path = folder / TEXTS
    try:
        with pq.ParquetFile(path) as file:
            table = file.read(use_threads=False).cast(LABELS)
    except FAULTS as error:
        raise _unreadable(path, error) from error
    tables = _by_corpus(table)
    columns = {key: {n: rows[key].to_pylist() for n, rows in tables.items()} for key in ("id", "prompt", "group")}
    hashes = {n: np.asarray(rows["hash"].to_numpy(), dtype=np.uint64) for n, rows in tables.items()}
    return KeptTexts(columns["id"], columns["prompt"], columns["group"], hashes)


def _by_corpus(table: pa.Table) -> dict[str, pa.Table]:
    names = list(dict.fromkeys(table["corpus"].to_pylist()))
    return {n: table.filter(pa.compute.equal(table["corpus"], n)).combine_chunks() for n in names}


class _Kept(TypedDict):
    critic: str
    identity: str
    summary: dict[str, Any] | None


def write_scores(scores: Scores, corpus: Corpus, folder: Path) -> bool:
    """Write scores of a text into the folder of a critic; False if their summary is of a kind that is not kept.

    Summaries of running text are not kept: they are the text itself.
    """
    delete(folder / REAL)
    if not (scores.summary is None or type(scores.summary) is Pooled):
        return False
    columns, metadata = scored_columns({scores.critic: scores})
    summary = summary_to_json(scores.summary, scores.rows)
    kept = {"critic": scores.critic, "identity": corpus.identity, "summary": summary}
    table = pa.table(columns).replace_schema_metadata(metadata)
    _write(folder / REAL, table, SCORED, kept, dictionary_pagesize_limit=1 << 26)
    return True


def read_scores(folder: Path, corpus: Corpus) -> Scores | None:
    """Read what `write_scores` wrote; None if there is nothing, or it is of another text than this.

    Raises
    ------
    StoreError
        The file cannot be read, or holds something else.
    """
    path = folder / REAL
    if not path.exists():
        return None
    try:
        table, kept = _read(path, SCORED, _Kept)
        if kept["identity"] != corpus.identity:
            return None
        critic = kept["critic"]
        rows = {key: unpack(table, critic, key) for key in keys_of(table.schema, critic)}
        summary = None
        if kept["summary"] is not None:
            pooled, sums = summary_from_json(kept["summary"])
            totals = Pooled.of_rows({key: r for key, r in rows.items() if isinstance(r, Counted)}, 0).counts
            summary = replace(pooled, counts={**pooled.counts, **{name: totals[key] for name, key in sums.items()}})
        labels = corpus.ids, corpus.prompts, corpus.groups
        return scores_of(table, critic, corpus.name, *labels, rows, summary)
    except FAULTS as error:
        raise _unreadable(path, error) from error


class _Axis(TypedDict):
    statistic: str
    width: int
    dense: bool


def write_axis(axis: AxisRows, folder: Path) -> None:
    """Write the headline rows of all corpora, in order: the columns that are not zero, and what they hold."""
    tables = []
    first = next(iter(axis.rows.values()))
    for name, rows in axis.rows.items():
        matrix = sparse.csr_array(rows)
        lists = [
            pa.ListArray.from_arrays(matrix.indptr.astype(np.int32), pa.array(values))
            for values in (matrix.indices.astype(np.int32), matrix.data.astype(np.float64))
        ]
        names = pa.array([name] * matrix.shape[0], pa.string())
        columns = [names, pa.array(axis.scored[name]), pa.array(axis.values[name]), *lists]
        tables.append(pa.Table.from_arrays(columns, schema=AXIS))
    record = {"statistic": axis.statistic.name, "width": first.shape[1], "dense": not sparse.issparse(first)}
    _write(folder / HEADLINE, pa.concat_tables(tables), OF_AXIS, record)


def read_axis(folder: Path, critic: Critic[Any]) -> AxisRows:
    """Read what `write_axis` wrote, for the fitted critic that the rows belong to.

    Raises
    ------
    StoreError
        The file cannot be read, or belongs to another statistic.
    """
    path = folder / HEADLINE
    try:
        table, record = _read(path, OF_AXIS, _Axis, AXIS)
        tables = _by_corpus(table)
        rows = {name: _rows(lists, record["width"], record["dense"]) for name, lists in tables.items()}
    except FAULTS as error:
        raise _unreadable(path, error) from error
    # the statistics of the guard exist only where rows say so; a headline is never among them
    statistic = next((s for s in all_statistics(critic, []) if s.name == record["statistic"]), None)
    if statistic is None:
        raise StoreError(f"{path}: rows of {record['statistic']!r}, which {critic.name!r} does not test", hint=AGAIN)
    return AxisRows(
        critic.name,
        critic.axis,
        statistic,
        rows,
        {n: np.asarray(lists["scored"].to_numpy(zero_copy_only=False), dtype=bool) for n, lists in tables.items()},
        {n: np.asarray(lists["value"].to_numpy(), dtype=np.float64) for n, lists in tables.items()},
    )


def _rows(table: pa.Table, width: int, dense: bool) -> Rows:
    columns, counts = table["columns"].combine_chunks(), table["counts"].combine_chunks()
    indptr = np.concatenate([[0], np.cumsum(columns.value_lengths().to_numpy())])
    indices = columns.flatten().to_numpy()
    if len(indices) and not (indices.min() >= 0 and indices.max() < width):
        raise ValueError("a column is out of range")
    matrix = sparse.csr_array((counts.flatten().to_numpy(), indices, indptr), shape=(len(table), width))
    return matrix.toarray() if dense else matrix


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
    path = comparison.folder / FILE
    wanted = [(name, "in", list(some)) for name, some in (("critic", critics), ("corpus", corpora)) if some is not None]
    try:
        return pq.read_table(path, filters=wanted or None)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{path}: not readable ({str(error).splitlines()[0]})", hint="run `momus compare` again"
        ) from error
