"""Disk cache of resolved mentions by document and resolver version: no text is resolved twice.

One SQLite file in the folder that ``MOMUS_CACHE`` names, else in the user's cache folder; deleting it is always safe.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from momus.text.corpus import Corpus
from momus.text.mentions import Resolved, Resolver

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
def _open_cache(folder: Path) -> Iterator[sqlite3.Connection]:
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "resolved.sqlite", timeout=60)
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
    version = resolver.version
    try:
        with _open_cache(folder or cache_folder()) if version else _no_cache() as connection:
            return _resolve(resolver, corpus, version, connection, report)
    except (OSError, sqlite3.Error):
        return _resolve(resolver, corpus, version, None, report)


@contextmanager
def _no_cache() -> Iterator[None]:
    yield None


def _resolve(
    resolver: Resolver,
    corpus: Corpus,
    version: str,
    connection: sqlite3.Connection | None,
    report: Callable[[int], None] | None,
) -> list[Resolved]:
    keys = [f"{h:016x}" for h in corpus.hashes.tolist()]
    results: dict[int, Resolved] = {}  # by row of the corpus
    if connection is not None:
        for i, key in enumerate(keys):
            row = connection.execute(FIND, (version, key)).fetchone()
            if row is not None:
                try:
                    results[i] = Resolved.unpack(row[0])
                except ValueError:  # a damaged entry is resolved again
                    continue
    missing = [i for i in range(len(keys)) if i not in results]
    for first in range(0, len(missing), CHUNK):
        rows = missing[first : first + CHUNK]
        for i, result in zip(rows, resolver.resolve(corpus.take(np.array(rows))), strict=True):
            results[i] = result
            if connection is not None:
                connection.execute(STORE, (version, keys[i], result.pack()))
        if connection is not None:
            connection.commit()
        if report is not None:
            report(len(keys) - len(missing) + first + len(rows))
    return [results[i] for i in range(len(keys))]
