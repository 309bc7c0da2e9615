"""Chains from files: mentions by document for the resolver ``given``, and chains of symbols, ``Male:0`` for person 0.

The resolver ``symbols`` reads documents that consist of symbols (``.`` for the start of a sentence), so that chains of
any resolver can be criticised without their texts; the reader ``symbols:`` reads files of them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from momus.critic import resource
from momus.errors import ReadingError, UsageError
from momus.estimator import Estimator, parametrized
from momus.numeric.types import Ints
from momus.reading import Log, LogReader, LogRecords, Problem
from momus.reading.fields import kind
from momus.reading.paths import MISSING, look_up
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved
from momus_critics.coreference.symbols import KIND, KINDS, SENTENCE, Chains

SYMBOL = re.compile(r"(?:\[([^\]\s]{1,30})\]|([^:\s]{1,30}):)([0-9]{1,9})")
"""``Male:0``, or ``[M]0`` as in Deng et al. 2022, tables 5 and 13."""
SHORT = {"m": "male", "f": "female", "p": "plural", "n": "none"}
NO_SYMBOL = "a symbol is neither KIND:NUMBER nor “.”"
SHOWN = 20
"""Characters of a wrong symbol that a message shows."""


@dataclass(frozen=True)
class WrongSymbol:
    """Why a document is no chain of symbols.

    Attributes
    ----------
    reason
        Without the place, so that equal reasons are counted together.
    symbol, place
        The first wrong symbol, and its number in the document, from 1.
    """

    reason: str
    symbol: str
    place: int


NUMBERS = {kind.lower(): number for kind, number in KIND.items() if number > KIND[SENTENCE]}
"""The number of each kind that has an entity, by its spelling in lower case."""
NUMBERS |= {short: NUMBERS[whole] for short, whole in SHORT.items()}


def read_symbol(symbol: str) -> tuple[int, int] | str:
    """The kind and the person of a symbol (−1: a sentence starts), or why it is none.

    >>> read_symbol("Male:3"), read_symbol("[M]3"), read_symbol(".")
    ((2, 3), (2, 3), (1, -1))
    >>> read_symbol("he"), read_symbol("Mail:0")
    ('a symbol is neither KIND:NUMBER nor “.”', "a symbol has the unknown kind 'Mail'")
    """
    if symbol == SENTENCE:
        return 1, -1
    match = SYMBOL.fullmatch(symbol)
    if match is None:
        return NO_SYMBOL
    kind = match[1] or match[2]
    number = NUMBERS.get(kind.lower())
    return f"a symbol has the unknown kind {kind[:SHOWN]!r}" if number is None else (number, int(match[3]))


def wrong_symbol(text: str) -> WrongSymbol | None:
    """The first symbol of a document that is none; None if all are symbols."""
    for place, symbol in enumerate(text.split(), 1):
        read = read_symbol(symbol)
        if isinstance(read, str):
            return WrongSymbol(read, symbol[:SHOWN], place)
    return None


def chains_of_symbols(ids: Sequence[str], texts: Sequence[str]) -> tuple[Chains, Ints]:
    """Symbols of all documents, and the character span of each, int64 (N, 2).

    Persons are numbered by first appearance in their document. As in resolved text, a document without a person has no
    symbols.

    Raises
    ------
    UsageError
        A document holds something else than symbols.

    >>> chains, spans = chains_of_symbols(["a", "b"], ["Male:7 . he:7", ". ."])
    >>> chains.kinds.tolist(), chains.entities.tolist(), chains.offsets.tolist(), spans.tolist()
    ([2, 1, 6], [0, -1, 0], [0, 3, 3], [[0, 6], [7, 8], [9, 13]])
    """
    rows: list[tuple[int, int, int, int]] = []  # kind, person, start and end of each symbol
    ends = [0]
    for id, text in zip(ids, texts, strict=True):
        mentions: list[tuple[int, int, int, int]] = []
        persons: dict[int, int] = {}
        for place, match in enumerate(re.finditer(r"\S+", text), 1):
            read = read_symbol(match[0])
            if isinstance(read, str):
                raise UsageError(
                    f"document {id!r} is no chain of symbols: {read} (symbol {place}, {match[0][:SHOWN]!r})",
                    hint=ADVICE,
                )
            kind, person = read
            # by first appearance: numbers in files are arbitrary, and windows are equal where their numbers are
            mentions.append((kind, -1 if person < 0 else persons.setdefault(person, len(persons)), *match.span()))
        # a document of sentence starts alone says nothing of persons
        rows += mentions if persons else []
        ends.append(len(rows))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4)  # also without symbols
    return Chains(columns[:, 0], columns[:, 1], np.array(ends, dtype=np.int64)), columns[:, 2:]


ADVICE = (
    "write a mention as KIND:NUMBER, such as Male:0 or he:0, and the start of a sentence as a full stop; the kinds "
    f"are {', '.join(KINDS[KIND[SENTENCE] + 1 :])}"
)
"""How symbols are written, for the hint of an error."""


def spelled_chains(chains: Chains) -> list[list[str]]:
    """The symbols of each document, as `read_symbol` reads them.

    >>> chains, _ = chains_of_symbols(["a"], ["[M]7 . he:7"])
    >>> spelled_chains(chains)
    [['Male:0', '.', 'he:0']]
    """
    symbols = [
        KINDS[k] if e < 0 else f"{KINDS[k]}:{e}"
        for k, e in zip(chains.kinds.tolist(), chains.entities.tolist(), strict=True)
    ]
    return [symbols[a:b] for a, b in pairwise(chains.offsets.tolist())]


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


FIELD = "symbols"


class SymbolReader(LogReader):
    """Chains of symbols; the text of a document is its symbols, separated by blanks.

    A file is JSON Lines with one list per line, ``["Male:0", ".", "he:0"]``, or one object with such a list and any
    other fields, ``{"id": …, "symbols": […]}``.
    """

    name: ClassVar[str] = "symbols"
    title: ClassVar[str] = "chains of symbols"
    pattern: ClassVar[str] = "*.symbols.jsonl"
    signs: ClassVar[frozenset[str]] = frozenset({FIELD})

    def read(self, log: Log, field: str | None) -> LogRecords:
        """Read a file of chains; ``field`` names the list of symbols."""
        rows = ((number, _record(value, field or FIELD)) for number, value in log.json_lines())
        return LogRecords(rows, {"harness": self.title})


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
    """Why these are no symbols; empty if they are."""
    if any(not s or any(map(str.isspace, s)) for s in symbols):
        return "a symbol is empty or holds a blank"
    fault = wrong_symbol(" ".join(symbols))
    return fault.reason if fault else ""
