"""Running text: the tokens of many documents, or of one long one, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer, TokenTable

CHUNK = 1 << 18
"""Tokens that are spelled out at a time."""


@dataclass(frozen=True)
class RunningText:
    """A stream of tokens, a summary that loses nothing: ``a + b`` is the stream of both texts.

    Attributes
    ----------
    ids
        int32 (N,): numbers in ``vocabulary``.
    vocabulary
        The words; some may not occur in ``ids``.
    ends
        int64, ascending: behind which tokens a document ends; None where that is not known.

    >>> a, b = RunningText(np.array([0, 1], np.int32), ["x", "y"]), RunningText(np.array([0], np.int32), ["y"])
    >>> (a + b).ids.tolist(), (a + b).vocabulary
    ([0, 1, 1], ['x', 'y'])
    """

    ids: NDArray[np.int32]
    vocabulary: Sequence[str]
    ends: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: RunningText) -> RunningText:
        ends = None
        if self.ends is not None or other.ends is not None:
            mine, theirs = (np.zeros(0, np.int64) if s.ends is None else s.ends for s in (self, other))
            ends = np.concatenate([mine, theirs + len(self)])
        if other.vocabulary is self.vocabulary:
            return RunningText(np.concatenate([self.ids, other.ids]), self.vocabulary, ends)
        number = {word: i for i, word in enumerate(self.vocabulary)}
        recode = np.fromiter(
            (number.setdefault(w, len(number)) for w in other.vocabulary), np.int32, len(other.vocabulary)
        )
        recoded = recode[other.ids] if len(other.ids) else other.ids
        return RunningText(np.concatenate([self.ids, recoded]), list(number), ends)

    @classmethod
    def of(cls, table: TokenTable) -> RunningText:
        """The tokens of a table, in order."""
        return cls(table.ids, table.vocabulary, table.offsets[1:] if table.ends is None else table.ends)

    def part(self, start: int, stop: int) -> RunningText:
        """The tokens ``start`` up to ``stop``."""
        ends = None if self.ends is None else self.ends[(self.ends > start) & (self.ends <= stop)] - start
        return RunningText(self.ids[start:stop], self.vocabulary, ends)

    def cut(self, pieces: int, align: int = 1, whole: bool = False) -> list[RunningText]:
        """Cut into contiguous pieces of about equal length, at multiples of ``align`` tokens.

        With ``whole``, and where ``align`` leaves the choice, a cut is moved to the nearest end of a document less than
        half a piece away, so that no document lies in two pieces.

        >>> stream = RunningText(np.zeros(10, np.int32), ["x"], np.array([3, 6, 10]))
        >>> [len(p) for p in stream.cut(3)], [len(p) for p in stream.cut(3, whole=True)]
        ([3, 3, 4], [3, 3, 4])
        >>> [len(p) for p in stream.cut(2)], [len(p) for p in stream.cut(2, whole=True)]
        ([5, 5], [6, 4])
        """
        edges = np.linspace(0, len(self) // align, pieces + 1).astype(np.int64) * align
        edges[-1] = len(self)
        if whole and align == 1 and self.ends is not None and len(self.ends):
            after = np.searchsorted(self.ends, edges[1:-1]).clip(0, len(self.ends) - 1)
            near = self.ends[np.stack([after, np.maximum(after - 1, 0)])]
            away = np.abs(near - edges[1:-1])
            moved = np.where(away[0] <= away[1], near[0], near[1])
            edges[1:-1] = np.where(2 * pieces * away.min(axis=0) < len(self) - pieces, moved, edges[1:-1])
        return [self.part(a, b) for a, b in pairwise(edges.tolist())]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each word of the vocabulary occurs."""
        return np.bincount(self.ids, minlength=len(self.vocabulary))

    @cached_property
    def first_positions(self) -> NDArray[np.int64]:
        """Where each word first occurs; N for words that do not."""
        first = np.full(len(self.vocabulary), len(self), dtype=np.int64)
        first[self.ids[::-1]] = np.arange(len(self) - 1, -1, -1)
        return first

    def characters(self) -> tuple[NDArray[np.unsignedinteger], int]:
        """The text, words joined by one space, as character codes 0 … C − 1, and C."""
        spelled = np.frombuffer((" ".join(self.vocabulary) + " ").encode("utf-32-le", "surrogatepass"), np.uint32)
        alphabet, codes = np.unique(spelled, return_inverse=True)
        small = codes.astype(np.min_scalar_type(max(len(alphabet) - 1, 0)))
        lengths = np.fromiter(map(len, self.vocabulary), np.int64, len(self.vocabulary)) + 1
        starts = np.cumsum(lengths) - lengths
        parts = [_spell(self.ids[i : i + CHUNK], starts, lengths, small) for i in range(0, len(self), CHUNK)]
        text = np.concatenate(parts) if parts else small[:0]
        return text[:-1], len(alphabet)


def _spell(
    ids: NDArray[np.int32], starts: NDArray[np.int64], lengths: NDArray[np.int64], codes: NDArray[np.unsignedinteger]
) -> NDArray[np.unsignedinteger]:
    n = lengths[ids]
    ends = np.cumsum(n)
    place = np.arange(ends[-1]) + np.repeat(starts[ids] - (ends - n), n)
    spelled: NDArray[np.unsignedinteger] = codes[place]
    return spelled


def blocks(corpus: Corpus, tokenizer: Tokenizer, size: int) -> Corpus:
    """Cut the running text of a corpus into blocks of ``size`` tokens, each a document of a new corpus.

    What is left at the end is a block of its own from half the size on, else it lengthens the last one. Block ids name
    the document that the block begins in. Tokens are shared with the corpus, not split again.

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
    owners = np.clip(np.searchsorted(table.offsets, bounds[:-1], side="right") - 1, 0, max(len(corpus) - 1, 0))
    words = table.vocabulary
    texts = [" ".join(map(words.__getitem__, table.ids[a:b].tolist())) for a, b in pairwise(bounds.tolist())]
    names = corpus.ids
    ids = [f"block {i + 1} from {names[o]}" if names else f"block {i + 1}" for i, o in enumerate(owners)]
    made = Corpus.from_texts(texts, ids=ids, name=corpus.name)
    one = np.arange(len(bounds), dtype=np.int64)
    ends = table.offsets[1:] if table.ends is None else table.ends
    made.adopt(tokenizer, TokenTable(table.ids[: bounds[-1]], bounds, one, words, ends))
    return made
