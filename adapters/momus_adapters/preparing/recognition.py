"""Recognise sources of documents with headings."""

from __future__ import annotations

import os
from collections import Counter
from glob import glob, has_magic
from pathlib import Path, PurePath, PurePosixPath

from momus.reading.location import Location, remote_name
from momus.reading.markup import SUFFIXES as MARKUP
from momus.reading.remote import is_address, list_remote
from momus.reading.sniffing import SUFFIXES, TEXTUAL, split_name
from momus.redact import redacted


def holds_markup(source: str) -> bool:
    """Whether a path or an address is that of a document with headings, or of more of these than of records.

    >>> holds_markup("docs/use.md"), holds_markup("docs.jsonl"), holds_markup("docs/**/*.rst")
    (True, False, True)
    """
    suffixes = Counter(suffix for stem, suffix in map(split_name, _files_of(source)) if suffix)
    records = sum(n for suffix, n in suffixes.items() if SUFFIXES.get(suffix, "text") not in TEXTUAL)
    return sum(suffixes[suffix] for suffix in MARKUP) > records


def _files_of(source: str) -> list[PurePath]:
    """The files of a path, a pattern or an address, hidden ones aside; a pattern of one extension stands for these."""
    if is_address(source):
        place = PurePosixPath(remote_name(source))
        if has_magic(source) and not has_magic(place.suffix) and place.suffix:
            return [place]
        listed = list_remote(Location(None, redacted(source), "", url=source))
        return [place] if listed is None else [p for p in listed if not any(part.startswith(".") for part in p.parts)]
    path = Path(source)
    pattern = has_magic(source) and not path.exists()
    if pattern and not has_magic(path.suffix) and path.suffix:
        return [path]
    if pattern:
        return [file for name in glob(source, recursive=True) if (file := Path(name)).is_file()]
    if path.is_dir():
        files = [Path(parent, name) for parent, folders, names in os.walk(path) for name in names]
        return [f for f in files if not any(part.startswith(".") for part in f.relative_to(path).parts)]
    return [path]
