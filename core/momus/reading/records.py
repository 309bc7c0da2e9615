"""Turn a record into a row: id, prompt, group, metadata, and text or sections, or why it is not a document."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from momus.reading.location import Problem

ID_FIELDS = ("id", "article_id", "doc_id")
PROMPT_FIELDS = ("prompt_id", "prompt")
GROUP_FIELDS = ("group_id", "group")
LABELS = (*ID_FIELDS, *PROMPT_FIELDS, *GROUP_FIELDS)
"""Fields that are never read as the text unless they are asked for by name."""
OBVIOUS = ("content", "body", "document", "generation", "output", "story")
RUNNING = ("abstract_text", "article_text")
MARKS = re.compile(r"(?:\s*</?S>)+\s*")
MISSING = object()


class Defect(Exception):
    """A record is not a document; the message says why, without positions, to keep equal reasons countable."""


@dataclass(frozen=True, slots=True)
class Row:
    """A record as a row of a corpus; ``id`` is None if the record has none.

    ``texts`` and ``titles`` have the same length; both are empty if there is a problem.
    """

    id: str | None
    texts: Sequence[str] = ()
    titles: Sequence[str | None] = ()
    sectioned: bool = False
    prompt: str | None = None
    problem: str | None = None
    group: str | None = None
    fields: Sequence[tuple[str, str]] = ()


@dataclass
class Shaper:
    """Turns records into rows, and remembers the fields it saw.

    Attributes
    ----------
    keep
        Metadata fields, or paths to them, that rows hold on to; a record may lack any of them.
    obvious
        The field read as the text of records with neither ``text`` nor ``sections``: one of `OBVIOUS`, and the only
        string field of the first such record.
    fields_seen
        Fields, with their types, of records that lack the expected field.

    >>> row = Shaper().row({"id": 7, "sections": [["One.", "Two."], "Three."], "section_names": ["A", None]})
    >>> row.id, row.texts, row.titles
    ('7', ['One. Two.', 'Three.'], ['A', None])
    >>> Shaper(("year",)).row({"text": "To be.", "group_id": "hamlet", "year": 1603})
    Row(id=None, texts=['To be.'], titles=[None], sectioned=False, prompt=None, problem=None, group='hamlet', \
fields=[('year', '1603')])
    >>> Shaper().row({"id": "x", "text": float("nan")}).problem
    'text is not a string (found number NaN)'
    """

    keep: tuple[str, ...] = ()
    obvious: str | None = None
    fields_seen: dict[str, str] = dataclasses.field(default_factory=dict)

    def row(self, record: object, name: str | None = None) -> Row:
        """Make the row of a record; ``name`` is the field that holds the text (None: ``sections``, then ``text``)."""
        if isinstance(record, str):
            return Row(None, [record], [None])
        if isinstance(record, Problem):
            return Row(None, problem=record.reason)
        if isinstance(record, list):
            return self._row({"item": record}, "item")
        if not isinstance(record, Mapping):
            return Row(None, problem=f"record is not an object (found {kind(record)})")
        return self._row(record, name)

    def _row(self, record: Mapping[str, object], name: str | None) -> Row:
        id, prompt, group = None, _label(record, PROMPT_FIELDS), _label(record, GROUP_FIELDS) or None
        fields = self._fields(record) if self.keep else []
        try:
            id = _id(record)
            texts, titles, sectioned = self._content(record, name)
        except Defect as defect:
            return Row(id, prompt=prompt, problem=str(defect), group=group, fields=fields)
        return Row(id, texts, titles, sectioned, prompt, None, group, fields)

    def _fields(self, record: Mapping[str, object]) -> list[tuple[str, str]]:
        """The metadata to keep, by name; fields that are missing or null are left out."""
        values = ((name, look_up(record, name)) for name in self.keep)
        return [(name, as_string(v)) for name, v in values if v is not MISSING and v is not None]

    def _content(
        self, record: Mapping[str, object], name: str | None
    ) -> tuple[Sequence[str], Sequence[str | None], bool]:
        name = name or self._choose(record)
        value = look_up(record, name)
        if name in RUNNING and isinstance(value, list):
            return [_joined(value, name)], [None], False
        if name == "sections" and value is not MISSING:
            return *_sections(value, record.get("section_names"), name), True
        if isinstance(value, str):
            return [value], [None], False
        if isinstance(value, list):
            return *_sections(value, None, name), True
        if value is MISSING:
            self._note(record)
            raise Defect(f"no field {name!r}")
        raise Defect(f"{name} is null" if value is None else f"{name} is not a string (found {kind(value)})")

    def _choose(self, record: Mapping[str, object]) -> str:
        if record.get("sections") or ("text" not in record and "sections" in record):
            return "sections"
        if "text" in record:
            return "text"
        labels = (*LABELS, *self.keep)
        strings = [k for k, v in record.items() if isinstance(v, str) and k not in labels]
        if len(strings) == 1 and strings[0] in OBVIOUS and self.obvious in (None, strings[0]):
            self.obvious = strings[0]
            return strings[0]
        self._note(record)
        raise Defect("no field 'text' or 'sections'")

    def _note(self, record: Mapping[str, object]) -> None:
        """Remember the fields of a record that lacks the expected one; an error lists them."""
        if len(self.fields_seen) < 20:
            for key, value in list(record.items())[:20]:
                self.fields_seen.setdefault(key, "list" if isinstance(value, list) else kind(value))


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


def _id(record: Mapping[str, object]) -> str | None:
    for name in ID_FIELDS:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return str(value)
        if value is not None and value != "":
            raise Defect(f"{name} is not a string or a number (found {kind(value)})")
    return None


def _label(record: Mapping[str, object], names: Sequence[str]) -> str | None:
    """Return the first of these fields that is not null, as a string."""
    for name in names:
        value = record.get(name)
        if value is not None:
            return as_string(value)
    return None


def as_string(value: object) -> str:
    """Return a string as it is; other values (numbers, chat messages) as compact JSON with sorted keys.

    >>> as_string("a"), as_string(3), as_string([{"role": "user", "at": None}])
    ('a', '3', '[{"at":null,"role":"user"}]')
    """
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


def _sections(content: object, names: object, field: str) -> tuple[list[str], list[str | None]]:
    """Return the texts and titles of a list of sections, or of an object with lists ``text`` and ``title``."""
    value = content
    if isinstance(content, Mapping) and isinstance(content.get("text"), list):
        value, names = content["text"], content.get("title", names)
    if not isinstance(value, list):
        raise Defect(f"{field} is null" if value is None else f"{field} is not a list (found {kind(value)})")
    titles = _titles(names, len(value), field)
    texts: list[str] = []
    for number, item in enumerate(value):
        text: object = item
        if isinstance(item, Mapping):
            titles[number] = _title(item.get("title", titles[number]))
            if "text" not in item:
                raise Defect("a section has no field 'text'")
            text = item["text"]
        texts.append(text if isinstance(text, str) else _joined(text, "a section"))
    return texts, titles


def _titles(names: object, count: int, field: str) -> list[str | None]:
    if names is None:
        return [None] * count
    if not isinstance(names, list):
        raise Defect(f"section_names is not a list (found {kind(names)})")
    if len(names) != count:
        raise Defect(f"{field} and section_names differ in length ({count} and {len(names)})")
    return [_title(name) for name in names]


def _title(name: object) -> str | None:
    if name is None or isinstance(name, str):
        return name
    raise Defect(f"a section name is not a string (found {kind(name)})")


def _joined(value: object, what: str) -> str:
    """Join a list of sentences with spaces, without sentence marks (``<S>``)."""
    if value is None:
        raise Defect(f"{what} is null")
    if not isinstance(value, list):
        raise Defect(f"{what} is not a string or a list of strings (found {kind(value)})")
    other = next((s for s in value if not isinstance(s, str)), MISSING)
    if other is not MISSING:
        raise Defect(f"{what} holds a sentence that is not a string (found {kind(other)})")
    text = " ".join(value)
    return MARKS.sub(" ", text).strip() if "S>" in text else text
