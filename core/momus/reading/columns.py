"""A file that is one JSON object: a document, or parallel lists of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from momus.reading.fields import MISSING, look_up
from momus.reading.location import Location
from momus.reading.records import ID_FIELDS, LABELS, PROMPT_FIELDS


def from_object(
    location: Location, value: object, field: str | None, keep: Sequence[str] = (), items_field: str | None = None
) -> Iterator[tuple[int, object, str | None]]:
    """Yield (number, record, field that holds the text) from the single value of a file.

    ``items_field`` names the list whose items are records with this ``field``, where both are known.

    An object is one document, unless the field names a list and the object has no id: then each item is a document.
    Other lists of the same length are columns: ``id``, ``prompt`` and ``group`` columns and those to ``keep`` are used;
    without a prompt column, the row number becomes the prompt, which pairs documents across columns.

    >>> from momus.reading.location import Location
    >>> sides = {"original": ["a", "b"], "sampled": ["c", "d"]}
    >>> list(from_object(Location(None, "x.json", "x"), sides, "sampled"))[1]
    (2, {'sampled': 'd', 'prompt': '2'}, 'sampled')

    Raises
    ------
    ReadingError
        The object holds several lists, and no field chooses one.
    """
    if not isinstance(value, Mapping):
        yield 1, value, field
        return
    if items_field is not None:
        yield from _items(location, value, items_field, field)
        return
    name = field or ("text" if "sections" not in value else "sections")
    items = look_up(value, name)
    single = any(isinstance(value.get(key), (str, int)) for key in ID_FIELDS) or name == "sections"
    if isinstance(items, list) and items and not single:
        yield from _rows(value, name, items, keep)
        return
    lists = {k: len(v) for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], (str, dict))}
    if items is MISSING and lists and not (field is None and _has_text(value)):
        choices = ", ".join(f"{k!r} ({n:,} items)" for k, n in lists.items())
        missing = f"no field {field!r}" if field else "no field 'text' or 'sections'"
        raise location.error(
            f"{missing}; the file is one JSON object with the lists {choices}",
            "choose one: " + " or ".join(f"{location.label}#{k}" for k in lists),
            0,
        )
    yield 1, value, field


def _items(
    location: Location, value: Mapping[str, object], items_field: str, field: str | None
) -> Iterator[tuple[int, object, str | None]]:
    """Yield the objects of a list, whose texts are in ``field``."""
    items = look_up(value, items_field)
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise location.error(
            f"{items_field!r} is not a list of objects, of which --field could choose a field",
            f"leave out --field, or leave out #{items_field}",
            0,
        )
    for number, item in enumerate(items, 1):
        yield number, item, field


def _has_text(value: Mapping[str, object]) -> bool:
    """Whether the object looks like one document: a string that is not its id, prompt or title."""
    return isinstance(value.get("text"), str) or any(
        isinstance(v, str) for k, v in value.items() if k not in (*LABELS, "title")
    )


def _rows(
    value: Mapping[str, object], name: str, items: list[object], keep: Sequence[str]
) -> Iterator[tuple[int, object, str | None]]:
    """Yield the items of a list, strings with their id, prompt, group and metadata from the parallel lists."""
    if all(isinstance(item, Mapping) for item in items):
        for number, item in enumerate(items, 1):
            yield number, item, None
        return
    peers = {k: v for k, v in value.items() if isinstance(v, list) and len(v) == len(items)}
    keys = [k for k in dict.fromkeys((*LABELS, *keep)) if k in peers and k != name]
    paired = len(peers) > 1 and not any(k in PROMPT_FIELDS for k in keys)
    for number, item in enumerate(items, 1):
        row: dict[str, object] = {name: item} | {k: peers[k][number - 1] for k in keys}
        if paired:
            row["prompt"] = str(number)
        yield number, row, name
