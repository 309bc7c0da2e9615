"""Plain text: a document a file, a line, or a paragraph."""

from __future__ import annotations

from collections.abc import Iterator

from momus.reading.encoding import chunks, lines
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Problem


def whole(source: Location, stream: OpenedFile, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield the file as one document, at position 0; line ends become line feeds."""
    text = "".join(chunks(source, stream, encoding))
    yield 0, text.replace("\r\n", "\n") if "\r" in text else text


def by_line(source: Location, stream: OpenedFile, encoding: str, skip: bool) -> Iterator[tuple[int, object]]:
    """Yield (line number, line) for each line that is not blank."""
    for number, line in lines(source, stream, encoding, skip):
        if isinstance(line, Problem):
            yield number, line
        elif line and not line.isspace():
            yield number, line.rstrip("\r\n")


def by_paragraph(source: Location, stream: OpenedFile, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield (number of its first line, paragraph) for each run of lines that are not blank."""
    source.unit = "paragraph at line"
    held: list[str] = []
    start = 0
    for number, line in lines(source, stream, encoding):
        if isinstance(line, str) and line and not line.isspace():
            start = start if held else number
            held.append(line.rstrip("\r\n"))
        elif held:
            yield start, "\n".join(held)
            held = []
    if held:
        yield start, "\n".join(held)
