"""Corpora: ordered documents with ids and sections, to which every later table is aligned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from momus.errors import UsageError
from momus.numeric.types import Ints
from momus.text.columns import SCHEMA, Columns
from momus.text.counting import counted
from momus.text.digests import canonical_order
from momus.text.documents import Answers, Document, LeftOut, Origin, Section
from momus.text.splitting import Units, run_rows, split_rows, units_of
from momus.text.tokens import Tokenizer, TokenTable, tokenize

__all__ = ["SCHEMA", "Corpus", "Document", "Section"]


class Corpus(Columns):
    """An immutable, ordered collection of documents with unique ids, stored as an Arrow table.

    Slices share the memory and the tokens of the corpus they come from: text is split once per tokenizer (`tokens`),
    whichever critic asks for it and whatever the batches.

    Raises
    ------
    UsageError
        Two documents have the same id.

    >>> corpus = Corpus.from_texts(["To be.", "Not to be."], name="hamlet")
    >>> corpus
    Corpus('hamlet', 2 documents)
    >>> corpus.ids
    ['hamlet:1', 'hamlet:2']
    >>> corpus[1].text
    'Not to be.'
    """

    answers: tuple[Answers, ...] = ()
    """Lists of answers that became documents when the corpus was read; empty for parts of a corpus."""
    left_out: LeftOut = LeftOut()
    """Files of the folder that was read which are no documents of the corpus; empty for parts of a corpus."""
    origin: Origin | None = None
    """Where the corpus was read from, if that is a log, an address or a chat; None for parts of a corpus."""
    given_rows: Ints | None = None
    """Row of each document in the order it had before `sorted`: int64 (documents,); None: the order is as given."""
    readable: ClassVar[int | None] = None
    """How many documents of a text that stays in its files may be in memory for one purpose; None: all are."""
    _source: tuple[Corpus, Ints] | None = None
    """The corpus that holds the same documents in another order, and the row of each document there."""

    def __init__(self, table: pa.Table, name: str = "corpus") -> None:
        self.table = table.select(SCHEMA.names).cast(SCHEMA)
        self.name = name
        self._tokens: dict[str, TokenTable] = {}
        counts = pc.value_counts(self.table["id"])
        duplicates = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(duplicates):
            raise UsageError(
                f"{name}: {len(duplicates)} document ids occur more than once; the first is "
                f"{duplicates[0]['values'].as_py()!r}",
                hint="give each document a unique id, or omit the ids to have them made from line numbers",
            )

    @classmethod
    def _view(cls, table: pa.Table, name: str, tokens: dict[str, TokenTable]) -> Corpus:
        view = object.__new__(cls)
        view.table, view.name, view._tokens = table, name, tokens
        return view

    @classmethod
    def from_documents(cls, documents: Iterable[Document], name: str = "corpus") -> Corpus:
        """Make a corpus of these documents, in order."""
        rows = list(documents)
        columns = [
            [d.id for d in rows],
            [[s.text for s in d.sections] for d in rows],
            [[s.title for s in d.sections] for d in rows],
            [d.sectioned for d in rows],
            [d.prompt for d in rows],
            [d.problem for d in rows],
            [d.group for d in rows],
            [list(d.fields.items()) for d in rows],
        ]
        arrays = [pa.array(c, type=f.type) for c, f in zip(columns, SCHEMA, strict=True)]
        return cls(pa.Table.from_arrays(arrays, schema=SCHEMA), name)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        ids: Sequence[str] | None = None,
        prompts: Sequence[str | None] | None = None,
        name: str = "corpus",
        groups: Sequence[str | None] | None = None,
    ) -> Corpus:
        """Make a corpus of running texts; ids default to ``name:1``, ``name:2`` and so on."""
        return cls._of((((None, text),) for text in texts), False, ids, prompts, name, groups)

    @classmethod
    def from_sections(
        cls,
        documents: Iterable[Sequence[tuple[str | None, str]]],
        ids: Sequence[str] | None = None,
        prompts: Sequence[str | None] | None = None,
        name: str = "corpus",
        groups: Sequence[str | None] | None = None,
    ) -> Corpus:
        """Make a corpus of sectioned documents, each a sequence of (title or None, text)."""
        return cls._of(documents, True, ids, prompts, name, groups)

    @classmethod
    def _of(cls, documents: Iterable[Sequence[tuple[str | None, str]]], sectioned: bool, *labels: Any) -> Corpus:
        ids, prompts, name, groups = labels
        rows = []
        for i, document in enumerate(documents):
            sections = tuple(Section(text, title) for title, text in document)
            id, prompt = ids[i] if ids else f"{name}:{i + 1}", prompts[i] if prompts else None
            rows.append(Document(id, sections, sectioned, prompt, group=groups[i] if groups else None))
        return cls.from_documents(rows, name)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}, {counted(len(self), 'document')})"

    def __getitem__(self, index: int) -> Document:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.name}: no document {index} in a corpus of {len(self)}")
        row = self.table.slice(index % len(self), 1).to_pylist()[0]
        sections = tuple(Section(text, title) for text, title in zip(row["sections"], row["titles"], strict=True))
        fields = dict(row["fields"] or ())
        return Document(row["id"], sections, row["sectioned"], row["prompt"], row["problem"], row["group"], fields)

    def __iter__(self) -> Iterator[Document]:
        return (self[i] for i in range(len(self)))

    @property
    def units(self) -> Units:
        """What `split` keeps together: groups, documents of one prompt, or single documents."""
        return units_of(self.ids, self.groups, self.prompts)

    def slice(self, start: int, stop: int) -> Corpus:
        """Return documents ``start:stop``, without copying; all of them are the corpus itself."""
        stop = min(stop, len(self))
        if (start, stop) == (0, len(self)):
            return self
        tokens = {key: table.slice(start, stop) for key, table in self._tokens.items()}
        return self._view(self.table.slice(start, stop - start), self.name, tokens)

    def take(self, rows: Ints | Sequence[int], name: str | None = None) -> Corpus:
        """Return the documents at these row numbers, in the given order."""
        index = np.asarray(rows, dtype=np.int64)
        tokens = {key: table.take(index) for key, table in self._tokens.items()}
        taken = self._view(self.table.take(index), name or self.name, tokens)
        # hashes that were computed are kept: text is read once, however often it is taken apart
        if "hashes" in self.__dict__:
            taken.__dict__["hashes"] = self.hashes[index]
        return taken

    def subset(self, rows: Ints) -> Corpus:
        """Select documents by number; those of a text that stays in its files are not read."""
        return self.take(rows)

    def with_field(self, name: str, values: Iterable[str | None]) -> Corpus:
        """Give each document another value of a metadata field; None takes it away.

        >>> Corpus.from_texts(["Guten Tag", "Hi"]).with_field("tone", ["formal", None]).field("tone")
        ['formal', None]
        """
        rows = self.table["fields"].to_pylist()
        fields = [
            [*((key, old) for key, old in (row or ()) if key != name), *([] if value is None else [(name, value)])]
            for row, value in zip(rows, values, strict=True)
        ]
        column = SCHEMA.get_field_index("fields")
        table = self.table.set_column(column, SCHEMA.field("fields"), pa.array(fields, SCHEMA.field("fields").type))
        return Corpus(table, self.name).read_as(self)

    def read_as(self, source: Corpus) -> Corpus:
        """Note that these documents were read as those of ``source`` (answers, what was left out, origin); itself."""
        self.answers, self.left_out, self.origin = source.answers, source.left_out, source.origin
        return self

    def reordered(self, rows: Ints) -> Corpus:
        """Return all documents in another order; text is split into tokens once, here or there.

        >>> Corpus.from_texts("ab").reordered(np.array([1, 0])).ids
        ['corpus:2', 'corpus:1']
        """
        view = self.take(rows).read_as(self)
        view._source = (self, np.asarray(rows, dtype=np.int64))
        return view

    @cached_property
    def canonical_rows(self) -> Ints:
        """Row numbers in an order that depends on the documents and not on their order: int64 (documents,).

        Documents are sorted by the hash of their text, and equal texts by titles, prompt, group, metadata and id.

        >>> one, other = Corpus.from_texts("ab", ["x", "y"]), Corpus.from_texts("ba", ["y", "x"])
        >>> one.take(one.canonical_rows).ids == other.take(other.canonical_rows).ids
        True
        """
        return canonical_order(self.hashes, self.table.select(["titles", "prompt", "group", "fields", "id"]))

    @property
    def canonical(self) -> Corpus:
        """The documents in the order of `canonical_rows`, sharing tokens with this corpus; itself if they are in it."""
        rows = self.canonical_rows
        return self if _ascending(rows) else self.reordered(rows)

    def sorted(self) -> Corpus:
        """Return a corpus in the order of `canonical_rows` that can do without this one; `given` restores the order.

        >>> corpus = Corpus.from_texts("abcdef")
        >>> corpus.sorted().ids == corpus.ids, corpus.sorted().unsorted.ids == corpus.ids
        (False, True)
        """
        rows = self.canonical_rows
        if _ascending(rows):
            return self
        corpus = self.take(rows).read_as(self)
        corpus.given_rows = np.argsort(rows)  # the inverse permutation
        return corpus

    @cached_property
    def unsorted(self) -> Corpus:
        """The documents in the order that they had before `sorted`, sharing tokens with this corpus."""
        return self if self.given_rows is None else self.reordered(self.given_rows)

    def split(self, share: float, seed: int, names: tuple[str, str] | None = None) -> tuple[Corpus, Corpus]:
        """Split at random into ``share`` of the documents and the rest, both in the original order.

        Documents of one group fall on one side, and so do documents without a group that answer one prompt; the share
        is then as near as whole groups allow. The choice depends only on the seed, the ids, the groups and the prompts,
        not on the order of the documents.

        Raises
        ------
        UsageError
            The share is not between 0 and 1, or all documents belong to one group.

        >>> first, second = Corpus.from_texts("abcdefghij").split(0.3, seed=1)
        >>> len(first), len(second)
        (3, 7)
        """
        first, second = split_rows(self.ids, self.units, share, seed, self.name)
        names = names or (self.name, self.name)
        return self.take(first, names[0]), self.take(second, names[1])

    def split_in_runs(self, share: float, seed: int, names: tuple[str, str] | None = None) -> tuple[Corpus, Corpus]:
        """Split into about ``share`` of the text and the rest, by runs of neighbouring documents, in their order.

        For laws of running text, which depend on what follows what. Groups and prompts are not kept together.

        >>> first, second = Corpus.from_texts((f"text {i:02}" for i in range(40)), name="x").split_in_runs(0.5, seed=1)
        >>> first.ids[:6], len(first), len(second)
        (['x:3', 'x:4', 'x:5', 'x:6', 'x:15', 'x:16'], 20, 20)
        """
        first, second = run_rows(self.characters, share, seed)
        names = names or (self.name, self.name)
        return self.take(first, names[0]), self.take(second, names[1])

    def tokens(self, tokenizer: Tokenizer) -> TokenTable:
        """Return the tokens of all documents: split on the first call, shared afterwards (also with later slices)."""
        if tokenizer.signature not in self._tokens:
            # split in the corpus that it was reordered from, which shares the tokens with its other orders
            if self._source is not None:
                source, rows = self._source
                table = source.tokens(tokenizer).take(rows)
            else:
                table = tokenize(self.section_texts, self.section_counts, tokenizer)
            self._tokens[tokenizer.signature] = table
        return self._tokens[tokenizer.signature]

    def forget_tokens(self) -> None:
        """Free the memory of the tokens; text is split again if they are needed."""
        self._tokens.clear()

    def adopt(self, tokenizer: Tokenizer, table: TokenTable) -> None:
        """Use tokens that were split elsewhere (one entry per document) instead of splitting the text."""
        if len(table) != len(self):
            raise UsageError(f"{self.name}: {len(table)} token lists for {len(self)} documents")
        self._tokens[tokenizer.signature] = table


def _ascending(rows: Ints) -> bool:
    return bool((np.diff(rows) > 0).all())
