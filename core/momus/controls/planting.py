"""Planted defects: the interface and the guarantees that all of them share.

A defect has a strength from 0 to 1. Strength 0 keeps every document bit for bit. The places changed at a higher
strength include those changed at a lower one. The change of a document depends on the seed and the document's id, never
on the order of the corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Bools
from momus.text.corpus import Corpus, Document


@dataclass(frozen=True)
class Change:
    """The change of one document.

    Attributes
    ----------
    id
        Id of the document.
    defect
        Name of the defect.
    what
        The kind of change, in a few words.
    count
        Number of changed places.
    places
        The changed places, counted from 0 in the original document, in units that ``what`` names (sections, words, …).
    """

    id: str
    defect: str
    what: str
    count: int
    places: Sequence[int]


@dataclass(frozen=True)
class Planted:
    """A corpus with a defect, and its changes; documents without an entry are unchanged."""

    corpus: Corpus
    changes: Sequence[Change]

    @property
    def count(self) -> int:
        """Number of changed places in the whole corpus."""
        return sum(c.count for c in self.changes)


@dataclass(frozen=True)
class Setting:
    """The inputs of a change of one document, besides the document.

    Attributes
    ----------
    strength
        From 0 to 1.
    random
        A generator for this document; a change draws the same numbers from it at every strength.
    shared
        The whole corpus, which supplies word frequencies and pieces of other documents.
    """

    strength: float
    random: np.random.Generator
    shared: PlantingInput

    def chosen(self, n: int) -> Bools:
        """Choose each of n places with probability ``strength``, bool (n,); a higher strength keeps the choices."""
        return np.asarray(self.random.random(n) < self.strength)


@dataclass
class PlantingInput:
    """The corpus and derived values that all documents of one planting share.

    Attributes
    ----------
    corpus
        The corpus to change.
    """

    corpus: Corpus

    def __post_init__(self) -> None:
        self._computed: dict[str, object] = {}

    def once(self, name: str, make: Callable[[Corpus], object]) -> object:
        """Compute a value from the corpus, ordered by id, and cache it by name."""
        if name not in self._computed:
            self._computed[name] = make(_by_id(self.corpus))
        return self._computed[name]


def _by_id(corpus: Corpus) -> Corpus:
    return corpus.take(np.argsort(np.asarray(corpus.ids, dtype=object), kind="stable"))


Plant = Callable[[Document, Setting], tuple[Document, str, Sequence[int]]]
"""Changes a document: (new document, kind of change, changed places)."""


@dataclass(frozen=True)
class PlantedDefect:
    """A defect that can be planted.

    Attributes
    ----------
    name
        The name that users type.
    axis
        The property of text that it damages.
    description
        The exact change at a given strength.
    critics
        The shipped critics that examine this property.
    change
        Function that changes one document.
    """

    name: str
    axis: str
    description: str
    critics: tuple[str, ...]
    change: Plant

    def plant(self, corpus: Corpus, strength: float, seed: int = 0) -> Planted:
        """Plant the defect in every document.

        Parameters
        ----------
        strength
            From 0 (no change, bit for bit) to 1.

        Raises
        ------
        UsageError
            The strength is not between 0 and 1.

        >>> from momus.controls import DEFECTS
        >>> planted = DEFECTS["symbol-inflation"].plant(Corpus.from_texts(["She saw, and left."], ids=["a"]), 1.0)
        >>> planted.corpus[0].text, planted.changes[0].places
        ('She saw,, and left..', [0, 1])
        """
        if not 0 <= strength <= 1:
            raise UsageError(f"{self.name}: strength {strength} is not between 0 and 1", hint="0 changes nothing")
        name = f"{corpus.name}, {self.name} {strength:g}"
        if strength == 0:
            return Planted(corpus.take(range(len(corpus)), name), [])
        shared = PlantingInput(corpus)
        documents, changes = [], []
        for document in corpus:
            planted, change = self._planted(document, strength, seed, shared)
            documents.append(planted)
            if change is not None:
                changes.append(change)
        return Planted(Corpus.from_documents(documents, name), changes)

    def _planted(
        self, document: Document, strength: float, seed: int, shared: PlantingInput
    ) -> tuple[Document, Change | None]:
        if document.problem is not None:
            return document, None
        setting = Setting(strength, generator(seed, self.name, document.id), shared)
        planted, what, changed = self.change(document, setting)
        if planted == document:
            return document, None
        places = [int(p) for p in changed]
        return planted, Change(document.id, self.name, what, len(places), places)


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Make a random generator from a seed and some strings.

    >>> a, b = generator(0, "x", "y").random(), generator(0, "xy", "").random()
    >>> a == b
    False
    """
    digest = hashlib.blake2b("\0".join(keys).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])


def with_texts(document: Document, texts: Sequence[str]) -> Document:
    """Copy a document with new section texts."""
    sections = tuple(replace(s, text=t) for s, t in zip(document.sections, texts, strict=True))
    return replace(document, sections=sections)
