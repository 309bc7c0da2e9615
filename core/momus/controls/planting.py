"""Planted defects: what every one of them owes, whatever it does to a text.

A defect has a strength from 0 to 1. Strength 0 leaves every document as it is, bit for bit; with rising strength, more
of the same places are changed, each in the same way as before. What happens to a document depends on the seed and on
the document's id, never on the order of the corpus.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.text.corpus import Corpus, Document

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Change:
    """What was done to one document.

    Attributes
    ----------
    id
        The document.
    defect
        Name of the defect.
    what
        What was done, in a few words.
    count
        How many places were changed.
    places
        Which places, counted from 0 in the unchanged document; ``what`` says of what (sections, words, …).
    """

    id: str
    defect: str
    what: str
    count: int
    places: Sequence[int]


@dataclass(frozen=True)
class Planted:
    """A corpus with a defect, and what was changed: documents without an entry are as they were."""

    corpus: Corpus
    changes: Sequence[Change]

    @property
    def count(self) -> int:
        """How many places were changed in the whole corpus."""
        return sum(c.count for c in self.changes)

    def table(self) -> pa.Table:
        """The changes as Arrow: id, defect, what, count, places."""
        import pyarrow as pa

        kinds = {
            "id": pa.string(),
            "defect": pa.string(),
            "what": pa.string(),
            "count": pa.int64(),
            "places": pa.list_(pa.int64()),
        }
        return pa.table({k: pa.array([getattr(c, k) for c in self.changes], t) for k, t in kinds.items()})


@dataclass(frozen=True)
class Setting:
    """What a change of one document may look at.

    Attributes
    ----------
    strength
        From 0 to 1.
    random
        The document's own generator; a change draws the same numbers from it at every strength.
    shared
        The whole corpus, for what is rare or common in it, and the corpus that pieces are taken from.
    """

    strength: float
    random: np.random.Generator
    shared: Shared

    def chosen(self, n: int) -> NDArray[np.bool_]:
        """Choose among n places, each with probability ``strength``: more of them as it rises, none given back."""
        return np.asarray(self.random.random(n) < self.strength)


@dataclass
class Shared:
    """What the documents of one planting have in common.

    Attributes
    ----------
    corpus
        The corpus.
    donor
        A second corpus that pieces are taken from; None for the corpus itself.
    """

    corpus: Corpus
    donor: Corpus | None = None

    def __post_init__(self) -> None:
        self._kept: dict[str, object] = {}

    def once(self, name: str, make: Callable[[Corpus], object]) -> object:
        """Compute something of the donor (or of the corpus) once, in an order that ids give."""
        if name not in self._kept:
            source = self.corpus if self.donor is None else self.donor
            self._kept[name] = make(_by_id(source))
        return self._kept[name]


def _by_id(corpus: Corpus) -> Corpus:
    return corpus.take(np.argsort(np.asarray(corpus.ids, dtype=object), kind="stable"))


Plant = Callable[[Document, Setting], tuple[Document, str, Sequence[int]]]
"""Changes a document: returns it with what was done, and where."""


@dataclass(frozen=True)
class Defect:
    """A defect that can be planted.

    Attributes
    ----------
    name
        How users call it.
    axis
        What it spoils.
    description
        What is done at a strength, exactly.
    critics
        The shipped critics whose axis it is.
    change
        Changes one document.
    needs_donor
        Whether a second corpus must be given.
    """

    name: str
    axis: str
    description: str
    critics: tuple[str, ...]
    change: Plant
    needs_donor: bool = False

    def plant(self, corpus: Corpus, strength: float, seed: int = 0, donor: Corpus | None = None) -> Planted:
        """Plant the defect in every document.

        Parameters
        ----------
        strength
            From 0 (the corpus as it is, bit for bit) to 1.
        donor
            Documents that pieces are taken from, where the defect takes any: by default the corpus itself, without
            the document at hand. Language mixing needs one.

        Raises
        ------
        UsageError
            The strength is not between 0 and 1, or a donor is missing.

        >>> from momus.controls import DEFECTS
        >>> planted = DEFECTS["pronoun-swap"].plant(Corpus.from_texts(["She saw him."], ids=["a"]), 1.0)
        >>> planted.corpus[0].text, planted.changes[0].places
        ('He saw her.', [0, 1])
        """
        if not 0 <= strength <= 1:
            raise UsageError(f"{self.name}: strength {strength} is not between 0 and 1", hint="0 changes nothing")
        if self.needs_donor and donor is None:
            raise UsageError(
                f"{self.name} takes pieces of another corpus, and none is given",
                hint="give one with donor=…, on the command line with --donor",
            )
        name = f"{corpus.name}, {self.name} {strength:g}"
        if strength == 0:
            return Planted(corpus.take(range(len(corpus)), name), [])
        shared = Shared(corpus, donor)
        documents, changes = [], []
        for document in corpus:
            made, change = self._one(document, strength, seed, shared)
            documents.append(made)
            if change is not None:
                changes.append(change)
        return Planted(Corpus.from_documents(documents, name), changes)

    def _one(self, document: Document, strength: float, seed: int, shared: Shared) -> tuple[Document, Change | None]:
        if document.problem is not None:
            return document, None
        setting = Setting(strength, generator(seed, self.name, document.id), shared)
        made, what, places = self.change(document, setting)
        if made == document:
            return document, None
        where = [int(p) for p in places]
        return made, Change(document.id, self.name, what, len(where), where)


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Make a generator that belongs to a seed and some names.

    >>> a, b = generator(0, "x", "y").random(), generator(0, "xy", "").random()
    >>> a == b
    False
    """
    digest = hashlib.blake2b("\0".join(keys).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])


def with_texts(document: Document, texts: Sequence[str]) -> Document:
    """Make the document with other texts of its sections."""
    sections = tuple(replace(s, text=t) for s, t in zip(document.sections, texts, strict=True))
    return replace(document, sections=sections)
