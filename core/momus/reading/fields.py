"""Fields of records and columns of tables: look them up, name their types, and find those that hold text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from momus.arguments import arg
from momus.reading.formats import MODELS, formats
from momus.reading.paths import names_in, quoted
from momus.reading.recognised import FLAGS, LABELLED, example

ID_FIELDS = ("id", "article_id", "doc_id")
PROMPT_FIELDS = ("prompt_id", "prompt")
GROUP_FIELDS = ("group_id", "group")
LABELS = (*ID_FIELDS, *PROMPT_FIELDS, *GROUP_FIELDS)
"""Fields that are never read as the text unless they are asked for by name."""
WRITERS = (*MODELS, *FLAGS, *LABELLED)
"""Columns that may say who wrote a text."""
OBVIOUS = ("content", "body", "document", "generation", "output", "story")
RUNNING = ("abstract_text", "article_text")
PARTS = ("sections", "chapters", "paragraphs", "parts", "sentences")
"""Fields whose lists are the parts of one document; a list of texts in any other field holds several answers."""
BESIDE = {
    "prompt_text": ("prompt", "question", "instruction", "query", "input"),
    "reference": ("reference_text", "target", "gold"),
}
"""Other names of the fields that critics read beside the text, in the order in which they are looked for."""
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
    records, first
        Number of records that were looked at, and the first of them.

    >>> seen = FieldsSeen()
    >>> seen.add({"id": "a", "text": None, "output": {"answer": "To be.", "score": 3}})
    >>> seen.with_text(("id",)), seen.types["output"], seen.texts["output.answer"].first
    (['output.answer'], 'object', 'To be.')
    """

    types: dict[str, str] = field(default_factory=dict)
    texts: dict[str, _Texts] = field(default_factory=dict)
    records: int = 0
    first: Mapping[str, object] | None = None

    def add(self, record: Mapping[str, object]) -> None:
        """Look at the fields of a record."""
        self.first = self.first or record
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

    def hint(self, names: Sequence[str], fallback: str) -> str:
        """Say which field to choose, out of those that hold text, with the beginning of the first.

        >>> FieldsSeen().hint([], "fix the records")
        'fix the records'
        """
        if not names:
            return fallback
        text = self.texts[names[0]].first
        named = [arg("field", name[:80]) for name in names[:NAMED]]
        named[0] += f" (“{text}{'…' if len(text) == SHOWN else ''}”)"
        if len(named) == 1:
            return f"choose the field that holds the text with {named[0]}"
        return "choose the field that holds the text: " + ", ".join(named[:-1]) + f" or {named[-1]}"

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
            yield from _paths(f"{name}.{quoted(str(inner))}", item, depth + 1)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping | list):
        yield from _paths(f"{name}[0]", value[0], depth + 1)


def needed_columns(columns: Sequence[str] | pa.Schema, field: str | None, keep: Sequence[str]) -> list[str]:
    """The columns of a table to read: labels, metadata to keep, and the text; all, if it is not clear which.

    Names alone make no format certain; the types of a schema do.

    >>> needed_columns(["id", "score", "text"], None, []), needed_columns(["id", "score", "reply"], None, [])
    (['id', 'text'], ['id', 'score', 'reply'])
    """
    typed = isinstance(columns, pa.Schema)
    schema: Any = columns if typed else pa.schema([(name, pa.string()) for name in columns])
    names, record = schema.names, {column.name: example(column.type) for column in schema}
    known = [entry for entry in formats() if entry.fits(record)]
    kept = (name for kept in keep for path in origins(kept)[1] for name in names_in(path))
    wanted = {*LABELS, *WRITERS, *kept, *(name for entry in known for name in entry.names)}
    if field is not None:
        wanted |= {"section_names", *names_in(field)}
        unclear = not (names_in(field) & record.keys() or any(typed and field in entry.sides for entry in known))
    else:
        unclear = not (typed and known) and "text" not in record and "sections" not in record
        wanted |= {"sections", "section_names", "text"}
    return [name for name in names if unclear or name in wanted]


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of columns is that of texts, as they are or in a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
