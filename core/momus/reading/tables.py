"""Read comma- and tab-separated values, row by row, all cells as text."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

from momus.errors import ReadingError
from momus.reading.encoding import lines
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Problem, shorten
from momus.reading.records import LABELS

DELIMITERS = {"csv": ",;\t", "tsv": "\t"}
"""Characters that may separate cells, by format; the most frequent one of the first row does."""
C_LONG = 2**31 - 1
"""The largest limit that the parser takes on all systems."""
SKIP = "or keep such rows as counted exclusions with --skip-bad-lines"


def table_rows(
    location: Location, file: OpenedFile, encoding: str, skip: bool, fmt: str
) -> Iterator[tuple[int, object]]:
    r"""Yield (row number from 1, record or `Problem`); the first row of the file names the columns.

    Cells may be quoted, and quoted cells may hold line ends. Empty cells of ids, prompts and groups are null.

    Raises
    ------
    ReadingError
        The first row does not name columns, or a row has another number of cells (with ``skip``, a `Problem`).
    """
    location.unit = "row"
    # the limit is that of the whole process; a document may be longer than 128 KiB
    previous = csv.field_size_limit(min(location.limits.document, C_LONG))
    try:
        yield from _records(location, _Lines(location, file, encoding, fmt), skip)
    finally:
        csv.field_size_limit(previous)


class _Lines:
    """The lines of a file for the parser, and the delimiter of the first."""

    def __init__(self, location: Location, file: OpenedFile, encoding: str, fmt: str) -> None:
        self.numbered = lines(location, file, encoding)
        self.head = self._next()
        while self.head is not None and self.head.isspace():
            self.head = self._next()
        first = Counter(self.head or "")
        self.delimiter = max(DELIMITERS[fmt], key=lambda mark: first[mark])

    def _next(self) -> str | None:
        line = next(self.numbered, (0, None))[1]
        return line if isinstance(line, str) else None

    def __iter__(self) -> Iterator[str]:
        line = self.head
        while line is not None:
            yield line
            line = self._next()


def _records(location: Location, source: _Lines, skip: bool) -> Iterator[tuple[int, object]]:
    reader = csv.reader(source, delimiter=source.delimiter, strict=True)
    names: list[str] | None = None
    number = 0
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            if "field limit" in str(error):
                raise location.too_long("a cell", number + 1) from None
            raise _not_parsed(location, number + 1, start, str(error)) from None
        if cells is None:
            return
        if not cells:  # a blank line
            continue
        if names is None:
            names = _names(location, cells)
            continue
        number += 1
        if len(cells) == len(names):
            yield number, {k: v if v or k not in LABELS else None for k, v in zip(names, cells, strict=True)}
        elif skip:
            yield number, Problem("a row with another number of cells than the first")
        else:
            raise _wrong_length(location, number, start, names, cells, source.delimiter)


def _names(location: Location, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise location.error(
            f"the first row names the column {shorten(repeated[0])} {names.count(repeated[0])} times",
            "give each column its own name in the first row, such as id,text",
            0,
        )
    return names


def _wrong_length(
    location: Location, number: int, line: int, names: list[str], cells: list[str], delimiter: str
) -> ReadingError:
    columns = ", ".join(shorten(name) for name in names[:8])
    mark = "tab" if delimiter == "\t" else repr(delimiter)
    return location.error(
        f"{len(cells)} cells (line {line}), expected {len(names)} for the columns {columns}",
        f'put cells that hold a {mark} or a line end in double quotes ("…"), {SKIP}',
        number,
    )


def _not_parsed(location: Location, number: int, line: int, reason: str) -> ReadingError:
    if "unexpected end of data" in reason:
        return location.error(
            f"the file ends within a quoted cell that begins in line {line} or later",
            "close the quotation mark, and write each quotation mark within a quoted cell twice",
            number,
        )
    return location.error(
        f"not a row of cells: {reason} (line {line})",
        "write each quotation mark within a quoted cell twice, and nothing after the closing one",
        number,
    )
