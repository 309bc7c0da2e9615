"""Fields of records and columns of tables: look them up, name their types, and find those that hold text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from momus.arguments import arg
from momus.errors import ReadingError
from momus.reading.formats import by_columns
from momus.reading.location import Location
from momus.reading.paths import SPECIAL, names_in

ID_FIELDS = ("id", "article_id", "doc_id")
PROMPT_FIELDS = ("prompt_id", "prompt")
GROUP_FIELDS = ("group_id", "group")
LABELS = (*ID_FIELDS, *PROMPT_FIELDS, *GROUP_FIELDS)
"""Fields that are never read as the text unless they are asked for by name."""
OBVIOUS = ("content", "body", "document", "generation", "output", "story")
RUNNING = ("abstract_text", "article_text")
CHATS = ("messages", "conversations")
"""Fields of chat messages, read as the text of records with neither ``text`` nor ``sections``."""
PARTS = ("sections", "chapters", "paragraphs", "parts", "sentences")
"""Fields whose lists are the parts of one document; a list of texts in any other field holds several answers."""
MOST_RECORDS = 1000
"""Records whose fields are looked at, to say which hold text."""
MOST_FIELDS = 20
NAMED = 4
"""Fields that a hint names."""


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
    """Say which field to choose, out of those that hold text.

    >>> field_hint(["output", "story"], "fix the records")
    "choose the field that holds the text: field='output' or field='story'"
    >>> field_hint([], "fix the records")
    'fix the records'
    """
    if not names:
        return fallback
    named = [arg("field", name[:80]) for name in names[:NAMED]]
    if len(named) == 1:
        return f"choose the field that holds the text with {named[0]}"
    return "choose the field that holds the text: " + ", ".join(named[:-1]) + f" or {named[-1]}"


def needed_columns(names: Sequence[str], field: str | None, keep: Sequence[str]) -> list[str]:
    """The columns of a table in memory to read: labels, metadata to keep, and the text; all, if it is not clear which.

    >>> needed_columns(["id", "score", "text"], None, []), needed_columns(["id", "score", "reply"], None, [])
    (['id', 'text'], ['id', 'score', 'reply'])
    """
    wanted = {*LABELS, *(name for path in keep for name in names_in(path))}
    if field is not None:
        return list(names) if SPECIAL.search(field) else _needed_for(names, field, wanted)
    if "text" in names or "sections" in names:
        wanted |= {"sections", "section_names", "text"}
    else:
        return list(names)
    return [n for n in names if n in wanted]


def _needed_for(names: Sequence[str], field: str, wanted: set[str]) -> list[str]:
    """The wanted columns with those of a field; all, where there is none, so that an error can name them."""
    chosen = [n for n in names if n in wanted | names_in(field) | {"section_names"}]
    return chosen if names_in(field) & set(chosen) else list(names)


class NoTextColumnError(ReadingError):
    """No column holds the text; ``columns`` are the names of those that there are."""

    def __init__(self, message: str, hint: str, columns: Sequence[str]) -> None:
        super().__init__(message, hint)
        self.columns = columns


def choose_columns(location: Location, schema: pa.Schema, field: str | None, keep: Sequence[str]) -> list[str]:
    """Choose the columns of a file to read by its schema: those of its format, the text or sections, labels, ``keep``.

    Raises
    ------
    NoTextColumnError
        None holds the text; the message names all, the hint those that could.
    """
    known = by_columns(schema)
    if known is None:
        return _plain_columns(location, schema, field, keep)
    wanted = {*known.names, *LABELS, *(name for path in (*keep, field or "text") for name in names_in(path))}
    columns = [name for name in schema.names if name in wanted]
    if field is not None and field not in known.sides and not names_in(field) & set(schema.names):
        raise _no_column(location, schema, f"no column {field!r}")
    return columns


def _plain_columns(location: Location, schema: pa.Schema, field: str | None, keep: Sequence[str]) -> list[str]:
    """Choose the columns of a file of no known format.

    Raises
    ------
    NoTextColumnError
        None holds the text; the message names all, the hint those that could.
    """
    names = list(schema.names)
    kept = [n for path in keep for n in ([path] if path in names else names) if n in names_in(path)]
    extra = [n for n in dict.fromkeys((*LABELS, *kept)) if n in names]
    if field is not None:
        columns = [field] if field in names else [name for name in names if name in names_in(field)]
        if not columns:
            raise _no_column(location, schema, f"no column {field!r}")
        titles = ["section_names"] if field == "sections" and "section_names" in names else []
        return list(dict.fromkeys([*columns, *titles, *extra]))
    content = [n for n in ("sections", "section_names", "text") if n in names]
    if "sections" in content or "text" in content:
        return list(dict.fromkeys([*content, *extra]))
    chats = [name for name in CHATS if name in names]
    if chats:
        return [chats[0], *extra]
    texts = [name for name in _text_columns(schema) if name not in kept]
    if len(texts) == 1 and texts[0] in OBVIOUS:
        return [texts[0], *extra]
    raise _no_column(location, schema, "no column 'text' or 'sections'")


def _text_columns(schema: pa.Schema) -> list[str]:
    return [f.name for f in schema if is_text(f.type) and f.name not in LABELS]


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of columns is that of texts, as they are or in a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _no_column(location: Location, schema: pa.Schema, fault: str) -> ReadingError:
    columns = ", ".join(f"{f.name!r} ({f.type})" for f in list(schema)[:20])
    paths = [path for f in schema if f.name not in LABELS for path in _text_paths(f)]
    hint = field_hint(paths, "no column holds text: give a file that does")
    return NoTextColumnError(f"{location.where(0)}: {fault}; the columns are {columns}", hint, schema.names)


def _text_paths(field: pa.Field) -> list[str]:
    """The paths to the texts of a column: itself, or fields within."""
    if pa.types.is_struct(field.type):
        return [f"{field.name}.{path}" for inner in field.type for path in _text_paths(inner)]
    listed = pa.types.is_list(field.type) or pa.types.is_large_list(field.type)
    return [field.name] if is_text(field.type.value_type if listed else field.type) else []
