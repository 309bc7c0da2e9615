"""The records of a text of a known format: which of them are answers, whose, and what was said before them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from momus.reading.formats import Format, value_at
from momus.reading.messages import asked, is_message, said
from momus.reading.paths import look_up
from momus.reading.recognised import wrapped

NO_TEXT = "they hold no text (calls of tools, reasoning)"


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


@dataclass
class Recognised:
    """How the records of one text are read: by a format, with what its records are counted by.

    Attributes
    ----------
    format
        The format.
    field
        The field that holds the text; None: what the format says.
    within
        Whether texts hold chats in a template, marks of one, or replies of servers.
    models
        Number of answers of each model, where records say whose they are.
    paths
        Number of answers by the path that says it.
    """

    format: Format
    field: str | None = None
    turns: str = "assistant"
    within: bool = False
    models: Counter[str] = dataclasses.field(default_factory=Counter)
    paths: Counter[str] = dataclasses.field(default_factory=Counter)

    def records(
        self, stream: Iterator[tuple[int, object, str | None]], left_out: Counter[str]
    ) -> Iterator[tuple[int, object, str | None]]:
        """The records of a stream as `Format.record` makes them; those that are no answers are counted."""
        known = self.format
        threads = Threads(known) if known.thread else None
        shapes = self.within or self.field in known.sides or (self.field is None and bool(known.answer))
        field = "text" if shapes else self.field
        for number, value, _ in stream:
            record = wrapped(value)
            if not isinstance(record, Mapping):
                yield number, value, field
                continue
            if threads is not None:
                threads.add(record)
            if not known.counts(record):
                left_out[known.other] += 1
                continue
            shaped = known.record(record, self.field, self.turns, self.within)
            if threads is not None:
                prompt = threads.prompt()
                shaped["prompt_id"] = prompt if prompt is not None else shaped.get("prompt_id")
                if isinstance(shaped.get("text"), list) and not any(map(said, shaped["text"])):
                    left_out[NO_TEXT] += 1
                    continue
            path, models = known.who(record)
            self.paths.update([path] * bool(models))
            self.models.update(models)
            yield number, shaped, field
