"""Mentions of persons: what resolvers of coreference give, and what critics of chains ask for.

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
        int64 (M,): offsets of characters in ``document.text``.
    entities
        int64 (M,): which mentions corefer.
    sentences
        int64 (S,): where sentences start.
    persons
        int64 (P,): entities that the resolver knows to be persons; None where it does not say.
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
        """Take (start, end, entity) in any order; outer mentions go before the ones that they hold.

        >>> Resolved.of([(5, 8, 1), (0, 3, 0), (0, 8, 2)], [0]).entities.tolist()
        [2, 0, 1]
        """
        rows = np.array(sorted(mentions, key=lambda m: (m[0], -m[1])), dtype=np.int64).reshape(-1, 3)
        known = None if persons is None else np.array(sorted(persons), dtype=np.int64)
        return cls(rows[:, 0], rows[:, 1], rows[:, 2], np.array(sentences, dtype=np.int64), known)

    def pack(self) -> bytes:
        """As bytes, for a cache: little-endian int64 with their numbers in front."""
        persons = np.zeros(0, dtype=np.int64) if self.persons is None else self.persons
        sizes = [len(self.starts), len(self.sentences), -1 if self.persons is None else len(persons)]
        parts = [np.array(sizes), self.starts, self.ends, self.entities, self.sentences, persons]
        return np.concatenate(parts).astype("<i8").tobytes()

    @classmethod
    def unpack(cls, data: bytes) -> Resolved:
        """Read back what `pack` wrote.

        Raises
        ------
        ValueError
            The bytes are something else.
        """
        numbers = np.frombuffer(data, dtype="<i8").astype(np.int64)
        if len(numbers) < 3:
            raise ValueError("too short")
        m, s, p = (int(x) for x in numbers[:3])
        if min(m, s) < 0 or len(numbers) != 3 + 3 * m + s + max(p, 0):
            raise ValueError("sizes do not agree")
        starts, ends, entities, sentences, persons = np.split(numbers[3:], np.cumsum([m, m, m, s]))
        return cls(starts, ends, entities, sentences, None if p < 0 else persons)


@runtime_checkable
class Resolver(Protocol):
    """Finds mentions of persons, and which corefer."""

    @property
    def version(self) -> str:
        """Changes whenever the output can: name, version, model, settings; empty for output that is not to be kept."""
        ...

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Resolve each document by itself, one result for each, in order."""
        ...
