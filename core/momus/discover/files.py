"""Proposals of other tools: files with one record per document and property, by id."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

from momus.reading.labelforms import TABLE
from momus.reading.labels import identified
from momus.reading.paths import as_string

FORM = 'write records such as {"id": "a1", "model": "new", "property": "offers further help"}'
_NO = ("", "0", "0.0", "false", "no", "none", "null")
PROPOSALS = TABLE["proposals"]

Labels = Mapping[tuple[str, str], set[str]]
"""By the name of a text (empty: any) and the id of a document: what holds there."""


def read_proposals(path: str) -> Labels:
    """Read a file of properties: JSON Lines, a list in JSON, CSV, TSV or Parquet.

    A record names a document, the property and, where documents of both texts have one id, the text. A property may be
    a list of several.

    Raises
    ------
    ReadingError
        The file cannot be read, or a record names no document or no property.
    """
    labels: dict[tuple[str, str], set[str]] = {}
    for where, id, record in identified(path, FORM):
        named, text = _first(record, PROPOSALS["properties"]), _first(record, PROPOSALS["texts"])
        if id is None or named is None:
            what = "id of a document" if id is None else f"property (one of {', '.join(PROPOSALS['properties'])})"
            raise where.error(f"the record has no {what}", FORM, where.position)
        held = labels.setdefault(("" if text is None else as_string(text), id), set())
        if _holds(record):
            held |= _members(named)
    return labels


def _first(record: Mapping[str, object], names: Sequence[str]) -> object:
    """The first of these fields that says something; None if none does."""
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _holds(record: Mapping[str, object]) -> bool:
    return all(
        as_string(record[name]).strip().lower() not in _NO
        for name in PROPOSALS["holds"]
        if record.get(name) is not None
    )


def _members(named: object) -> set[str]:
    """The properties that a field holds: one, or a list, which a table writes as JSON.

    >>> sorted(_members('["warm", "short"]')), _members("warm")
    (['short', 'warm'], {'warm'})
    """
    if isinstance(named, str) and named[:1] == "[":
        with suppress(ValueError):  # a name may begin with a bracket
            named = json.loads(named)
    return {as_string(item) for item in named} if isinstance(named, list) else {as_string(named)}
