"""The columns of a corpus: one entry per document, computed from its table when they are first asked for."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from momus.numeric.ragged import group_sums, offsets_of
from momus.numeric.types import Bools, Ints
from momus.text.digests import fingerprint_of
from momus.text.words import MINOR, ORDINARY_RE2, UNSPACED_RE2

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("sections", pa.list_(pa.large_string())),
        ("titles", pa.list_(pa.string())),
        ("sectioned", pa.bool_()),
        ("prompt", pa.string()),
        ("problem", pa.string()),
        ("group", pa.string()),
        ("fields", pa.map_(pa.string(), pa.string())),
    ]
)
"""Columns of a corpus. Running text is one section of an unsectioned document; ``problem`` says why a record could not
be read as a document (the record keeps its row, and every critic reports it as unscored); ``group`` is what a document
shares with others of the corpus (an author, a novel); ``fields`` holds the metadata that the reader was asked for."""


class Columns:
    """What a corpus tells of its documents.

    Attributes
    ----------
    table
        The documents, with the columns of `SCHEMA`.
    """

    table: pa.Table

    @cached_property
    def ids(self) -> list[str]:
        """Document ids, in order."""
        return list(self.table["id"].to_pylist())

    @cached_property
    def prompts(self) -> list[str | None]:
        """The prompt id of each document, or None."""
        return list(self.table["prompt"].to_pylist())

    @cached_property
    def groups(self) -> list[str | None]:
        """The group of each document (its author, novel, site …), or None."""
        return list(self.table["group"].to_pylist())

    def field(self, name: str) -> list[str | None]:
        """Return a metadata field of each document; None where a document lacks it.

        >>> from momus import Corpus, Document
        >>> Corpus.from_documents([Document("a", (), fields={"topic": "ships"}), Document("b", ())]).field("topic")
        ['ships', None]
        """
        return list(pc.map_lookup(self.table["fields"], pa.scalar(name), "first").to_pylist())

    @property
    def languages(self) -> list[str | None]:
        """Language of each document, by its metadata field ``language``: ISO 639 code without a region; else None.

        >>> from momus import Corpus, Document
        >>> documents = [Document("a", (), fields={"language": "zh_Hans"}), Document("b", ())]
        >>> Corpus.from_documents(documents).languages
        ['zh', None]
        """
        return [code.replace("_", "-").partition("-")[0].lower() if code else None for code in self.field("language")]

    @cached_property
    def problems(self) -> list[str | None]:
        """Why each record could not be read as a document, or None."""
        return list(self.table["problem"].to_pylist())

    @cached_property
    def sectioned(self) -> Bools:
        """Whether each document has sections: bool (documents,)."""
        return np.asarray(self.table["sectioned"].to_numpy(), dtype=bool)

    @cached_property
    def section_counts(self) -> Ints:
        """Number of sections per document: int64 (documents,)."""
        return np.asarray(pc.list_value_length(self.table["sections"]).to_numpy(), dtype=np.int64)

    @property
    def section_texts(self) -> pa.ChunkedArray:
        """Texts of all sections, in document order; ``section_counts`` says how many belong to each document."""
        return pc.list_flatten(self.table["sections"])

    @property
    def section_titles(self) -> list[str | None]:
        """Titles of all sections, in document order; ``section_counts`` says how many belong to each document."""
        return list(pc.list_flatten(self.table["titles"]).to_pylist())

    @cached_property
    def blank(self) -> Bools:
        """Whether each document holds nothing but white space: bool (documents,)."""
        filled = pc.match_substring_regex(self.section_texts, r"\S").to_numpy(zero_copy_only=False)
        offsets = offsets_of(self.section_counts)  # first section of each document, (documents + 1,)
        return np.asarray(group_sums(np.asarray(filled, dtype=np.int64), offsets) == 0)

    @cached_property
    def unspaced(self) -> Bools:
        """Whether each document has a section that ICU splits (`momus.text.words.UNSPACED`): bool (documents,)."""
        texts = self.section_texts
        unspaced = np.asarray(pc.match_substring_regex(texts, UNSPACED_RE2).to_numpy(zero_copy_only=False), dtype=bool)
        if unspaced.any():  # in a section of Latin text, strays are no reason
            others = pc.count_substring_regex(texts.filter(pa.array(unspaced)), ORDINARY_RE2).to_numpy()
            lengths = pc.utf8_length(texts.filter(pa.array(unspaced))).to_numpy()
            unspaced[unspaced] = others >= MINOR * lengths
        return np.asarray(group_sums(unspaced.astype(np.int64), offsets_of(self.section_counts)) != 0)

    @cached_property
    def characters(self) -> Ints:
        """Number of characters per document: int64 (documents,)."""
        lengths = np.asarray(pc.utf8_length(self.section_texts).to_numpy(), dtype=np.int64)  # (sections,)
        return np.asarray(group_sums(lengths, offsets_of(self.section_counts)))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """A 64-bit BLAKE2 hash of each document's text, without titles: uint64 (documents,).

        Equal texts have equal hashes, which is how a critic recognises the documents it was fitted on.

        >>> from momus import Corpus
        >>> a, b = Corpus.from_texts(["x"]), Corpus.from_sections([[("Title", "x")]])
        >>> bool(a.hashes[0] == b.hashes[0])
        True
        """
        digests, sections = bytearray(), self.section_texts
        for start, end in pairwise(offsets_of(self.section_counts).tolist()):
            text = "\n\n".join(sections.slice(start, end - start).to_pylist())
            digests += hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return np.frombuffer(bytes(digests), dtype="<u8").astype(np.uint64)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that identify the texts, regardless of their order."""
        return fingerprint_of(self.hashes)

    @cached_property
    def identity(self) -> str:
        """Thirty-two hexadecimal digits that identify all that a critic can see, in order.

        Texts with their section boundaries, titles, ids, prompts, groups, metadata, and what could not be read.

        >>> from momus import Corpus
        >>> a, b = Corpus.from_texts(["x", "y"]), Corpus.from_texts(["y", "x"])
        >>> a.fingerprint == b.fingerprint, a.identity == b.identity
        (True, False)
        """
        lengths = pc.binary_length(self.section_texts).to_numpy(zero_copy_only=False)
        names = [self.table[name].to_pylist() for name in SCHEMA.names if name != "sections"]
        digest = hashlib.blake2b(json.dumps(names).encode("ascii"), digest_size=16)
        # hashes and lengths stand for the texts, which are hashed already
        for numbers in (self.section_counts, lengths, self.hashes.view(np.int64)):
            digest.update(np.asarray(numbers).astype("<i8").tobytes())
        return digest.hexdigest()
