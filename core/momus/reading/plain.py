"""Plain text: one document per file, per line, or per paragraph."""

from __future__ import annotations

from collections.abc import Iterator

from momus.reading.encoding import chunks, lines
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Problem


def whole(location: Location, file: OpenedFile, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield the whole file as one document, at position 0; all line ends become line feeds."""
    text = "".join(chunks(location, file, encoding))
    yield 0, text.replace("\r\n", "\n") if "\r" in text else text


def by_line(location: Location, file: OpenedFile, encoding: str, skip: bool) -> Iterator[tuple[int, object]]:
    """Yield (line number, line) for each line that is not blank."""
    for number, line in lines(location, file, encoding, skip):
        if isinstance(line, Problem):
            yield number, line
        elif line and not line.isspace():
            yield number, line.rstrip("\r\n")


def by_paragraph(location: Location, file: OpenedFile, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield (number of its first line, paragraph) for each run of lines that are not blank."""
    location.unit = "paragraph at line"
    paragraph: list[str] = []
    start = 0
    for number, line in lines(location, file, encoding):
        if isinstance(line, str) and line and not line.isspace():
            start = start if paragraph else number
            paragraph.append(line.rstrip("\r\n"))
        elif paragraph:
            yield start, "\n".join(paragraph)
            paragraph = []
    if paragraph:
        yield start, "\n".join(paragraph)
