"""Fields of records: look them up, name their types, and find those that hold text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

MISSING = object()
MOST_RECORDS = 1000
"""Records whose fields are looked at, to say which hold text."""
MOST_FIELDS = 20
NAMED = 4
"""Fields that a hint names."""


def look_up(record: Mapping[str, object], name: str) -> object:
    """Return a field, also by a path such as ``result.text``; `MISSING` if there is none.

    >>> look_up({"result": {"0": "text"}}, "result.0")
    'text'
    """
    if name in record or "." not in name:
        return record.get(name, MISSING)
    head, _, rest = name.partition(".")
    inner = record.get(head, MISSING)
    return look_up(inner, rest) if isinstance(inner, Mapping) else MISSING


def kind(value: object) -> str:
    """Name the JSON type of a value.

    >>> kind(float("-inf")), kind(True), kind(None), kind(3)
    ('number -Infinity', 'boolean', 'null', 'number')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, float) and not math.isfinite(value):
        return "number NaN" if math.isnan(value) else f"number {'-' * (value < 0)}Infinity"
    names = {str: "string", int: "number", float: "number", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)


@dataclass
class FieldsSeen:
    """What the fields of some records hold, for an error that names those with text.

    Attributes
    ----------
    types
        The JSON type of each field, where it was first seen.
    texts
        Number of records in which a field, or a path such as ``result.text``, holds text.
    records
        Number of records that were looked at.

    >>> seen = FieldsSeen()
    >>> seen.add({"id": "a", "text": None, "output": {"answer": "To be.", "score": 3}})
    >>> seen.with_text(("id",)), seen.types["output"]
    (['output.answer'], 'object')
    """

    types: dict[str, str] = field(default_factory=dict)
    texts: Counter[str] = field(default_factory=Counter)
    records: int = 0

    def add(self, record: Mapping[str, object]) -> None:
        """Look at the fields of a record, unless `MOST_RECORDS` were seen."""
        if self.records >= MOST_RECORDS:
            return
        self.records += 1
        for name, value in list(record.items())[:MOST_FIELDS]:
            if len(self.types) < MOST_FIELDS:
                self.types.setdefault(name, "list" if isinstance(value, list) else kind(value))
            self.texts.update(_paths(name, value))

    def with_text(self, without: Iterable[str] = ()) -> list[str]:
        """The fields that hold text, most frequent first, ``without`` these."""
        left_out = set(without)
        return [name for name, _ in self.texts.most_common() if name not in left_out]


def _paths(name: str, value: object) -> Iterator[str]:
    """The paths to the texts of a field: itself, or fields within; a list counts if all its items are texts."""
    texts = value if isinstance(value, list) else [value]
    if all(isinstance(text, str) for text in texts) and any(map(str.strip, texts)):
        yield name
    elif isinstance(value, Mapping):
        for inner, item in list(value.items())[:MOST_FIELDS]:
            yield from _paths(f"{name}.{inner}", item)


def field_hint(names: list[str], fallback: str) -> str:
    """Say which field to choose with ``--field``, out of those that hold text.

    >>> field_hint(["output", "story"], "fix the records")
    'choose the field that holds the text: --field output or --field story'
    >>> field_hint([], "fix the records")
    'fix the records'
    """
    if not names:
        return fallback
    named = [f"--field {_quoted(name)}" for name in names[:NAMED]]
    if len(named) == 1:
        return f"choose the field that holds the text with {named[0]}"
    return "choose the field that holds the text: " + ", ".join(named[:-1]) + f" or {named[-1]}"


def _quoted(name: str) -> str:
    """A field as one word of a shell command."""
    import shlex

    return shlex.quote(name[:80])
