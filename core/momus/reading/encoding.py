"""Characters out of bytes: the encoding, with the place and a guess where it is wrong, and what is no text at all."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator

from momus.errors import UsageError
from momus.reading.files import CHUNK, OpenedFile
from momus.reading.location import Location, Problem

BOM = codecs.BOM_UTF8
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
MAGIC = {
    b"PAR1": ("a Parquet file", "read it with --format parquet"),
    b"ARROW1": ("an Arrow file", "read it with --format arrow"),
    b"%PDF": ("a PDF file", "take the text out first, with pdftotext for instance"),
    b"PK\x03\x04": ("a zip archive (or an office document)", "unpack it, or save it as plain text, first"),
    b"BZh": ("a bzip2 file", "unpack it, or compress it with gzip or zstd"),
    b"\xfd7zXZ\x00": ("an xz file", "unpack it, or compress it with gzip or zstd"),
    b"SQLite format 3\x00": ("an SQLite database", "write its rows as JSON Lines first"),
    b"\x80\x04": ("a Python pickle", "write its documents as JSON Lines first (a pickle can run code: it is not read)"),
}


def codec(encoding: str) -> str:
    """Give the normal name of an encoding.

    Raises
    ------
    UsageError
        Python knows no such encoding, or it is not one of text.

    >>> codec("UTF8"), codec("utf-8-sig"), codec("Latin-1")
    ('utf-8', 'utf-8', 'iso8859-1')
    """
    try:
        name = codecs.lookup(encoding).name
        "x".encode(name)
    except (LookupError, ValueError):
        raise UsageError(
            f"unknown encoding {encoding!r}", hint="name one that Python knows, such as utf-8, latin-1, cp1252, utf-16"
        ) from None
    return "utf-8" if name == "utf-8-sig" else name


def check_head(source: Location, head: bytes, encoding: str) -> None:
    """Refuse files that hold no text, or text in UTF-16 or UTF-32 that is said to be in UTF-8.

    Raises
    ------
    ReadingError
        With what the file seems to be, and the way to read it.
    """
    for magic, (kind, hint) in MAGIC.items():
        if head.startswith(magic):
            raise source.error(f"this is {kind}, text was expected", hint, 0)
    if head[257:262] == b"ustar":
        raise source.error("this is a tar archive, text was expected", "unpack it and name the folder", 0)
    if encoding != "utf-8":
        return
    guess = _wide(head)
    if guess:
        raise source.error(
            f"not valid UTF-8 (byte 0, line 1): the file looks like {guess.upper()}",
            f"read it with --encoding {guess}",
            0,
        )
    start = head[:8192]
    if b"\0" in start and not _valid(start):
        raise source.error(
            f"this is a binary file (byte {start.index(0)} is NUL), text was expected",
            "name a file of JSON Lines, Parquet or plain text",
            0,
        )


def _wide(head: bytes) -> str | None:
    """Name UTF-16 or UTF-32 by its mark or, for mostly Western text, by the NULs at every other byte."""
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


def _valid(data: bytes) -> bool:
    """Say whether these are whole UTF-8 characters, the last of which may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def lines(
    source: Location, stream: OpenedFile, encoding: str, skip: bool = False
) -> Iterator[tuple[int, str | Problem]]:
    """Yield (number from 1, line with its end) for each line; lines end with a line feed and nothing else.

    With ``skip`` a line that is not in UTF-8 is a `Problem` instead of an error.
    """
    if encoding != "utf-8":
        yield from enumerate(_cut(chunks(source, stream, encoding)), 1)
        return
    offset = 0
    for number, raw in enumerate(stream.file, 1):
        try:
            yield number, (raw.removeprefix(BOM) if number == 1 else raw).decode()
        except UnicodeDecodeError as error:
            if not skip:
                mark = len(BOM) if number == 1 and raw.startswith(BOM) else 0
                raise _wrong(
                    source, error, offset + error.start + mark, number, encoding, source.unit == "line"
                ) from None
            yield number, Problem("not valid UTF-8")
        offset += len(raw)


def _cut(pieces: Iterator[str]) -> Iterator[str]:
    """Cut text into lines after it has been decoded (the line feed of a wide encoding is not one byte)."""
    rest: list[str] = []
    for piece in pieces:
        for line in io.StringIO(piece, newline="\n"):
            rest.append(line)
            if line.endswith("\n"):
                yield "".join(rest)
                rest = []
    if rest:
        yield "".join(rest)


def chunks(source: Location, stream: OpenedFile, encoding: str) -> Iterator[str]:
    """Yield the text in pieces of some hundred kilobytes, without a byte order mark."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, line, first = 0, 1, True
    while True:
        data = stream.file.read(CHUNK)
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            raise _wrong(source, error, offset - pending + error.start, line, encoding) from None
        except UnicodeError as error:
            raise source.error(
                f"not valid {encoding.upper()} ({error})", f"name {encoding}-le or {encoding}-be", 0
            ) from None
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        offset += len(data)
        line += text.count("\n")
        yield text
        if not data:
            return


def _wrong(
    source: Location, error: UnicodeDecodeError, offset: int, line: int, encoding: str, skippable: bool = False
) -> Exception:
    """Make the error for text in another encoding: where, which byte, and what it may be instead."""
    byte = error.object[error.start] if error.start < len(error.object) else 0
    found = f"not valid {encoding.upper()} at byte {offset:,} (0x{byte:02x}), line {line:,}"
    if encoding != "utf-8":
        return source.error(found, "name the right one with --encoding, utf-8 for instance", 0)
    if error.reason == "unexpected end of data" and error.end == len(error.object) and byte >= 0xC2:
        return source.error(f"{found}: the file ends within a character", "the file may be cut off: fetch it again", 0)
    window = error.object[max(0, error.start - 2048) : error.start + 2048]
    guess = "cp1252" if any(0x80 <= b <= 0x9F for b in window) else "latin-1"
    known = "Windows-1252" if guess == "cp1252" else "Latin-1"
    skip = ", or keep such lines as counted exclusions with --skip-bad-lines" if skippable else ""
    return source.error(f"{found}: the file may be in {known}", f"read it with --encoding {guess}{skip}", 0)
