"""JSON Lines, and JSON lists that are read item by item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from momus.errors import ReadingError
from momus.reading.columns import from_object
from momus.reading.encoding import chunks, lines
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Problem, shorten

WHITE = re.compile(r"[ \t\r\n]*")
SKIP = "mend the line, or keep it as a counted exclusion with --skip-bad-lines"


def json_lines(source: Location, stream: OpenedFile, encoding: str, skip: bool) -> Iterator[tuple[int, object]]:
    """Yield (line number, JSON value or `Problem`) for each line that is not blank.

    Raises
    ------
    ReadingError
        A line is not JSON (with ``skip`` it is a `Problem`), or not text.
    """
    for number, line in lines(source, stream, encoding, skip):
        if isinstance(line, Problem):
            yield number, line
        elif line and not line.isspace():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                if not skip:
                    raise _bad_line(source, number, line, error) from None
                yield number, Problem("not valid JSON")
            except RecursionError:
                yield number, Problem("JSON is nested too deeply")
            except ValueError:
                yield number, Problem("JSON holds a number with too many digits")


def _bad_line(source: Location, number: int, line: str, error: json.JSONDecodeError) -> ReadingError:
    near = shorten(line[max(0, error.pos - 10) :].strip())
    found = f"not valid JSON: {error.msg} at column {error.colno}, near {near}"
    if number == 1 and line.strip() in ("{", "[", "[{"):
        return source.error(
            f"{found}; this looks like one JSON document over several lines, one record a line was expected",
            "read it with --format json",
            number,
        )
    if not line.endswith("\n"):
        return source.error(f"{found}; the last line seems cut off", f"write the file again, {SKIP}", number)
    return source.error(found, SKIP, number)


def json_document(
    source: Location, stream: OpenedFile, encoding: str, field: str | None
) -> Iterator[tuple[int, object, str | None]]:
    """Yield (number, value, field that holds the text) for a list, a single document, or one value after another.

    A list is read item by item; the position counts the items.

    Raises
    ------
    ReadingError
        The text is not JSON, or breaks off.
    """
    source.unit = "item"
    reader = _Reader(source, chunks(source, stream, encoding))
    if reader.next() == "[":
        for number, value in enumerate(reader.items(), 1):
            yield number, value, field
        return
    if not reader.next():
        return
    first = reader.value()
    if not reader.next():
        yield from from_object(source, first, field)
        return
    yield 1, first, field
    number = 1
    while reader.next():
        number += 1
        yield number, reader.value(), field


class _Reader:
    """Takes JSON values from pieces of text, with no more than a few values in memory.

    Where a value goes on beyond the text at hand, at least as much again is read before the next try: a long value
    is scanned a few times, never once a piece.
    """

    def __init__(self, source: Location, pieces: Iterator[str]) -> None:
        self.source, self.pieces = source, pieces
        self.text, self.at, self.line, self.count = "", 0, 1, 0
        self.decoder = json.JSONDecoder()

    def more(self) -> bool:
        """Read on; False at the end."""
        self.line += self.text.count("\n", 0, self.at)
        parts = [self.text[self.at :]]
        wanted, got = max(1, len(parts[0])), 0
        for piece in self.pieces:
            parts.append(piece)
            got += len(piece)
            if got >= wanted:
                break
        self.text, self.at = "".join(parts), 0
        return got > 0

    def next(self) -> str:
        """Show the next character that is not white space; an empty string at the end."""
        while True:
            match = WHITE.match(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def value(self) -> object:
        """Take one value."""
        self.count += 1
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if _may_go_on(error) and self.more():
                    continue
                raise self.error(error.msg, error.pos, _may_go_on(error)) from None
            except RecursionError:
                raise self.error("nested too deeply", self.at) from None
            except ValueError:
                raise self.error("a number with too many digits", self.at) from None
            if end == len(self.text) and not isinstance(value, (str, list, dict)) and self.more():
                continue
            self.at = end
            return value

    def items(self) -> Iterator[object]:
        """Take the items of the list that starts here."""
        self.at += 1
        if self.next() == "]":
            self.at += 1
        else:
            while True:
                self.next()
                yield self.value()
                mark = self.next()
                self.at += 1
                if mark == "]":
                    break
                if mark != ",":
                    raise self.error("Expecting ',' or ']'", self.at - 1, not mark)
        if self.next():
            raise self.error("more text after the end of the list", self.at)

    def error(self, reason: str, at: int, cut: bool = False) -> ReadingError:
        """Make an error about the value that was read last."""
        line = self.line + self.text.count("\n", 0, at)
        if cut:
            return self.source.error(
                f"the JSON text breaks off in line {line} ({reason})",
                "the file is cut off: write or fetch it again; JSON Lines survive a cut with --skip-bad-lines",
                self.count,
            )
        near = shorten(self.text[at : at + 40].strip())
        return self.source.error(
            f"not valid JSON: {reason} in line {line}, near {near}",
            "mend the file, or write one record a line (.jsonl)",
            self.count,
        )


def _may_go_on(error: json.JSONDecodeError) -> bool:
    """Say whether more text could mend the error: a string without end, or a fault at the very end."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip()) - 9
