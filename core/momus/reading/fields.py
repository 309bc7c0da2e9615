"""Fields of records and columns of tables: look them up, name their types, and find those that hold text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from momus.arguments import arg
from momus.errors import ReadingError
from momus.reading.formats import by_columns, by_names
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
BESIDE = {
    "prompt_text": ("prompt", "question", "instruction", "query", "input"),
    "reference": ("reference_text", "target", "gold"),
}
"""Other names of the fields that critics read beside the text, in the order in which they are looked for."""
MOST_RECORDS = 1000
"""Records whose fields are looked at, to say which hold text."""
MOST_FIELDS = 20
MOST_PATHS = 100
DEEPEST = 8
SHOWN = 60
"""Characters of a text that a hint shows."""
OF_ANSWERS = re.compile(
    r"response|output|completion|generat|answer|repl(?:y|ies)|predict|chosen|text\b|content|story|body|messages"
)
OF_OTHERS = re.compile(
    r"prompt|question|instruct|input|query|system|reference|target|label|gold|expected|truth|title|context|\bdoc\b"
    r"|(?:^|[._])(?:id|name|hash|type|time|date|model|version|url)s?\b|_id\b|hash"
)
"""Names of fields that hold answers, and that hold something else."""
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
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


def origins(kept: str) -> tuple[str, tuple[str, ...]]:
    """The name of a field to keep, and where records may hold it, as paths; ``NAME=PATH`` says where.

    >>> origins("topic"), origins("reference=doc.answers"), origins("prompt_text")[1][:3]
    (('topic', ('topic',)), ('reference', ('doc.answers',)), ('prompt_text', 'prompt', 'question'))
    """
    name, _, path = kept.partition("=")
    return (name, (path,)) if name and path else (kept, (kept, *BESIDE.get(kept, ())))


def paths_to(keep: Iterable[str]) -> list[str]:
    """All places where records may hold fields to keep."""
    return [path for kept in keep for path in origins(kept)[1]]


@dataclass
class _Texts:
    """What a field holds: in how many records, with how many words, which texts; the beginning of the first."""

    records: int = 0
    words: int = 0
    distinct: set[int] = field(default_factory=set)
    first: str = ""

    def add(self, text: str) -> None:
        self.records += 1
        self.words += len(text.split())
        self.distinct.add(hash(text))
        self.first = self.first or " ".join(text.split())[:SHOWN]


@dataclass
class FieldsSeen:
    """What the fields of some records hold, for an error that names those with text.

    Attributes
    ----------
    types
        The JSON type of each field, where it was first seen.
    texts
        What a field, or a path such as ``result.text`` or ``choices[0].text``, holds where it holds text.
    records
        Number of records that were looked at.

    >>> seen = FieldsSeen()
    >>> seen.add({"id": "a", "text": None, "output": {"answer": "To be.", "score": 3}})
    >>> seen.with_text(("id",)), seen.types["output"], seen.texts["output.answer"].first
    (['output.answer'], 'object', 'To be.')
    """

    types: dict[str, str] = field(default_factory=dict)
    texts: dict[str, _Texts] = field(default_factory=dict)
    records: int = 0

    def add(self, record: Mapping[str, object]) -> None:
        """Look at the fields of a record, unless `MOST_RECORDS` were seen."""
        if self.records >= MOST_RECORDS:
            return
        self.records += 1
        for name, value in list(record.items())[:MOST_FIELDS]:
            if len(self.types) < MOST_FIELDS:
                self.types.setdefault(name, "list" if isinstance(value, list) else kind(value))
            for path, text in _paths(name, value):
                if path in self.texts or len(self.texts) < MOST_PATHS:
                    self.texts.setdefault(path, _Texts()).add(text)

    def with_text(self, without: Iterable[str] = ()) -> list[str]:
        """The fields that hold text, those that most look like answers first, ``without`` these."""
        left_out = set(without)
        return sorted((name for name in self.texts if name not in left_out), key=self._likeness, reverse=True)

    def _likeness(self, name: str) -> float:
        """How much a field looks like answers: by its name, and by many words, of which each record has others."""
        texts = self.texts[name]
        words = math.log1p(texts.words / texts.records)
        return likeness(name) + words + 2 * len(texts.distinct) / texts.records + 4 * texts.records / self.records


def likeness(name: str) -> float:
    """How much the name of a field is that of answers, or of something else.

    >>> likeness("result.response") > likeness("summary") > likeness("question")
    True
    """
    return 3.0 * bool(OF_ANSWERS.search(name)) - 3.0 * bool(OF_OTHERS.search(name))


def _paths(name: str, value: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The paths to the texts of a field, with these; a list counts if all its items are texts."""
    values = value if isinstance(value, list) else [value]
    texts = [text for text in values if isinstance(text, str)]
    if len(texts) == len(values) and any(map(str.strip, texts)):
        yield name, " ".join(texts)
    elif depth > DEEPEST:
        return
    elif isinstance(value, Mapping):
        for inner, item in list(value.items())[:MOST_FIELDS]:
            yield from _paths(f"{name}.{_quoted(str(inner))}", item, depth + 1)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping | list):
        yield from _paths(f"{name}[0]", value[0], depth + 1)


def _quoted(name: str) -> str:
    """A name within a path, in quotation marks where it is none of the language of paths."""
    return name if PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def field_hint(names: list[str], fallback: str, seen: FieldsSeen | None = None) -> str:
    """Say which field to choose, out of those that hold text, with the beginning of the first.

    >>> field_hint(["output", "story"], "fix the records")
    "choose the field that holds the text: field='output' or field='story'"
    >>> field_hint([], "fix the records")
    'fix the records'
    """
    if not names:
        return fallback
    named = [arg("field", name[:80]) for name in names[:NAMED]]
    if seen is not None and names[0] in seen.texts:
        text = seen.texts[names[0]].first
        named[0] += f" (“{text}{'…' if len(text) == SHOWN else ''}”)"
    if len(named) == 1:
        return f"choose the field that holds the text with {named[0]}"
    return "choose the field that holds the text: " + ", ".join(named[:-1]) + f" or {named[-1]}"


def needed_columns(names: Sequence[str], field: str | None, keep: Sequence[str]) -> list[str]:
    """The columns of a table in memory to read: labels, metadata to keep, and the text; all, if it is not clear which.

    >>> needed_columns(["id", "score", "text"], None, []), needed_columns(["id", "score", "reply"], None, [])
    (['id', 'text'], ['id', 'score', 'reply'])
    """
    known = by_names(names)
    kept = (name for path in paths_to(keep) for name in names_in(path))
    wanted = {*LABELS, *kept, *(known.names if known else ())}
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
    kept = [n for path in paths_to(keep) for n in ([path] if path in names else names) if n in names_in(path)]
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
    texts = [name for name in _text_columns(schema) if name not in keep]
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
    paths.sort(key=likeness, reverse=True)
    hint = field_hint(paths, "no column holds text: give a file that does")
    return NoTextColumnError(f"{location.where(0)}: {fault}; the columns are {columns}", hint, schema.names)


def _text_paths(field: pa.Field) -> list[str]:
    """The paths to the texts of a column: itself, or fields within."""
    listed = pa.types.is_list(field.type) or pa.types.is_large_list(field.type)
    inner, place = (field.type.value_type, f"{field.name}[0]") if listed else (field.type, field.name)
    if pa.types.is_struct(inner):
        return [f"{place}.{path}" for member in inner for path in _text_paths(member)]
    return [field.name] if is_text(inner) else []
