"""The files of a folder and its subfolders that can be read."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from momus.reading.location import Location
from momus.reading.sniffing import PACKED, SUFFIXES, TEXTUAL, split_name

ASIDE = ("readme", "license", "licence", "copying", "notice")
"""Files that speak about the others: they are no documents."""


def members(top: Location, folder: Path, fmt: str | None) -> list[tuple[Location, str | None]]:
    """List the files to read in the order of their paths, each with its format where the caller has named one.

    Hidden files, and those called README, LICENSE and the like, are left out; a named format leaves out the files
    of other formats. Folders that cannot be entered are errors, not gaps.

    Raises
    ------
    ReadingError
        There is no such file; the message says what there is.
    """
    found: list[tuple[Location, str | None]] = []
    others: Counter[str] = Counter()
    for path in _walk(folder):
        relative = path.relative_to(folder).as_posix()
        stem, suffix = split_name(path)
        kind = SUFFIXES.get(suffix)
        if kind is None or stem.lower() in ASIDE or not _wanted(kind, fmt):
            others[path.suffix or "no ending"] += 1
            continue
        found.append((Location(path, str(path), relative), fmt if fmt in TEXTUAL else None))
    if not found:
        there = ", ".join(f"{count} × {suffix}" for suffix, count in others.most_common(5)) or "nothing"
        wanted = f"no file of the format {fmt!r}" if fmt else "no file that can be read"
        raise top.error(
            f"{wanted} in this folder; there is {there}",
            f"files end in {', '.join(SUFFIXES)}, also with {' or '.join(PACKED)}",
            0,
        )
    return found


def _wanted(kind: str, fmt: str | None) -> bool:
    if fmt is None or kind == fmt:
        return True
    return (kind == "text" and fmt in TEXTUAL) or (kind == "json" and fmt == "jsonl")


def _walk(folder: Path) -> list[Path]:
    def stop(error: OSError) -> None:
        raise error

    paths: list[Path] = []
    for place, folders, files in os.walk(folder, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(place, name) for name in files if not name.startswith(".")]
    return sorted(paths, key=lambda path: path.relative_to(folder).parts)
