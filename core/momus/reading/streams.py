"""What a file holds: its format, by its name and its first bytes, and its records with their positions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from momus.arguments import arg
from momus.errors import UsageError
from momus.plugins import READERS, registered
from momus.reading import jsonfiles, tables
from momus.reading.encoding import by_line, by_paragraph, check_head, whole
from momus.reading.files import COMPRESSIONS, OpenedFile
from momus.reading.location import Location, shorten
from momus.reading.markup import SUFFIXES as MARKUP
from momus.reading.markup import markup_record

FORMATS = {
    "jsonl": "JSON Lines: one record per line",
    "json": "one JSON list of records, or one JSON document",
    "csv": "comma-separated values: one record per row; the first row names the columns",
    "tsv": "tab-separated values: one record per row; the first row names the columns",
    "parquet": "Parquet: one record per row",
    "arrow": "Arrow IPC file or stream: one record per row",
    "text": "plain text: one document per file",
    "lines": "plain text: one document per line",
    "paragraphs": "plain text: one document per paragraph; blank lines separate them",
    "markup": "one document with headings per file (Markdown, HTML, LaTeX, MediaWiki)",
}
"""Formats by name, with what a record is in each."""

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".txt": "text",
    ".text": "text",
    ".md": "text",
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
"""Formats by the bytes that their files begin with, whatever these are called."""
PACKED = tuple(suffix for _, suffix in COMPRESSIONS)
"""Extensions of compression, which stand behind that of the format."""
TEXTUAL = ("text", "lines", "paragraphs")
TABULAR = ("csv", "tsv")


def split_name(path: PurePath) -> tuple[str, str]:
    """Split a file name into stem and extension; extensions of compression are dropped.

    >>> split_name(PurePath("data/docs.v2.jsonl.gz"))
    ('docs.v2', '.jsonl')
    >>> split_name(PurePath("data/gpt-2.7b"))
    ('gpt-2.7b', '')
    """
    name = path.name
    for suffix in PACKED:
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
    suffix = PurePath(name).suffix
    # what follows the dot of a version number or of an abbreviation is not an extension
    if suffix and (suffix[1:2].isdigit() or " " in suffix):
        suffix = ""
    return name.removesuffix(suffix), suffix.lower()


def file_format(location: Location, head: bytes) -> str:
    """Recognise the format of a file by its name and its first bytes.

    Raises
    ------
    ReadingError
        The extension is unknown, and the content is not recognised.
    """
    for magic, kind in MAGIC.items():
        if head.startswith(magic):
            return kind
    suffix = split_name(location.name)[1] if location.name else ".jsonl"
    known = SUFFIXES.get(suffix)
    if known in ("jsonl", "json"):
        return _json_format(head, known)
    if known == "text" and head.lstrip(b"\xef\xbb\xbf")[:1] == b"{" and _is_json(head.partition(b"\n")[0]):
        return "jsonl"
    if known:
        return known
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return _json_format(head, "json")
    if not suffix:
        return "text"
    readers = ", ".join(f"{name}:PATH" for name in registered(READERS))
    raise location.error(
        f"unknown extension {suffix!r} of a file that starts with "
        f"{shorten(head[:40].decode('utf-8', 'replace'))}; "
        f"known are {', '.join(SUFFIXES)}, also with {', '.join(PACKED)}",
        f"choose how to read it with {arg('fmt', 'text')}, lines, paragraphs, jsonl, json, csv, tsv, parquet "
        f"or arrow{f', or read a log with {readers}' if readers else ''}",
    )


def _json_format(head: bytes, named: str) -> str:
    """Tell JSON Lines from one JSON value; a list is one value whatever the file is called."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    line, _, rest = text.partition(b"\n")
    if text.startswith(b"["):
        return "jsonl" if rest.lstrip().startswith(b"[") and _is_json(line) else "json"
    if named == "jsonl":
        return named
    if not rest.strip():
        return "json"
    if _is_json(line):
        return "jsonl"
    return "jsonl" if rest.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") else "json"


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def records_in(
    location: Location,
    file: OpenedFile,
    kind: str,
    encoding: str = "utf-8",
    skip: bool = False,
    field: str | None = None,
    needed: Sequence[str] | None = None,
) -> tuple[Iterator[tuple[int, object]], str | None]:
    """Position and value of each record of a file of this format, and the field that holds their text.

    Parameters
    ----------
    skip
        Whether lines that cannot be read become a `Problem` each.
    needed
        Paths that are needed beside the field and the labels; None: all columns of a table.

    Raises
    ------
    ReadingError
        The file is of another format, or damaged; also while the records are read.
    """
    if kind in ("parquet", "arrow"):
        return (tables.parquet if kind == "parquet" else tables.arrow)(location, file, field, needed), field
    check_head(location, file.head, encoding)
    if kind == "json":
        return jsonfiles.json_document(location, file, encoding, field)
    if kind == "jsonl":
        return jsonfiles.json_lines(location, file, encoding, skip), field
    if kind in TABULAR:
        return tables.table_rows(location, file, encoding, skip, kind), field
    if kind == "markup":
        suffix = split_name(location.name)[1] if location.name else ""
        if suffix not in MARKUP:
            raise location.error(
                f"the name does not say the markup (extension {suffix!r})",
                f"give the file an extension that does: {', '.join(MARKUP)}, also with {', '.join(PACKED)}",
            )
        return ((n, markup_record(str(text), MARKUP[suffix])) for n, text in whole(location, file, encoding)), field
    if location.name and SUFFIXES.get(split_name(location.name)[1]) in TABULAR:
        # column names and broken cells would be documents
        raise UsageError(
            f"{location.label}: the name is that of a table, which {arg('fmt', kind)} would not take apart",
            hint=f"leave out {arg('fmt', kind)}; if the file is plain text after all, rename it to .txt",
        )
    if kind == "lines":
        return by_line(location, file, encoding, skip), field
    return (by_paragraph if kind == "paragraphs" else whole)(location, file, encoding), field
