"""A text that was scored in parts, read back: narrow rows of all documents, wide rows summed by unit."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from momus.critic import Counted, Pooled
from momus.critic.scores import Scores
from momus.errors import StoreError
from momus.numeric.types import Bools, Floats, Ints
from momus.rows.folder import AGAIN, CriticRecord, RowFolder
from momus.rows.packing import (
    SCORES,
    column_of,
    columns_of,
    dense_rows,
    keys_of,
    scores_of,
    sketch_columns,
    stored_column,
    summary_from_json,
    unpack,
    unpack_sketch,
)
from momus.rows.plan import Plan
from momus.rows.stored import KEPT_BYTES, Documents, StoredCorpus, StoredCounts, Sums, size_of
from momus.text.corpus import Corpus
from momus.text.digests import canonical_order
from momus.text.documents import Document
from momus.text.sketches import TextSketch

FAULTS = (KeyError, ValueError, TypeError, AttributeError)
"""What a damaged record may raise when it is read."""
FEW = 4
"""Counts are read into memory if documents have at most so many entries each."""


@dataclass
class OfCritic:
    """What the records of all parts say of a critic.

    Attributes
    ----------
    unscored
        Number of documents without a score, by reason.
    fitted_on
        Number of documents that the critic was fitted on.
    summary
        The sum of the summaries; None without any.
    from_rows
        By name of the counts of the summary that are sums of rows, the key of these.
    """

    unscored: Counter[str] = field(default_factory=Counter)
    fitted_on: int = 0
    summary: Pooled | None = None
    from_rows: dict[str, str] = field(default_factory=dict)

    def add(self, record: CriticRecord) -> None:
        """Add what the record of a part says; one of `FAULTS` is raised where it is damaged, or other parts differ."""
        self.unscored.update(record["unscored"])
        self.fitted_on += record["fitted_on"]
        if record["summary"] is not None:
            pooled, from_rows = summary_from_json(record["summary"])
            self.summary = pooled if self.summary is None else self.summary + pooled
            self.from_rows |= from_rows


class StoredText:
    """The scores of a text in a folder of parts.

    Parameters
    ----------
    folder
        What ``momus score --parts`` wrote.
    name
        What the text is called in a comparison.
    keep
        bool (n,): which documents belong to the text, in the order of the files; None: all.

    Attributes
    ----------
    paths, sizes
        The rows of each part, and its number of documents.
    odd
        The documents that the parts kept since they are odd, by their number in the order of the files.
    critics
        What records say of each critic.
    order
        int64 (m,): number of each document in the order of the files; the text is in canonical order.

    Raises
    ------
    StoreError
        Parts are missing or damaged.
    """

    def __init__(self, folder: str | Path, name: str, keep: Bools | None = None) -> None:
        self.folder, self.name = RowFolder(folder), name
        self.plan = Plan.read(self.folder.manifest)
        self.paths: list[Path] = []
        self.sizes: list[int] = []
        self.odd: dict[int, Document] = {}
        self.critics = {critic: OfCritic() for critic in self.plan.critics}
        self._add_parts()
        self._keep = keep
        self._sums: OrderedDict[tuple[Any, ...], Counted] = OrderedDict()

    def _add_parts(self) -> None:
        """Read the record of each part, once: what records say is added up, since a comparison may hold many texts."""
        parts = len(self.plan)
        records = ((part, self.folder.finished(part, self.plan.belongs(part))) for part in range(parts))
        missing = []
        before = 0
        for part, record in records:
            if record is None:
                missing.append(part)
                continue
            self.paths.append(self.folder.check_rows(part, record))
            self.sizes.append(record["documents"])
            self.odd |= {before + row: document for row, document in record["odd"]}
            for critic, total in self.critics.items():
                try:
                    total.add(record["critics"][critic])
                except FAULTS as error:
                    words = f"critics.{critic} is missing or damaged ({type(error).__name__}: {error})"
                    raise StoreError(f"{self.folder.record(part)}: {words}", hint=AGAIN) from error
            before += record["documents"]
        if missing:
            raise StoreError(
                f"{self.folder.path}: {len(missing):,} of {parts:,} parts are missing or damaged (the first is part "
                f"{missing[0]})",
                hint="resume `momus score … -o …` to its end",
            )

    def __len__(self) -> int:
        """Number of documents, those that do not belong to the text included."""
        return sum(self.sizes)

    @cached_property
    def schemas(self) -> list[pa.Schema]:
        """The schema of each part."""
        return [pq.read_schema(path) for path in self.paths]

    def table(self, columns: Sequence[str]) -> pa.Table:
        """Read columns of all parts; one that a part lacks is null there."""
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
    def labels(self) -> pa.Table:
        """Id, prompt, group and fields of all documents, in the order of the files.

        Raises
        ------
        StoreError
            Two documents have the same id.
        """
        table = self.table(["id", "prompt", "group", "fields"]).combine_chunks()
        ids = table["id"]
        if pc.count_distinct(ids).as_py() < len(ids):
            counts = pc.value_counts(ids)
            twice = counts.filter(pc.greater(counts.field("counts"), 1))
            raise StoreError(
                f"{self.folder.path}: the id {twice[0]['values'].as_py()!r} occurs more than once ({len(twice):,} such "
                "ids)",
                hint="give each document a unique id, or omit the ids, and score again",
            )
        return table

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Hash of the text of each document, in the order of the files."""
        return np.asarray(self.table(["hash"])["hash"].to_numpy(), dtype=np.uint64)

    @cached_property
    def characters(self) -> Ints:
        """Length of each document, in the order of the files."""
        return np.asarray(self.table(["characters"])["characters"].to_numpy(), dtype=np.int64)

    @cached_property
    def sketch(self) -> TextSketch:
        """The sketch of all documents, in the order of the files.

        Raises
        ------
        StoreError
            Another version of Momus scored the text, and kept none.
        """
        parts = []
        for path, schema in self._files:
            columns = sketch_columns(schema)
            if not columns:
                raise StoreError(f"{path}: holds no sketch of its documents", hint="score the text again")
            parts.append(unpack_sketch(_read(path, columns)))
        joined = TextSketch.joined(parts, self.name)
        return replace(joined, fetch=lambda rows: self.documents(rows, self.name))

    def forget_sketch(self) -> None:
        """Free the memory of the sketch, which is read again if it is needed."""
        self.__dict__.pop("sketch", None)

    def forget_rows(self) -> None:
        """Free the memory of sums and documents that were read."""
        self._sums.clear()
        self.__dict__.pop("_documents", None)

    @cached_property
    def order(self) -> Ints:
        """Number of each document of the text in the order of the files: int64 (m,), in canonical order."""
        rows = canonical_order(self.hashes, self.labels.select(["prompt", "group", "id"]))  # int64 (n,)
        return rows if self._keep is None else rows[self._keep[rows]]

    @cached_property
    def corpus(self) -> StoredCorpus:
        """The documents, which stay in their files."""
        return StoredCorpus(self, self.order)

    @cached_property
    def _documents(self) -> Documents:
        return Documents(self)

    def documents(self, rows: Ints, name: str) -> Corpus:
        """Read documents by their number in the order of the files."""
        return self._documents.take(rows, name)

    def keys(self, critic: str) -> list[str]:
        """Keys of the rows of a critic; empty without a scored document."""
        return list(dict.fromkeys(key for schema in self.schemas for key in keys_of(schema, critic)))

    def is_wide(self, critic: str, key: str) -> bool:
        """Whether rows are counts of labelled items."""
        return any(name.endswith(".counts") for s in self.schemas for name in columns_of(s, critic, key))

    def scores(self, critic: str) -> Scores:
        """Scores of all documents with their rows; counts of many items for each document stay in the files."""
        keys = self.keys(critic)
        dense = {key: column_of(critic, key) for key in keys if not self.is_wide(critic, key)}
        order, corpus = self.order, self.corpus
        table = self.table([*(f"{critic}.{what}" for what in SCORES), *dense.values()])
        rows = {k: dense_rows(table[dense[k]])[order] if k in dense else self._wide(critic, k, order) for k in keys}
        table = table.drop_columns(list(dense.values())).take(pa.array(order))
        labels = corpus.ids, corpus.prompts, corpus.groups
        return scores_of(table, critic, self.name, *labels, rows, self.summary(critic))

    def _wide(self, critic: str, key: str, order: Ints) -> Counted:
        """Counts of labelled items: in memory where documents have a few each, as a length."""
        counts = StoredCounts(self, critic, key, order)
        entries = 0  # of all parts, from the metadata of their files
        for path, schema in self._files:
            metadata, name = pq.read_metadata(path), f"{stored_column(schema, critic, key)}.counts."
            columns = [i for i in range(metadata.num_columns) if metadata.schema.column(i).path.startswith(name)]
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            entries += sum(group.column(i).num_values for group in groups for i in columns)
        return counts.loaded if entries <= FEW * len(self) else counts

    @property
    def _files(self) -> Iterator[tuple[Path, pa.Schema]]:
        return zip(self.paths, self.schemas, strict=True)

    def counts(self, critic: str, key: str) -> Iterator[tuple[int, Counted]]:
        """Counts of labelled items, part by part, each with the number of documents before it."""
        before = 0
        for path, schema, size in zip(self.paths, self.schemas, self.sizes, strict=True):
            names = columns_of(schema, critic, key)
            if names:
                rows = unpack(_read(path, names), critic, key)
                assert isinstance(rows, Counted)
                yield before, rows
            before += size

    def summed(self, critic: str, key: str, units: Ints, size: int, weights: Floats) -> Counted:
        """Weighted sums of counts by unit, in memory that does not grow with the number of documents.

        The tables that were used last are kept: those of a real text serve for many generated ones.

        Parameters
        ----------
        units
            int (n,): the unit of each document in the order of the files, −1 for those that take no part.
        size
            Number of units U.
        weights
            float (n,): the weight of each document.

        Returns
        -------
        Counts (U, V); numbers as labels are in ascending order.
        """
        # critics with the same counts share a column
        columns = tuple(stored_column(schema, critic, key) for schema in self.schemas)
        name = (columns, size, hash(units.tobytes()), hash(weights.tobytes()))
        if name not in self._sums:
            sums = Sums(size)
            for before, rows in self.counts(critic, key):
                taken = slice(before, before + len(rows))  # documents of this part
                sums.add(rows, units[taken], weights[taken])
            self._sums[name] = sums.result()
            while len(self._sums) > 1 and sum(map(size_of, self._sums.values())) > KEPT_BYTES:
                self._sums.popitem(last=False)
        self._sums.move_to_end(name)
        return self._sums[name]

    def summary(self, critic: str) -> Pooled | None:
        """The summary of the documents of the text; None if it is not a sum over documents (`Pooled`)."""
        total = self.critics[critic].summary
        if self._keep is not None or total is None:  # records sum over all documents, not over those that are kept
            return None
        rows = self.critics[critic].from_rows
        counts = {n: StoredCounts(self, critic, key, self.order).total() for n, key in rows.items()}
        return replace(total, counts={**total.counts, **counts})


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    try:
        # a data set of one file, as pq.read_table makes it, takes three times as long
        with pq.ParquetFile(path) as file:
            return file.read(columns=list(columns), use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path}: not readable ({error})", hint=AGAIN) from error
