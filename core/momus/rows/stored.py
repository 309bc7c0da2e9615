"""A text that is scored in parts, seen as a corpus: labels in memory, the rest stays in files.

Documents are read again from the files of the text, whole parts at a time. Counts are summed by unit, part by part, in
memory that does not grow with the number of documents.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from momus.critic import Counted
from momus.critic.rows import numbered
from momus.inference.samples import indicator
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import SCHEMA, Corpus

if TYPE_CHECKING:
    from momus.rows.store import StoredText

TEXT_BYTES = 24 << 20
"""Text of the parts that were read last, which are not read again."""


class StoredCorpus(Corpus):
    """A corpus whose documents stay in their files: `take` and `slice` read them, whole parts at a time.

    Ids, prompts, groups, fields, hashes and lengths are in memory. The order is canonical (`Corpus.sorted`).

    Parameters
    ----------
    text
        The text that was scored.
    rows
        int64 (n,): number of each document in the order of the files.
    """

    readable = 2_000

    def __init__(self, text: StoredText, rows: Ints) -> None:
        labels = text.labels.take(pa.array(rows))  # ids, prompts, groups, fields
        n = len(rows)
        # columns of the schema that are not kept in memory: `take` reads texts from their files
        empty = {
            "sections": pa.ListArray.from_arrays(pa.array(np.zeros(n + 1, np.int32)), pa.array([], pa.large_string())),
            "titles": pa.ListArray.from_arrays(pa.array(np.zeros(n + 1, np.int32)), pa.array([], pa.string())),
            "sectioned": pa.array(np.zeros(n, bool)),
            "problem": pa.nulls(n, pa.string()),
        }
        columns = [labels[name] if name in labels.column_names else empty[name] for name in SCHEMA.names]
        self.table = pa.Table.from_arrays(columns, schema=SCHEMA)
        self.name, self._tokens = text.name, {}
        self.stored, self.rows = text, rows
        # set beforehand: computed from this table, which holds no texts, these would be wrong
        self.__dict__["hashes"] = text.hashes[rows]
        self.__dict__["characters"] = text.characters[rows]
        # rows that ascend are in the order of the files, which needs no way back
        if not (len(rows) and (np.diff(rows) > 0).all()):
            self.given_rows = np.argsort(rows)

    @cached_property
    def identity(self) -> str:
        """What the text was read from, and which of its documents are here."""
        return f"{self.stored.plan.digest[:16]}{self.fingerprint}"

    @cached_property
    def unspaced(self) -> Bools:
        """Which documents are in scripts that write words together."""
        return self.stored.sketch.unspaced[self.rows]

    @property
    def unsorted(self) -> Corpus:
        """The documents in the order of the files."""
        return self if self.given_rows is None else StoredCorpus(self.stored, np.sort(self.rows))

    def subset(self, rows: Ints) -> StoredCorpus:
        """Select documents by number, without reading them."""
        return StoredCorpus(self.stored, self.rows[rows])

    def take(self, rows: Ints | Sequence[int], name: str | None = None) -> Corpus:
        """Read the documents at these row numbers, in the given order.

        Raises
        ------
        ReadingError
            A file is gone, or was changed since it was scored.
        """
        return self.stored.documents(self.rows[np.asarray(rows, dtype=np.int64)], name or self.name)

    def slice(self, start: int, stop: int) -> Corpus:
        """Read documents ``start:stop``."""
        return self.take(np.arange(start, min(stop, len(self))))


class Documents:
    """Documents of a text by their number in the order of the files, read in whole parts.

    Parameters
    ----------
    text
        The text that was scored.
    """

    def __init__(self, text: StoredText) -> None:
        self._plan, self._odd = text.plan, text.odd
        self._offsets = offsets_of(np.array(text.sizes, dtype=np.int64))
        self._kept: OrderedDict[int, Corpus] = OrderedDict()

    def take(self, rows: Ints, name: str) -> Corpus:
        """Read documents, in the given order; those that the parts kept are not looked up in their files."""
        # outliers, mostly: the parts kept them while they were scored
        if all(int(row) in self._odd for row in rows):
            return Corpus.from_documents([self._odd[int(row)] for row in rows], name)
        # by part, so that each file is read once
        order = np.argsort(rows, kind="stable")
        # bounds[s]:bounds[s + 1] are the places in `order` of the documents of part s
        bounds = np.searchsorted(rows[order], self._offsets)
        tables = [Corpus.from_documents([]).table]
        for part, (start, stop) in enumerate(pairwise(bounds.tolist())):
            if stop > start:
                tables.append(self._corpus_of(part).table.take(pa.array(rows[order[start:stop]] - self._offsets[part])))
        corpus = Corpus(pa.concat_tables(tables), name)
        # argsort of `order` undoes it
        return corpus if (np.diff(order) > 0).all() else corpus.take(np.argsort(order))

    def _corpus_of(self, number: int) -> Corpus:
        if number not in self._kept:
            self._kept[number] = self._plan.piece(number).read(self._plan.reading)
            # the part just read stays, however large
            while len(self._kept) > 1 and sum(c.table.nbytes for c in self._kept.values()) > TEXT_BYTES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(number)
        return self._kept[number]


def sample_rows(corpus: Corpus, limit: int) -> Ints | None:
    """Choose about ``limit`` documents for analyses that need all axes in memory; None: there are not more.

    Documents of one group, or of one prompt, are chosen together, by a hash of its name: those of one prompt are chosen
    in all texts alike. The choice depends on neither the order of the documents nor the parts that they are read in.

    >>> corpus = Corpus.from_texts("abcdef", prompts=["x", "x", "y", "y", "z", "z"])
    >>> sample_rows(corpus, 4).tolist(), sample_rows(corpus, 6)
    ([0, 1, 2, 3], None)
    """
    if len(corpus) <= limit:
        return None
    keys = np.array(corpus.hashes)
    names: dict[str, int] = {}
    for row, (group, prompt) in enumerate(zip(corpus.groups, corpus.prompts, strict=True)):
        name = f"group {group}" if group is not None else None if prompt is None else f"prompt {prompt}"
        if name is not None:
            # all documents of a unit get one key, so that sorting keeps them together
            if name not in names:
                digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                names[name] = int.from_bytes(digest, "little")
            keys[row] = names[name]
    order = np.argsort(keys, kind="stable")[: limit + 1]  # one more shows whether the limit cuts a unit
    # a unit that the limit would cut is left out, unless it is the only one
    whole = order[keys[order] != keys[order[-1]]]
    chosen: Ints = np.sort(whole if len(whole) else order[:limit])
    return chosen


MERGED = 2_000_000
"""Entries of sparse sums that are collected before they are merged: 32 MB."""
KEPT_BYTES = 1 << 25
"""Memory of the tables of sums that a text keeps."""


class Sums:
    """Adds up counts whose columns have labels, in a sparse table.

    Parameters
    ----------
    size
        Number of units U.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: dict[str | float, int] = {}
        self._numbers = False
        self._pending: list[tuple[NDArray[np.int32], NDArray[np.int32], Floats]] = []
        self._held = 0

    def add(self, rows: Counted, units: Ints, weights: Floats) -> None:
        """Add documents.

        Parameters
        ----------
        rows
            Counts of n documents.
        units, weights
            The unit, −1 for none, and the weight of each document, (n,).
        """
        self._numbers = isinstance(rows.labels, np.ndarray)
        names = rows.labels.tolist() if isinstance(rows.labels, np.ndarray) else rows.labels
        columns = numbered(names, self._columns)
        taking_part = np.flatnonzero(units >= 0)
        table = rows.matrix if len(taking_part) == len(units) else rows.matrix[taking_part]
        entries = sparse.coo_array(indicator(units[taking_part], self._size, weights[taking_part]) @ table)
        # from columns of this part to those of all
        self._pending.append((entries.row.astype(np.int32), columns[entries.col].astype(np.int32), entries.data))
        self._held += len(entries.data)
        if self._held > MERGED and len(self._pending) > 1:
            self._merge()

    def _merge(self) -> None:
        rows, columns, values = (np.concatenate(arrays) for arrays in zip(*self._pending, strict=True))
        self._pending.clear()
        shape = (self._size, max(len(self._columns), 1))
        # to CSR and back: equal cells are added up
        merged = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr().tocoo()
        self._pending = [(merged.row, merged.col, merged.data)]
        self._held = 0  # since the last merge

    def result(self) -> Counted:
        """The sums (U, V); numbers as labels are in ascending order. The object is empty afterwards."""
        labels: Any = list(self._columns)
        if not self._pending:
            return Counted(sparse.csr_array((self._size, len(labels))), labels)
        order = np.arange(len(labels))
        if self._numbers:  # in ascending order
            labels = np.array(labels)
            order = np.argsort(labels, kind="stable")
            labels = labels[order]
        self._merge()
        ((row, column, data),) = self._pending
        # place[j] is the place of column j among the labels
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order))
        matrix = sparse.coo_array((data, (row, place[column])), shape=(self._size, len(labels))).tocsr()
        matrix.sort_indices()
        return Counted(matrix, labels)


def size_of(table: Counted) -> int:
    """Bytes of a table of sums."""
    matrix = table.matrix
    arrays: Sequence[NDArray[Any]] = (matrix.data, matrix.indices, matrix.indptr)
    return sum(int(a.nbytes) for a in arrays)


class StoredCounts(Counted):
    """Counts of labelled items that stay in the files of a text; ``matrix`` and ``labels`` read all of them.

    Parameters
    ----------
    text
        The text that was scored.
    critic, key
        Whose rows these are.
    rows
        int64 (n,): number of each document in the order of the files.
    """

    on_disk = True

    def __init__(self, text: StoredText, critic: str, key: str, rows: Ints) -> None:
        for name, value in (("text", text), ("critic", critic), ("key", key), ("rows", rows)):
            object.__setattr__(self, name, value)

    text: StoredText
    critic: str
    key: str
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: Ints) -> StoredCounts:
        """Select documents by number, without reading."""
        return StoredCounts(self.text, self.critic, self.key, self.rows[index])

    def summed(self, units: Ints, size: int, weights: Floats) -> Counted:
        """Weighted sums by unit, in memory that does not grow with the number of documents."""
        unit, weight = np.full(len(self.text), -1), np.zeros(len(self.text))
        # from the documents of this text to all of its files; −1 takes no part
        unit[self.rows], weight[self.rows] = units, weights
        return self.text.summed(self.critic, self.key, unit, size, weight)

    def total(self) -> dict[str | float, float]:
        """Totals over all documents by label."""
        n = len(self.rows)
        return self.summed(np.zeros(n, dtype=np.int64), 1, np.ones(n)).total()

    @cached_property
    def loaded(self) -> Counted:
        """All counts, in memory."""
        n = len(self.rows)
        return self.summed(np.arange(n), n, np.ones(n))

    @property
    def matrix(self) -> sparse.csr_array:
        """CSR array (n, V)."""
        return self.loaded.matrix

    @property
    def labels(self) -> Sequence[str] | NDArray[np.generic]:
        """V labels."""
        return self.loaded.labels
