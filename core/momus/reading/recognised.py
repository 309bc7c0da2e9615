"""The records of a text of a known format: which of them are answers, whose, and what was said before them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from momus.reading.chat import prompt_of
from momus.reading.formats import NONE, Format, spoken, value_at
from momus.reading.messages import answer_in, asked, is_chat, is_message, text_of
from momus.reading.paths import MISSING, look_up


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
            if message is not None and text_of(message.get("content", message.get("text", ""))):
                messages.append(message)
        users = [m for m in messages[::-1] if asked([m]) and m.get("role") in ("user", "prompter", "human")]
        return asked(users)


@dataclass
class Recognised:
    """How the records of one text are read: by a format, with what its records are counted by.

    Attributes
    ----------
    format
        The format; None: records are read by their fields ``sections`` or ``text``.
    field
        The field that holds the text; None: what the format says.
    unpack
        Whether the field holds chats within texts, or replies of servers.
    models
        Number of answers of each model, where records say whose they are.
    paths
        Number of answers by the path that says it.
    """

    format: Format | None = None
    field: str | None = None
    turns: str = "assistant"
    unpack: bool = False
    models: Counter[str] = dataclasses.field(default_factory=Counter)
    paths: Counter[str] = dataclasses.field(default_factory=Counter)

    def records(
        self, stream: Iterator[tuple[int, object, str | None]], left_out: Counter[str]
    ) -> Iterator[tuple[int, object, str | None]]:
        """The records of a stream as `Format.record` makes them; those that are no answers are counted."""
        known = self.format
        if known is None and not self.unpack:
            yield from stream
            return
        known = known or NONE
        threads = Threads(known) if known.thread else None
        field = None if self.field is None or self.field in known.sides or self.unpack else self.field
        for number, value, _ in stream:
            record = {"messages": value} if is_chat(value) else value
            if not isinstance(record, Mapping):
                yield number, value, field or "text"
                continue
            if threads is not None:
                threads.add(record)
            if not known.counts(record):
                left_out[known.other] += 1
                continue
            shaped = self._shaped(known, record, threads)
            if shaped is None:
                left_out["they hold no text (calls of tools, reasoning)"] += 1
                continue
            if (model := known.who(record)) is not None:
                self.paths[model[0]] += 1
                self.models[model[1]] += 1
            yield number, shaped, field or "text"

    def _shaped(self, known: Format, record: Mapping[str, object], threads: Threads | None) -> dict[str, Any] | None:
        shaped = known.record(record, self.field, self.turns)
        if self.unpack and self.field is not None and self.field not in known.sides:
            value = look_up(record, self.field)
            answer = spoken(answer_in(value)) if value is not MISSING else None
            shaped["text"] = answer
            if shaped.get("prompt_id") is None and is_chat(answer):
                shaped["prompt_id"] = prompt_of(answer, self.turns)
        if threads is not None:
            prompt = threads.prompt()
            shaped["prompt_id"] = prompt if prompt is not None else shaped.get("prompt_id")
            if isinstance(shaped.get("text"), list) and not any(text_of(m.get("content")) for m in shaped["text"]):
                return None
        return shaped
