"""Read texts that are in memory already: lists, generators, data frames, Arrow tables, Hugging Face ``datasets``."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from momus.errors import UsageError
from momus.reading.checking import check
from momus.reading.gathering import Rows
from momus.reading.location import Location, Problem, shorten
from momus.reading.options import ReadingOptions
from momus.reading.paths import LABELS, kind
from momus.reading.recognised import needed_columns
from momus.text.corpus import Corpus
from momus.text.documents import Document

ACCEPTED = (
    "give a path, a list of texts, a list of dicts with a field 'text' or 'sections', a data frame, an Arrow table, "
    "a Hugging Face dataset, or a Corpus"
)
BATCH_ROWS = 1024


@runtime_checkable
class ArrowStream(Protocol):
    """A table of any library that offers the Arrow interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


MemorySource = Iterable[str] | Iterable[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | ArrowStream
"""Texts in memory, see `momus.read_corpus`."""


def gathered(source: MemorySource, name: str, options: ReadingOptions) -> Corpus:
    """Read texts in memory, see `momus.read_corpus`; the options are those `ReadingOptions.of_text`.

    >>> rows = [{"text": "To be.", "prompt_id": "p1"}, {"text": None}, "Not to be."]
    >>> gathered(rows, "hamlet", ReadingOptions()).problems
    [None, 'text is null', None]
    """
    location = Location(None, name, name, unit="row")
    with Rows(options) as reading:
        reading.take(location, _records(source, name, reading.field, reading.needed))
        if reading.rows:
            check(reading, location)
        return reading.corpus(name, name)


def _records(source: Any, name: str, field: str | None, keep: tuple[str, ...]) -> Iterator[object]:
    """Records of any accepted object, each a text, a mapping, or a `Problem`.

    Raises
    ------
    UsageError
        The object is of no accepted kind.
    """
    pandas = sys.modules.get("pandas")  # an object of pandas exists only where pandas is loaded
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _frame_records(source, name, field, keep)
    if pandas is not None and isinstance(source, pandas.Series | pandas.Index):
        return map(_record, source.astype(object).where(source.notna(), None))
    if isinstance(source, Mapping):
        return _column_records(source, name, field, keep)
    if _is_of_hub(source):
        data = source.with_format(None)
        if source.column_names:
            data = data.select_columns(needed_columns(list(source.column_names), field, keep))
        return chain.from_iterable(_rows(list(b), list(b.values())) for b in data.iter(batch_size=BATCH_ROWS))
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return map(_record, source.to_pylist())
    if (batches := _batches(source, field, keep)) is not None:
        return _batch_records(batches, field, keep)
    unordered = isinstance(source, set | frozenset)
    if unordered or isinstance(source, str | bytes | bytearray | io.IOBase) or not hasattr(source, "__iter__"):
        why = "whose order is not settled" if unordered else "which is not a source of texts"
        hint = "give the result of its collect()" if hasattr(source, "collect") else ACCEPTED
        raise UsageError(f"{name!r} is {_type_of(source)}, {why}", hint=hint)
    return map(_record, source)


def _type_of(value: object) -> str:
    """The type of an object for messages, with its module unless built in."""
    if value is None:
        return "None"
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _record(value: Any) -> object:
    """Turn an item into what `Shaper.rows` takes."""
    if isinstance(value, str):
        return value
    if isinstance(value, Document):
        return _of_document(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | np.ndarray):
        return _plain(value)
    if value is None or isinstance(value, float | bytes):
        return Problem("text is null" if value is None else f"text is not a string (found {kind(value)})")
    return Problem(f"record is neither a text nor a dict (found {_type_of(value)})")


def _of_document(document: Document) -> object:
    """The record of a document; one that could not be read keeps its reason."""
    if document.problem is not None:
        return Problem(document.problem)
    labels = {"id": document.id, "prompt": document.prompt, "group": document.group, **document.fields}
    if not document.sectioned:
        return {**labels, "text": document.text}
    sections = [{"text": s.text, "title": s.title} for s in document.sections]
    return {**labels, "sections": sections}


def _plain(value: Any) -> Any:
    """Lists for arrays and tuples, Python numbers for those of NumPy, and None for missing values of pandas."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return None if type(value).__name__ in ("NAType", "NaTType") else value


def _rows(names: Sequence[str], columns: Iterable[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """One dict per row of parallel columns."""
    return (dict(zip(names, map(_plain, row), strict=True)) for row in zip(*columns, strict=True))


def _frame_records(frame: Any, name: str, field: str | None, keep: tuple[str, ...]) -> Iterator[object]:
    """Records of a pandas data frame; named levels of its index count as columns if they hold ids, prompts or groups.

    Missing values are null, and whole numbers in a column that pandas made fractional for a missing value are whole.
    """
    levels = [level for level in frame.index.names if level in LABELS and level not in frame.columns]
    frame = frame.reset_index(level=levels) if levels else frame
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    chosen = needed_columns(list(frame.columns), field, keep)
    doubled = next((n for n in chosen if chosen.count(n) > 1), None)
    if doubled is not None:
        raise UsageError(f"{name!r} has several columns called {doubled!r}", hint="rename all but one")
    frame = frame[chosen].convert_dtypes()
    return map(_record, frame.astype(object).where(frame.notna(), None).to_dict("records"))


def _column_records(source: Mapping[Any, Any], name: str, field: str | None, keep: tuple[str, ...]) -> Iterator[object]:
    """Records of a dict of equally long columns.

    Raises
    ------
    UsageError
        The values are no such columns.
    """
    columns = {str(k): v for k, v in source.items()}
    tables = [k for k, v in columns.items() if _is_of_hub(v) or isinstance(v, ArrowStream) or hasattr(v, "columns")]
    if columns and len(tables) == len(columns):
        first = shorten(tables[0])
        named = ", ".join(shorten(k) for k in tables[:5])
        hint = f"give one of them, such as […][{first}]"
        raise UsageError(f"{name!r} holds the tables {named}, expected one", hint=hint)
    lists = {k: _plain(v) for k, v in columns.items() if isinstance(v, list | tuple | np.ndarray)}
    lengths = {len(v) for v in lists.values()}
    if len(lists) < len(columns) or len(lengths) > 1:
        what = _type_of(source)
        if len(lists) == len(columns):
            raise UsageError(f"{name!r} is {what} whose columns differ in length", hint="give columns of one length")
        hint = "wrap it in a list if it is one record; give list(….values()) if its values are the texts"
        raise UsageError(f"{name!r} is {what} whose values are not all lists", hint=hint)
    chosen = needed_columns(list(lists), field, keep)
    return _rows(chosen, [lists[n] for n in chosen])


def _is_of_hub(source: Any) -> bool:
    """Whether an object is a ``datasets.Dataset`` or ``datasets.IterableDataset``."""
    return hasattr(source, "with_format") and hasattr(source, "select_columns")


def _batches(source: Any, field: str | None, keep: tuple[str, ...]) -> pa.RecordBatchReader | None:
    """The record batches of a table of Arrow, or of any library that narwhals knows; None for other objects.

    Polars, Modin, cuDF; and lazily Polars, DuckDB, Dask, Ibis, PySpark: a lazy frame is collected, with its needed
    columns only. The stream of a single column has no record batches.
    """
    if type(source).__module__ == "builtins":
        return None
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    elif not isinstance(source, Iterator):
        import narwhals as nw

        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.select(needed_columns(frame.collect_schema().names(), field, keep)).collect("pyarrow")
        source = frame.to_arrow() if isinstance(frame, nw.DataFrame) else source
    try:
        return pa.RecordBatchReader.from_stream(source)
    except (pa.ArrowException, TypeError, ValueError):
        return None


def _batch_records(batches: pa.RecordBatchReader, field: str | None, keep: tuple[str, ...]) -> Iterator[object]:
    """Records of Arrow record batches, of the needed columns only."""
    chosen = needed_columns(batches.schema.names, field, keep)
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            for record in batch.select(chosen).slice(start, BATCH_ROWS).to_pylist():
                yield {k: _plain(v) for k, v in record.items()}
