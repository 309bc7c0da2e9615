"""Tokens: text is split once into int32 ids with int64 offsets, and all critics of a run share the table."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, count
from typing import IO, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.numeric.ragged import offsets_of, owners_of, ranges_of
from momus.numeric.types import Ints
from momus.text.plain import Reads, read_as
from momus.text.words import icu_version, split_words

T = TypeVar("T")
CHUNK_CHARACTERS = 1 << 20
"""Sections are passed to the splitter in chunks of about this many characters: their tokens, as strings, take 12 MB."""
MOST_RECODED = 8
"""Other vocabularies whose codes a table keeps."""
MOST_KEPT = 1 << 20
"""Tokens of a table beside which `TokenTable.read_once` keeps what it made of them."""
CHUNK_SECTIONS = 4_096
"""Sections that are turned into Python strings at once."""


@dataclass(frozen=True)
class Tokenizer:
    """A way to split text into tokens.

    Attributes
    ----------
    name
        The name that users type (``words``, ``whitespace``).
    split
        Maps a text to its tokens.
    lower
        Whether text is lower-cased before it is split.
    dictionaries
        Whether words of scripts that write them together are found in ICU's dictionaries.
    reads
        What of a text is split: its ``prose``, what it ``says`` (headings, tables and code, too, without signs of
        layout), or ``everything`` as it is written (`momus.text.plain`).

    >>> get_tokenizer("words").split("Don't panic, Arthur.")
    ["Don't", 'panic', ',', 'Arthur', '.']
    """

    name: str
    split: Callable[[str], list[str]]
    lower: bool = True
    dictionaries: bool = False
    reads: Reads = "everything"

    def source(self, text: str) -> str:
        """What is split of a text."""
        return read_as(text, self.reads)

    @property
    def signature(self) -> str:
        """The name and settings; within a process, tokenizers with equal signatures give equal tokens."""
        reads = "" if self.reads == "everything" else f" ({self.reads})"
        return f"{self.name}{'' if self.lower else ':cased'}{reads}"

    @property
    def versioned(self) -> str:
        """The signature with the version of ICU, if ICU takes part: with it, tokens are equal on any machine.

        >>> get_tokenizer("whitespace").versioned
        'whitespace'
        """
        version = icu_version() if self.dictionaries else ""
        return f"{self.signature}, ICU {version}" if version else self.signature


_SPLITTERS: dict[str, Callable[[str], list[str]]] = {"words": split_words, "whitespace": str.split}


def get_tokenizer(name: str, lower: bool = True, reads: Reads = "everything") -> Tokenizer:
    """Look up a tokenizer.

    ``words``: words and single symbols of any script (`momus.text.words.split_words`); ``whitespace``: for text that is
    already split, which is read as it is.

    Raises
    ------
    UsageError
        No tokenizer has this name.
    """
    if name not in _SPLITTERS:
        raise UsageError(f"no tokenizer {name!r}", hint=f"choose one of {', '.join(sorted(_SPLITTERS))}")
    split = name == "whitespace"
    return Tokenizer(name, _SPLITTERS[name], lower, dictionaries=not split, reads="everything" if split else reads)


Recoded = dict[tuple[int, int, int], tuple[Sequence[str] | dict[str, int], NDArray[np.int32]]]


@dataclass(frozen=True)
class TokenTable:
    """The tokens of a corpus, or of a slice of one.

    Attributes
    ----------
    ids
        int32 array (N,): all tokens, in order; memory-mapped for large corpora.
    section_offsets
        int64 array (sections + 1,): offset in ``ids`` at which each section starts.
    document_sections
        int64 array (documents + 1,): number of each document's first section.
    vocabulary
        list of str: the token of each id, in order of first appearance in the whole corpus.
    ends
        int64 array, ascending: offsets in ``ids`` at which texts end, if the documents are blocks of running text; None
        if each document is one text.
    groups
        int64 array, ascending: offsets in ``ids`` at which groups of texts end, as ``ends``; None without groups.
    recoded
        The vocabulary in the codes of other vocabularies, which all slices of a table share (`codes`).
    facts
        What is known of the words of the vocabulary, which all slices share too (`of_vocabulary`).

    >>> from momus.text.corpus import Corpus
    >>> table = Corpus.from_texts(["a b a", "c"]).tokens(get_tokenizer("words"))
    >>> table.ids, table.offsets, table.vocabulary
    (array([0, 1, 0, 2], dtype=int32), array([0, 3, 4]), ['a', 'b', 'c'])
    """

    ids: NDArray[np.int32]
    section_offsets: Ints
    document_sections: Ints
    vocabulary: list[str]
    ends: Ints | None = None
    groups: Ints | None = None
    recoded: Recoded = field(default_factory=dict, compare=False, repr=False)
    facts: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.document_sections) - 1

    @property
    def offsets(self) -> Ints:
        """int64 array (documents + 1,): offset in ``ids`` at which each document starts."""
        offsets: Ints = self.section_offsets[self.document_sections]
        return offsets

    @property
    def lengths(self) -> Ints:
        """Number of tokens per document: int64 (documents,)."""
        return np.diff(self.offsets)

    @cached_property
    def documents(self) -> Ints:
        """int64 array (N,): the document of each token."""
        return owners_of(self.offsets)

    @cached_property
    def sections(self) -> Ints:
        """int64 array (N,): the section of each token."""
        return owners_of(self.section_offsets)

    def slice(self, start: int, stop: int) -> TokenTable:
        """Return documents ``start:stop``, without copying the tokens."""
        # all offsets of the slice count from its first section and its first token
        sections = self.document_sections[start : stop + 1]
        offsets = self.section_offsets[sections[0] : sections[-1] + 1]
        first, last = offsets[0], offsets[-1]
        ends, groups = (None if e is None else e[(e > first) & (e <= last)] - first for e in (self.ends, self.groups))
        ids = self.ids[first:last]
        return replace(
            self,
            ids=ids,
            section_offsets=offsets - first,
            document_sections=sections - sections[0],
            ends=ends,
            groups=groups,
        )

    def take(self, rows: Ints) -> TokenTable:
        """Return the documents at these row numbers, in the given order."""
        # numbers of the chosen documents' sections, and positions of those sections' tokens in self.ids
        section_counts = np.diff(self.document_sections)[rows]
        sections = ranges_of(self.document_sections[:-1][rows], section_counts)
        lengths = np.diff(self.section_offsets)[sections]
        tokens = ranges_of(self.section_offsets[:-1][sections], lengths)
        ends, groups = (
            None if e is None else np.flatnonzero(np.isin(tokens + 1, e)) + 1 for e in (self.ends, self.groups)
        )
        return replace(
            self,
            ids=self.ids[tokens],
            section_offsets=offsets_of(lengths),
            document_sections=offsets_of(section_counts),
            ends=ends,
            groups=groups,
        )

    def of_vocabulary(self, look: Callable[[list[str]], T]) -> T:
        """What a function makes of the vocabulary, called once for a table and all its slices.

        Parameters
        ----------
        look
            A function of a module.
        """
        name = f"{look.__module__}.{look.__qualname__}"
        if name not in self.facts:
            self.facts[name] = look(self.vocabulary)
        value: T = self.facts[name]
        return value

    def read_once(self, read: Callable[[TokenTable], T]) -> T:
        """What a function of a module makes of the tokens; kept with them, if they are few."""
        if len(self.ids) > MOST_KEPT:
            return read(self)
        name = f"{read.__module__}.{read.__qualname__}"
        if name not in self.__dict__:
            self.__dict__[name] = read(self)
        value: T = self.__dict__[name]
        return value

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be computed again: other processes are sent less."""
        return {**{f.name: getattr(self, f.name) for f in fields(self)}, "recoded": {}, "facts": {}}

    def codes(self, words: Sequence[str] | dict[str, int], unknown: int = -1) -> NDArray[np.int32]:
        """Encode the tokens by another vocabulary.

        Parameters
        ----------
        words
            The words of the vocabulary, or the number of each. It must not change while the table is in use.
        unknown
            The number of all other words.

        Returns
        -------
        int32 array (N,)
        """
        name = id(words), len(words), unknown
        if name not in self.recoded:
            get = (words if isinstance(words, dict) else {word: i for i, word in enumerate(words)}).get
            # look up each word of the vocabulary once, shape (V,), then map the ids; the words are kept with their id
            recode = np.fromiter((get(word, unknown) for word in self.vocabulary), np.int32, len(self.vocabulary))
            if len(self.recoded) >= MOST_RECODED:
                self.recoded.clear()
            self.recoded[name] = words, recode
        codes: NDArray[np.int32] = self.recoded[name][1][self.ids]
        return codes


def tokenize(sections: pa.ChunkedArray, counts: Ints, tokenizer: Tokenizer) -> TokenTable:
    """Split sections of text, of which ``counts[i]`` belong to document i.

    The ids go to a temporary file, which is mapped into memory: no more than one chunk is held. The vocabulary is
    sorted, so that it does not depend on the order of the documents.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    lengths: list[Ints] = [np.zeros(0, np.int64)]
    with tempfile.TemporaryFile() as file:
        for texts in _chunks(sections):
            sources = map(tokenizer.source, texts)
            tokens = [tokenizer.split(text.lower() if tokenizer.lower else text) for text in sources]
            sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
            lengths.append(sizes)
            words = chain.from_iterable(tokens)
            # not `tofile`, which says nothing if the disk is full
            file.write(np.fromiter(map(numbers.__getitem__, words), np.int32, int(sizes.sum())).tobytes())
        vocabulary = list(numbers)
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        ids = _map_ids(file, np.argsort(order).astype(np.int32))
    return TokenTable(ids, offsets_of(np.concatenate(lengths)), offsets_of(counts), [vocabulary[i] for i in order])


def _map_ids(file: IO[bytes], renumbered: NDArray[np.int32]) -> NDArray[np.int32]:
    """Renumber a file of int32 ids, and map it into memory; the map outlives the file object."""
    file.flush()
    size = file.seek(0, 2)
    if size == 0:
        return np.zeros(0, np.int32)
    ids = np.memmap(file, np.int32, "r+")
    for start in range(0, len(ids), CHUNK_CHARACTERS):
        chunk = slice(start, start + CHUNK_CHARACTERS)
        ids[chunk] = renumbered[ids[chunk]]
    return ids.view(np.ndarray)


def _chunks(sections: pa.ChunkedArray) -> Iterator[list[str]]:
    """Yield consecutive sections in lists of about ``CHUNK_CHARACTERS`` characters."""
    chunk: list[str] = []
    characters = 0
    for array in sections.chunks:
        for start in range(0, len(array), CHUNK_SECTIONS):
            for text in array.slice(start, CHUNK_SECTIONS).to_pylist():
                chunk.append(text or "")
                characters += len(chunk[-1])
                if characters >= CHUNK_CHARACTERS:
                    yield chunk
                    chunk, characters = [], 0
    if chunk:
        yield chunk
