"""A text that was scored in shards, read back: narrow rows of all documents, wide rows summed by unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from momus.critic import Counted, Pooled, Scores
from momus.errors import StoreError
from momus.numeric.types import Floats, Ints
from momus.runs.packing import column_of, columns_of, keys_of, stored_column, unpack
from momus.runs.row_folder import AGAIN, ShardFolder
from momus.runs.row_plan import Plan
from momus.runs.summaries import summary_from_json
from momus.runs.sums import Sums


class Texts(Sequence[str]):
    """A column of texts that stays in Arrow."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._column = column.combine_chunks()

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return list(self._column[index].to_pylist())
        return str(self._column[int(index)].as_py())


class ShardedText:
    """The scores of a text in a folder of shards.

    Parameters
    ----------
    folder
        What ``momus score --shards`` wrote.
    name
        What the text is called in a comparison.

    Raises
    ------
    StoreError
        Shards are missing or damaged.
    """

    def __init__(self, folder: str | Path, name: str) -> None:
        self.folder, self.name = ShardFolder(folder), name
        self.plan = Plan.read(self.folder.manifest)
        digest = self.plan.digest
        records = [self.folder.finished(i, digest) for i in range(len(self.plan))]
        missing = [i for i, record in enumerate(records) if record is None]
        if missing:
            raise StoreError(
                f"{folder}: {len(missing):,} of {len(records):,} shards are missing or damaged (the first is shard "
                f"{missing[0]})",
                hint="run `momus score … --shards … --resume` to the end",
            )
        self.paths = [self.folder.check_rows(i, record) for i, record in enumerate(records) if record is not None]
        # what records say of critics is read when it is needed: a comparison may hold many texts
        self.sizes = [int(r["documents"]) for r in records if r is not None]
        self.characters = sum(int(r["characters"]) for r in records if r is not None)
        self.digest = digest

    def __len__(self) -> int:
        return sum(self.sizes)

    def records(self, critic: str) -> Iterator[dict[str, Any]]:
        """What the record of each shard says of a critic.

        Raises
        ------
        StoreError
            A record was changed since the shards were opened.
        """
        for shard in range(len(self.plan)):
            record = self.folder.finished(shard, self.digest)
            if record is None:
                raise StoreError(f"{self.folder.record(shard)}: changed while it was read", hint=AGAIN)
            yield record["critics"][critic]

    @cached_property
    def schemas(self) -> list[pa.Schema]:
        """The schema of each shard."""
        return [pq.read_schema(path) for path in self.paths]

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Read columns of all shards; one that a shard lacks is null there."""
        parts = []
        for path, schema in zip(self.paths, self.schemas, strict=True):
            part = _read(path, [c for c in columns if c in schema.names])
            for name in columns:
                if name not in part.column_names:
                    kind = next((s.field(name).type for s in self.schemas if name in s.names), pa.null())
                    part = part.append_column(name, pa.nulls(len(part), kind))
            parts.append(part.select(list(columns)).replace_schema_metadata(None))
        return pa.concat_tables(parts)

    @cached_property
    def labels(self) -> tuple[Texts, list[str | None], list[str | None]]:
        """Ids, prompts and groups of all documents.

        Raises
        ------
        StoreError
            Two documents have the same id.
        """
        table = self.table(["id", "prompt", "group"])
        ids = table["id"]
        if pc.count_distinct(ids).as_py() < len(ids):
            counts = pc.value_counts(ids)
            twice = counts.filter(pc.greater(counts.field("counts"), 1))
            raise StoreError(
                f"{self.folder.path}: the id {twice[0]['values'].as_py()!r} occurs more than once ({len(twice):,} such "
                "ids)",
                hint="give each document a unique id, or omit the ids, and score again",
            )
        prompts, groups = table["prompt"].to_pylist(), table["group"].to_pylist()
        return Texts(ids), prompts, groups if any(g is not None for g in groups) else []

    def keys(self, critic: str) -> list[str]:
        """Keys of the rows of a critic; empty without a scored document."""
        return list(dict.fromkeys(key for schema in self.schemas for key in keys_of(schema, critic)))

    def is_wide(self, critic: str, key: str) -> bool:
        """Whether rows are counts of labelled items."""
        return any(name.endswith(".counts") for s in self.schemas for name in columns_of(s, critic, key))

    def scores(self, critic: str) -> Scores:
        """Scores of all documents with their dense rows; counts of labelled items are read by `summed`."""
        columns = [f"{critic}.{what}" for what in ("nll", "states", "reason", "oddity")]
        dense = {key: column_of(critic, key) for key in self.keys(critic) if not self.is_wide(critic, key)}
        table = self.table([*columns, *dense.values()])
        ids, prompts, groups = self.labels
        oddity = _floats(table[f"{critic}.oddity"])
        return Scores(
            critic=critic,
            corpus=self.name,
            ids=ids,
            prompts=prompts,
            nll=_floats(table[f"{critic}.nll"]),
            steps=np.asarray(table[f"{critic}.states"].to_numpy(), dtype=np.int64),
            reasons=table[f"{critic}.reason"].to_pylist(),
            rows={key: _dense(table[column]) for key, column in dense.items()},
            groups=groups,
            oddity=oddity if np.isfinite(oddity).any() else None,
        )

    def counts(self, critic: str, key: str) -> Iterator[tuple[int, Counted]]:
        """Counts of labelled items, shard by shard, each with the number of documents before it."""
        before = 0
        for path, schema, size in zip(self.paths, self.schemas, self.sizes, strict=True):
            names = columns_of(schema, critic, key)
            if names:
                rows = unpack(_read(path, names), critic, key)
                assert isinstance(rows, Counted)
                yield before, rows
            before += size

    def stored(self, critic: str, key: str) -> tuple[str, ...]:
        """The column of each shard with rows of a critic, which critics with the same counts share."""
        return tuple(stored_column(schema, critic, key) for schema in self.schemas)

    def summed(
        self,
        critic: str,
        key: str,
        units: Ints,
        size: int,
        weights: Floats,
        columns: dict[str | float, int] | None = None,
    ) -> Counted:
        """Weighted sums of counts by unit, in memory that does not grow with the number of documents.

        Parameters
        ----------
        units
            int (n,): the unit of each document, −1 for those that take no part.
        size
            Number of units U.
        weights
            float (n,): the weight of each document.
        columns
            See `momus.runs.sums.Sums`.

        Returns
        -------
        Counts (U, V); numbers as labels are in ascending order.
        """
        sums = Sums(size, columns)
        for before, rows in self.counts(critic, key):
            part = slice(before, before + len(rows))
            sums.add(rows, units[part], weights[part])
        return sums.result()

    def summary(self, critic: str) -> tuple[Pooled, dict[str, str]] | None:
        """The sum of the summaries of all shards, and the keys of the rows that further counts are sums of."""
        total: tuple[Pooled, dict[str, str]] | None = None
        for record in self.records(critic):
            content = record["summary"]
            if content is not None:
                pooled, from_rows = summary_from_json(content)
                total = (pooled, from_rows) if total is None else (total[0] + pooled, total[1] | from_rows)
        return total


def counts_of(rows: Counted) -> Mapping[str | float, float]:
    """Totals by label."""
    return Pooled.of_rows({"rows": rows}, 0).counts["rows"]


def _dense(column: pa.ChunkedArray) -> Floats:
    """Rows (n, d) that are stored as lists of one length; those of a shard without rows are 0."""
    width = column.type.list_size
    rows, before = np.zeros((len(column), width)), 0
    for chunk in column.chunks:
        if not chunk.null_count:
            rows[before : before + len(chunk)] = chunk.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
        before += len(chunk)
    return rows


def _floats(column: pa.ChunkedArray) -> Floats:
    return np.asarray(pc.fill_null(column.cast(pa.float64()), float("nan")).to_numpy(), dtype=np.float64)


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    try:
        # a data set of one file, as pq.read_table makes it, takes three times as long
        with pq.ParquetFile(path) as file:
            return file.read(columns=list(columns), use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path}: not readable ({error})", hint=AGAIN) from error
