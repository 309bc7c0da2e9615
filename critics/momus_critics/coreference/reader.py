"""Chains from files: mentions by document, for the resolver ``given``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from momus.critic import resource
from momus.errors import ReadingError, UsageError
from momus.estimator import Estimator, parametrized
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved


@parametrized
class GivenChains(Estimator):
    """A resolver that reads chains from a file.

    Parameters
    ----------
    model
        The file, with one object per line: ``{"id": …, "mentions": [[start, end, entity], …], "sentences": [start,
        …]}`` and optionally ``"persons": [entity, …]``. Offsets are in characters of the document's text (sections
        joined by a blank line).
    """

    model: str = ""

    @property
    def version(self) -> str:
        """Empty: chains from a file are not cached."""
        return ""

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Look up the chains of each document.

        Raises
        ------
        UsageError
            No file is named, it lacks a document, or a mention ends beyond a document's text.
        ReadingError
            The file cannot be read, or a line is no record of mentions.
        """
        if not self.model:
            raise UsageError("resolver 'given' needs a file of chains", hint="give its path as parameter `model`")
        # part of the key of the cache: a file that was written again is read again
        written = os.stat(self.model).st_mtime_ns if os.path.exists(self.model) else 0
        of_documents = resource(_chains_written, self.model, written)
        chains = []
        for document in batch:
            if document.id not in of_documents:
                raise UsageError(f"{self.model}: no chains for document {document.id!r}")
            resolved = of_documents[document.id]
            # offsets of another version of the text would mark arbitrary characters
            if len(resolved.ends) and int(resolved.ends.max()) > len(document.text):
                raise UsageError(f"{self.model}: a mention of document {document.id!r} ends beyond its text")
            chains.append(resolved)
        return chains


def read_chains(path: str | Path) -> dict[str, Resolved]:
    """Read a file of chains: the mentions of each document, by id.

    Raises
    ------
    ReadingError
        The file cannot be read, or a line is no record of mentions.
    """
    chains = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        record = json.loads(line)
                        chains[str(record["id"])] = _resolved(record)
                    except (ValueError, KeyError, TypeError) as error:
                        raise ReadingError(f"{path}, line {number}: no record of mentions ({error})") from error
    except OSError as error:
        raise ReadingError(f"{path}: {error.strerror}") from error
    return chains


def _chains_written(path: str, written: int) -> dict[str, Resolved]:
    """The chains of a file as it was at a time, which tells a file that was written again."""
    return read_chains(path)


def _resolved(record: dict[str, Any]) -> Resolved:
    mentions = [(int(a), int(b), int(e)) for a, b, e in record["mentions"]]
    if any(not 0 <= a < b for a, b, _ in mentions):
        raise ValueError("a mention ends before it starts")
    persons = record.get("persons")
    sentences = sorted(int(s) for s in record["sentences"])
    return Resolved.of(mentions, sentences, None if persons is None else [int(p) for p in persons])
