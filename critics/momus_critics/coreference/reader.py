"""Chains of mentions from files: mentions by document for the resolver ``given``, and the reader ``symbols:``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from momus.critic import resource
from momus.errors import ReadingError, UsageError
from momus.estimator import Estimator, parametrized
from momus.outputs import open_temporary, replacing
from momus.reading import Log, LogReader, LogRecords, Problem
from momus.reading.fields import MISSING, kind, look_up
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved
from momus_critics.coreference.spelling import wrong_symbol


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
        written = os.stat(self.model).st_mtime_ns if os.path.exists(self.model) else 0
        of_documents = resource(_chains_written, self.model, written)
        chains = []
        for document in batch:
            if document.id not in of_documents:
                raise UsageError(f"{self.model}: no chains for document {document.id!r}")
            resolved = of_documents[document.id]
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


def write_chains(chains: dict[str, Resolved], path: str | Path) -> None:
    """Write the chains of documents, by their ids, as JSON Lines for the resolver ``given``."""
    with replacing(Path(path)) as temporary, open_temporary(temporary) as out:
        for name, r in chains.items():
            rows = zip(r.starts.tolist(), r.ends.tolist(), r.entities.tolist(), strict=True)
            record = {"id": name, "mentions": [list(row) for row in rows], "sentences": r.sentences.tolist()}
            if r.persons is not None:
                record["persons"] = r.persons.tolist()
            out.write(json.dumps(record).encode("ascii") + b"\n")


FIELD = "symbols"
CLASSES = ("gender", "form")


class SymbolReader(LogReader):
    """Chains of symbols; the text of a document is its symbols, separated by blanks.

    A file is JSON Lines with one list per line, ``["Male:0", ".", "he:0"]``, or one object with such a list and any
    other fields, ``{"id": …, "symbols": […]}``; or a JSON list of either (``.json``).
    """

    name: ClassVar[str] = "symbols"
    title: ClassVar[str] = "chains of symbols"
    pattern: ClassVar[str] = "*.symbols.jsonl"
    signs: ClassVar[frozenset[str]] = frozenset({FIELD})

    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read a file of chains; ``field`` names the list of symbols."""
        return LogRecords(_records(log, field or FIELD), {"harness": self.title})


def _records(log: Log, field: str) -> Iterator[tuple[int, object]]:
    lines = log.json_lines() if ".json" not in log.file_name.replace(".jsonl", "") else _items(log)
    first = next(lines, None)
    if first is None:
        return
    # a whole list of documents on one line is a JSON document, whatever the file is called
    if isinstance(first[1], list) and first[1] and all(isinstance(item, list | dict) for item in first[1]):
        lines, first = chain(enumerate(first[1], 1), ((number, value) for number, value in lines)), None
    for number, value in lines if first is None else chain([first], lines):
        yield number, _record(value, field)


def _items(log: Log) -> Iterator[tuple[int, object]]:
    value = log.json()
    log.location.unit = "item"
    whole = value if isinstance(value, list) and all(isinstance(item, list | dict) for item in value) else [value]
    yield from enumerate(whole, 1)


def _record(value: object, field: str) -> object:
    """The record of one document, or a `Problem`."""
    if isinstance(value, Problem):
        return value
    symbols = value if isinstance(value, list) else look_up(value, field) if isinstance(value, Mapping) else MISSING
    if symbols is MISSING:
        what = f"no field {field!r}" if isinstance(value, Mapping) else f"a chain is not a list (found {kind(value)})"
        return Problem(what)
    if not isinstance(symbols, list):
        return Problem(f"{field} is not a list (found {kind(symbols)})")
    other = next((s for s in symbols if not isinstance(s, str)), MISSING)
    if other is not MISSING:
        return Problem(f"a symbol is not a string (found {kind(other)})")
    wrong = _wrong(symbols)
    if wrong:
        return Problem(wrong)
    return {**(value if isinstance(value, Mapping) else {}), "text": " ".join(symbols)}


def _wrong(symbols: list[str]) -> str:
    """Why the symbols fit neither classes by gender nor by form; empty if they fit one of them."""
    if any(not s or any(map(str.isspace, s)) for s in symbols):
        return "a symbol is empty or holds a blank"
    faults = [wrong_symbol(" ".join(symbols), classes) for classes in CLASSES]
    return faults[0].reason if faults[0] and faults[1] else ""
