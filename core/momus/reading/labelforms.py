"""Labels as tools write them: a table of forms (``labels.toml``), what their values say, and columns of cells."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from momus.reading.formats import value_at
from momus.reading.paths import ID_FIELDS, as_string, decoded, names_in, search
from momus.reading.records import id_of

Labels = dict[str, Any]
TABLE: dict[str, Any] = tomllib.loads(files("momus.reading").joinpath("labels.toml").read_text(encoding="utf-8"))
TECHNICAL = re.compile(TABLE["technical"])
FENCE = re.compile(r"\s*```\w*\n(.*)```\s*", re.DOTALL)
NUMERAL = re.compile(r"([-+]?\d+(?:[.,]\d+)?)\s*(%|/\s*\d+)?")
"""A number as people write it, with its unit: 3,5 or 85 % or 4/5."""
THOUSANDS = re.compile(r"[^,]*|[-+]?\d{1,3},\d{3}")
FEW = 20
"""Different strings of a field that are labels even if most of them occur once."""


@lru_cache(maxsize=256)
def _possible(names: frozenset[str]) -> list[Mapping[str, Any]]:
    """The forms that a record with these fields may have."""
    return [form for form in TABLE["forms"].values() if all(names & names_in(path) for path in form["has"])]


def _form(record: Mapping[str, Any]) -> Mapping[str, Any]:
    held = ((form, [search(path, record) for path in form["has"]]) for form in _possible(frozenset(record)))
    return next((form for form, values in held if all(v is not None and v is not False for v in values)), {})


def document_of(record: Mapping[str, Any]) -> str | None:
    """The id of the document that a record labels; None if it has none, a `Defect` if it is no string or number.

    >>> document_of({"id": 7}), document_of({"custom_id": "a"}), document_of({"_task_hash": 1, "meta": {"id": "b"}})
    ('7', 'a', 'b')
    """
    form = _form(record)
    id = None if "id" in form else id_of(record)
    return id or _string(value_at(record, form.get("id", TABLE["ids"])))


def _string(value: object) -> str | None:
    return None if value in (None, "") or isinstance(value, list | Mapping) else as_string(value)


def labels_in(record: Mapping[str, Any]) -> Iterator[tuple[str, Labels]]:
    """Who labelled a document, and its labels by name; more than once where several did.

    >>> list(labels_in({"id": "a", "scores": [{"label": "warm", "score": 0.9}], "annotator": "Ann"}))
    [('Ann', {'scores': 'warm'})]
    >>> list(labels_in({"run_id": "a", "key": "helpful", "score": 1}))
    [('', {'helpful': 1})]
    """
    form = _form(record)
    skipped = {*form.get("id", ()), *TABLE["ids"], *ID_FIELDS, *TABLE["labellers"], *TABLE["never"]}
    for labelled in search(form["each"], record) if "each" in form else [record]:
        who = _string(value_at(labelled, [form["labeller"]] if "labeller" in form else TABLE["labellers"])) or ""
        labels = search(form["labels"], labelled) if "labels" in form else labelled
        if isinstance(labels, Mapping) and labels.keys() >= {"labels", "scores"}:
            labels = {"labels": value_of(labels)}  # the record itself is a label
        elif isinstance(labels, list):  # of names and values: several of a name are spans
            pairs = [(as_string(pair["name"]), pair["value"]) for pair in labels]
            names = {name: [v for n, v in pairs if n == name] for name, _ in pairs}
            spans = {as_string(pair["name"]) for pair in labels if pair.get("start") is not None}
            labels = {name: values if name in spans else values[-1] for name, values in names.items()}
        yield who, {name: value_of(v) for name, v in labels.items() if name not in skipped and v is not None}


def value_of(value: object) -> Any:
    r"""A label in the forms that Momus knows: a name, a number, a list of names, or weights by name.

    >>> value_of([{"label": "a", "score": 0.75}, {"label": "b", "score": 0.25}]), value_of([[4, 9, "b"], [0, 3, "a"]])
    ({'a': 0.75, 'b': 0.25}, ['a', 'b'])
    >>> value_of('```json\n{"score": 3}\n```'), value_of(" warm ")
    ({'score': 3}, 'warm')
    """
    if isinstance(value, str):
        fenced = FENCE.fullmatch(value)
        inner = decoded(fenced[1] if fenced else value)
        if inner is None:
            return value.strip()
        value = inner
    if not isinstance(value, list | Mapping):
        return value
    said = next((s for s in (search(path, value) for path in TABLE["values"]) if s is not None), value)
    if not (isinstance(said, Mapping) and said.keys() == {"names", "weights"}):
        return said
    names, weights = said["names"], said["weights"] or [1 / len(said["names"])] * len(said["names"])
    if all(type(name) in (int, float) for name in names):
        return sum(names) / len(names)
    total: Counter[str] = Counter()
    for name, weight in zip(names, weights, strict=False):
        total[as_string(name)] += weight
    return dict(total)


def settle(rows: Sequence[Labels]) -> list[str]:
    """Bring the values of each field into one form, in place, and return the fields that are likely labels.

    >>> rows = [{"tone": "warm", "meta": {"sure": "85 %", "why": ""}}, {"tone": "curt", "meta": {"sure": "7 %"}}]
    >>> settle(rows), rows[0]
    (['tone', 'sure'], {'tone': 'warm', 'sure': 0.85})
    """
    while _spread(rows):
        pass
    names = list(dict.fromkeys(name for row in rows for name in row))
    likely = [name for name in names if _is_likely(name, rows)]
    return likely or [name for name in names if name not in TABLE["about"] and any(name in row for row in rows)]


def _spread(rows: Sequence[Labels]) -> bool:
    """Give the fields within an object, unless it is of weights in all rows, to the row; whether there was one."""
    held = [(row, name, value) for row in rows for name, value in row.items() if isinstance(value, Mapping)]
    nested = {name for _, name, value in held if not _are_weights(list(value.values()))}
    names = {name for row in rows for name in row} - nested
    for row, name, value in held:
        if name in nested:
            del row[name]
            row |= {f"{name}.{key}" if key in names else key: value_of(v) for key, v in value.items() if v is not None}
    return bool(nested)


def _are_weights(values: list[Any]) -> bool:
    return all(isinstance(w, int | float) and 0 <= w <= 1 for w in values) and (len(values) > 1 or values == [1])


def _is_likely(name: str, rows: Sequence[Labels]) -> bool:
    """Settle the cells of a field; whether these may be labels: they differ, and are no texts or notes of a tool."""
    for row in rows:
        if row.get(name) in TABLE["missing"]:
            del row[name]
    held = [row for row in rows if name in row]
    cells = [row[name] for row in held]
    if all(isinstance(cell, str) for cell in cells):
        usual = {cell.casefold(): cell for cell, _ in reversed(Counter(cells).most_common())}  # the usual spelling
        cells = _numbers(cells) or _lists(cells) or [usual[cell.casefold()] for cell in cells]
        for row, cell in zip(held, cells, strict=True):
            row[name] = cell
    values = Counter(map(as_string, cells))
    are_texts = len(values) > FEW and 2 * sum(n == 1 for n in values.values()) > len(cells)
    are_texts &= all(isinstance(cell, str) and NUMERAL.fullmatch(cell) is None for cell in cells)
    return len(values) > 1 and not are_texts and name not in TABLE["about"] and not TECHNICAL.fullmatch(name)


def _numbers(cells: Sequence[str]) -> list[float] | None:
    """Cells that are numbers with decimal commas, or with one unit; None for others."""
    read = [NUMERAL.fullmatch(cell) for cell in cells]
    units = {m and m[2] for m in read}
    if None in read or len(units) != 1 or (units == {None} and all(map(THOUSANDS.fullmatch, cells))):
        return None
    return [float(m[1].replace(",", ".")) / (100 if m[2] == "%" else 1) for m in read if m]


def _lists(cells: Sequence[str]) -> list[list[str]] | None:
    """Cells that hold several labels with a mark between them; None if these do not recur."""
    for mark in "|;,":
        lists = [[name.strip() for name in cell.split(mark) if name.strip()] for cell in cells]
        names = {name for labels in lists for name in labels}
        if max(map(len, lists), default=0) > 1 and len(names) <= min(FEW, len(set(cells))):
            return lists
    return None
