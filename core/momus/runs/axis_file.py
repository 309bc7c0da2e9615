"""Headline rows of a critic on disk: one Parquet row per document, so that a resumed run need not score again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from momus.errors import StoreError
from momus.inference.pooling import Rows
from momus.joint.axes import Axis
from momus.outputs import replacing
from momus.verdicts.statistics import all_statistics

if TYPE_CHECKING:
    from momus.critic import Critic

SCHEMA = pa.schema(
    [
        ("corpus", pa.string()),
        ("scored", pa.bool_()),
        ("value", pa.float64()),
        ("columns", pa.list_(pa.int32())),
        ("counts", pa.list_(pa.float64())),
    ]
)


def write_axis(axis: Axis, path: Path) -> None:
    """Write the rows of all corpora, in order: the columns that are not zero, and what they hold."""
    tables = []
    dense = not sparse.issparse(next(iter(axis.rows.values())))
    for name, rows in axis.rows.items():
        matrix = sparse.csr_array(rows)
        lists = [
            pa.ListArray.from_arrays(matrix.indptr.astype(np.int32), pa.array(values))
            for values in (matrix.indices.astype(np.int32), matrix.data.astype(np.float64))
        ]
        n = matrix.shape[0]
        columns = [pa.array([name] * n, pa.string()), pa.array(axis.scored[name]), pa.array(axis.values[name]), *lists]
        tables.append(pa.Table.from_arrays(columns, schema=SCHEMA))
    width = next(iter(axis.rows.values())).shape[1]
    meta = {"statistic": axis.statistic.name, "width": str(width), "dense": str(int(dense))}
    with replacing(path) as temporary:
        pq.write_table(pa.concat_tables(tables).replace_schema_metadata(meta), temporary, compression="zstd")


def read_axis(path: Path, critic: Critic[Any]) -> Axis:
    """Read what `write_axis` wrote, for the fitted critic that the rows belong to.

    Raises
    ------
    StoreError
        The file cannot be read, or belongs to another statistic.
    """
    try:
        table = pq.read_table(path)
        meta = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
        width, dense = int(meta["width"]), meta["dense"] == "1"
        table = table.cast(SCHEMA)
        names = list(dict.fromkeys(table["corpus"].to_pylist()))
        parts = {name: table.filter(pa.compute.equal(table["corpus"], name)).combine_chunks() for name in names}
        rows = {name: _rows(rows_of, width, dense) for name, rows_of in parts.items()}
    except (OSError, pa.ArrowException, ValueError, KeyError, IndexError) as error:
        raise StoreError(f"{path}: not readable ({error})", hint="run again with --overwrite") from error
    # the statistics of the guard exist only where rows say so; a headline is never among them
    statistic = next((s for s in all_statistics(critic, []) if s.name == meta.get("statistic")), None)
    if statistic is None:
        raise StoreError(
            f"{path}: rows of {meta.get('statistic')!r}, which {critic.name!r} does not test",
            hint="run again with --overwrite",
        )
    return Axis(
        critic.name,
        critic.axis,
        statistic,
        rows,
        {
            name: np.asarray(rows_of["scored"].to_numpy(zero_copy_only=False), dtype=bool)
            for name, rows_of in parts.items()
        },
        {name: np.asarray(rows_of["value"].to_numpy(), dtype=np.float64) for name, rows_of in parts.items()},
    )


def _rows(table: pa.Table, width: int, dense: bool) -> Rows:
    columns, counts = table["columns"].combine_chunks(), table["counts"].combine_chunks()
    indptr = np.concatenate([[0], np.cumsum(columns.value_lengths().to_numpy())])
    indices = columns.flatten().to_numpy()
    if len(indices) and not (indices.min() >= 0 and indices.max() < width):
        raise ValueError("a column is out of range")
    matrix = sparse.csr_array((counts.flatten().to_numpy(), indices, indptr), shape=(len(table), width))
    return matrix.toarray() if dense else matrix
