"""Decode text, whole, by line or by paragraph: locate wrong bytes, guess the right encoding, refuse other files."""

from __future__ import annotations

import codecs
import io
import tempfile
from collections.abc import Iterator
from typing import BinaryIO

from momus.arguments import arg
from momus.errors import UsageError
from momus.reading.files import CHUNK, OpenedFile
from momus.reading.location import Location, Problem

BOM = codecs.BOM_UTF8
# byte order marks; those of UTF-32 come first, since they begin with those of UTF-16
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# the bytes that other files start with: what they are, and what to do
MAGIC = {
    b"%PDF": ("a PDF file", "extract the text first, for example with pdftotext"),
    b"PK\x03\x04": ("a zip archive (or an office document)", "unpack it, or save it as plain text, first"),
    b"SQLite format 3\x00": ("an SQLite database", "export its rows as JSON Lines first"),
    b"\x80\x04": (
        "a Python pickle",
        "export its documents as JSON Lines first (a pickle can run code and is never read)",
    ),
}


def codec(encoding: str) -> str:
    """Return the normal name of an encoding.

    Raises
    ------
    UsageError
        Python does not know the encoding, or it does not encode text.

    >>> codec("UTF8"), codec("utf-8-sig"), codec("Latin-1")
    ('utf-8', 'utf-8', 'iso8859-1')
    """
    try:
        name = codecs.lookup(encoding).name
        "x".encode(name)
    except (LookupError, ValueError):
        raise UsageError(
            f"unknown encoding {encoding!r}", hint="use one that Python knows, such as utf-8, latin-1, cp1252, utf-16"
        ) from None
    return "utf-8" if name == "utf-8-sig" else name


def check_head(location: Location, head: bytes, encoding: str) -> None:
    """Refuse files that are not text, and UTF-16 or UTF-32 text if ``encoding`` is UTF-8.

    Raises
    ------
    ReadingError
        The message says what the file seems to be, the hint how to read it.
    """
    refuse_others(location, head)
    if encoding != "utf-8":
        return
    guess = _wide_encoding(head)
    if guess:
        raise location.error(
            f"not valid UTF-8 (byte 0, line 1): the file looks like {guess.upper()}",
            f"read it with {arg('encoding', guess)}",
        )
    start = head[:8192]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last character may be incomplete
    except UnicodeDecodeError:
        if b"\0" in start:
            fault = f"this is a binary file (byte {start.index(0)} is NUL), expected text"
            raise location.error(fault, "give a file of JSON Lines, Parquet or plain text") from None


def refuse_others(location: Location, head: bytes) -> None:
    """Refuse archives, databases and other files that hold no text.

    Raises
    ------
    ReadingError
        The message says what the file is, the hint what to do.
    """
    for magic, (kind, hint) in MAGIC.items():
        if head.startswith(magic):
            raise location.error(f"this is {kind}, expected text", hint)
    if head[257:262] == b"ustar":
        raise location.error("this is a tar archive, expected text", "unpack it and give the folder")


def _wide_encoding(head: bytes) -> str | None:
    """Recognise UTF-16 or UTF-32 by its mark or, in mostly Western text, UTF-16 by a NUL in every other byte."""
    for mark, name in MARKS.items():
        if head.startswith(mark):
            return name
    even, odd = head[:4096:2], head[1:4096:2]
    if len(odd) >= 4:
        if odd.count(0) > 0.4 * len(odd) and even.count(0) < 0.1 * len(even):
            return "utf-16-le"
        if even.count(0) > 0.4 * len(even) and odd.count(0) < 0.1 * len(odd):
            return "utf-16-be"
    return None


def lines(
    location: Location, file: OpenedFile, encoding: str, skip: bool = False
) -> Iterator[tuple[int, str | Problem]]:
    """Yield (number in the file from 1, line with its end); only line feeds end lines.

    With ``skip``, a line that is not UTF-8 or too long becomes a `Problem` instead of an error.
    """
    content: BinaryIO = file.content
    if encoding != "utf-8":  # in the bytes of a wide encoding, a line feed is more than one byte
        content = tempfile.TemporaryFile(prefix="momus-")  # noqa: SIM115  closed with the generator
        content.writelines(piece.encode("utf-8", "replace") for piece in chunks(location, file, encoding))
        content.seek(0)
    offset, number = (0, 0) if location.part is None else (location.part.start, location.part.before)
    longest = location.limits.document + 2  # with the line end
    while raw := content.readline(longest):
        number += 1
        if len(raw) == longest and not raw.endswith(b"\n"):
            if not skip:
                raise location.too_long(
                    "the line",
                    number,
                    f"is this a file of lines? If it is, allow more with {arg('limits')}, or keep such lines as "
                    f"counted exclusions with {arg('skip_bad_lines', True)}",
                )
            while rest := content.readline(CHUNK):
                offset += len(rest)
                if rest.endswith(b"\n"):
                    break
            yield number, Problem("too long")
            offset += len(raw)
            continue
        try:
            yield number, (raw.removeprefix(BOM) if number == 1 else raw).decode()
        except UnicodeDecodeError as error:
            if not skip:
                mark = len(BOM) if number == 1 and raw.startswith(BOM) else 0
                raise _decoding_error(
                    location, error, offset + error.start + mark, number, encoding, location.unit == "line"
                ) from None
            yield number, Problem("not valid UTF-8")
        offset += len(raw)


def chunks(location: Location, file: OpenedFile, encoding: str) -> Iterator[str]:
    """Yield the decoded text without the byte order mark, at most 128 KiB of bytes at a time."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, line, first = 0, 1, True
    while True:
        data = file.content.read(CHUNK)
        pending = len(decoder.getstate()[0])  # bytes of an incomplete character, from the last piece
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeError as error:
            # UTF-16 without a mark is a plain UnicodeError before Python 3.13, and a UnicodeDecodeError since
            if isinstance(error, UnicodeDecodeError) and "BOM" not in error.reason:
                line += error.object[: error.start].count(b"\n")
                raise _decoding_error(location, error, offset - pending + error.start, line, encoding) from None
            raise location.error(
                f"not valid {encoding.upper()} ({error})", f"use {arg('encoding', f'{encoding}-le')} or {encoding}-be"
            ) from None
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        offset += len(data)
        line += text.count("\n")
        yield text
        if not data:
            return


def _decoding_error(
    location: Location, error: UnicodeDecodeError, offset: int, line: int, encoding: str, skippable: bool = False
) -> Exception:
    """Make the error for text in another encoding: the position, the byte, and which encoding it may be."""
    byte = error.object[error.start] if error.start < len(error.object) else 0
    fault = f"not valid {encoding.upper()} at byte {offset:,} (0x{byte:02x}), line {line:,}"
    if encoding != "utf-8":
        return location.error(fault, f"give the right one with {arg('encoding')}, for example utf-8")
    if error.reason == "unexpected end of data" and error.end == len(error.object) and byte >= 0xC2:
        return location.error(f"{fault}: the file ends within a character", "the file may be cut off: fetch it again")
    # Latin-1 has control characters at 0x80–0x9F, where Windows-1252 has quotation marks and dashes
    window = error.object[max(0, error.start - 2048) : error.start + 2048]
    guess = "cp1252" if any(0x80 <= b <= 0x9F for b in window) else "latin-1"
    name = "Windows-1252" if guess == "cp1252" else "Latin-1"
    skip = f", or keep such lines as counted exclusions with {arg('skip_bad_lines', True)}" if skippable else ""
    return location.error(f"{fault}: the file may be in {name}", f"read it with {arg('encoding', guess)}{skip}")


def whole(location: Location, file: OpenedFile, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield the whole file as one document, at position 0; all line ends become line feeds."""
    buffer = io.StringIO(newline="")  # grows by doubling, which takes less memory than a list of pieces
    size = 0
    for piece in chunks(location, file, encoding):
        size += len(piece)
        if size > location.limits.document:
            by_line = f"read it line by line with {arg('fmt', 'lines')} or paragraphs"
            raise location.too_long("the file", 0, f"{by_line}, or allow more with {arg('limits')}")
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
