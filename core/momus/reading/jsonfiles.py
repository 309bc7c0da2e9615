"""Read JSON Lines, JSON lists item by item, and JSON objects: a document, or parallel lists of documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from momus.arguments import arg
from momus.errors import ReadingError
from momus.limits import size_text
from momus.reading.encoding import chunks, lines
from momus.reading.files import CHUNK, OpenedFile
from momus.reading.location import Location, Problem, shorten
from momus.reading.paths import ID_FIELDS, LABELS, MISSING, PROMPT_FIELDS, look_up
from momus.reading.recognised import records_within

SHOWN = 6
"""Lists of an object that an error names."""
WHITE = re.compile(r"[ \t\r\n]*")


def json_lines(location: Location, file: OpenedFile, encoding: str, skip: bool) -> Iterator[tuple[int, object]]:
    """Yield (line number, JSON value or `Problem`) for each line that is not blank.

    Raises
    ------
    ReadingError
        A line is not JSON or not text (with ``skip``, it becomes a `Problem`).
    """
    for number, line in lines(location, file, encoding, skip):
        if isinstance(line, Problem):
            yield number, line
        elif line and not line.isspace():
            value: object
            try:
                value = json.loads(line)
            except json.JSONDecodeError as error:
                if not skip:
                    raise _bad_line(location, number, line, error) from None
                value = Problem("not valid JSON")
            except RecursionError:
                value = Problem("JSON is nested too deeply")
            except ValueError:
                value = Problem("JSON holds a number with too many digits")
            del line  # up to four times the memory of the file, not needed while the document is stored
            yield number, value


def _bad_line(location: Location, number: int, line: str, error: json.JSONDecodeError) -> ReadingError:
    near = shorten(line[max(0, error.pos - 10) :].strip())
    fault = f"not valid JSON: {error.msg} at column {error.colno}, near {near}"
    if number == 1 and line.strip() in ("{", "[", "[{"):
        return location.error(
            f"{fault}; this looks like one JSON document over several lines, expected one record per line",
            f"read it with {arg('fmt', 'json')}",
            number,
        )
    way_out = "fix the line"
    if not line.endswith("\n"):
        fault, way_out = f"{fault}; the last line seems cut off", "write the file again, fix the line"
    return location.error(
        fault, f"{way_out}, or keep it as a counted exclusion with {arg('skip_bad_lines', True)}", number
    )


def json_document(
    location: Location, file: OpenedFile, encoding: str, field: str | None
) -> tuple[Iterator[tuple[int, object]], str | None]:
    """Number and value of the items of a list, of what an object holds (`from_object`), or of a sequence of values.

    The field that holds their text comes with them. A list is read item by item.

    Raises
    ------
    ReadingError
        The text is not JSON, or is cut off.
    """
    location.unit = "item"
    reader = _Reader(location, chunks(location, file, encoding))
    values: Iterable[object] = reader.values()
    if not reader.listed:
        first = list(islice(values, 1))
        values = chain(first, values)
        if first and not reader.next():
            values, field = from_object(location, first[0], field)
    return enumerate(values, 1), field


class _Reader:
    """Parses JSON values from pieces of text, with no more than a few values in memory.

    If a value extends beyond the text read so far, at least as much again is read before the next attempt. A long value
    is thus scanned a few times, not once per piece.
    """

    def __init__(self, location: Location, pieces: Iterator[str]) -> None:
        self.location, self.pieces = location, pieces
        self.text, self.at, self.line, self.count = "", 0, 1, 0
        self.decoder = json.JSONDecoder()
        self.listed = False

    def more(self) -> bool:
        """Read more text, at least as much as is unparsed; False at the end."""
        self.line += self.text.count("\n", 0, self.at)
        pieces = [self.text[self.at :]]
        least, length = max(1, len(pieces[0])), 0
        for piece in self.pieces:
            pieces.append(piece)
            length += len(piece)
            if length >= least:
                break
        self.text, self.at = "".join(pieces), 0
        return length > 0

    def next(self) -> str:
        """Return the next character that is not white space, without consuming it; an empty string at the end."""
        while True:
            match = WHITE.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def value(self) -> object:
        """Parse one value."""
        self.count += 1
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if _may_continue(error) and self.more():
                    limits = self.location.limits
                    most = limits.document if self.listed else limits.value
                    if len(self.text) - self.at > most + CHUNK:
                        whole = f"the JSON document (the most is {size_text(most)} as a whole)"
                        what, number = ("the item", self.count) if self.listed else (whole, 0)
                        raise self.location.too_long(what, number) from None
                    continue
                raise self.error(error.msg, error.pos, _may_continue(error)) from None
            except RecursionError:
                raise self.error("nested too deeply", self.at) from None
            except ValueError:
                raise self.error("a number with too many digits", self.at) from None
            # a number at the end of the text may have more digits in the next piece
            if end == len(self.text) and not isinstance(value, (str, list, dict)) and self.more():
                continue
            self.at = end
            return value

    def values(self) -> Iterator[object]:
        """Parse the items of the list that starts here, or values that follow one another."""
        self.listed = self.next() == "["
        return self._items() if self.listed else self._following()

    def _following(self) -> Iterator[object]:
        while self.next():
            yield self.value()

    def _items(self) -> Iterator[object]:
        self.at += 1
        mark = self.next()
        while mark != "]":
            self.next()
            yield self.value()
            mark = self.next()
            if mark not in (",", "]"):
                raise self.error("Expecting ',' or ']'", self.at, not mark)
            self.at += mark == ","
        self.at += 1
        if self.next():
            raise self.error("more text after the end of the list", self.at)

    def error(self, reason: str, at: int, cut: bool = False) -> ReadingError:
        """Make an error about the value that is being parsed."""
        line = self.line + self.text.count("\n", 0, at)
        if cut:
            return self.location.error(
                f"the JSON text is cut off in line {line} ({reason})",
                f"write or fetch the file again; {arg('skip_bad_lines', True)} keeps the whole lines",
                self.count,
            )
        near = shorten(self.text[at : at + 40].strip())
        return self.location.error(
            f"not valid JSON: {reason} in line {line}, near {near}",
            "fix the file, or write one record per line (.jsonl)",
            self.count,
        )


def _may_continue(error: json.JSONDecodeError) -> bool:
    """Whether more text could resolve the error: an unterminated string, or a fault at the very end."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip()) - 9


def from_object(location: Location, value: object, field: str | None) -> tuple[Sequence[object], str | None]:
    """The records in the single value of a file, and the field that holds their text.

    An object is one document, unless the field names a list and the object has no id: then each item is a document.
    Other lists of the same length are columns; without a prompt column, the row number becomes the prompt, which pairs
    documents across columns. A path such as ``items.body`` is the field ``body`` of each object in the list ``items``.

    >>> from momus.reading.location import Location
    >>> sides = {"original": ["a", "b"], "sampled": ["c", "d"]}
    >>> from_object(Location(None, "x.json", "x"), sides, "sampled")[0][1]
    {'prompt': '2', 'original': 'b', 'sampled': 'd'}

    Raises
    ------
    ReadingError
        The object holds several lists, and no field chooses one.
    """
    if not isinstance(value, Mapping):
        return [value], field
    path = field or ""
    for dot in re.finditer(r"\.(?!\d)", path):  # a number is that of an item
        items = look_up(value, path[: dot.start()])
        if isinstance(items, list) and items and all(isinstance(item, Mapping) for item in items):
            return items, path[dot.end() :]
    if (field is None or look_up(value, field) is MISSING) and (listed := records_within(value)) is not None:
        return listed, field
    name = field or ("text" if "sections" not in value else "sections")
    items = look_up(value, name)
    single = any(isinstance(value.get(key), (str, int)) for key in ID_FIELDS) or name == "sections"
    if isinstance(items, list) and items and not single:
        objects = all(isinstance(item, Mapping) for item in items)
        return (items, None) if objects else (_rows(value, name, items), name)
    lists = {k: len(v) for k, v in value.items() if isinstance(v, list) and v and isinstance(v[0], (str, dict))}
    # a string that is not its id, prompt or title makes the object one document
    has_text = any(isinstance(v, str) for k, v in value.items() if k not in (*LABELS, "title"))
    if items is MISSING and lists and not (field is None and has_text):
        some = dict(islice(lists.items(), SHOWN))
        choices = ", ".join(f"{k!r} ({n:,} items)" for k, n in some.items())
        choices += f" and {len(lists) - SHOWN:,} more" if len(lists) > SHOWN else ""
        missing = f"no field {field!r}" if field else "no field 'text' or 'sections'"
        raise location.error(
            f"{missing}; the file is one JSON object with the lists {choices}",
            "choose one: " + " or ".join(f"{location.label}#{k}" for k in some),
        )
    return [value], field


def _rows(value: Mapping[str, object], name: str, items: list[object]) -> list[object]:
    """The rows of a list of texts and of the lists beside it that are as long."""
    beside = {k: v for k, v in value.items() if isinstance(v, list) and len(v) == len(items)}
    if len(beside) > 1 and not beside.keys() & {*PROMPT_FIELDS}:
        beside = {"prompt": list(map(str, range(1, len(items) + 1))), **beside}
    columns = {**beside, name: items}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
