"""Chains that the user gives: a JSON-lines file with the mentions of each document, by id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from momus.errors import ReadingError, UsageError
from momus.estimator import Estimator
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved


class GivenChains(Estimator):
    """Parameters
    ----------
    model
        The file: ``{"id": …, "mentions": [[start, end, entity], …], "sentences": [start, …]}`` a line, offsets in
        characters of the document's text (sections joined by a blank line), and optionally ``"persons": [entity, …]``.
    """

    def __init__(self, *, model: str = "") -> None:
        self.model = model
        self._found: dict[str, Resolved] | None = None

    @property
    def version(self) -> str:
        """None: a file of the user's is not kept."""
        return ""

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Look the documents up.

        Raises
        ------
        UsageError
            No file is named, or it lacks a document.
        ReadingError
            A line is no record of mentions.
        """
        if self._found is None:
            if not self.model:
                raise UsageError("resolver 'given' needs a file of chains", hint="name it as parameter `model`")
            self._found = read_chains(self.model)
        found = []
        for document in batch:
            if document.id not in self._found:
                raise UsageError(f"{self.model}: no chains for document {document.id!r}")
            resolved = self._found[document.id]
            if len(resolved.ends) and int(resolved.ends.max()) > len(document.text):
                raise UsageError(f"{self.model}: a mention of document {document.id!r} ends behind its text")
            found.append(resolved)
        return found


def read_chains(path: str | Path) -> dict[str, Resolved]:
    """Read a file of chains, by document.

    Raises
    ------
    ReadingError
        The file cannot be read, or a line is no record of mentions.
    """
    found = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        record = json.loads(line)
                        found[str(record["id"])] = _resolved(record)
                    except (ValueError, KeyError, TypeError) as error:
                        raise ReadingError(f"{path}, line {number}: no record of mentions ({error})") from error
    except OSError as error:
        raise ReadingError(f"{path}: {error.strerror}") from error
    return found


def _resolved(record: dict[str, Any]) -> Resolved:
    mentions = [(int(a), int(b), int(e)) for a, b, e in record["mentions"]]
    if any(not 0 <= a < b for a, b, _ in mentions):
        raise ValueError("a mention ends before it starts")
    persons = record.get("persons")
    sentences = sorted(int(s) for s in record["sentences"])
    return Resolved.of(mentions, sentences, None if persons is None else [int(p) for p in persons])
