"""Recognise the format of a text by its first records, by the columns of a table, or within a JSON document."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from momus.reading.chat import holds_answer, is_packed
from momus.reading.formats import MODELS, Format, format_named, formats, wrapped
from momus.reading.messages import is_chat
from momus.reading.paths import LABELS, MISSING, look_up, names_in, origins, quoted, search, unquoted

SAMPLE = 20
"""Records by which a format is recognised."""
PLAIN = Format("", "", ())
"""Records of no known format, whose texts are in the field ``text`` or in one that is named."""
AUTHORS = {"human", "humans", "people", "person", "machine", "ai", "llm", "gpt", "chatgpt", "real", "fake", "generated"}
AUTHORS |= {f"{who}{mark}{how}" for who in AUTHORS for mark in " -_" for how in ("written", "generated", "text")}
"""Values of a column that says who wrote a text."""
LABELLED = ("label", "labels", "class", "source", "author", "writer", "written_by", "origin", "target", "type", "src")
FLAGS = ("generated", "is_ai", "is_generated", "is_human", "is_machine", "ai_generated")
"""Columns that may say who wrote a text: by such a value, and by their names."""
WRITERS = (*MODELS, *FLAGS, *LABELLED)
"""Columns that may say who wrote a text."""
TRUTHS = ("0", "1", "true", "false", "0.0", "1.0")
NESTS = ("fields", "data", "row", "record", "sample", "example", "item", "result", "values", "attributes")
"""Fields whose objects may be records of a known format."""
DEEPEST = 3
"""Levels of a JSON document, below the first, on which tables are looked for."""
FEWEST = 3
"""Words of most keys of an object whose values are answers to them."""
Rows = list[Mapping[str, Any]]


def _most(held: Iterator[bool], rows: Sequence[object]) -> bool:
    return bool(rows) and 2 * sum(held) > len(rows)


def packed(records: Sequence[object], field: str) -> bool:
    """Whether a field of most records holds chats within texts, or replies of servers."""
    values = [value for r in records if isinstance(r, Mapping) and (value := look_up(r, field)) is not MISSING]
    # answers may stand in quotation marks; where these come with escapes, JSON wrote them
    quoted = all(unquoted(v) is not v for v in values) and any("\\" in str(v) for v in values)
    return quoted or _most(map(is_packed, values), values)


def recognised(records: Sequence[object]) -> Format | None:
    """The format of the first records; None if most fit none.

    >>> recognised([{"instruction": "Who?", "input": "", "output": "Nobody."}]).title
    'Alpaca'
    >>> recognised([{"fields": {"instruction": "Who?", "response": "Nobody."}}]).answer
    ('fields.response',)
    """
    rows: Rows = [r for r in map(wrapped, records) if isinstance(r, Mapping)]
    known = _in_table(rows)
    if known is not None and (known.sides or any(known.who(r)[1] for r in rows)):
        return known
    if known is None and rows and _most((is_packed(r.get("text")) for r in rows), rows):
        known = Format("chat-in-text", "chats in texts", (), answer=("text",))
    if known is None and not any("text" in r or "sections" in r for r in rows):
        known = _nested(rows) or _by_content(rows)
    writers = _writers(rows)
    return known if writers is None else replace(known or PLAIN, model=(writers,))


def _in_table(rows: Rows) -> Format | None:
    """The first format of the table that fits most of the rows that it counts as answers."""
    fields = frozenset(name for row in rows for name in row)
    likely = (entry for entry in formats() if all(signs & fields for signs in entry.signs))
    for known in (variant for entry in likely for variant in entry.variants()):
        counted = [r for r in rows if known.counts(r)]
        if _most(map(known.fits, counted), counted):
            return known
    return None


def _writers(rows: Rows) -> str | None:
    """The column that says who wrote each text; None if there is none."""
    for row in rows:
        # works of several hands, such as stories, are often one text
        models = MODELS if "sections" not in row else ()
        for name, value in row.items():
            said = str(value).strip().lower()
            if name in models or (name in FLAGS and said in TRUTHS) or (name in LABELLED and said in AUTHORS):
                return name
    return None


def _nested(rows: Rows) -> Format | None:
    """The format of the objects in a field of the rows."""
    for name, value in ((n, v) for n, v in (rows[0] if rows else {}).items() if n in NESTS):
        inner: Rows = [r[name] for r in rows if isinstance(r.get(name), Mapping)]
        if (
            isinstance(value, Mapping)
            and _most((True for _ in inner), rows)
            and (known := _in_table(inner)) is not None
        ):
            inside = known.within(quoted(name))
            return replace(inside, prompt=(*inside.prompt, *_asks()))
    return None


def _by_content(rows: Rows) -> Format | None:
    """A format whose answers are in the only place that holds chats with answers, or replies of servers."""
    paths = [quoted(name) for name in (rows[0] if rows else {}) if name not in _asks()]
    paths += [f"{p}.{quoted(n)}" for p in paths if isinstance(inner := search(p, rows[0]), Mapping) for n in inner]
    for path in paths:
        if _most((holds_answer(search(path, r)) for r in rows), rows):
            return Format("answers", "chats and replies of servers", (), answer=(path,), prompt=_asks())
    return None


def _asks() -> tuple[str, ...]:
    """The names of fields that hold prompts."""
    entry = format_named("prompt-and-answer")
    return () if entry is None else (*entry.prompt, "request")


def asked_by(records: Sequence[object], field: str) -> Format | None:
    """The format of records of no known one whose field is named: the names of their prompts; None without prompts."""
    first = next((r for r in records if isinstance(r, Mapping)), None)
    if first is None or any(name in first for name in ("prompt", "prompt_id", "id_prompt")):
        return None
    names = [n for n in first if n.rpartition(".")[2].lower() in _asks() and n != field]
    return replace(PLAIN, prompt=tuple(map(quoted, names[:1]))) if names else None


def example(kind: pa.DataType) -> object:
    """A value of a type of columns, which has all fields that its values may have."""
    if pa.types.is_struct(kind):
        return {inner.name: example(inner.type) for inner in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [example(kind.value_type)]
    return "x"


def records_within(value: Mapping[str, Any]) -> list[object] | None:
    """The records of a JSON document: of a known format, of rows with columns, of columns, or under names."""
    for known in formats():
        listed = look_up(value, known.records) if known.records else None
        if isinstance(listed, list) and listed and recognised(listed[:SAMPLE]) is not None:
            return listed
    columns, rows = value.get("columns"), value.get("data")
    if (
        isinstance(columns, list)
        and isinstance(rows, list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in rows)
    ):
        return [dict(zip(map(str, columns), row, strict=True)) for row in rows]
    tables = list(_tables(value))
    likely = [table for table, _ in tables if recognised(table[:SAMPLE]) is not None]
    if _in_table([value]) is not None and not (likely and (_is_uniform(value) or _columns(value))):
        return None
    likely = likely or [table for table, is_named in tables if is_named]
    return likely[0] if len(likely) == 1 else None


def _tables(value: Mapping[str, Any], depth: int = DEEPEST) -> Iterator[tuple[list[object], bool]]:
    """The lists of objects in a document, and what may be one: columns, answers by prompt, objects under names.

    Each comes with whether it is the last of these.
    """
    if _are_ids(value) and all(isinstance(v, str) or _are_answers(v, len(value)) for v in value.values()):
        yield [{"id": key, "prompt_id": key, "text": answer} for key, answer in value.items()], True
    elif (columns := _columns(value)) is not None:
        # of prompts and responses, each record holds a prompt and a response
        singular: list[object] = [{n.removesuffix("s"): item for n, item in row.items()} for row in columns]
        yield ([*columns] if recognised(columns[:SAMPLE]) is not None else singular), False
    elif _is_uniform(value):
        yield [{"id": key, **inner} for key, inner in value.items()], True
    elif len(value) >= FEWEST and all(isinstance(v, str) for v in value.values()):
        if _most((len(key.split()) >= FEWEST for key in value), list(value)):
            yield [{"prompt": key, "output": answer} for key, answer in value.items()], False
    else:
        for inner in value.values():
            if isinstance(inner, list) and inner and all(isinstance(item, Mapping | list) for item in inner[:SAMPLE]):
                yield from () if is_chat(inner) else ((inner, False),)
            elif isinstance(inner, Mapping) and depth:
                yield from _tables(inner, depth - 1)


def _are_ids(keys: Collection[str]) -> bool:
    """Whether names are ids of one kind: numbered, or of digits and letters a to f.

    >>> _are_ids(["q1", "q2", "q3"]), _are_ids(["title", "text", "h1"])
    (True, False)
    """
    kinds = {re.sub(r"[0-9a-f]*\d[0-9a-f]*", "0", key.lower()) for key in keys}
    return len(keys) >= FEWEST and len(kinds) == 1 and "0" in kinds.pop()


def _are_answers(value: object, prompts: int) -> bool:
    """Whether a value is a list of texts, and no column of a table: there are more prompts than answers to one."""
    return isinstance(value, list) and len(value) < prompts and all(isinstance(v, str) for v in value)


def _is_uniform(value: Mapping[str, Any]) -> bool:
    """Whether all values of an object are objects with the same fields."""
    first = next(iter(value.values()), None)
    return (
        len(value) > 1
        and isinstance(first, Mapping)
        and len(first) > 1
        and all(isinstance(inner, Mapping) and inner.keys() == first.keys() for inner in value.values())
    )


def _columns(value: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object of columns, which are lists of one length, or objects with the numbers of the rows."""
    columns: dict[str, Any] = {}
    for name, column in value.items():
        numbered = isinstance(column, Mapping) and bool(column) and [*column] == [str(i) for i in range(len(column))]
        columns[name] = list(column.values()) if numbered else column
    lengths = {len(v) if isinstance(v, list) and not isinstance(v[:1], Mapping) else 0 for v in columns.values()}
    if len(columns) < 2 or len(lengths) > 1 or max(lengths) < 2:
        return None
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def needed_columns(columns: Sequence[str] | pa.Schema, field: str | None, keep: Sequence[str]) -> list[str]:
    """The columns of a table to read: labels, metadata to keep, and the text; all, if it is not clear which.

    Names alone make no format certain; the types of a schema do.

    >>> needed_columns(["id", "score", "text"], None, []), needed_columns(["id", "score", "reply"], None, [])
    (['id', 'text'], ['id', 'score', 'reply'])
    """
    typed = isinstance(columns, pa.Schema)
    schema: Any = columns if typed else pa.schema([(name, pa.string()) for name in columns])
    names, record = schema.names, {column.name: example(column.type) for column in schema}
    known = [entry for entry in formats() if entry.fits(record)]
    kept = (name for kept in keep for path in origins(kept)[1] for name in names_in(path))
    wanted = {*LABELS, *WRITERS, *kept, *(name for entry in known for name in entry.names)}
    if field is not None:
        wanted |= {"section_names", *names_in(field)}
        unclear = not (names_in(field) & record.keys() or any(typed and field in entry.sides for entry in known))
    else:
        unclear = not (typed and known) and "text" not in record and "sections" not in record
        wanted |= {"sections", "section_names", "text"}
    return [name for name in names if unclear or name in wanted]


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of columns is that of texts, as they are or in a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
