"""Fields of records: names that mean something, paths to values, and conditions (JMESPath)."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

from momus.arguments import arg
from momus.errors import UsageError

ID_FIELDS = ("id", "article_id", "doc_id")
PROMPT_FIELDS = ("prompt_id", "prompt")
GROUP_FIELDS = ("group_id", "group")
LABELS = (*ID_FIELDS, *PROMPT_FIELDS, *GROUP_FIELDS)
"""Fields that are never read as the text unless they are asked for by name."""
OBVIOUS = ("content", "body", "document", "generation", "output", "story")
RUNNING = ("abstract_text", "article_text")
PARTS = ("sections", "chapters", "paragraphs", "parts", "sentences")
"""Fields whose lists are the parts of one document; a list of texts in any other field holds several answers."""
BESIDE = {
    "prompt_text": ("prompt", "question", "instruction", "query", "input"),
    "reference": ("reference_text", "target", "gold"),
}
"""Other names of the fields that critics read beside the text, in the order in which they are looked for."""
MISSING = object()
SPECIAL = re.compile(r"[\[\]|*@&!'`\"(){}<>=]")
"""Characters by which a path is an expression, and no name or dotted name."""
EQUALS = re.compile(r"\s*([\w./-]+)\s*(!?=)\s*([^=\s](?:.*\S)?)\s*", re.DOTALL)
"""A column, and the value that it must or must not have."""
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST = 1 << 20
"""Characters of a value in Python's words; longer ones are no cells of a table."""
MOST_CHARACTERS = 2000
"""Characters of an expression; the parser works its way down into nested ones."""


@lru_cache(maxsize=256)
def _compiled(path: str) -> Any:
    """The expression of a path; None if it is none."""
    if len(path) > MOST_CHARACTERS:
        return None
    try:
        return jmespath.compile(path)
    except (JMESPathError, RecursionError, ValueError):
        return None


def check_path(path: str, what: str) -> None:
    """Check that an expression can be parsed; names and dotted names always can.

    Raises
    ------
    UsageError
        It cannot.

    >>> check_path("choices[0].message.content", "field")
    """
    if SPECIAL.search(path) and _compiled(path) is None:
        hint = "write it as a.b, a[0].b or a[?role=='assistant'].b (JMESPath)"
        if re.match(r"[\w .-]+=[^=]", path):
            hint += f"; there is no text called {path.partition('=')[0][:80]!r}, whose field it could be"
        raise UsageError(f"{what} {path[:80]!r} is no path", hint=hint)


def look_up(record: Mapping[str, object], path: str) -> object:
    """Return the value at a path; `MISSING` if there is none.

    A field that is called like the path comes first, then dotted names, then what the path means as an expression.

    >>> look_up({"result": {"0": "text"}}, "result.0")
    'text'
    >>> look_up({"choices": [{"message": {"content": "Yes."}}]}, "choices[0].message.content")
    'Yes.'
    >>> look_up({"a[0]": 1}, "a[0]"), look_up({"a": 1}, "a[") is MISSING
    (1, True)
    """
    if path in record:
        return record[path]
    if SPECIAL.search(path):
        value = search(path, record)
        return MISSING if value is None else value
    head, dot, rest = path.partition(".")
    inner = record.get(head, MISSING)
    if not dot or inner is MISSING:
        return MISSING
    if isinstance(inner, list):
        place, dot, rest = rest.partition(".")
        if not place.isdecimal() or len(place) > 9 or int(place) >= len(inner):
            return MISSING
        inner = inner[int(place)]
        if not dot:
            return inner
    return look_up(inner, rest) if isinstance(inner, Mapping) else MISSING


def search(path: str, value: object) -> Any:
    """The value of an expression; None where it has none, or does not apply.

    >>> search("a[?x=='1'].y | [0]", {"a": [{"x": "1", "y": 2}]}), search("length(a)", {"a": None})
    (2, None)
    """
    expression = _compiled(path)
    if expression is None:
        return None
    try:
        return expression.search(value)
    except (JMESPathError, RecursionError, ArithmeticError, TypeError, ValueError, AttributeError, LookupError):
        return None


def quoted(name: str) -> str:
    """A name within a path, in quotation marks where it is none of the language of paths.

    >>> quoted("text"), quoted("my text")
    ('text', '"my text"')
    """
    return name if PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)


@lru_cache(maxsize=256)
def names_in(path: str) -> frozenset[str]:
    """All names in a path, among which are the columns that it needs.

    >>> sorted(names_in("a.b[0] || c")), sorted(names_in("x.y"))
    (['a', 'a.b[0] || c', 'b', 'c'], ['x', 'x.y', 'y'])
    """
    if not SPECIAL.search(path):
        return frozenset((path, *path.split(".")))
    expression = _compiled(path)
    return frozenset([path, *(_names(expression.parsed) if expression is not None else ())])


def _names(node: Mapping[str, Any]) -> list[str]:
    if node["type"] == "field":
        return [node["value"]]
    return [name for child in node["children"] if isinstance(child, Mapping) for name in _names(child)]


@dataclass(frozen=True)
class Where:
    """A condition that the records must meet which are read: ``model=gpt-4``, ``lang!=en``, or an expression.

    Raises
    ------
    UsageError
        It cannot be parsed.

    >>> Where("model=gpt-4")({"model": "gpt-4"}), Where("n=3")({"n": 3}), Where("a.b!=x")({"a": {"b": "x"}})
    (True, True, False)
    >>> Where("score > `3` && lang == 'en'")({"score": 5, "lang": "en"})
    True
    """

    text: str

    def __post_init__(self) -> None:
        """Check that it can be parsed."""
        if self._equality is None and _compiled(self.text) is None:
            raise UsageError(
                f"{arg('where', self.text[:80])} is no condition",
                hint="write it as model=gpt-4, or as an expression of JMESPath such as model=='gpt-4' && score>`3`",
            )

    @cached_property
    def _equality(self) -> re.Match[str] | None:
        return EQUALS.fullmatch(self.text)

    @property
    def equals(self) -> tuple[str, str] | None:
        """The column and the value of a condition that says that one is the other; None for others."""
        match = self._equality
        return (match[1], match[3]) if match is not None and match[2] == "=" else None

    @property
    def names(self) -> frozenset[str]:
        """The names in it, among which are the columns that it needs."""
        match = self._equality
        return names_in(self.text if match is None else match[1])

    def __call__(self, record: object) -> bool:
        """Whether a record meets it."""
        if not isinstance(record, Mapping):
            return True  # what is no record is counted as such
        match = self._equality
        if match is None:
            return bool(search(self.text, record))
        value = look_up(record, match[1])
        return (value is not MISSING and as_string(value) == match[3]) == (match[2] == "=")


def as_string(value: object) -> str:
    """Return a string as it is; other values (numbers, chat messages) as compact JSON with sorted keys.

    >>> as_string("a"), as_string(3), as_string([{"role": "user", "at": None}])
    ('a', '3', '[{"at":null,"role":"user"}]')
    """
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


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


def decoded(text: str) -> object:
    """The list or object that a text is as JSON, or as Python writes it; None if it is none.

    >>> decoded('{"a": 1}'), decoded("[sic]"), decoded("1"), decoded("[{'a': None}]")
    ({'a': 1}, None, None, [{'a': None}])
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if len(text) > LONGEST or not text.lstrip("[{ \n").startswith(("'", '"')):
            return None
        try:
            value = ast.literal_eval(text.strip())  # constants alone: no name, call or operator is evaluated
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, dict | list) else None


def unquoted(value: object) -> object:
    r"""What a string of JSON means, with its quotation marks and escapes; other values as they are.

    >>> unquoted(r'"Who?\nI."'), unquoted('"Who?" I.')
    ('Who?\nI.', '"Who?" I.')
    """
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        with suppress(ValueError):
            return json.loads(value)
    return value
