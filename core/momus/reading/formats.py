"""Formats of exports, recognised by the fields of their records: a table (``formats.toml``), which plug-ins extend.

A plug-in names a TOML file of the same form in the group ``momus.formats``: ``name = "package:formats.toml"``.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import pyarrow as pa

from momus.errors import PluginError
from momus.reading.chat import prompt_of
from momus.reading.messages import (
    Answer,
    answer_in,
    decoded,
    from_markup,
    is_chat,
    prompt_in,
)
from momus.reading.paths import MISSING, as_string, look_up, names_in, search

SAMPLE = 20
"""Records by which a format is recognised."""
NESTED = ("has", "sides")
"""Keys of an entry whose values are several paths."""
Paths = tuple[str, ...]
Record = dict[str, Any]


def value_at(record: Mapping[str, object], paths: Sequence[str]) -> object:
    """The value of the first path that a record has one at; None if it has none."""
    for path in paths:
        value = record if path == "@" else look_up(record, path)
        if value is not MISSING and value is not None:
            return value
    return None


@dataclass(frozen=True)
class Format:
    """A format of exports.

    Attributes
    ----------
    name, title
        Its key in the table, and what it is called in messages.
    has, lacks
        Paths that most records have (one of each tuple), and paths that none has.
    records
        Path of the records in a JSON document.
    rows, other
        The condition of records that are answers, and what the others are.
    answer, prompt, model, id, reference
        Paths to the answer, what it answers, who wrote it, its name, and another text of the same prompts.
    sides
        Of two texts of one file, the paths by name.
    thread
        Of records that answer each other, the paths of their name and of the one before; empty: the record before.

    >>> known = recognised([{"instruction": "Who?", "input": "", "output": "Nobody."}])
    >>> known.title, known.record({"instruction": "Who?", "input": "", "output": "Nobody."})["prompt_id"]
    ('Alpaca', 'Who?')
    """

    name: str
    title: str
    has: tuple[Paths, ...]
    lacks: Paths = ()
    records: str = ""
    rows: str = ""
    other: str = ""
    answer: Paths = ()
    prompt: Paths = ()
    model: Paths = ()
    id: Paths = ()
    reference: Paths = ()
    sides: Mapping[str, Paths] = dataclasses.field(default_factory=dict)
    thread: Paths = ()

    @classmethod
    def of(cls, name: str, entry: Mapping[str, Any]) -> Format:
        """The format of an entry of the table.

        Raises
        ------
        PluginError
            The entry is not well formed.
        """
        known = {f.name for f in fields(cls)} - {"name"}
        texts = ("title", "records", "rows", "other")
        unknown = sorted(entry.keys() - known)
        if unknown or not isinstance(entry.get("title"), str) or not entry.get("has"):
            fault = f"{unknown[0]!r} is no key of it" if unknown else "it has no title, or nothing to know it by"
            raise PluginError(f"format {name!r}: {fault}", hint=f"the keys are {', '.join(sorted(known))}")
        values: dict[str, Any] = {k: v if k in texts else _paths(v) for k, v in entry.items() if k not in NESTED}
        sides = {side: _paths(paths) for side, paths in entry.get("sides", {}).items()}
        return cls(name=name, has=tuple(_paths(condition) for condition in entry["has"]), sides=sides, **values)

    def fits(self, record: Mapping[str, object]) -> bool:
        """Whether a record has what the format is known by."""
        conditions = (value_at(record, paths) for paths in self.has)
        return all(value is not None and value is not False for value in conditions) and self._lacks(record)

    def may_fit(self, record: Mapping[str, object]) -> bool:
        """Whether a record with other values in the same fields may be of the format."""
        return all(value_at(record, paths) is not None for paths in self.has) and self._lacks(record)

    def _lacks(self, record: Mapping[str, object]) -> bool:
        return not any(look_up(record, path) not in (MISSING, None) for path in self.lacks)

    def counts(self, record: Mapping[str, object]) -> bool:
        """Whether a record is an answer."""
        return not self.rows or bool(search(self.rows, record))

    @property
    def names(self) -> frozenset[str]:
        """The names in all its paths, among which are the columns that it needs."""
        paths = [*self.answer, *self.prompt, *self.model, *self.id, *self.reference, *self.thread, self.rows]
        paths += [path for alternatives in (*self.sides.values(), *self.has) for path in alternatives]
        return frozenset(name for path in paths if path for name in names_in(path))

    def alternatives(self) -> dict[str, Paths]:
        """Other texts of a record than the answer, by the name that a user gives as the field."""
        return {**self.sides, **({self.reference[0]: self.reference} if self.reference else {})}

    def record(self, record: Mapping[str, object], field: str | None = None, turns: str = "assistant") -> Record:
        """A record with its answer under ``text``, its prompt under ``prompt_id`` and its name under ``id``.

        With another ``field``, its text stays where it is, and the prompt is added.
        """
        named = {name: value for name, value in record.items() if name not in ("sections", "prompt_id")}
        id = value_at(record, self.id)
        if id is not None:
            named["id"] = id
        if field is None or field in self.sides:
            answer = spoken(answer_in(value_at(record, self.answer if field is None else self.sides[field])))
            named["text"] = answer
        else:
            answer = None
        prompt = prompt_in(value_at(record, self.prompt))
        if prompt is None and is_chat(answer):
            prompt = prompt_of(answer, turns)
        if prompt is not None:
            named["prompt_id"] = prompt
        elif "prompt_id" in record:
            named["prompt_id"] = record["prompt_id"]
        return named

    def who(self, record: Mapping[str, object]) -> tuple[str, str] | None:
        """The path that says who wrote the answer, and who did; None if the record does not say it."""
        for path in self.model:
            value = look_up(record, path)
            if value is not MISSING and value is not None and not isinstance(value, Mapping | list):
                return path, as_string(value)
        return None


def spoken(answer: Answer | None) -> Answer | None:
    r"""An answer with the chat markup in it taken apart, and what it thinks set apart.

    >>> spoken("<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\nNobody.<|im_end|>")
    [{'role': 'user', 'content': 'Who?'}, {'role': 'assistant', 'content': 'Nobody.'}]
    >>> spoken("Nobody."), spoken("<think>Hm.</think>Nobody.")
    ('Nobody.', [{'role': 'assistant', 'content': '<think>Hm.</think>Nobody.'}])
    """
    if isinstance(answer, list) and not is_chat(answer):
        return [spoken(item) for item in answer]
    if not isinstance(answer, str):
        return answer
    if answer[:400].lstrip()[:6] == "<think":
        return [{"role": "assistant", "content": answer}]
    return whole_chat(answer) or answer


def whole_chat(text: str) -> list[Any] | None:
    """The messages of a text that is a chat in some markup, with a turn of the assistant; None for others."""
    if "<" not in text and ":" not in text and "[INST]" not in text:
        return None
    chat = from_markup(text)
    return chat if chat is not None and any(m["role"] == "assistant" for m in chat) else None


def _paths(value: Any) -> Paths:
    return (value,) if isinstance(value, str) else tuple(value)


@cache
def formats() -> tuple[Format, ...]:
    """All formats, those of plug-ins first.

    Raises
    ------
    PluginError
        A plug-in has no such file, or an entry of it is not well formed.
    """
    from momus.plugins import FORMATS, registered

    tables = [p.value.partition(":") for plugins in registered(FORMATS).values() for p in plugins]
    known: list[Format] = []
    for package, _, name in [*tables, ("momus.reading", ":", "formats.toml")]:
        try:
            content = tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))
        except (OSError, ImportError, ValueError, TypeError) as error:
            fault = f"the formats of {package} cannot be read ({error})"
            raise PluginError(fault, hint="correct its entry point") from None
        known += [Format.of(key, entry) for key, entry in content.items()]
    return tuple(known)


MARKED = Format("chat-in-text", "chats in texts", (("text",),), answer=("text",))
"""Texts that hold a whole chat each, in the markup of a template."""


NONE = Format("", "", ())
"""No format, of records whose field holds chats within texts."""


def packed(records: Sequence[object], field: str) -> bool:
    """Whether a field of most records holds chats within texts, or replies of servers."""
    values = [value for r in records if isinstance(r, Mapping) and (value := look_up(r, field)) is not MISSING]
    return bool(values) and 2 * sum(map(_is_packed, values)) > len(values)


def _is_packed(value: object) -> bool:
    if not isinstance(value, str):
        return isinstance(value, Mapping) and answer_in(value) is not None
    inner = decoded(value)
    if inner is not None:
        return is_chat(inner) or (isinstance(inner, Mapping) and answer_in(inner) is not None)
    return whole_chat(value) is not None


def format_named(name: str) -> Format | None:
    """The format of a name; None if there is none."""
    return next((known for known in formats() if known.name == name), None)


def recognised(records: Sequence[object]) -> Format | None:
    """The format of the first records; None if most fit none."""
    wrapped = [{"messages": r} if is_chat(r) else r for r in records]
    rows: list[Mapping[str, Any]] = [r for r in wrapped if isinstance(r, Mapping)]
    for known in formats():
        counted = [r for r in rows if known.counts(r)]
        if counted and 2 * sum(map(known.fits, counted)) > len(counted):
            return known
    marked = sum(isinstance(r.get("text"), str) and whole_chat(r["text"]) is not None for r in rows)
    return MARKED if 2 * marked > len(rows) else None


def by_columns(schema: pa.Schema) -> Format | None:
    """The format of a table with these columns; None if there is none."""
    record = {column.name: _example(column.type) for column in schema}
    return next((known for known in formats() if known.may_fit(record)), None)


def by_names(names: Sequence[str]) -> Format | None:
    """The format of a table in memory with columns of these names, as far as these tell; None if there is none."""
    record = dict.fromkeys(names, "x")
    return next((known for known in formats() if known.may_fit(record)), None)


def _example(kind: pa.DataType) -> object:
    """A value of a type of columns, which has all fields that its values may have."""
    if pa.types.is_struct(kind):
        return {inner.name: _example(inner.type) for inner in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_example(kind.value_type)]
    return "x"


def records_within(value: Mapping[str, object]) -> list[object] | None:
    """The records of a JSON document: of a known format, of rows with columns, or under the ids of records."""
    for known in formats():
        listed = look_up(value, known.records) if known.records else None
        if isinstance(listed, list) and listed and recognised(listed[:SAMPLE]) is known:
            return listed
    columns, rows = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [dict(zip(map(str, columns), row, strict=False)) for row in rows]
    lists = [inner for inner in _lists(value) if recognised(inner[:SAMPLE]) is not None]
    if len(lists) == 1 and recognised([value]) is None:
        return lists[0]
    if len(value) > 1 and all(isinstance(inner, Mapping) for inner in value.values()):
        named = [{"id": key, **inner} for key, inner in value.items() if isinstance(inner, Mapping)]
        return list(named) if recognised(named[:SAMPLE]) is not None else None
    return None


def _lists(value: Mapping[str, object], depth: int = 2) -> Iterator[list[object]]:
    """The lists of objects in a document."""
    for inner in value.values():
        if isinstance(inner, list) and inner and all(isinstance(item, Mapping | list) for item in inner[:SAMPLE]):
            yield inner
        elif isinstance(inner, Mapping) and depth:
            yield from _lists(inner, depth - 1)
