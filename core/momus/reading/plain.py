"""Plain text: one document per file, per line, or per paragraph."""

from __future__ import annotations

import io
from collections.abc import Iterator

from momus.reading.encoding import chunks, lines
from momus.reading.files import OpenedFile
from momus.reading.location import Location, Problem

WHOLE = (
    "read it line by line with --format lines or --format paragraphs, or allow more with --max-document, such as "
    "--max-document 1GB"
)


def whole(location: Location, file: OpenedFile, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield the whole file as one document, at position 0; all line ends become line feeds."""
    buffer = io.StringIO(newline="")  # grows by doubling, which takes less memory than a list of pieces
    size = 0
    for piece in chunks(location, file, encoding):
        size += len(piece)
        if size > location.limits.document:
            raise location.too_long("the file", 0, WHOLE)
        buffer.write(piece)
    text = buffer.getvalue()
    del buffer
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
    start = size = 0
    for number, line in lines(location, file, encoding):
        if isinstance(line, str) and line and not line.isspace():
            start, size = (start, size + len(line)) if paragraph else (number, len(line))
            if size > location.limits.document:
                raise location.too_long("the paragraph", start)
            paragraph.append(line.rstrip("\r\n"))
        elif paragraph:
            yield start, "\n".join(paragraph)
            paragraph = []
    if paragraph:
        yield start, "\n".join(paragraph)
