"""Running text: the tokens of many documents, or of one long one, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

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
    groups
        int64, ascending: numbers of tokens up to the end of each group of documents (a novel, an author), which stand
        one after another; None without groups.

    >>> a, b = RunningText(np.array([0, 1], np.int32), ["x", "y"]), RunningText(np.array([0], np.int32), ["y"])
    >>> (a + b).ids.tolist(), (a + b).vocabulary
    ([0, 1, 1], ['x', 'y'])
    """

    ids: NDArray[np.int32]
    vocabulary: Sequence[str]
    ends: Ints | None = None
    groups: Ints | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __add__(self, other: RunningText) -> RunningText:
        ends = _added(self.ends, other.ends, len(self))
        groups = _added(self.groups, other.groups, len(self))
        if other.vocabulary is self.vocabulary:
            return RunningText(np.concatenate([self.ids, other.ids]), self.vocabulary, ends, groups)
        numbers = {word: i for i, word in enumerate(self.vocabulary)}
        # recode[i] is the number of other's word i in the joint vocabulary; words that are new extend it
        recode = np.fromiter(
            (numbers.setdefault(w, len(numbers)) for w in other.vocabulary), np.int32, len(other.vocabulary)
        )
        recoded = recode[other.ids] if len(other.ids) else other.ids
        return RunningText(np.concatenate([self.ids, recoded]), list(numbers), ends, groups)

    @classmethod
    def of(cls, table: TokenTable) -> RunningText:
        """Make a text of the tokens of a table, in order."""
        return cls(table.ids, table.vocabulary, table.offsets[1:] if table.ends is None else table.ends, table.groups)

    def slice(self, start: int, stop: int) -> RunningText:
        """Return tokens ``start:stop``."""
        ends, groups = (None if e is None else e[(e > start) & (e <= stop)] - start for e in (self.ends, self.groups))
        return RunningText(self.ids[start:stop], self.vocabulary, ends, groups)

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
        edges = np.linspace(0, len(self) // align, pieces + 1).astype(np.int64) * align  # (pieces + 1,)
        edges[-1] = len(self)
        if whole and align == 1 and self.ends is not None and len(self.ends):
            # the ends of documents at or after each inner cut (row 0) and before it (row 1), shape (2, pieces - 1)
            after = np.searchsorted(self.ends, edges[1:-1]).clip(0, len(self.ends) - 1)
            near = self.ends[np.stack([after, np.maximum(after - 1, 0)])]
            distance = np.abs(near - edges[1:-1])
            moved = np.where(distance[0] <= distance[1], near[0], near[1])
            edges[1:-1] = np.where(2 * pieces * distance.min(axis=0) < len(self) - pieces, moved, edges[1:-1])
        return [self.slice(a, b) for a, b in pairwise(edges.tolist())]

    def by_group(self, pieces: int, align: int = 1) -> list[RunningText]:
        """Cut into pieces of whole groups: one per group, or ``pieces`` of about equal length if there are more groups.

        Cuts move to the nearest multiple of ``align`` tokens. Tokens after the end of the last group form one more.

        >>> text = RunningText(np.zeros(12, np.int32), ["x"], groups=np.array([5, 6, 8, 12]))
        >>> [len(p) for p in text.by_group(20)], [len(p) for p in text.by_group(2)]
        ([5, 1, 2, 4], [6, 6])
        """
        inner = np.zeros(0, np.int64) if self.groups is None else (self.groups + align // 2) // align * align
        # rounding to `align` may bring two ends together, or one to the border
        ends = np.append(np.unique(inner[(inner > 0) & (inner < len(self))]), len(self))
        if len(ends) > pieces:
            # the end nearest to each of the even cuts; where two cuts share one, the later takes the next end, and
            # none takes an end that a later cut needs
            even = np.arange(1, pieces) * (len(self) / pieces)
            nearest = np.abs(ends[:, None] - even).argmin(axis=0)
            room = np.arange(pieces - 1)
            chosen = np.minimum(np.maximum.accumulate(nearest - room), len(ends) - pieces) + room
            ends = ends[np.append(chosen, len(ends) - 1)]
        return [self.slice(a, b) for a, b in pairwise([0, *ends.tolist()])]

    @cached_property
    def law_errors(self) -> dict[str, dict[tuple[object, ...], Any]]:
        """Standard errors of laws in this text that tests have computed, by critic and then by law and cut."""
        return {}

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


def _added(first: Ints | None, second: Ints | None, shift: int) -> Ints | None:
    """Ends in a text and in the text behind it, which begins after ``shift`` tokens; None if neither is known."""
    if first is None and second is None:
        return None
    left, right = (np.zeros(0, np.int64) if ends is None else ends for ends in (first, second))
    return np.concatenate([left, right + shift])


def group_numbers(groups: Sequence[str | None]) -> Ints:
    """Number groups from 0 by first appearance, int64 (documents,); a document without a group is one by itself.

    >>> group_numbers(["emma", None, "emma", None, "ulysses"])
    array([0, 1, 0, 2, 3])
    """
    numbers: dict[tuple[bool, str | int], int] = {}
    keys = ((True, i) if group is None else (False, group) for i, group in enumerate(groups))
    return np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int64, len(groups))


def _gathered(corpus: Corpus) -> tuple[Corpus, Ints | None]:
    """Put the documents of each group one behind another; the corpus, and the number of each document's group.

    Groups stand in order of first appearance, documents in their order within the group.
    """
    if all(group is None for group in corpus.groups):
        return corpus, None
    numbers = group_numbers(corpus.groups)
    order = np.argsort(numbers, kind="stable")
    if (np.diff(order) == 1).all():
        return corpus, numbers
    return corpus.take(order), numbers[order]


def blocks(corpus: Corpus, tokenizer: Tokenizer, size: int) -> Corpus:
    """Cut the running text of a corpus into blocks of ``size`` tokens, each a document of a new corpus.

    Documents of one group are put one behind another. A remainder of at least half the size becomes another block; a
    shorter one is added to the last block. Block ids name the document in which the block begins. Tokens are shared
    with the corpus, not split again.

    >>> from momus.text.tokens import get_tokenizer
    >>> blocks(Corpus.from_texts(["a b c", "d e"], name="x"), get_tokenizer("words"), 2).ids
    ['block 1 from x:1', 'block 2 from x:1', 'block 3 from x:2']
    """
    corpus.tokens(tokenizer)  # split once, before documents are reordered
    corpus, numbers = _gathered(corpus)
    table = corpus.tokens(tokenizer)
    total = len(table.ids)
    edges = list(range(0, total, size)) or [0]
    # a short block at the end would be noisier than the others
    if len(edges) > 1 and total - edges[-1] < size / 2:
        edges.pop()
    bounds = np.array([*edges, total], dtype=np.int64)  # (blocks + 1,)
    # the document of each block's first token: the last one that starts at or before it, shape (blocks,)
    owners = np.clip(np.searchsorted(table.offsets, bounds[:-1], side="right") - 1, 0, max(len(corpus) - 1, 0))
    words = table.vocabulary
    texts = [" ".join(map(words.__getitem__, table.ids[a:b].tolist())) for a, b in pairwise(bounds.tolist())]
    names = corpus.ids
    ids = [f"block {i + 1} from {names[o]}" if names else f"block {i + 1}" for i, o in enumerate(owners)]
    groups = [corpus.groups[o] for o in owners] if names else None
    result = Corpus.from_texts(texts, ids=ids, name=corpus.name, groups=groups)
    sections = np.arange(len(bounds), dtype=np.int64)  # each block is one section
    ends = table.offsets[1:] if table.ends is None else table.ends
    # a group ends with its last document, whose successor has another number
    group_ends = None if numbers is None else table.offsets[1:][np.append(numbers[1:] != numbers[:-1], True)]
    result.adopt(tokenizer, TokenTable(table.ids[: bounds[-1]], bounds, sections, words, ends, group_ends))
    return result
