"""Refuse what would be read wrong (no document, several writers, two texts in one file), and say what was found."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from momus.arguments import arg
from momus.errors import ReadingError
from momus.reading.formats import Format
from momus.reading.location import Location, shorten
from momus.reading.markup import NO_HEADINGS
from momus.reading.paths import LABELS, check_path, kind, quoted
from momus.reading.records import shortened
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.reading.gathering import Rows

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


def check(reading: Rows, top: Location) -> None:
    """Raise an error if no record is a document."""
    rows = reading.rows
    if not rows:
        if reading.left_out:
            reason, count = reading.left_out.most_common(1)[0]
            raise top.error(
                f"no record is left to read: {count:,} are left out, {reason}",
                "check the condition, or give a file that holds answers",
            )
        raise top.error("no documents found", "give a file that holds documents")
    check_models(reading, top)
    check_documents(reading, top)


def check_documents(reading: Rows, top: Location) -> None:
    """Raise an error if no row is a document; it names the fields, and the hint the one that looks like answers."""
    rows = reading.rows
    if reading.problems.total() < rows:
        if not reading.filled and rows > 1 and reading.read_as:
            raise top.error(
                f"all {rows:,} documents are empty (read as {reading.read_as})",
                f"the text may stand in another field: name it with {arg('field')}; of chats, {arg('turns', 'all')} "
                "reads all turns",
            )
        return
    reason, count = reading.problems.most_common(1)[0]
    if reason == NO_HEADINGS:
        raise top.error(
            f"none of {counted(rows, 'document')} has headings" if rows > 1 else "the document has no headings",
            "headings are those of the markup (in Markdown, lines that begin with #); to read running text, pass "
            f"{arg('fmt', 'text')}",
        )
    if reading.field is not None:
        check_path(reading.field, "field")
    seen = reading.looked
    # of a log, the reader has put what it found under the names that every log has
    reserved = ("id", "prompt_id", "text") if reading.abouts else ()
    types = ", ".join(f"{shorten(k)} ({v})" for k, v in seen.types.items() if k not in reserved)
    fields = f"; the fields are {types}" if types else ""
    if seen.records and not reading.abouts:
        fields += f"; the first record is {shortened(seen.first)}"
    tried = reading.field or ("sections" if "sections" in seen.types else "text")
    texts = seen.with_text((*LABELS, *reserved, tried))
    hint = seen.hint(texts, "no field holds text: give another text")
    if reading.abouts and texts:
        hint = f"give a log whose model wrote answers; {top.label}#FIELD reads another field: {', '.join(texts[:4])}"
    unit, position = reading.starts[0][1].unit, reading.positions[0]
    start = f" (the first in {unit} {position})" if position else ""
    fault = f"none of the {rows:,} records is a document" if rows > 1 else "the only record is not a document"
    message = f"{top.label}: {fault}: {reason}{f' ({count:,} times)' if count > 1 else ''}{start}{fields}"
    raise ReadingError(message, hint)


def check_models(reading: Rows, top: Location) -> None:
    """Raise an error if the answers are of several models, unless these are kept as a field, or split by."""
    of_logs = list(dict.fromkeys(str(about["model"]) for about in reading.abouts if about.get("model")))
    if len(of_logs) > 1:
        raise top.error(
            f"the logs are of several models ({', '.join(shorten(m) for m in of_logs[:4])}), expected one",
            "name the logs of each model as a separate text",
        )
    models, paths = reading.models, reading.writers
    if len(models) < 2 or any(path in reading.shaper.keep for path in paths):
        return
    path = next(iter(paths))
    listed = ", ".join(f"{shorten(name)} ({count:,})" for name, count in models.most_common(4))
    more = f" and {len(models) - 4:,} more" if len(models) > 4 else ""
    title = f"this is {reading.read_as}: " if reading.read_as else ""
    one = arg("where", f"{path}={models.most_common(1)[0][0]}")
    one = "" if "[*]" in path else f", read one of them with {one}"  # a record of several answers is not to be split
    raise top.error(
        f"{title}{path!r} names {len(models)} writers of these texts: {listed}{more}",
        f"compare them with {arg('split_by', path)}{one}, or read all as one text with {arg('keep', [path])}",
    )


class TwoTextsError(ReadingError):
    """A file holds two texts of the same prompts, whose names are ``sides``."""

    def __init__(self, location: Location, known: Format) -> None:
        first, second = self.sides = tuple(known.sides)
        super().__init__(
            f"{location.label}: the file holds two texts, {first!r} and {second!r} ({known.title})",
            f"read one of them with {arg('field', first)} or {arg('field', second)}, or compare both in pairs with "
            f"{arg('pairs', location.label)} of momus compare",
        )


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
