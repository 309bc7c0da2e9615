"""Planted defects: the interface and the guarantees that all of them share.

A defect has a strength from 0 to 1. Strength 0 keeps every document bit for bit. The places changed at a higher
strength include those changed at a lower one. The change of a document depends on the seed and the document's id, never
on the order of the corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Bools
from momus.text.corpus import Corpus, Document

Changed = tuple[Document, Sequence[int]]
"""A new document, and the changed places, counted from 0 in the old one: sections, words, or whatever is changed."""
T = TypeVar("T")


@dataclass(frozen=True)
class Planted:
    """A corpus with a defect, and the changed places of each changed document, by id."""

    corpus: Corpus
    changes: Mapping[str, Sequence[int]]

    @property
    def count(self) -> int:
        """Number of changed places in the whole corpus."""
        return sum(map(len, self.changes.values()))


@dataclass(frozen=True)
class Setting:
    """The inputs of a change of one document, besides the document.

    Attributes
    ----------
    strength
        From 0 to 1.
    random
        A generator for this document; a change draws the same numbers from it at every strength.
    corpus
        The whole corpus, which supplies word frequencies and pieces of other documents.
    """

    strength: float
    random: np.random.Generator
    corpus: Corpus
    _once: dict[Any, Any] = field(default_factory=dict)

    def chosen(self, n: int) -> Bools:
        """Choose each of n places with probability ``strength``, bool (n,); a higher strength keeps the choices."""
        return np.asarray(self.random.random(n) < self.strength)

    def once(self, make: Callable[[Corpus], T]) -> T:
        """Compute a value from the corpus, ordered by id, once for all documents."""
        if make not in self._once:
            self._once[make] = make(by_id(self.corpus))
        return cast("T", self._once[make])


def by_id(corpus: Corpus) -> Corpus:
    """The corpus in the order of ids."""
    return corpus.take(np.argsort(np.asarray(corpus.ids, dtype=object), kind="stable"))


Plant = Callable[[Document, Setting], Changed]


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
        >>> planted.corpus[0].text, planted.changes
        ('She saw,, and left..', {'a': [0, 1]})
        """
        if not 0 <= strength <= 1:
            raise UsageError(f"{self.name}: strength {strength} is not between 0 and 1", hint="0 changes nothing")
        name = f"{corpus.name}, {self.name} {strength:g}"
        if strength == 0:
            return Planted(corpus.take(range(len(corpus)), name), {})
        shared: dict[Any, Any] = {}
        documents, changes = [], {}
        for document in corpus:
            planted = document
            if document.problem is None:
                setting = Setting(strength, generator(seed, self.name, document.id), corpus, shared)
                planted, places = self.change(document, setting)
                if planted != document:
                    changes[document.id] = [int(p) for p in places]
            documents.append(planted if document.id in changes else document)
        return Planted(Corpus.from_documents(documents, name), changes)


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
