"""Documents, their sections and their ids: the one thing that every later table is aligned with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.numeric.ragged import group_sums, offsets_of
from momus.text.tokens import Tokenizer, TokenTable, tokenize

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("sections", pa.list_(pa.large_string())),
        ("titles", pa.list_(pa.string())),
        ("sectioned", pa.bool_()),
        ("prompt", pa.string()),
        ("problem", pa.string()),
    ]
)
"""Columns of a corpus. Running text is one section of an unsectioned document; ``problem`` is why a record could
not be read as a document (it keeps its row, and every critic reports it as unscored)."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its text and, where there is one, its title."""

    text: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document.

    >>> Document.plain("a", "Once upon a time.").text
    'Once upon a time.'
    """

    id: str
    sections: tuple[Section, ...]
    sectioned: bool = True
    prompt: str | None = None
    problem: str | None = None

    @classmethod
    def plain(cls, id: str, text: str, prompt: str | None = None) -> Document:
        """Make a document without section marks."""
        return cls(id, (Section(text),), sectioned=False, prompt=prompt)

    @property
    def text(self) -> str:
        """The running text: sections without their titles, parted by a blank line."""
        return "\n\n".join(section.text for section in self.sections)


class Corpus:
    """An immutable, ordered collection of documents with unique ids, held as an Arrow table.

    Slices share memory with the corpus that they come from, and so do their tokens: text is split once
    (`tokens`), whoever asks and however it is batched.

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

    def __init__(self, table: pa.Table, name: str = "corpus") -> None:
        self.table = table.select(SCHEMA.names).cast(SCHEMA)
        self.name = name
        self._tokens: dict[str, TokenTable] = {}
        counts = pc.value_counts(self.table["id"])
        doubled = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(doubled):
            raise UsageError(
                f"{name}: {len(doubled)} document ids occur more than once, the first is "
                f"{doubled[0]['values'].as_py()!r}",
                hint="give each document its own id, or leave the ids out: they are then made from the line numbers",
            )

    @classmethod
    def _view(cls, table: pa.Table, name: str, tokens: dict[str, TokenTable]) -> Corpus:
        view = object.__new__(cls)
        view.table, view.name, view._tokens = table, name, tokens
        return view

    @classmethod
    def from_documents(cls, documents: Iterable[Document], name: str = "corpus") -> Corpus:
        """Collect documents, in order."""
        rows = list(documents)
        columns = [
            [d.id for d in rows],
            [[s.text for s in d.sections] for d in rows],
            [[s.title for s in d.sections] for d in rows],
            [d.sectioned for d in rows],
            [d.prompt for d in rows],
            [d.problem for d in rows],
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
    ) -> Corpus:
        """Make a corpus of running texts; ids default to ``name:1``, ``name:2``, …"""
        return cls.from_documents(
            (
                Document.plain(ids[i] if ids else f"{name}:{i + 1}", text, prompts[i] if prompts else None)
                for i, text in enumerate(texts)
            ),
            name,
        )

    @classmethod
    def from_sections(
        cls,
        documents: Iterable[Sequence[tuple[str | None, str]]],
        ids: Sequence[str] | None = None,
        prompts: Sequence[str | None] | None = None,
        name: str = "corpus",
    ) -> Corpus:
        """Make a corpus of sectioned documents, each a sequence of (title or None, text)."""
        return cls.from_documents(
            (
                Document(
                    ids[i] if ids else f"{name}:{i + 1}",
                    tuple(Section(text, title) for title, text in sections),
                    prompt=prompts[i] if prompts else None,
                )
                for i, sections in enumerate(documents)
            ),
            name,
        )

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}, {len(self):,} documents)"

    def __getitem__(self, index: int) -> Document:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.name}: no document {index}, there are {len(self)}")
        row = self.table.slice(index % len(self), 1).to_pylist()[0]
        sections = tuple(Section(t, h) for t, h in zip(row["sections"], row["titles"], strict=True))
        return Document(row["id"], sections, row["sectioned"], row["prompt"], row["problem"])

    def __iter__(self) -> Iterator[Document]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def ids(self) -> list[str]:
        """Document ids, in order."""
        return list(self.table["id"].to_pylist())

    @cached_property
    def prompts(self) -> list[str | None]:
        """The prompt id of each document, None where there is none."""
        return list(self.table["prompt"].to_pylist())

    @cached_property
    def problems(self) -> list[str | None]:
        """Why a record is no document, None where it is one."""
        return list(self.table["problem"].to_pylist())

    @cached_property
    def sectioned(self) -> NDArray[np.bool_]:
        """Whether each document is marked into sections."""
        return np.asarray(self.table["sectioned"].to_numpy(), dtype=bool)

    @cached_property
    def section_counts(self) -> NDArray[np.int64]:
        """Number of sections of each document."""
        return np.asarray(pc.list_value_length(self.table["sections"]).to_numpy(), dtype=np.int64)

    @property
    def section_texts(self) -> pa.ChunkedArray:
        """The text of every section of every document, in order (``section_counts`` cuts it)."""
        return pc.list_flatten(self.table["sections"])

    @property
    def section_titles(self) -> list[str | None]:
        """The title of every section of every document, in order (``section_counts`` cuts it)."""
        return list(pc.list_flatten(self.table["titles"]).to_pylist())

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        """Whether a document has no character but white space."""
        filled = pc.match_substring_regex(self.section_texts, r"\S").to_numpy(zero_copy_only=False)
        offsets = offsets_of(self.section_counts)
        return np.asarray(group_sums(np.asarray(filled, dtype=np.int64), offsets) == 0)

    @cached_property
    def characters(self) -> NDArray[np.int64]:
        """Number of characters of each document."""
        lengths = np.asarray(pc.utf8_length(self.section_texts).to_numpy(), dtype=np.int64)
        return np.asarray(group_sums(lengths, offsets_of(self.section_counts)))

    def slice(self, start: int, stop: int) -> Corpus:
        """Documents ``start`` up to ``stop``, without a copy."""
        stop = min(stop, len(self))
        tokens = {key: table.slice(start, stop) for key, table in self._tokens.items()}
        return self._view(self.table.slice(start, stop - start), self.name, tokens)

    def take(self, rows: NDArray[np.int64] | Sequence[int], name: str | None = None) -> Corpus:
        """The documents at these row numbers, in the order given."""
        index = np.asarray(rows, dtype=np.int64)
        tokens = {key: table.take(index) for key, table in self._tokens.items()}
        return self._view(self.table.take(index), name or self.name, tokens)

    def split(self, share: float, seed: int, names: tuple[str, str] | None = None) -> tuple[Corpus, Corpus]:
        """Cut at random into a part with ``share`` of the documents and the rest, each in the original order.

        The part depends on the seed and the ids alone, not on the order of the documents.

        >>> first, second = Corpus.from_texts("abcdefghij").split(0.3, seed=1)
        >>> len(first), len(second)
        (3, 7)
        """
        if not 0 < share < 1:
            raise UsageError(f"share must lie between 0 and 1, got {share}")
        by_id = np.argsort(np.asarray(self.ids, dtype=object), kind="stable")
        order = by_id[np.random.default_rng(seed).permutation(len(self))]
        cut = round(share * len(self))
        first, second = names or (self.name, self.name)
        return self.take(np.sort(order[:cut]), first), self.take(np.sort(order[cut:]), second)

    def tokens(self, tokenizer: Tokenizer) -> TokenTable:
        """The tokens of all documents; split on the first call, shared afterwards (slices share them too)."""
        if tokenizer.signature not in self._tokens:
            self._tokens[tokenizer.signature] = tokenize(self.section_texts, self.section_counts, tokenizer)
        return self._tokens[tokenizer.signature]

    def adopt(self, tokenizer: Tokenizer, table: TokenTable) -> None:
        """Take over tokens that were split already (one entry a document)."""
        if len(table) != len(self):
            raise UsageError(f"{self.name}: {len(table)} token lists for {len(self)} documents")
        self._tokens[tokenizer.signature] = table

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """A 64-bit BLAKE2 hash of each document's text (titles left out), to know a text again.

        >>> a, b = Corpus.from_texts(["x"]), Corpus.from_sections([[("Title", "x")]])
        >>> bool(a.hashes[0] == b.hashes[0])
        True
        """
        digests = bytearray()
        texts = self.section_texts
        ends = np.cumsum(self.section_counts)
        for start, end in zip(ends - self.section_counts, ends, strict=True):
            text = "\n\n".join(texts.slice(start, end - start).to_pylist())
            digests += hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return np.frombuffer(bytes(digests), dtype="<u8").astype(np.uint64)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that name the set of texts, whatever their order."""
        return hashlib.blake2b(np.sort(self.hashes).astype("<u8").tobytes(), digest_size=8).hexdigest()
