"""Map mentions to symbols, and code windows of symbols as integers, vectorised over symbols.

A symbol is a kind (a pronoun, a class of names, a sentence start) and an entity: pronouns stand for themselves, all
other mentions for the class of their entity. In a window, entities are numbered 0, 1, 2, … by first appearance (Deng et
al. 2022, section 5): "a man, then she, then another" is the same n-gram whoever they are. The code of a symbol is
kind · (n + 1) + 1 + number, or kind · (n + 1) without an entity; a window of m symbols is a number of m digits in base
S = kinds · (n + 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from momus.critic import StateSequences
from momus.numeric.ragged import float_sums, places_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.mentions import FEMALE, FIRST, MALE, PLURAL, PRONOUNS, SECOND, THINGS, Resolved

NAMES_END, THIRD = 5, 8
"""The last kind of symbol before the pronouns, and the number of singular third-person pronouns (he, she) after it."""


@dataclass(frozen=True)
class Chains:
    """Symbols of all documents, concatenated.

    Attributes
    ----------
    kinds
        int64 (N,); kind 0 is the padding before a document, and does not occur in it.
    entities
        int64 (N,): a number within the document, −1 for symbols without an entity.
    offsets
        int64 (n + 1,): where documents begin.
    """

    kinds: Ints
    entities: Ints
    offsets: Ints


@dataclass(frozen=True)
class MentionChains(StateSequences):
    """Latents of the critic: kinds of symbols, with their entities, windows and spans.

    Attributes
    ----------
    entities
        int64 (N,), −1 for sentence starts.
    windows
        int64 (N,): key of the window of n symbols that ends here.
    spans
        int64 (N, 2): offsets of characters in the document.
    """

    entities: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    windows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    spans: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    @property
    def first(self) -> Ints:
        """Positions of the first mention of each entity of each document."""
        rows = np.flatnonzero(self.entities >= 0)  # mentions
        pairs = np.stack([self.documents[rows], self.entities[rows]])
        # the first index of each pair: `rows` is in the order of the text
        return rows[np.unique(pairs, axis=1, return_index=True)[1]]

    @property
    def introductions(self) -> Floats:
        """Numbers of persons introduced by a third-person singular pronoun, and of all persons, (n, 2)."""
        first = self.first
        n, document = len(self), self.documents[first]
        third = (self.states[first] > NAMES_END) & (self.states[first] <= NAMES_END + THIRD)
        counts = [np.bincount(document, w, n) for w in (third.astype(np.float64), np.ones(len(first)))]
        return np.column_stack(counts)

    @property
    def genders(self) -> Floats:
        """Pronouns he and she that differ in gender from another of their document, and all of them: (n, 2)."""
        male = (self.states > NAMES_END) & (self.states <= NAMES_END + len(MALE))
        third = (self.states > NAMES_END) & (self.states <= NAMES_END + THIRD)
        he, both = (float_sums(mask, self.offsets) for mask in (male, third))
        # of m male and f female pronouns, each male one meets f of m + f − 1 others
        return np.column_stack([2 * he * (both - he) / np.maximum(both - 1, 1), both])


def relabel(entities: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
    """Number the entities of each row by first appearance, (W, m) to (W, m); −1 stays.

    >>> relabel(np.array([[7, -1, 3, 7, 5]]))[0].tolist()
    [0, -1, 1, 0, 2]
    """
    width = entities.shape[1]
    entities = np.asfortranarray(entities)  # columns are read one by one
    labels = np.empty_like(entities)  # (W, m)
    seen = np.zeros(len(entities), dtype=entities.dtype)  # entities numbered so far in each row, (W,)
    # an entity of column j gets the label of its earlier occurrence in the row, or else the next number
    for j in range(width):
        column = entities[:, j]
        label = seen.copy()
        for t in range(j - 1, -1, -1):
            np.copyto(label, labels[:, t], where=entities[:, t] == column)
        label[column < 0] = -1
        labels[:, j] = label
        np.maximum(seen, label + 1, out=seen)
    return labels


@dataclass(frozen=True)
class Coder:
    """Codes windows as integers.

    Attributes
    ----------
    kinds
        Number of kinds, padding included.
    order
        n.
    """

    kinds: int
    order: int

    @property
    def base(self) -> int:
        """S."""
        return self.kinds * (self.order + 1)

    def fits(self) -> bool:
        """Whether every window fits into 63 bits."""
        return bool(self.base**self.order < 2**63)

    def keys(self, kinds: Ints, entities: NDArray[np.signedinteger]) -> Ints:
        """Keys (W,) of windows given as rows (W, m)."""
        labels = relabel(entities)
        keys = np.zeros(len(labels), dtype=np.int64)
        for j in range(labels.shape[1]):
            # in place: one array of 8 bytes per symbol, not one for each digit
            keys *= self.base
            keys += kinds[:, j] * (self.order + 1) + 1 + labels[:, j]
        return keys

    def windows(self, chains: Chains, widths: Sequence[int] = ()) -> list[Ints]:
        """Keys of the windows that end at each symbol, (N,) for each width; documents are padded at the start.

        Without ``widths``, the widths 1, …, n.
        """
        n = len(chains.kinds)
        place = places_of(chains.offsets)
        # row i is the window of n symbols that ends at symbol i: column j holds the symbol n − 1 − j before it, or
        # padding where that lies before the document
        back = np.arange(self.order - 1, -1, -1)
        kinds = np.zeros((n, self.order), dtype=np.int64, order="F")
        entities = np.full((n, self.order), -1, dtype=np.int32, order="F")
        for j, b in enumerate(back.tolist()):
            inside = place[b:] >= b  # whether the symbol b before is in the same document
            kinds[b:, j] = np.where(inside, chains.kinds[: max(n - b, 0)], 0)
            entities[b:, j] = np.where(inside, chains.entities[: max(n - b, 0)], -1)
        widths = widths or range(1, self.order + 1)
        return [self.keys(kinds[:, self.order - m :], entities[:, self.order - m :]) for m in widths]

    def symbols(self, keys: Ints, m: int) -> tuple[Ints, Ints]:
        """Kinds and entity numbers of windows of m symbols, (W, m) each."""
        kinds, entities = (np.empty((len(keys), m), dtype=np.int64, order="F") for _ in range(2))
        rest = keys
        for j in range(m - 1, -1, -1):
            # the last symbol is the last digit
            rest, digit = np.divmod(rest, self.base)
            kinds[:, j], entities[:, j] = np.divmod(digit, self.order + 1)
        entities -= 1
        return kinds, entities

    def truncate(self, keys: Ints, m: int) -> Ints:
        """Keys of the last m − 1 symbols of windows of m."""
        kinds, entities = self.symbols(keys, m)
        return self.keys(kinds[:, 1:], entities[:, 1:])

    def left(self, keys: Ints, m: int) -> tuple[Bools, Bools, Bools]:
        """Which windows of m symbols lose an entity when their first symbol is dropped; three masks (W,).

        Returns
        -------
        Whether the first symbol's entity is absent from the rest of the context; whether, besides, the last symbol
        refers to it; and whether the last symbol's entity is new in the whole window.
        """
        _, entities = self.symbols(keys, m)
        first, last = entities[:, 0], entities[:, -1]
        gone, new = first >= 0, (last >= 0) & (last != first)
        for column in entities[:, 1:-1].T:
            gone &= column != first
            new &= column != last
        return gone, gone & (last == first), new


GENDER = {**dict.fromkeys(MALE, "Male"), **dict.fromkeys(FEMALE, "Female"), **dict.fromkeys(PLURAL, "Plural")}
PADDING, SENTENCE = "", "."
KINDS = (PADDING, SENTENCE, "Male", "Female", "Plural", "None", *PRONOUNS)
"""Kinds of symbols. A mention other than a pronoun is Male, Female, Plural or None, by majority of gendered pronouns
in its chain (Deng et al. 2022, appendix G)."""
KIND = {kind: number for number, kind in enumerate(KINDS)}
LEGEND = (
    "Male:0 is a name or noun of a person whose pronouns are he, Female:0 one whose pronouns are she, "
    "Plural:0 one of several persons, None:0 one without a gendered pronoun; he:0 is the pronoun itself. Equal numbers "
    "are the same person, by first appearance within the window; “.” is the start of a sentence."
)
"""What symbols stand for."""


def symbols_of(text: str, resolved: Resolved) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Kinds, entities and character spans of a document's symbols; all empty if no person is mentioned."""
    # gendered pronouns vote on the class of their entity, and on whether it is a person
    words = [text[a:b].lower() for a, b in zip(resolved.starts.tolist(), resolved.ends.tolist(), strict=True)]
    entities = resolved.entities.tolist()
    votes: dict[int, Counter[str]] = {e: Counter() for e in entities}
    for word, e in zip(words, entities, strict=True):
        votes[e][_role(word)] += 1
    known = set() if resolved.persons is None else set(resolved.persons.tolist())
    persons = {e for e, v in votes.items() if e in known or _is_person(v)}
    if not persons:
        return [], [], []
    # (start, number of the mention, end, word, entity); sentence starts have −1 and come before mentions there
    marks = [(int(s), -1, int(s), "", -1) for s in resolved.sentences]
    rows = zip(resolved.starts.tolist(), resolved.ends.tolist(), words, entities, strict=True)
    marks += [(a, i, b, w, e) for i, (a, b, w, e) in enumerate(rows) if e in persons]
    marks.sort(key=lambda m: m[:2])
    kinds, labels, spans = [], [], []
    numbers: dict[int, int] = {}
    for start, i, end, word, e in marks:
        kinds.append(KIND[SENTENCE] if i < 0 else KIND[word] if word in PRONOUNS else KIND[_majority(votes[e])])
        labels.append(-1 if i < 0 else numbers.setdefault(e, len(numbers)))
        spans.append((start, end))
    return kinds, labels, spans


def _role(word: str) -> str:
    if word in GENDER:
        return GENDER[word]
    if word in FIRST or word in SECOND:
        return "speaker"
    return "thing" if word in THINGS else "other"


def _is_person(votes: Counter[str]) -> bool:
    """Whether pronouns of persons outnumber those of things in an entity's chain."""
    return votes["Male"] + votes["Female"] + votes["Plural"] + votes["speaker"] > votes["thing"]


def _majority(votes: Counter[str]) -> str:
    """Most frequent gender among an entity's pronouns; None without any, or in a tie."""
    ranked = [(votes[g], g) for g in ("Male", "Female", "Plural") if votes[g]]
    ranked.sort(reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return "None"
    return ranked[0][1]


def chains_of(texts: list[str], resolved: list[Resolved]) -> tuple[Chains, Ints]:
    """Symbols of all documents, and the character span of each, int64 (N, 2)."""
    kinds: list[int] = []
    entities: list[int] = []
    spans: list[tuple[int, int]] = []
    ends = [0]
    for text, mentions in zip(texts, resolved, strict=True):
        k, e, s = symbols_of(text, mentions)
        kinds += k
        entities += e
        spans += s
        ends.append(len(kinds))
    arrays = [np.array(x, dtype=np.int64) for x in (kinds, entities, ends)]
    return Chains(*arrays), np.array(spans, dtype=np.int64).reshape(-1, 2)
