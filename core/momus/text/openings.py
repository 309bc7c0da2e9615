"""Documents of two corpora that open alike, though their texts differ: a prompt left in, or cuts of one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc

from momus.numeric.ragged import offsets_of
from momus.numeric.types import Bools
from momus.text.corpus import Corpus

CHARACTERS = 100
"""Characters of an opening, about twenty words; white space counts as one space. Of unrelated documents of one kind,
fewer than one in a hundred share so many; continuations of a prompt of thirty tokens nearly all do."""
HEAD = 1000
"""Characters of a document that are looked at."""
FORM = 0.05
"""An opening that more than this share of the second corpus has is a form (a heading, a licence) and is not counted."""
EXAMPLES = 5


@dataclass(frozen=True)
class Openings:
    """Documents of one corpus that open like one of another corpus.

    Attributes
    ----------
    documents
        Number of documents of the first corpus that were compared: those long enough.
    rows
        bool (n,): the documents of the first corpus that open like one of the second, and go on differently.
    length
        Median number of characters that such a document shares with its counterpart, at most `HEAD`; 0 without any.
    examples
        Ids of a few pairs.
    """

    documents: int
    rows: Bools
    length: int
    examples: Sequence[tuple[str, str]]


def shared_openings(first: Corpus, second: Corpus, copies: Bools | None = None) -> Openings:
    """Find the documents of a corpus that open like one of another, though the texts differ.

    Parameters
    ----------
    copies
        bool (n,): documents to leave out, as copies of a document of the second corpus. Those that are equal word for
        word are left out in any case.

    >>> prompt = "In the year that the river froze over and nobody could cross it, the old ferryman sat down and "
    >>> a = Corpus.from_texts([prompt + "waited for spring.", "Something else altogether. " * 9])
    >>> b = Corpus.from_texts([prompt + "wept, for he had nothing left to sell."])
    >>> found = shared_openings(a, b)
    >>> found.rows.tolist(), found.length
    ([False, False], 0)
    >>> longer = [Corpus.from_texts([prompt + "wondered " + end]) for end in ("why.", "how.")]
    >>> found = shared_openings(*longer)
    >>> found.rows.tolist(), found.length
    ([True], 104)
    """
    heads, others = _heads(first), _heads(second)
    known: dict[str, int] = {}
    for row, head in enumerate(others):
        if len(head) >= CHARACTERS:
            opening = head[:CHARACTERS]
            known[opening] = min(known.get(opening, row), row, key=lambda i: (others[i], second.ids[i]))
    frequent = Counter(head[:CHARACTERS] for head in others if len(head) >= CHARACTERS)
    most = max(2.0, FORM * len(second))
    whole = np.isin(first.hashes, second.hashes)
    left_out = whole if copies is None else whole | copies
    rows = np.zeros(len(first), dtype=bool)
    lengths: list[int] = []
    pairs: list[tuple[str, str]] = []
    for row, head in enumerate(heads):
        opening = head[:CHARACTERS]
        if left_out[row] or len(head) < CHARACTERS or not 0 < frequent[opening] <= most:
            continue
        rows[row] = True
        lengths.append(_agreement(head, others[known[opening]]))
        pairs.append((first.ids[row], second.ids[known[opening]]))
    compared = sum(len(head) >= CHARACTERS for head in heads)
    return Openings(compared, rows, int(np.median(lengths)) if lengths else 0, sorted(pairs)[:EXAMPLES])


def _heads(corpus: Corpus) -> list[str]:
    """The first `HEAD` characters of each document, each run of white space as one space."""
    # twice as many characters leave enough where white space is dropped, except in text that is mostly white space
    texts = pc.utf8_slice_codeunits(corpus.section_texts, 0, 2 * HEAD).to_pylist()
    offsets = offsets_of(corpus.section_counts).tolist()
    return [" ".join(" ".join(texts[a:b]).split())[:HEAD] for a, b in pairwise(offsets)]


def _agreement(one: str, other: str) -> int:
    """Number of characters at the beginning that two texts share."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
