"""List the readable files of a folder and its subfolders."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatch
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path, PurePath, PurePosixPath

from momus.reading.location import Location, shorten
from momus.reading.remote import member
from momus.reading.sniffing import PACKED, SUFFIXES, TEXTUAL, split_name
from momus.reading.splits import refuse_splits
from momus.redact import redacted

ASIDE = ("readme", "license", "licence", "copying", "notice")
"""Names of files that describe the others and are not documents."""


def members(top: Location, folder: Path, fmt: str | None) -> list[tuple[Location, str | None]]:
    """List the files to read in order of their paths, each with its format if ``fmt`` settles it.

    Hidden files and files named README, LICENSE and the like are left out, and with ``fmt`` the files of other formats.
    A folder that cannot be entered, or is a link, is an error and is not skipped.

    Raises
    ------
    ReadingError
        No file can be read (the message counts the others by extension), or a subfolder is a link.
    UsageError
        The folder holds several splits of a data set.
    """
    chosen = _readable(top, [path.relative_to(folder) for path in _walk(top, folder)], fmt)
    refuse_splits(str(folder), chosen)
    settled = fmt if fmt in TEXTUAL else None
    return [(Location(folder / path, str(folder / path), path.as_posix()), settled) for path in chosen]


def remote_members(top: Location, paths: Sequence[PurePath], fmt: str | None) -> list[tuple[Location, str | None]]:
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
    seen = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    chosen = _readable(top, seen, fmt)
    if not has_magic(top.label):
        refuse_splits(top.label, chosen)
    found = []
    for path in chosen:
        url = member(top, PurePosixPath(path))
        found.append((Location(None, redacted(url), path.as_posix(), url=url), fmt if fmt in TEXTUAL else None))
    return found


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


def _readable(top: Location, paths: Sequence[PurePath], fmt: str | None) -> list[PurePath]:
    """The paths within a folder that can be read."""
    files: list[PurePath] = []
    others: Counter[str] = Counter()
    for path in paths:
        stem, suffix = split_name(path)
        kind = SUFFIXES.get(suffix)
        if kind is None or stem.lower() in ASIDE or not _matches(kind, fmt):
            others[path.suffix or "no extension"] += 1
        else:
            files.append(path)
    if not files:
        counts = ", ".join(f"{count} × {suffix}" for suffix, count in others.most_common(5)) or "no files"
        missing = f"no file of the format {fmt!r}" if fmt else "no file that can be read"
        raise top.error(
            f"{missing} in this folder; found {counts}",
            f"known extensions are {', '.join(SUFFIXES)}, also with {', '.join(PACKED)}",
            0,
        )
    return files


def matches(top: Location, pattern: Path, fmt: str | None) -> list[tuple[Location, str | None]]:
    """List the files that match a pattern such as ``data/train*``, in order of their paths; folders are left out.

    Raises
    ------
    ReadingError
        No file matches.
    """
    base = Path(*takewhile(lambda part: not has_magic(part), pattern.parts))
    found = sorted(Path(name) for name in glob(str(pattern), recursive=True) if Path(name).is_file())
    # a pattern that ends in * means files that can be read; one that says more means just these
    known = [path for path in found if SUFFIXES.get(split_name(path)[1]) is not None]
    files = known if pattern.name.endswith("*") else found
    if not files:
        raise top.error("no file matches this pattern", "check the pattern, and put it in quotes", 0)
    settled = fmt if fmt != "folder" else None
    return [(Location(path, str(path), path.relative_to(base).as_posix()), settled) for path in files]


def _matches(kind: str, fmt: str | None) -> bool:
    """Whether files of a kind can be read in a format (None: any)."""
    if fmt is None or kind == fmt:
        return True
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
