"""What resolvers found, kept on disk by document and version, so that no text is resolved twice.

One SQLite file in the folder that ``MOMUS_CACHE`` names, else in the user's cache folder; removing it is always safe.
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
KEEP = "INSERT OR REPLACE INTO resolved VALUES (?, ?, ?)"
CHUNK = 16
"""Documents resolved between two writes: what an interruption loses at most."""


def cache_folder() -> Path:
    """The folder of caches."""
    named = os.environ.get("MOMUS_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "momus"


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
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
    """Resolve the documents that are not kept, keep them, and return all, in order.

    Parameters
    ----------
    report
        Called with the number of documents done.
    folder
        Where to keep; the user's cache folder otherwise. A folder that cannot be written only costs time.
    """
    version = resolver.version
    try:
        with _opened(folder or cache_folder()) if version else _nothing() as connection:
            return _resolve(resolver, corpus, version, connection, report)
    except (OSError, sqlite3.Error):
        return _resolve(resolver, corpus, version, None, report)


@contextmanager
def _nothing() -> Iterator[None]:
    yield None


def _resolve(
    resolver: Resolver,
    corpus: Corpus,
    version: str,
    connection: sqlite3.Connection | None,
    report: Callable[[int], None] | None,
) -> list[Resolved]:
    names = [f"{h:016x}" for h in corpus.hashes.tolist()]
    found: dict[int, Resolved] = {}
    if connection is not None:
        for i, name in enumerate(names):
            row = connection.execute(FIND, (version, name)).fetchone()
            if row is not None:
                try:
                    found[i] = Resolved.unpack(row[0])
                except ValueError:
                    continue
    missing = [i for i in range(len(names)) if i not in found]
    for first in range(0, len(missing), CHUNK):
        rows = missing[first : first + CHUNK]
        for i, result in zip(rows, resolver.resolve(corpus.take(np.array(rows))), strict=True):
            found[i] = result
            if connection is not None:
                connection.execute(KEEP, (version, names[i], result.pack()))
        if connection is not None:
            connection.commit()
        if report is not None:
            report(len(names) - len(missing) + first + len(rows))
    return [found[i] for i in range(len(names))]
