"""Turn a record into rows: id, prompt, group, metadata, and text or sections, or why it is not a document."""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from momus.reading import chat
from momus.reading.chat import answer_in, prompt_in
from momus.reading.location import Problem
from momus.reading.messages import is_chat
from momus.reading.paths import (
    BESIDE,
    GROUP_FIELDS,
    ID_FIELDS,
    LABELS,
    MISSING,
    OBVIOUS,
    PARTS,
    PROMPT_FIELDS,
    RUNNING,
    as_string,
    kind,
    look_up,
    origins,
)
from momus.reading.recognised import WRITERS

MARKS = re.compile(r"(?:\s*</?S>)+\s*")


class Defect(Exception):
    """A record is not a document; the message says why, without positions, to keep equal reasons countable."""


@dataclass(slots=True)  # not frozen, which takes three times as long to make
class Row:
    """A record as a row of a corpus; ``id`` is None if the record has none.

    ``texts`` and ``titles`` have the same length; both are empty if there is a problem. ``answer`` numbers the answers
    of a record that holds a list of them, from 1, and ``source`` is the field of that list.
    """

    id: str | None
    texts: Sequence[str] = ()
    titles: Sequence[str | None] = ()
    sectioned: bool = False
    prompt: str | None = None
    problem: str | None = None
    group: str | None = None
    fields: Sequence[tuple[str, str]] = ()
    answer: int = 0
    source: str = ""


@dataclass
class Shaper:
    """Turns records into rows.

    Attributes
    ----------
    keep
        Metadata fields, or paths to them, that rows hold on to; a record may lack any of them.
    obvious
        The field read as the text of records with neither ``text`` nor ``sections``: one of `OBVIOUS`, and the only
        string field of the first such record.
    turns
        What counts as the text of a chat, one of `momus.reading.chat.TURNS`.
    set_apart
        Number of documents of which something was set apart (reasoning, calls of tools), by kind.
    prompt
        The field that names the prompt, or a path to it; None: one of `PROMPT_FIELDS`.

    >>> (row,) = Shaper().rows({"id": 7, "sections": [["One.", "Two."], "Three."], "section_names": ["A", None]})
    >>> row.id, row.texts, row.titles
    ('7', ['One. Two.', 'Three.'], ['A', None])
    >>> Shaper(("year",)).rows({"text": "To be.", "group_id": "hamlet", "year": 1603})[0]
    Row(id=None, texts=['To be.'], titles=[None], sectioned=False, prompt=None, problem=None, group='hamlet', \
fields=[('year', '1603')], answer=0, source='')
    >>> Shaper().rows({"id": "x", "text": float("nan")})[0].problem
    'text is not a string (found number NaN)'
    >>> [(row.answer, row.texts) for row in Shaper().rows({"replies": ["Yes.", "No."]}, "replies")]
    [(1, ['Yes.']), (2, ['No.'])]
    """

    keep: tuple[str, ...] = ()
    obvious: str | None = None
    turns: str = "assistant"
    set_apart: Counter[str] = dataclasses.field(default_factory=Counter)
    prompt: str | None = None

    def rows(self, record: object, name: str | None = None) -> list[Row]:
        """Make the rows of a record: one, or one per answer where the field holds a list of texts.

        A list of strings, or of objects with a ``text`` and no ``title``, holds answers unless the field is one of
        `PARTS`; an empty list is a row with a problem.
        """
        if isinstance(record, str):
            return [Row(None, [record], [None])]
        if isinstance(record, list):
            record, name = {"item": record}, "item"
        if not isinstance(record, Mapping):
            reason = record.reason if isinstance(record, Problem) else f"record is not an object (found {kind(record)})"
            return [Row(None, problem=reason)]
        field = name or self._choose(record)
        value = look_up(record, field) if field else MISSING
        texts = _answers(value, field) if isinstance(value, list) else None
        if texts is None:
            return [self._row(record, field, value)]
        if not texts:
            shared = self._row({**record, field: ""}, field, "")
            return [replace(shared, texts=(), titles=(), problem=shared.problem or f"{field} is an empty list")]
        # a field to keep that is a list as long as that of the answers has an item for each of them
        lists = {path: value for path in self.keep if isinstance(value := look_up(record, path), list)}
        lists = {path: value for path, value in lists.items() if len(value) == len(texts) > 1}
        rows = [
            self._row({**record, **{path: value[i] for path, value in lists.items()}, field: text}, field, text)
            for i, text in enumerate(texts)
        ]
        return [replace(row, answer=i, source=field) for i, row in enumerate(rows, 1)]

    def _row(self, record: Mapping[str, object], field: str, value: object) -> Row:
        """Make one row of a record, whose text is the value of a field."""
        id, prompt, group = None, self._prompt(record), _group(record)
        fields = self._fields(record) if self.keep else []
        try:
            id = id_of(record)
            texts, titles, sectioned = self._content(record, field, value)
        except Defect as defect:
            return Row(id, prompt=prompt, problem=str(defect), group=group, fields=fields)
        if (self.keep or prompt is None) and is_chat(value):
            apart = chat.kept(chat.turns_of(value), record.get("messages")) if self.keep else {}
            named = {name for name, _ in fields}
            fields += [(name, apart[name]) for name in self.keep if name in apart and name not in named]
            if prompt is None and self.prompt is None:
                prompt = chat.prompt_of(value, self.turns)
        return Row(id, texts, titles, sectioned, prompt, None, group, fields)

    def _prompt(self, record: Mapping[str, object]) -> str | None:
        """The name of the prompt of a record."""
        if self.prompt is not None:
            value = look_up(record, self.prompt)
            return None if value is MISSING else prompt_in(value)
        if record.get("prompt_id") is not None:
            return as_string(record["prompt_id"])
        return prompt_in(record.get("prompt"))

    def _fields(self, record: Mapping[str, object]) -> list[tuple[str, str]]:
        """The metadata to keep, by name; fields that are missing or null are left out."""
        values = ((name, _beside(record, name, paths)) for name, paths in map(origins, self.keep))
        return [(name, value) for name, value in values if value is not None]

    def _content(
        self, record: Mapping[str, object], name: str, value: object
    ) -> tuple[Sequence[str], Sequence[str | None], bool]:
        if name == "sections" and value is not MISSING:
            return *_sections(value, record.get("section_names"), name), True
        if isinstance(value, str):
            return [value], [None], False
        if name in RUNNING and isinstance(value, list):
            return [_joined(value, name)], [None], False
        if is_chat(value):
            return self._chat(value)
        if isinstance(value, list):
            return *_sections(value, None, name), True
        if value is MISSING:
            raise Defect(f"no field {name!r}" if name else "no field 'text' or 'sections'")
        if isinstance(value, Mapping):
            answer = answer_in(value)
            if isinstance(answer, str):
                return [answer], [None], False
            if is_chat(answer):
                return self._chat(answer)
        if isinstance(value, Problem):  # of a reader of logs
            raise Defect(value.reason)
        raise Defect(f"{name} is null" if value is None else f"{name} is not a string (found {kind(value)})")

    def _chat(self, messages: Sequence[Mapping[str, object]]) -> tuple[Sequence[str], Sequence[str | None], bool]:
        """The content of chat messages, by the turns that count."""
        turns = chat.turns_of(messages)
        self.set_apart.update({kind for turn in turns for kind, _ in turn.apart})
        texts, titles, sectioned = chat.chosen(turns, self.turns)
        if not texts:
            what = {"all": "no turn with text", "reasoning": "no reasoning", "tools": "no call of a tool"}
            raise Defect(f"the chat has {what.get(self.turns, 'no turn of the assistant')}")
        return texts, titles, sectioned

    def _choose(self, record: Mapping[str, object]) -> str:
        """The field that holds the text where none is named; empty if there is none."""
        if record.get("sections") or ("text" not in record and "sections" in record):
            return "sections"
        if "text" in record:
            return "text"
        labels = (*LABELS, *WRITERS, *self.keep)
        strings = [k for k, v in record.items() if isinstance(v, str) and k not in labels]
        if len(strings) == 1 and strings[0].lower() in OBVIOUS and self.obvious in (None, strings[0]):
            self.obvious = strings[0]
            return strings[0]
        return ""


def _answers(values: list[object], field: str) -> list[object] | None:
    """The answers that a field holds as a list; None if these are something else."""
    if field.rpartition(".")[2] in (*PARTS, *RUNNING) or is_chat(values):
        return None
    items = [v["text"] if isinstance(v, Mapping) and "text" in v and "title" not in v else v for v in values]
    return items if all(isinstance(v, str) or is_chat(v) for v in items) else None


def _beside(record: Mapping[str, object], name: str, paths: Sequence[str]) -> str | None:
    """The first value of a field to keep, as a string; a ``prompt`` of one word is an id, not the text of a prompt."""
    for path in paths:
        value = look_up(record, path)
        if value is MISSING or value is None:
            continue
        is_beside = name in BESIDE
        text = as_string(value)
        if is_beside and is_chat(value):
            text = "\n\n".join(turn.text for turn in chat.turns_of(value) if turn.text)
        is_id = path in PROMPT_FIELDS and text.isascii() and len(text.split()) < 2
        if not (is_beside and (is_id or not text.strip())):
            return text
    return None


def id_of(record: Mapping[str, object]) -> str | None:
    """The id of a record; None if it has none, and a `Defect` if it is neither a string nor a number."""
    for name in ID_FIELDS:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        is_whole = isinstance(value, int) and not isinstance(value, bool)  # with any number of digits
        if is_whole or (isinstance(value, float) and math.isfinite(value)):
            return str(int(value) if isinstance(value, float) and value.is_integer() else value)
        if value is not None and value != "":
            raise Defect(f"{name} is not a string or a number (found {kind(value)})")
    return None


def _group(record: Mapping[str, object]) -> str | None:
    """The first of `GROUP_FIELDS` that is not null, as a string; None without one, or if it is empty."""
    for name in GROUP_FIELDS:
        if record.get(name) is not None:
            return as_string(record[name]) or None
    return None


def shortened(value: object, width: int = 200) -> str:
    """A value as compact JSON, cut after ``width`` characters.

    >>> shortened({"id": 1, "score": 0.25}, 12)
    '{"id":1,"sco…'
    """
    text = as_string(value)
    return text if len(text) <= width else text[:width] + "…"


def _sections(content: object, names: object, field: str) -> tuple[list[str], list[str | None]]:
    """Return the texts and titles of a list of sections, or of an object with lists ``text`` and ``title``."""
    value = content
    if isinstance(content, Mapping) and isinstance(content.get("text"), list):
        value, names = content["text"], content.get("title", names)
    if not isinstance(value, list):
        raise Defect(f"{field} is null" if value is None else f"{field} is not a list (found {kind(value)})")
    names = [None] * len(value) if names is None else names
    if not isinstance(names, list):
        raise Defect(f"section_names is not a list (found {kind(names)})")
    if len(names) != len(value):
        raise Defect(f"{field} and section_names differ in length ({len(value)} and {len(names)})")
    texts: list[str] = []
    titles: list[str | None] = []
    for item, name in zip(value, names, strict=True):
        text, title = (
            (item.get("text", MISSING), item.get("title", name)) if isinstance(item, Mapping) else (item, name)
        )
        if title is not None and not isinstance(title, str):
            raise Defect(f"a section name is not a string (found {kind(title)})")
        if text is MISSING:
            raise Defect("a section has no field 'text'")
        titles.append(title)
        texts.append(text if isinstance(text, str) else _joined(text, "a section"))
    return texts, titles


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
