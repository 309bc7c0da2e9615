"""Mentions of persons: the output of coreference resolvers, and the interface that resolvers implement.

Adapters register resolvers under the entry-point group ``momus.adapters`` as ``resolver.NAME``: an
`momus.estimator.Estimator` with ``resolve`` and ``version``.

What they find is kept on disk by document and resolver version: no text is resolved twice. One SQLite file in the
folder that ``MOMUS_CACHE`` names, else in the user's cache folder; deleting it is always safe.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from momus.numeric.types import Ints
from momus.outputs import make_folder
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


TABLE = """CREATE TABLE IF NOT EXISTS resolved
    (version TEXT, document TEXT, mentions BLOB, PRIMARY KEY (version, document))"""
FIND = "SELECT mentions FROM resolved WHERE version = ? AND document = ?"
STORE = "INSERT OR REPLACE INTO resolved VALUES (?, ?, ?)"
CHUNK = 16
"""Documents resolved between two commits; an interruption loses no more than these."""


def cache_folder() -> Path:
    """Return the folder of Momus' caches."""
    named = os.environ.get("MOMUS_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "momus"


@contextmanager
def _open_cache(folder: Path | None) -> Iterator[sqlite3.Connection]:
    """The cache in a folder; without one, in memory."""
    if folder is not None:
        make_folder(folder)
    connection = sqlite3.connect(":memory:" if folder is None else folder / "resolved.sqlite", timeout=60)
    try:
        connection.execute(TABLE)
        yield connection
    finally:
        connection.close()


def resolve_kept(
    resolver: Resolver, corpus: Corpus, report: Callable[[int], None] | None = None, folder: Path | None = None
) -> list[Resolved]:
    """Resolve the documents that are not in the cache, add them to it, and return all results in order.

    Parameters
    ----------
    report
        Called with the number of documents done.
    folder
        Where the cache lies; default: `cache_folder`. Without write access to it, nothing is cached.
    """
    # an empty version is a resolver whose output must not be kept, as that of a file which changes
    if resolver.version:
        with suppress(OSError, sqlite3.Error), _open_cache(folder or cache_folder()) as connection:
            return _resolve(resolver, corpus, connection, report)
    with _open_cache(None) as connection:
        return _resolve(resolver, corpus, connection, report)


def _resolve(
    resolver: Resolver, corpus: Corpus, connection: sqlite3.Connection, report: Callable[[int], None] | None
) -> list[Resolved]:
    version = resolver.version
    keys = [f"{h:016x}" for h in corpus.hashes.tolist()]
    results: dict[int, Resolved] = {}  # by row of the corpus
    for i, key in enumerate(keys):
        row = connection.execute(FIND, (version, key)).fetchone()
        if row is not None:
            with suppress(ValueError):  # a damaged entry is resolved again
                results[i] = Resolved.unpack(row[0])
    missing = [i for i in range(len(keys)) if i not in results]
    for first in range(0, len(missing), CHUNK):
        rows = missing[first : first + CHUNK]
        for i, result in zip(rows, resolver.resolve(corpus.take(np.array(rows))), strict=True):
            results[i] = result
            connection.execute(STORE, (version, keys[i], result.pack()))
        connection.commit()
        if report is not None:
            report(len(keys) - len(missing) + first + len(rows))
    return [results[i] for i in range(len(keys))]
