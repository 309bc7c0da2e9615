"""What readers share: fields of samples, settings written as text, numbers as texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from momus.reading import Problem
from momus.reading.paths import MISSING, kind, look_up


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


def settings(value: object) -> object:
    """Arguments such as ``pretrained=m,api_key=x`` as a dict, in which keys can be recognised and hidden.

    >>> settings("pretrained=m,dtype=float"), settings({"dtype": "float"}), settings("")
    ({'pretrained': 'm', 'dtype': 'float'}, {'dtype': 'float'}, None)
    """
    if isinstance(value, str) and "=" in value:
        return dict(setting.partition("=")[::2] for setting in value.split(","))
    return value or None


def known(about: Mapping[str, object]) -> dict[str, object]:
    """The entries of a log's provenance that say something.

    >>> known({"model": "m", "seed": None, "settings": {}, "shots": 0})
    {'model': 'm', 'shots': 0}
    """
    return {name: value for name, value in about.items() if value is not None and value not in ("", {}, [])}


def mapping(value: object) -> Mapping[str, object]:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, Mapping) else {}


Shape = Callable[[int, Mapping[str, object]], object]
"""Makes a record of a sample and its position: `named`, a `Problem`, or None to leave the sample out."""


def shaped(lines: Iterable[tuple[int, object]], shape: Shape) -> Iterator[tuple[int, object]]:
    """The records of the samples of a log with their positions; a `Problem` takes the place of what is no sample.

    >>> list(shaped([(1, {"id": 1}), (2, [])], lambda number, sample: named(sample, "a", "x")))
    [(1, {'id': 'a', 'prompt_id': 'a', 'text': 'x'}), (2, Problem(reason='record is not an object (found list)'))]
    """
    for number, value in lines:
        if isinstance(value, Problem):
            yield number, value
        elif not isinstance(value, Mapping):
            yield number, Problem(f"record is not an object (found {kind(value)})")
        elif (record := shape(number, value)) is not None:
            yield number, record


def named(sample: Mapping[str, object], name: str, text: object, id: str = "") -> Mapping[str, object]:
    """A sample as a record of `momus.reading.LogRecords`; the name of the sample is that of its prompt."""
    return {**sample, "id": id or name, "prompt_id": name, "text": text}


def dated(file_name: str, prefix: str) -> tuple[str, str]:
    """The task and the date in the name of a file that a harness wrote; both empty in any other name.

    >>> dated("samples_qa_0_2026-11-22T14-35-56.885649.jsonl", "samples")
    ('qa_0', '2026-11-22T14-35-56.885649')
    """
    match = re.fullmatch(rf"{prefix}_(.+)_(\d{{4}}-\d\d-\d\dT[\d.:-]+?)\.(?:jsonl.*|parquet)", file_name)
    return (match[1], match[2]) if match else ("", "")
