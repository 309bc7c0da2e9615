"""Running text: the tokens of many documents, or of one long one, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import offsets_of, ranges_of
from momus.numeric.types import Ints
from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer, TokenTable

CHUNK = 1 << 18
"""Tokens that `RunningText.characters` spells out at a time."""


@dataclass(frozen=True)
class RunningText:
    """The tokens of a text, a summary that loses nothing: ``a + b`` is the text of ``a`` followed by that of ``b``.

    Attributes
    ----------
    ids
        int32 (N,): numbers in ``vocabulary``.
    vocabulary
        The words; some may not occur in ``ids``.
    ends
        int64, ascending: numbers of tokens up to the end of each document; None if unknown.

    >>> a, b = RunningText(np.array([0, 1], np.int32), ["x", "y"]), RunningText(np.array([0], np.int32), ["y"])
    >>> (a + b).ids.tolist(), (a + b).vocabulary
    ([0, 1, 1], ['x', 'y'])
    """

    ids: NDArray[np.int32]
    vocabulary: Sequence[str]
    ends: Ints | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: RunningText) -> RunningText:
        ends = None
        if self.ends is not None or other.ends is not None:
            left, right = (np.zeros(0, np.int64) if text.ends is None else text.ends for text in (self, other))
            ends = np.concatenate([left, right + len(self)])
        if other.vocabulary is self.vocabulary:
            return RunningText(np.concatenate([self.ids, other.ids]), self.vocabulary, ends)
        numbers = {word: i for i, word in enumerate(self.vocabulary)}
        # recode[i] is the number of other's word i in the joint vocabulary; words that are new extend it
        recode = np.fromiter(
            (numbers.setdefault(w, len(numbers)) for w in other.vocabulary), np.int32, len(other.vocabulary)
        )
        recoded = recode[other.ids] if len(other.ids) else other.ids
        return RunningText(np.concatenate([self.ids, recoded]), list(numbers), ends)

    @classmethod
    def of(cls, table: TokenTable) -> RunningText:
        """Make a text of the tokens of a table, in order."""
        return cls(table.ids, table.vocabulary, table.offsets[1:] if table.ends is None else table.ends)

    def part(self, start: int, stop: int) -> RunningText:
        """Return tokens ``start:stop``."""
        ends = None if self.ends is None else self.ends[(self.ends > start) & (self.ends <= stop)] - start
        return RunningText(self.ids[start:stop], self.vocabulary, ends)

    def cut(self, pieces: int, align: int = 1, whole: bool = False) -> list[RunningText]:
        """Cut into contiguous pieces of about equal length, at multiples of ``align`` tokens.

        With ``whole``, and if ``align`` is 1, each cut moves to the nearest end of a document that is less than half a
        piece away, to keep documents in one piece.

        >>> text = RunningText(np.zeros(10, np.int32), ["x"], np.array([3, 6, 10]))
        >>> [len(p) for p in text.cut(3)], [len(p) for p in text.cut(3, whole=True)]
        ([3, 3, 4], [3, 3, 4])
        >>> [len(p) for p in text.cut(2)], [len(p) for p in text.cut(2, whole=True)]
        ([5, 5], [6, 4])
        """
        edges = np.linspace(0, len(self) // align, pieces + 1).astype(np.int64) * align
        edges[-1] = len(self)
        if whole and align == 1 and self.ends is not None and len(self.ends):
            # the ends of documents at or after each inner cut (row 0) and before it (row 1), shape (2, pieces - 1)
            after = np.searchsorted(self.ends, edges[1:-1]).clip(0, len(self.ends) - 1)
            near = self.ends[np.stack([after, np.maximum(after - 1, 0)])]
            distance = np.abs(near - edges[1:-1])
            moved = np.where(distance[0] <= distance[1], near[0], near[1])
            edges[1:-1] = np.where(2 * pieces * distance.min(axis=0) < len(self) - pieces, moved, edges[1:-1])
        return [self.part(a, b) for a, b in pairwise(edges.tolist())]

    @cached_property
    def counts(self) -> Ints:
        """Number of occurrences of each word of the vocabulary, int64 (V,)."""
        return np.bincount(self.ids, minlength=len(self.vocabulary))

    @cached_property
    def first_positions(self) -> Ints:
        """Position at which each word first occurs, int64 (V,); N for words that do not occur."""
        first = np.full(len(self.vocabulary), len(self), dtype=np.int64)
        # assigned from the end backwards: the first occurrence overwrites all later ones
        first[self.ids[::-1]] = np.arange(len(self) - 1, -1, -1)
        return first

    def characters(self) -> tuple[NDArray[np.unsignedinteger], int]:
        """Spell out the text, words joined by single spaces: character codes 0 … C − 1, and C."""
        # all words of the vocabulary, a space after each; letters of word w: small[starts[w]:starts[w] + lengths[w]]
        spelled = np.frombuffer((" ".join(self.vocabulary) + " ").encode("utf-32-le", "surrogatepass"), np.uint32)
        alphabet, codes = np.unique(spelled, return_inverse=True)
        small = codes.astype(np.min_scalar_type(max(len(alphabet) - 1, 0)))
        lengths = np.fromiter(map(len, self.vocabulary), np.int64, len(self.vocabulary)) + 1
        starts = offsets_of(lengths)[:-1]
        chunks = (self.ids[i : i + CHUNK] for i in range(0, len(self), CHUNK))
        spellings = [small[ranges_of(starts[ids], lengths[ids])] for ids in chunks]
        text = np.concatenate(spellings) if spellings else small[:0]
        return text[:-1], len(alphabet)


def blocks(corpus: Corpus, tokenizer: Tokenizer, size: int) -> Corpus:
    """Cut the running text of a corpus into blocks of ``size`` tokens, each a document of a new corpus.

    A remainder of at least half the size becomes another block; a shorter one is added to the last block. Block ids
    name the document in which the block begins. Tokens are shared with the corpus, not split again.

    >>> from momus.text.tokens import get_tokenizer
    >>> blocks(Corpus.from_texts(["a b c", "d e"], name="x"), get_tokenizer("words"), 2).ids
    ['block 1 from x:1', 'block 2 from x:1', 'block 3 from x:2']
    """
    table = corpus.tokens(tokenizer)
    total = len(table.ids)
    edges = list(range(0, total, size)) or [0]
    if len(edges) > 1 and total - edges[-1] < size / 2:
        edges.pop()
    bounds = np.array([*edges, total], dtype=np.int64)
    # the document of each block's first token: the last one that starts at or before it, shape (blocks,)
    owners = np.clip(np.searchsorted(table.offsets, bounds[:-1], side="right") - 1, 0, max(len(corpus) - 1, 0))
    words = table.vocabulary
    texts = [" ".join(map(words.__getitem__, table.ids[a:b].tolist())) for a, b in pairwise(bounds.tolist())]
    names = corpus.ids
    ids = [f"block {i + 1} from {names[o]}" if names else f"block {i + 1}" for i, o in enumerate(owners)]
    result = Corpus.from_texts(texts, ids=ids, name=corpus.name)
    sections = np.arange(len(bounds), dtype=np.int64)  # each block is one section
    ends = table.offsets[1:] if table.ends is None else table.ends
    result.adopt(tokenizer, TokenTable(table.ids[: bounds[-1]], bounds, sections, words, ends))
    return result
