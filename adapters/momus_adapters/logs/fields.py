"""What readers share: fields of samples, numbers as texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from momus.reading import Problem
from momus.reading.paths import MISSING, look_up


def value_at(record: Mapping[str, object], path: str) -> object:
    """The value at a path, numbers as text; a `Problem` if there is none.

    >>> value_at({"doc": {"answer": 42}}, "doc.answer")
    '42'
    >>> value_at({"doc": {}}, "doc.answer")
    Problem(reason="no field 'doc.answer'")
    """
    value = look_up(record, path)
    if value is MISSING:
        return Problem(f"no field {path!r}")
    return as_text(value)


def as_text(value: object) -> object:
    """A number as text; other values as they are.

    >>> as_text(3), as_text(True), as_text([1, "a"])
    ('3', True, ['1', 'a'])
    """
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def one_or_all(values: Sequence[object], what: str) -> object:
    """The only value, all of them as answers, or a `Problem` if there is none.

    >>> one_or_all(["Yes."], "answer"), one_or_all(["Yes.", "No."], "answer"), one_or_all([], "answer")
    ('Yes.', ['Yes.', 'No.'], Problem(reason='the sample has no answer'))
    """
    if not values:
        return Problem(f"the sample has no {what}")
    return values[0] if len(values) == 1 else list(values)


def known(about: Mapping[str, object]) -> dict[str, object]:
    """The entries of a log's provenance that say something.

    >>> known({"model": "m", "seed": None, "settings": {}, "shots": 0})
    {'model': 'm', 'shots': 0}
    """
    return {name: value for name, value in about.items() if value is not None and value not in ("", {}, [])}


def named(sample: Mapping[str, object], name: str, text: object, id: str = "") -> Mapping[str, object]:
    """A sample as a record of `momus.reading.LogRecords`; the name of the sample is that of its prompt."""
    return {**sample, "id": id or name, "prompt_id": name, "text": text}
