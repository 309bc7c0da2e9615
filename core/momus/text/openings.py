"""Documents of two texts that open alike, though the texts differ: a prompt left in, or cuts of one document."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from momus.numeric.ragged import offsets_of, ranges_of
from momus.numeric.types import Bools, Ints
from momus.text.corpus import Corpus
from momus.text.digests import Hashes, is_among

if TYPE_CHECKING:
    from momus.text.sketches import TextSketch

OPENING = 100
"""Characters of an opening, about twenty words; white space counts as one space. Of unrelated documents of one kind,
fewer than one in a hundred share so many; continuations of a prompt of thirty tokens nearly all do."""
HEAD = 1000
"""Characters of a document that are looked at to tell how much of its opening is shared."""
FORM = 0.05
"""An opening that more than this share of the second text has is a form (a heading, a licence) and is not counted."""
MEASURED = 1000
"""Shared openings whose length is measured, for which the documents are read again."""
EXAMPLES = 5


@dataclass(frozen=True)
class Openings:
    """Documents of one text that open like one of another.

    Attributes
    ----------
    documents
        Number of documents of the first text that were compared: those long enough.
    rows
        bool (n,): the documents of the first text that open like one of the second, and go on differently.
    length
        Median number of characters that such a document (of at most `MEASURED`) shares with its counterpart, at most
        `HEAD`; 0 without any.
    examples
        Ids of a few pairs.
    """

    documents: int
    rows: Bools
    length: int
    examples: Sequence[tuple[str, str]]


def shared_openings(first: TextSketch, second: TextSketch, copies: Bools | None = None) -> Openings:
    """Find the documents of a text that open like one of another, though the texts differ.

    Parameters
    ----------
    copies
        bool (n,): documents to leave out, as copies of a document of the second text. Those that are equal word for
        word are left out in any case.

    >>> from momus.text.sketches import TextSketch
    >>> prompt = "In the year that the river froze over and nobody could cross it, the old ferryman sat down and "
    >>> texts = [prompt + "waited for spring.", "Something else altogether. " * 9], [prompt + "wept, for he was old."]
    >>> alike = shared_openings(*(TextSketch.of(Corpus.from_texts(t)) for t in texts))
    >>> alike.rows.tolist(), alike.length
    ([False, False], 0)
    >>> texts = [prompt + "wondered why."], [prompt + "wondered how."]
    >>> alike = shared_openings(*(TextSketch.of(Corpus.from_texts(t)) for t in texts))
    >>> alike.rows.tolist(), alike.length
    ([True], 104)
    """
    # the first document of the second text, in canonical order, that has each opening, and how many have it
    order = second.canonical_rows[second.openings[second.canonical_rows] != 0]
    known, where, frequent = np.unique(second.openings[order], return_index=True, return_counts=True)
    rows = (first.openings != 0) & is_among(first.openings, known[frequent <= max(2.0, FORM * len(second))])
    # copies open alike too, and are told as copies
    rows &= ~is_among(first.hashes, second.hashes)
    if copies is not None:
        rows &= ~copies
    alike = first.canonical_rows[rows[first.canonical_rows]]
    pairs = np.column_stack([alike, order[where[np.searchsorted(known, first.openings[alike])]]])
    ids = sorted(zip(first.ids(pairs[:, 0]), second.ids(pairs[:, 1]), strict=True))
    return Openings(int((first.openings != 0).sum()), rows, _length(first, second, pairs[:MEASURED]), ids[:EXAMPLES])


def heads_of(corpus: Corpus, rows: Ints | None = None) -> list[str]:
    """The first `HEAD` characters of each document (of some rows), each run of white space as one space."""
    starts, counts = offsets_of(corpus.section_counts)[:-1], corpus.section_counts
    chosen = slice(None) if rows is None else rows
    sections = corpus.section_texts.take(pa.array(ranges_of(starts[chosen], counts[chosen])))
    # twice as many characters leave enough where white space is dropped, except in text that is mostly white space
    texts = pc.utf8_slice_codeunits(sections, 0, 2 * HEAD).to_pylist()
    offsets = offsets_of(counts[chosen]).tolist()
    return [" ".join(" ".join(texts[a:b]).split())[:HEAD] for a, b in pairwise(offsets)]


def opening_hashes(corpus: Corpus) -> Hashes:
    """A hash of the first `OPENING` characters of each document, 0 for shorter ones: uint64 (documents,)."""
    filled = np.flatnonzero(corpus.section_counts)
    first = corpus.section_texts.take(pa.array(offsets_of(corpus.section_counts)[filled]))
    heads = [""] * len(corpus)
    for row, text in zip(filled.tolist(), pc.utf8_slice_codeunits(first, 0, 3 * OPENING).to_pylist(), strict=True):
        heads[row] = " ".join(text.split())
    # where the beginning of the first section is not enough, what follows counts, too
    short = np.flatnonzero([len(head) <= OPENING for head in heads])
    for row, head in zip(short.tolist(), heads_of(corpus, short), strict=True):
        heads[row] = head
    digests = b"".join(
        hashlib.blake2b(head[:OPENING].encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if len(head) >= OPENING
        else bytes(8)
        for head in heads
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _length(first: TextSketch, second: TextSketch, pairs: Ints) -> int:
    """Median number of characters at the beginning that the documents of each pair share; 0 without any."""
    if not len(pairs):
        return 0
    others, inverse = np.unique(pairs[:, 1], return_inverse=True)
    heads = heads_of(first.documents(pairs[:, 0])), heads_of(second.documents(others))
    return int(np.median([_agreement(heads[0][i], heads[1][j]) for i, j in enumerate(inverse.tolist())]))


def _agreement(one: str, other: str) -> int:
    """Number of characters at the beginning that two texts share."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
