"""Mentions of persons: the output of coreference resolvers, and the interface that resolvers implement.

Adapters register resolvers under the entry-point group ``momus.adapters`` as ``resolver.NAME``: an
`momus.estimator.Estimator` with ``resolve`` and ``version``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from momus.numeric.types import Ints

if TYPE_CHECKING:
    from momus.text.corpus import Corpus


MALE = ("he", "him", "his", "himself")
FEMALE = ("she", "her", "hers", "herself")
PLURAL = ("they", "them", "their", "theirs", "themselves")
FIRST = ("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves")
SECOND = ("you", "your", "yours", "yourself", "yourselves")
THINGS = ("it", "its", "itself")
PRONOUNS = (*MALE, *FEMALE, *PLURAL, *FIRST, *SECOND)


@dataclass(frozen=True)
class Resolved:
    """Mentions of one document, in the order of the text.

    Attributes
    ----------
    starts, ends
        int64 (M,): character offsets in ``document.text``.
    entities
        int64 (M,): number of the entity; mentions of one entity corefer.
    sentences
        int64 (S,): character offsets at which sentences start.
    persons
        int64 (P,): entities known to be persons; None if the resolver does not say.
    """

    starts: Ints
    ends: Ints
    entities: Ints
    sentences: Ints
    persons: Ints | None = None

    @classmethod
    def of(
        cls,
        mentions: Sequence[tuple[int, int, int]],
        sentences: Sequence[int],
        persons: Sequence[int] | None = None,
    ) -> Resolved:
        """Sort (start, end, entity) by position; a mention precedes the mentions nested in it.

        >>> Resolved.of([(5, 8, 1), (0, 3, 0), (0, 8, 2)], [0]).entities.tolist()
        [2, 0, 1]
        """
        # columns start, end, entity; shape (mentions, 3), also without mentions
        rows = np.array(sorted(mentions, key=lambda m: (m[0], -m[1])), dtype=np.int64).reshape(-1, 3)
        person_numbers = None if persons is None else np.array(sorted(persons), dtype=np.int64)
        return cls(rows[:, 0], rows[:, 1], rows[:, 2], np.array(sentences, dtype=np.int64), person_numbers)

    def pack(self) -> bytes:
        """Serialise for a cache: little-endian int64, the three sizes (M, S, P or −1) in front."""
        persons = np.zeros(0, dtype=np.int64) if self.persons is None else self.persons
        sizes = [len(self.starts), len(self.sentences), -1 if self.persons is None else len(persons)]
        arrays = [np.array(sizes), self.starts, self.ends, self.entities, self.sentences, persons]
        return np.concatenate(arrays).astype("<i8").tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> Resolved:
        """Read what `pack` wrote.

        Raises
        ------
        ValueError
            `pack` did not write these bytes.
        """
        numbers = np.frombuffer(data, dtype="<i8").astype(np.int64)
        if len(numbers) < 3:
            raise ValueError("fewer than three numbers")
        m, s, p = (int(x) for x in numbers[:3])
        if min(m, s) < 0 or len(numbers) != 3 + 3 * m + s + max(p, 0):
            raise ValueError("the sizes do not match the data")
        starts, ends, entities, sentences, persons = np.split(numbers[3:], np.cumsum([m, m, m, s]))
        return cls(starts, ends, entities, sentences, None if p < 0 else persons)


@runtime_checkable
class Resolver(Protocol):
    """Finds the mentions of persons in a text, and which of them corefer."""

    @property
    def version(self) -> str:
        """Name, version, model and settings: changes whenever the output can. Empty if output must not be cached."""
        ...

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Resolve each document independently: one result per document, in order."""
        ...
