"""List the readable files of a folder and its subfolders."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path

from momus.reading.location import Location, shorten
from momus.reading.markup import SUFFIXES as MARKUP
from momus.reading.sniffing import PACKED, SUFFIXES, TEXTUAL, split_name
from momus.reading.splits import refuse_splits
from momus.text.documents import LeftOut

ASIDE = ("readme", "license", "licence", "copying", "notice")
"""Names of files that describe the others and are not documents."""
NAMED = 5
"""Kinds of files that an error names."""


@dataclass(frozen=True)
class Listed:
    """The files to read, each with its format if that is settled, and what is left out."""

    files: list[tuple[Location, str | None]]
    left_out: LeftOut = field(default_factory=LeftOut)


def members(top: Location, folder: Path, fmt: str | None, include: Sequence[str] = ()) -> Listed:
    """List the files to read in order of their paths.

    Hidden files and files named README, LICENSE and the like are left out unless a pattern of ``include`` matches their
    name or path; with ``fmt``, files of other formats are. A folder that cannot be entered, or is a link, is an error
    and is not skipped.

    Raises
    ------
    ReadingError
        No file can be read (the message counts the others by extension), or a subfolder is a link.
    UsageError
        The folder holds several splits of a data set.
    """
    files: list[tuple[Location, str | None]] = []
    aside: list[str] = []
    others: Counter[str] = Counter()
    for path in _walk(top, folder):
        relative = path.relative_to(folder).as_posix()
        stem, suffix = split_name(path)
        if not _readable(suffix, fmt):
            others[path.suffix or "no extension"] += 1
        elif stem.lower() in ASIDE and not any(fnmatch(path.name, p) or fnmatch(relative, p) for p in include):
            aside.append(relative)
        else:
            settled = fmt if fmt in (*TEXTUAL, "markup") else None
            files.append((Location(path, str(path), relative), settled))
    if not files:
        raise _nothing(top, fmt, aside, others)
    if fmt != "markup":
        refuse_splits(folder, [location.path for location, _ in files if location.path is not None])
    return Listed(files, LeftOut(tuple(aside), dict(others.most_common())))


def _nothing(top: Location, fmt: str | None, aside: Sequence[str], others: Counter[str]) -> Exception:
    """The error for a folder without a file to read."""
    counts = [f"{count} × {suffix}" for suffix, count in others.most_common(NAMED)]
    if aside:
        counts.insert(0, f"{len(aside)} set aside for their names ({shorten(aside[0])}{' …' if aside[1:] else ''})")
        hint = f"to read them, pass --include '{Path(aside[0]).name}' (in Python, include=[…])"
    else:
        known = MARKUP if fmt == "markup" else SUFFIXES
        hint = f"known extensions are {', '.join(known)}, also with {' or '.join(PACKED)}"
    missing = f"no file of the format {fmt!r}" if fmt else "no file that can be read"
    return top.error(f"{missing} in this folder; found {', '.join(counts) or 'no files'}", hint, 0)


def matches(top: Location, pattern: Path, fmt: str | None) -> Listed:
    """List the files that match a pattern such as ``data/train*``, in order of their paths; folders are left out.

    Raises
    ------
    ReadingError
        No file matches.
    """
    base = Path(*takewhile(lambda part: not has_magic(part), pattern.parts))
    found = sorted(Path(name) for name in glob(str(pattern), recursive=True) if Path(name).is_file())
    # a pattern that ends in * means files that can be read; one that says more means just these
    known = [path for path in found if _readable(split_name(path)[1], "markup" if fmt == "markup" else None)]
    files = known if pattern.name.endswith("*") else found
    if not files:
        raise top.error("no file matches this pattern", "check the pattern, and put it in quotes", 0)
    settled = fmt if fmt != "folder" else None
    return Listed([(Location(path, str(path), path.relative_to(base).as_posix()), settled) for path in files])


def holds_markup(path: Path) -> bool:
    """Whether a path is a document with headings, or a folder or a pattern that holds more of these than records.

    >>> holds_markup(Path("docs/use.md")), holds_markup(Path("docs.jsonl")), holds_markup(Path("docs/**/*.rst"))
    (True, False, True)
    """
    pattern = has_magic(str(path)) and not path.exists()
    if pattern and not has_magic(path.suffix) and path.suffix:
        files = [path]
    elif pattern:
        files = [file for name in glob(str(path), recursive=True) if (file := Path(name)).is_file()]
    elif path.is_dir():
        files = [Path(parent, name) for parent, folders, names in os.walk(path) for name in names]
        files = [f for f in files if not any(part.startswith(".") for part in f.relative_to(path).parts)]
    else:
        files = [path]
    suffixes = Counter(suffix for stem, suffix in map(split_name, files) if suffix)
    records = sum(n for suffix, n in suffixes.items() if SUFFIXES.get(suffix, "text") not in TEXTUAL)
    return sum(suffixes[suffix] for suffix in MARKUP) > records


def _readable(suffix: str, fmt: str | None) -> bool:
    """Whether files of an extension can be read in a format (None: any)."""
    if fmt == "markup":
        return suffix in MARKUP
    kind = SUFFIXES.get(suffix)
    if kind is None or fmt is None or kind == fmt:
        return kind is not None
    return (kind == "text" and fmt in TEXTUAL) or (kind == "json" and fmt == "jsonl")


def _walk(top: Location, folder: Path) -> list[Path]:
    def stop(error: OSError) -> None:
        raise error

    paths: list[Path] = []
    for parent, folders, files in os.walk(folder, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith(".")]  # do not enter hidden folders
        links = [name for name in folders if Path(parent, name).is_symlink()]
        if links:
            raise top.error(
                f"the subfolder {shorten(os.path.relpath(Path(parent, links[0]), folder))} is a link, which is not "
                "followed",
                "replace it by a folder, or name the files by a pattern such as 'folder/*/*.jsonl'",
                0,
            )
        paths += [Path(parent, name) for name in files if not name.startswith(".")]
    return sorted(paths, key=lambda path: path.relative_to(folder).parts)
