"""Which format a file is in: by the end of its name, then by its first bytes."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

from momus.reading.location import Location

FORMATS = {
    "jsonl": "JSON Lines: one record a line",
    "json": "one JSON list of records, or one JSON document",
    "parquet": "Parquet: one record a row",
    "arrow": "Arrow IPC file or stream: one record a row",
    "text": "plain text: one document a file",
    "lines": "plain text: one document a line",
    "paragraphs": "plain text: one document a paragraph, parted by blank lines",
    "datasets": "a folder that Hugging Face datasets saved",
    "folder": "all files of the formats above in a folder and its subfolders",
}
"""The formats by name, each with what a record is."""

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".txt": "text",
    ".text": "text",
    ".md": "text",
}
PACKED = (".gz", ".zst")
TEXTUAL = ("text", "lines", "paragraphs")


def split_name(path: PurePath) -> tuple[str, str]:
    """Cut a file name into its stem and its suffix, the compression left out.

    >>> split_name(Path("data/docs.v2.jsonl.gz"))
    ('docs.v2', '.jsonl')
    >>> split_name(Path("data/gpt-2.7b"))
    ('gpt-2.7b', '')
    """
    name = path.name
    for suffix in PACKED:
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
    suffix = PurePath(name).suffix
    if suffix and (suffix[1:2].isdigit() or " " in suffix):
        suffix = ""
    return name.removesuffix(suffix), suffix.lower()


def folder_format(path: Path) -> str | None:
    """Tell a folder that ``datasets`` saved from a plain one; None where the path is no folder."""
    if not path.is_dir():
        return None
    if (path / "dataset_dict.json").is_file():
        return "datasets"
    if (path / "state.json").is_file() and (path / "dataset_info.json").is_file():
        return "datasets"
    saved = (path / "state.json").is_file() or (path / "dataset_info.json").is_file()
    return "datasets" if saved and any(path.glob("*.arrow")) else "folder"


def file_format(source: Location, head: bytes) -> str:
    """Tell the format of a file by its name and its first bytes.

    Raises
    ------
    ReadingError
        The name ends in something unknown and the content does not tell.
    """
    suffix = split_name(source.path)[1] if source.path else ".jsonl"
    named = SUFFIXES.get(suffix)
    if named in ("jsonl", "json"):
        return _json_format(head, named)
    if named:
        return named
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return _json_format(head, "json")
    if not suffix:
        return "text"
    if head[257:262] == b"ustar":
        raise source.error("this is a tar archive", "unpack it and name the folder", 0)
    raise source.error(
        f"files that end in {suffix!r} are not known, {', '.join(SUFFIXES)} are (with .gz or .zst too)",
        "say how to read it with --format text, lines, paragraphs, jsonl, json, parquet or arrow",
        0,
    )


def _json_format(head: bytes, named: str) -> str:
    """Tell JSON Lines from one JSON document; a list is one document whatever the name says."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"["):
        return "json"
    if named == "jsonl":
        return named
    line, _, rest = text.partition(b"\n")
    if not rest.strip():
        return "json"
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return "jsonl" if rest.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") else "json"
    return "jsonl"
