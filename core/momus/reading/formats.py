"""Formats of exports, recognised by the fields of their records: a table (``formats.toml``), which plug-ins extend.

A plug-in names a TOML file of the same form in the group ``momus.formats``: ``name = "package:formats.toml"``.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from momus.errors import PluginError
from momus.reading.chat import answer_in, prompt_in, prompt_of, spoken
from momus.reading.messages import asked, is_chat, is_message, said
from momus.reading.paths import MISSING, SPECIAL, as_string, look_up, names_in, search, unquoted

MODELS = ("model", "model_name", "model_id", "generator")
"""Fields that say who wrote a text, where its format names no other."""
TEXTS = ("title", "records", "other")
"""Keys of an entry whose values are no paths."""
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
        The condition of records that are answers (of several, the first that some record meets), and what the others
        are.
    answer, prompt, model, id
        Paths to the answer, what it answers, who wrote it, and its name.
    sides
        Of two texts of one file, the paths by name.
    thread
        Of records that answer each other, the paths of their name and of the one before; empty: the record before.
    alike
        Paths to what all answers share with the first record, such as a metric under which samples are listed.

    >>> record = {"instruction": "Who?", "input": "", "output": "Nobody."}
    >>> format_named("alpaca").fits(record), format_named("alpaca").record(record)["prompt_id"]
    (True, 'Who?')
    """

    name: str
    title: str
    has: tuple[Paths, ...]
    lacks: Paths = ()
    records: str = ""
    rows: Paths = ()
    other: str = ""
    answer: Paths = ()
    prompt: Paths = ()
    model: Paths = MODELS
    id: Paths = ()
    sides: Mapping[str, Paths] = dataclasses.field(default_factory=dict)
    thread: Paths = ()
    alike: Paths = ()

    @classmethod
    def of(cls, name: str, entry: Mapping[str, Any]) -> Format:
        """The format of an entry of the table.

        Raises
        ------
        PluginError
            The entry is not well formed.
        """
        values: dict[str, Any] = {k: v if k in TEXTS else _paths(v) for k, v in entry.items()}
        try:
            values["has"] = tuple(_paths(condition) for condition in entry["has"])
            values["sides"] = {side: _paths(paths) for side, paths in entry.get("sides", {}).items()}
            return cls(name=name, **values)
        except (TypeError, KeyError, AttributeError) as error:
            raise PluginError(
                f"format {name!r}: its keys do not fit ({error})", hint="see `momus.reading.formats`"
            ) from None

    def fits(self, record: Mapping[str, object]) -> bool:
        """Whether a record has what the format is known by."""
        held = ((paths, value_at(record, paths)) for paths in self.has)
        # the value of a condition must be true
        meets = (v is not None and (v is not False or not SPECIAL.search("".join(paths))) for paths, v in held)
        return all(meets) and not any(look_up(record, path) not in (MISSING, None) for path in self.lacks)

    @cached_property
    def signs(self) -> tuple[frozenset[str], ...]:
        """Of each condition, the names of fields of which a record must have one."""
        return tuple(frozenset(name for path in paths for name in names_in(path)) for paths in self.has)

    def counts(self, record: Mapping[str, object]) -> bool:
        """Whether a record is an answer."""
        return not self.rows or bool(search(self.rows[0], record))

    def variants(self) -> Iterator[Format]:
        """The format with each of its conditions of records."""
        return (replace(self, rows=(condition,)) for condition in self.rows) if self.rows else iter((self,))

    def within(self, name: str) -> Format:
        """The format of records that hold those of this format in a field."""

        def inner(paths: Paths) -> Paths:
            return tuple(f"{name} | ({path})" if SPECIAL.search(path) else f"{name}.{path}" for path in paths)

        sides = {side: inner(paths) for side, paths in self.sides.items()}
        moved: dict[str, Any] = {key: inner(getattr(self, key)) for key in ("rows", "answer", "prompt", "model")}
        return replace(self, id=(), has=(), sides=sides, **moved)

    @property
    def names(self) -> frozenset[str]:
        """The names in all its paths, among which are the columns that it needs."""
        paths = [*self.answer, *self.prompt, *self.model, *self.id, *self.thread, *self.rows]
        paths += [*self.alike, *(path for alternatives in (*self.sides.values(), *self.has) for path in alternatives)]
        return frozenset(name for path in paths if path for name in names_in(path))

    def record(
        self, record: Mapping[str, object], field: str | None = None, turns: str = "assistant", within: bool = False
    ) -> Record:
        """A record with its answer under ``text``, its prompt under ``prompt_id`` and its name under ``id``.

        With another ``field``, its text stays where it is, and the prompt is added. ``within`` says that answers hold
        marks of a template, see `momus.reading.messages.whole_chat`.
        """
        named = {name: value for name, value in record.items() if name != "prompt_id"}
        if (id := value_at(record, self.id)) is not None:
            named["id"] = id
        paths = self.sides.get(field or "", (field,) if field is not None and within else ())
        answer = None
        if paths or (field is None and self.answer):
            value = value_at(record, paths or self.answer)
            answer = spoken(answer_in(unquoted(value) if within else value), within)
            named["text"] = answer
            named.pop("sections", None)
        prompt = prompt_in(value_at(record, self.prompt))
        if prompt is None and is_chat(answer):
            prompt = prompt_of(answer, turns)
        if prompt is None and "prompt_id" in record:
            named["prompt_id"] = record["prompt_id"]
        elif prompt is not None:
            named["prompt_id"] = prompt
        return named

    def who(self, record: Mapping[str, object]) -> tuple[str, list[str]]:
        """The path that says who wrote the answer, or each of several answers, and who did; nobody if none does."""
        for path in self.model:
            value = look_up(record, path)
            values = value if isinstance(value, list) else [value]
            if value not in (MISSING, None) and not any(isinstance(v, Mapping | list) for v in values):
                return path, list(map(as_string, values))
        return "", []


def wrapped(record: object) -> object:
    """A record as an object: a chat, or a list of objects, under a name."""
    if is_chat(record):
        return {"messages": record}
    if isinstance(record, list) and record and all(isinstance(item, Mapping) for item in record):
        return {"item": record}
    return record


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


def format_named(name: str) -> Format | None:
    """The format of a name; None if there is none."""
    return next((known for known in formats() if known.name == name), None)


class Threads:
    """Of records that answer each other, what was said before each."""

    def __init__(self, known: Format) -> None:
        self._format = known
        self._said: dict[str, tuple[str | None, Any]] = {}
        self._last: str | None = None

    def add(self, record: Mapping[str, object]) -> None:
        """Note a record, whose name and the one before it its fields say."""
        name, before = (look_up(record, path) if path else None for path in self._format.thread)
        key = name if isinstance(name, str) else f"#{len(self._said)}"
        parent = before if isinstance(before, str) else None if self._format.thread[1] else self._last
        content = value_at(record, self._format.prompt) or record
        self._said[key] = (parent, content if is_message(content) else None)
        self._last = key

    def prompt(self) -> str | None:
        """The name of what was said before the last record: of what users said, without results of tools."""
        messages: list[Any] = []
        name = self._said[self._last][0] if self._last is not None else None
        seen: set[str] = set()
        while name is not None and name in self._said and name not in seen:
            seen.add(name)
            name, message = self._said[name]
            if message is not None and said(message):
                messages.append(message)
        users = [m for m in messages[::-1] if asked([m]) and m.get("role") in ("user", "prompter", "human")]
        return asked(users)
