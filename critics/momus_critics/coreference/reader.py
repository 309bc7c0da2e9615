"""The reader ``symbols:``: chains of mentions in JSON, one list of symbols per document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import ClassVar

from momus.reading import Log, LogReader, LogRecords, Problem
from momus.reading.fields import MISSING, kind, look_up
from momus_critics.coreference.spelling import wrong_symbol

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
