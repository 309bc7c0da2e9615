"""List the readable files of a folder and its subfolders."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path, PurePath, PurePosixPath
from typing import TypeVar

from momus.reading.location import Location, remote_name, shorten
from momus.reading.markup import SUFFIXES as MARKUP
from momus.reading.remote import is_address, list_remote, member
from momus.reading.sniffing import PACKED, SUFFIXES, TEXTUAL, split_name
from momus.reading.splits import refuse_splits
from momus.redact import redacted
from momus.text.documents import LeftOut

ASIDE = ("readme", "license", "licence", "copying", "notice")
"""Names of files that describe the others and are not documents."""
P = TypeVar("P", bound=PurePath)
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
    chosen, left_out = _chosen(top, [path.relative_to(folder) for path in _walk(top, folder)], fmt, include)
    if fmt != "markup":
        refuse_splits(str(folder), chosen)
    places = [Location(folder / path, str(folder / path), path.as_posix()) for path in chosen]
    return Listed([(place, _settled(fmt)) for place in places], left_out)


def remote_members(top: Location, paths: Sequence[PurePath], fmt: str | None, include: Sequence[str] = ()) -> Listed:
    """List the files to read of a remote folder or pattern, which has files at these paths; as `members` does.

    Raises
    ------
    ReadingError
        No file can be read, or the folder is one that ``datasets`` saved.
    UsageError
        The folder holds several splits of a data set.
    """
    if any(path.name == "state.json" for path in paths):
        raise top.error(
            "this is a remote folder that Hugging Face datasets saved",
            "name its files by a pattern that ends in *.arrow, or fetch the folder first",
            0,
        )
    assert top.url is not None
    fmt = None if fmt == "folder" else fmt
    seen = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    if has_magic(top.url):
        chosen, left_out, settled = _matched(top, seen, top.url, fmt), LeftOut(), fmt
    else:
        chosen, left_out = _chosen(top, seen, fmt, include)
        settled = _settled(fmt)
        if fmt != "markup":
            refuse_splits(top.label, chosen)
    urls = [(member(top, PurePosixPath(path)), path.as_posix()) for path in chosen]
    return Listed([(Location(None, redacted(url), path, url=url), settled) for url, path in urls], left_out)


def log_files(top: Location, pattern: str, remote: Sequence[PurePath] | None) -> list[Location]:
    """List the logs of a folder, local or (with the paths of its files) remote, that have names of this pattern.

    Raises
    ------
    ReadingError
        There is none.
    """
    if remote is not None:
        urls = [(member(top, PurePosixPath(path)), path) for path in remote if fnmatch(path.name, pattern)]
        logs = [Location(None, redacted(url), path.as_posix(), url=url) for url, path in urls]
    else:
        assert top.path is not None
        paths = [path for path in _walk(top, top.path) if fnmatch(path.name, pattern)]
        logs = [Location(path, str(path), path.relative_to(top.path).as_posix()) for path in paths]
    if not logs:
        raise top.error(f"no file in this folder is called {pattern}", "name the log file itself", 0)
    return logs


def _chosen(
    top: Location, paths: Sequence[PurePath], fmt: str | None, include: Sequence[str]
) -> tuple[list[PurePath], LeftOut]:
    """The paths within a folder that are read, and what is left out.

    Raises
    ------
    ReadingError
        None is read.
    """
    files: list[PurePath] = []
    aside: list[str] = []
    others: Counter[str] = Counter()
    for path in paths:
        relative = path.as_posix()
        stem, suffix = split_name(path)
        if not _readable(suffix, fmt):
            others[path.suffix or "no extension"] += 1
        elif stem.lower() in ASIDE and not any(fnmatch(path.name, p) or fnmatch(relative, p) for p in include):
            aside.append(relative)
        else:
            files.append(path)
    if not files:
        raise _nothing(top, fmt, aside, others)
    return files, LeftOut(tuple(aside), dict(others.most_common()))


def _nothing(top: Location, fmt: str | None, aside: Sequence[str], others: Counter[str]) -> Exception:
    """The error for a folder without a file to read."""
    counts = [f"{count} × {suffix}" for suffix, count in others.most_common(NAMED)]
    if aside:
        counts.insert(0, f"{len(aside)} set aside for their names ({shorten(aside[0])}{' …' if aside[1:] else ''})")
        hint = f"to read them, pass --include '{Path(aside[0]).name}' (in Python, include=[…])"
    else:
        known = MARKUP if fmt == "markup" else SUFFIXES
        hint = f"known extensions are {', '.join(known)}, also with {', '.join(PACKED)}"
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
    settled = fmt if fmt != "folder" else None
    places = [Location(p, str(p), p.relative_to(base).as_posix()) for p in _matched(top, found, pattern.name, fmt)]
    return Listed([(place, settled) for place in places])


def _matched(top: Location, paths: Sequence[P], pattern: str, fmt: str | None) -> list[P]:
    """Of the files that match a pattern, those to read; an error if there are none."""
    # a pattern that ends in * means files that can be read; one that says more means just these
    known = [path for path in paths if _readable(split_name(path)[1], "markup" if fmt == "markup" else None)]
    files = known if pattern.endswith("*") else list(paths)
    if not files:
        raise top.error("no file matches this pattern", "check the pattern, and put it in quotes", 0)
    return files


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


def _settled(fmt: str | None) -> str | None:
    """The format of each file of a folder, where that of the folder settles it."""
    return fmt if fmt in (*TEXTUAL, "markup") else None


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
