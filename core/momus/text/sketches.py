"""Sketches of texts: what the checks need to know of each document, in a few numbers and a signature.

A sketch has a row of about 200 bytes for each document, and the beginnings of a few. The sketches of the parts of a
text are joined to that of the whole, so a text can be checked that does not fit into memory; one in memory is one part.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, TypedDict, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Ints
from momus.parameters import Range
from momus.schema import build, parse_json
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.digests import canonical_order, fingerprint_of
from momus.text.languages import LONGEST, SHORTEST, script_counts
from momus.text.openings import opening_hashes
from momus.text.shingles import HASHES, Signatures, min_hashes, type_counts
from momus.text.tokens import TokenTable, get_tokenizer

FREQUENT = 4096
"""Most frequent words that are counted: of those of a text, the first 100 are also among the first of each part."""
SAMPLE = 200
"""Documents of which languages and scripts are identified: those with the smallest hashes, in any order the same."""

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("prompt", pa.string()),
        ("group", pa.string()),
        ("language", pa.string()),
        ("hash", pa.uint64()),
        ("opening", pa.uint64()),
        ("signature", pa.binary(2 * HASHES)),
        ("shingles", pa.int32()),
        ("tokens", pa.int32()),
        ("types", pa.int32()),
        ("blank", pa.bool_()),
        ("unspaced", pa.bool_()),
        ("head", pa.string()),
        ("scripts", pa.map_(pa.string(), pa.int32())),
    ]
)
"""Columns of a sketch: ``id``, ``prompt``, ``group`` and ``language`` (of the metadata) as in `Corpus`; ``hash`` of the
text; ``opening``, a hash of its beginning (`momus.text.openings.opening_hashes`); ``signature`` and ``shingles``
(`momus.text.shingles.min_hashes`); ``tokens`` and ``types``, numbers of words and of different words; ``blank`` and
``unspaced`` as in `Corpus`; ``head``, the beginning, from which the language is identified, and ``scripts``, the number
of letters of each script, of the documents in the sample, else null."""
METADATA = b"momus.sketch"

PLACE = "metadata of the sketch of a text"


class _Metadata(TypedDict):
    """What the metadata of a table hold: the name of the text, and its frequent words with their numbers."""

    name: str
    words: dict[str, Annotated[int, Range(0)]]


_Number = TypeVar("_Number", np.uint64, np.int64, np.bool_)
Fetch = Callable[[Ints], Corpus]
"""Reads the documents at different row numbers, int64 (n,), in the order of these."""


def _numbers(name: str, kind: type[_Number]) -> cached_property[NDArray[_Number]]:
    """A column of a sketch as an array, (documents,)."""

    def column(sketch: TextSketch) -> NDArray[_Number]:
        return np.asarray(sketch.table[name].to_numpy(), dtype=kind)

    return cached_property(column)


@dataclass(eq=False)
class TextSketch:
    """The sketch of a text, or of a part of one; documents are in the order in which they were read.

    Attributes
    ----------
    name
        Name of the text.
    table
        The columns of `SCHEMA`, a row per document.
    words
        The `FREQUENT` most frequent words with their numbers.
    fetch
        Reads some of the documents again: the few whose wording decides; None if no document can be read.

    >>> sketch = TextSketch.of(Corpus.from_texts(["To be.", "Not to be."], name="hamlet"))
    >>> sketch
    TextSketch('hamlet', 2 documents)
    >>> sketch.tokens.tolist(), sketch.words["be"]
    ([3, 4], 2)
    """

    name: str
    table: pa.Table
    words: Mapping[str, int] = field(default_factory=dict)
    fetch: Fetch | None = None

    @classmethod
    def of(cls, corpus: Corpus, sample: int = SAMPLE) -> TextSketch:
        """Sketch a text or a part of one, which is split into words for it.

        Parameters
        ----------
        sample
            Number of documents of which languages and scripts are identified. Of a text in parts it may be smaller than
            `SAMPLE`: see `sample_size`.
        """
        table = corpus.tokens(get_tokenizer("words"))
        minhashes, shingles = min_hashes(table)
        # the memory of NumPy as a fixed-size binary column, without a copy
        signatures = pa.Array.from_buffers(SCHEMA.field("signature").type, len(corpus), [None, pa.py_buffer(minhashes)])
        heads, scripts = _sampled(corpus, sample)
        columns: dict[str, Any] = {
            **{name: corpus.table[name] for name in ("id", "prompt", "group")},
            "language": corpus.languages,
            "hash": corpus.hashes,
            "opening": opening_hashes(corpus),
            "signature": signatures,
            "shingles": shingles,
            "tokens": table.lengths,
            "types": type_counts(table),
            "blank": corpus.blank,
            "unspaced": corpus.unspaced,
            "head": heads,
            "scripts": scripts,
        }
        typed = [_column(columns[f.name], f.type) for f in SCHEMA]
        return cls(corpus.name, pa.Table.from_arrays(typed, schema=SCHEMA), _frequent(table), corpus.take)

    @classmethod
    def joined(cls, parts: Sequence[TextSketch], name: str | None = None) -> TextSketch:
        """Join the sketches of consecutive parts of a text, in order.

        >>> corpus = Corpus.from_texts("abcde")
        >>> parts = TextSketch.of(corpus.slice(0, 2)), TextSketch.of(corpus.slice(2, 5))
        >>> TextSketch.joined(parts).table.equals(TextSketch.of(corpus).table)
        True
        """
        if not parts:
            raise UsageError("there is no sketch to join", hint="give the sketch of at least one part")
        words: Counter[str] = Counter()
        for sketch in parts:
            words.update(sketch.words)
        frequent = heapq.nsmallest(FREQUENT, words.items(), key=lambda item: (-item[1], item[0]))
        table = pa.concat_tables([p.table for p in parts]).combine_chunks()
        fetches = [p.fetch for p in parts if p.fetch is not None]
        offsets = offsets_of([len(p) for p in parts])
        fetch = _fetch_from(fetches, offsets) if len(fetches) == len(parts) else None
        return cls(parts[0].name if name is None else name, table, dict(frequent), fetch)

    def to_table(self) -> pa.Table:
        """Return the columns, with the name and the frequent words in the metadata of the schema.

        >>> sketch = TextSketch.of(Corpus.from_texts(["To be."], name="hamlet"))
        >>> TextSketch.from_table(sketch.to_table()).words == sketch.words
        True
        """
        metadata = json.dumps({"name": self.name, "words": self.words}, ensure_ascii=True).encode("ascii")
        return self.table.replace_schema_metadata({METADATA: metadata})

    @classmethod
    def from_table(cls, table: pa.Table, fetch: Fetch | None = None) -> TextSketch:
        """Return the sketch that `to_table` made a table of; other columns are ignored.

        Parameters
        ----------
        fetch
            Reads documents by their row numbers.
        """
        text = (table.schema.metadata or {}).get(METADATA, b"null")
        kept = build(_Metadata, parse_json(text, PLACE, "score the text again"), PLACE, "score the text again")
        return cls(kept["name"], table.select(SCHEMA.names).cast(SCHEMA), kept["words"], fetch)

    def take(self, rows: Ints, name: str | None = None) -> TextSketch:
        """Return the documents at these row numbers, in this order; frequent words stay those of all documents."""
        index, fetch = np.asarray(rows, dtype=np.int64), self.fetch
        taken = None if fetch is None else lambda some: fetch(index[some])
        return TextSketch(name or self.name, self.table.take(index), self.words, taken)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        return f"TextSketch({self.name!r}, {counted(len(self), 'document')})"

    def documents(self, rows: Ints) -> Corpus:
        """Read the documents at different row numbers.

        Raises
        ------
        UsageError
            The sketch was kept without a way to read its documents.
        """
        if self.fetch is None:
            raise UsageError(
                f"{self.name}: {counted(len(rows), 'document')} must be read again, and it is not known from where",
                hint="give `fetch` to TextSketch.from_table",
            )
        return self.fetch(rows)

    def ids(self, rows: Ints) -> list[str]:
        """Ids of the documents at these row numbers."""
        return list(self.table["id"].take(pa.array(rows)).to_pylist())

    hashes = _numbers("hash", np.uint64)
    """The hash of each document's text."""
    openings = _numbers("opening", np.uint64)
    """The hash of each document's opening, 0 for short documents."""
    shingles = _numbers("shingles", np.int64)
    """Number of different shingles of each document."""
    tokens = _numbers("tokens", np.int64)
    """Number of words of each document."""
    types = _numbers("types", np.int64)
    """Number of different words of each document."""
    blank = _numbers("blank", np.bool_)
    """Whether each document holds nothing but white space."""
    unspaced = _numbers("unspaced", np.bool_)
    """Whether each document has a section that ICU splits into words (`Corpus.unspaced`)."""

    @cached_property
    def signatures(self) -> Signatures:
        """MinHash signatures: uint16 (documents, 64)."""
        chunks = [
            np.frombuffer(chunk.buffers()[1], np.uint16, len(chunk) * HASHES, chunk.offset * 2 * HASHES)
            for chunk in self.table["signature"].chunks
            if len(chunk)
        ]
        # one chunk is not copied
        joined = chunks[0] if len(chunks) == 1 else np.concatenate([np.zeros(0, np.uint16), *chunks])
        return joined.reshape(-1, HASHES)

    def sampled(self, column: str) -> list[Any]:
        """Values of ``head`` or ``scripts`` of the `SAMPLE` documents with the smallest hashes that have one."""
        values = self.table[column]
        rows = np.flatnonzero(values.is_valid().to_numpy())
        chosen = rows[np.argsort(self.hashes[rows], kind="stable")[:SAMPLE]]
        return list(values.take(pa.array(chosen)).to_pylist())

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that identify the texts, regardless of their order (`Corpus.fingerprint`)."""
        return fingerprint_of(self.hashes)

    @cached_property
    def canonical_rows(self) -> Ints:
        """Row numbers in an order that depends on the documents and not on their order: int64 (documents,).

        As `Corpus.canonical_rows`: by the hash of the text, and equal texts by prompt, group and id.
        """
        return canonical_order(self.hashes, self.table.select(["prompt", "group", "id"]))


def sample_size(parts: int) -> int:
    """Number of documents to sample of each of so many parts, for `SAMPLE` of either half of the text.

    The documents with the 2 `SAMPLE` smallest hashes of a text are spread over its parts at random.

    >>> sample_size(1), sample_size(100)
    (562, 22)
    """
    # eight standard deviations of a Poisson count: no part runs short
    mean = 2 * SAMPLE / parts
    return min(3 * SAMPLE, int(np.ceil(mean + 8 * np.sqrt(mean) + 2)))


def _sampled(corpus: Corpus, sample: int) -> tuple[list[str | None], list[dict[str, int] | None]]:
    """Beginnings and counts of scripts of the documents with the smallest hashes; None for the others."""
    heads: list[str | None] = [None] * len(corpus)
    scripts: list[dict[str, int] | None] = [None] * len(corpus)
    order = np.argsort(corpus.hashes, kind="stable")
    for row in order[:sample].tolist():
        scripts[row] = script_counts(corpus[row].text)
    for row in order[corpus.characters[order] >= SHORTEST][:sample].tolist():
        heads[row] = corpus[row].text[:LONGEST]
    return heads, scripts


def _frequent(table: TokenTable) -> dict[str, int]:
    counts = np.bincount(table.ids, minlength=len(table.vocabulary))
    # the vocabulary is in alphabetical order, which decides between words of one frequency
    top = np.argsort(-counts, kind="stable")[:FREQUENT]
    return {table.vocabulary[i]: int(counts[i]) for i in top.tolist() if counts[i]}


def _column(values: Any, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, np.ndarray):
        return pa.array(values).cast(kind)
    return pa.array([list(v.items()) if isinstance(v, dict) else v for v in values], kind)


def _fetch_from(fetches: Sequence[Fetch], offsets: Ints) -> Fetch:
    """Read documents from the parts that have them."""

    def fetch(rows: Ints) -> Corpus:
        index = np.asarray(rows, dtype=np.int64)
        owners = np.searchsorted(offsets, index, side="right") - 1  # part of each row
        corpora, places = [], []
        for owner in np.unique(owners).tolist():
            at = np.flatnonzero(owners == owner)
            corpora.append(fetches[owner](index[at] - offsets[owner]))
            places.append(at)
        whole = Corpus(pa.concat_tables([c.table for c in corpora]), corpora[0].name)
        # back from part by part to the order asked for
        return whole.take(np.argsort(np.concatenate(places)))

    return fetch
