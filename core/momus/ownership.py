"""Whose a path is: what may be written in its place, and what may not.

An output is new, or byte for byte a file of its kind that Momus wrote there: whatever Momus writes to a place that a
user names has its SHA-256 and its kind in a hidden file beside it (``.NAME.momus``, `momus.outputs.replacing_own`). A
copy of such a file, one that was edited, and one of another program are somebody's, and stay as they are. An output is
never an input of the command, and never a part of a folder that Momus keeps, whatever options say. Folders are told by
what their files hold, not by their names.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from momus.arguments import arg
from momus.errors import StoreError, UsageError

PART = ".part"
"""Ending of temporary files and folders."""
MARK = ".momus"
"""File that names the kind of a folder whose other files are not there yet; ending of the records of files."""
EDGE = 1 << 16
"""Bytes at both ends of a file that are searched for what tells its kind."""
NAMED = re.compile(r"(?:[^=:/\\]*=)?(?:[A-Za-z][\w-]+:(?!//))?(.+)", re.DOTALL)
"""The path in NAME=PATH and READER:PATH."""


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder: the files of which any one tells it, by what they hold, and the names that it keeps."""

    name: str
    marks: dict[str, tuple[bytes, ...]]
    names: frozenset[str]


RUN = FolderKind(
    "run",
    {"run.json": (b'"momus"', b'"started"', b'"permutations"'), "manifest.json": (b'"files"', b'"verdicts.jsonl"')},
    frozenset(
        {"run.json", "manifest.json", "verdicts.jsonl", "pairs.jsonl", "joint.json", "documents.parquet"}
        | {"texts.parquet", "report.html", "critics", "rows", ".next", ".ready", ".lock"}
    ),
)
ROWS = FolderKind(
    "rows of scores",
    {"manifest.json": (b'"rows of scores"', b'"critics"')},
    frozenset({"manifest.json", "critics", "parts", "records"}),
)
CRITIC = FolderKind(
    "fitted critic",
    {"critic.json": (b'"critic"', b'"class"')},
    frozenset({"critic.json", "arrays.safetensors"}),
)
STUDY = FolderKind(
    "study",
    dict.fromkeys(("study.json", "key.json"), (b'"momus-study-', b'"protocol"')),
    frozenset({"study.json", "key.json", "raters"}),
)
CALIBRATION = FolderKind(
    "calibration",
    {"calibration.json": (b'"plan"', b'"family_wise"')},
    frozenset({"calibration.json", "calibration.csv", "cells", ".lock"}),
)
FOLDERS = (RUN, ROWS, CRITIC, STUDY, CALIBRATION)


def holds(path: Path, *marks: bytes) -> bool:
    """Whether a regular file holds all of these bytes near its beginning or its end."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            content = file.read(EDGE)
            file.seek(max(len(content), path.stat().st_size - EDGE))
            content += file.read(EDGE)
    except OSError:
        return False
    return all(mark in content for mark in marks)


def kind_of(folder: Path) -> FolderKind | None:
    """The kind of a folder of Momus, finished or not; None for all others."""
    for place, kinds in ((folder, FOLDERS), (folder / ".next", (RUN,)), (folder / ".ready", (RUN,))):
        for kind in kinds:
            if holds(place / MARK, kind.name.encode("ascii")):
                return kind
    return next((k for k in FOLDERS if any(holds(folder / n, *marks) for n, marks in k.marks.items())), None)


def kind_at(path: Path) -> FolderKind | None:
    """The kind of the folder of Momus that a path is, that it is a part of, or nothing but which it holds."""
    if (kind := kind_of(path)) is not None:
        return kind
    if (kind := kind_of(path.parent)) is not None and path.name in kind.names:
        return kind
    kinds = (kind_of(folder) for folder in path.iterdir()) if path.is_dir() else iter(())
    return kind if (kind := next(kinds, None)) is not None and all(kinds) else None


def file_digest(path: Path) -> str:
    """SHA-256 of the content of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record_of(path: Path) -> Path:
    """The file beside an output that holds its line; while the output is being replaced, that of the new one too."""
    return path.with_name(f".{path.name}{MARK}")


def record_line(path: Path, kind: str) -> bytes:
    """The line of a file in its record: its SHA-256, and what it is."""
    return f"{file_digest(path)}  {kind}\n".encode()


def check_output(
    path: Path, kind: str, inputs: Iterable[str | Path | None] = (), *, kept_by: Path | None = None
) -> None:
    """Make sure that a file may be written: `check_place`, and `check_own`.

    Raises
    ------
    UsageError
        The output is an input of the command, or lies in a folder that is one.
    StoreError
        The path holds something else than Momus wrote there, or is a part of a run, a study, ….
    """
    check_place(path, inputs, kept_by=kept_by)
    check_own(path, kind)


def check_own(path: Path, kind: str) -> None:
    """Make sure that there is no file yet, an empty one, or one of this kind that is byte for byte as Momus wrote it.

    Raises
    ------
    StoreError
        There is something else.
    """
    refuse_irregular(path)
    if not is_own(path, kind):
        raise StoreError(f"{path} is not {kind} as Momus wrote it", hint="move it, or name another file: it stays")


def is_own(path: Path, kind: str) -> bool:
    """Whether nothing of anybody is lost with a file: there is none, it is empty, or Momus wrote every byte of it."""
    try:
        return not path.exists() or not path.stat().st_size or holds(record_of(path), record_line(path, kind))
    except OSError:
        return False


def check_place(
    out: Path | None, inputs: Iterable[str | Path | None], *, kept_by: Path | None = None, argument: str = "out"
) -> None:
    """Make sure that an output is no input under any name, lies in none, holds none, and is no part of another folder.

    Parameters
    ----------
    inputs
        What the command reads: paths, patterns, ``FILE#FIELD``, ``NAME=PATH``, ``READER:PATH``.
    kept_by
        The folder of Momus that the output is a part of, if it is one.
    argument
        The name of the output in errors.

    Raises
    ------
    UsageError
        It is, lies in or holds an input.
    StoreError
        It is one of the files of a run, a study, ….
    """
    if out is None:
        return
    check_no_input(out, inputs, argument)
    target = Path(os.path.realpath(out))
    for folder in target.parents:
        owner = kind_of(folder)
        kept = kept_by is not None and kept_by.resolve() in (folder, *folder.parents)
        if owner is not None and target.relative_to(folder).parts[0] in owner.names and not kept:
            raise StoreError(f"{out} is a part of the {owner.name} in {folder}", hint="name a place outside of it")


def check_no_input(out: Path, inputs: Iterable[str | Path | None], argument: str = "out") -> None:
    """Raise `UsageError` if an output is, lies in or holds an input; see `check_place`."""
    target = Path(os.path.realpath(out))
    for named in filter(None, map(str, (i for i in inputs if i is not None))):
        clash = _clash(target, named)
        if clash:
            raise UsageError(f"{arg(argument, str(out))} would overwrite {clash}", hint="name another file or folder")


def _clash(target: Path, named: str) -> str:
    """What of an input an output would overwrite; empty if nothing."""
    names = _paths_of(named)
    for source in map(Path, names):
        real = Path(os.path.realpath(source))
        if target == real or (target.exists() and real.exists() and os.path.samefile(target, real)):
            return "its own input"
        # the names that folders of Momus keep are taken, the others are not read
        if real in target.parents and real.is_dir() and kind_of(real) is None:
            return f"a file of its input {named}"
        if target in real.parents and target.is_dir() and real.exists():
            return f"its input {named}, which lies in it"
    if glob.has_magic(names[-1]) and fnmatch(str(target), os.path.abspath(names[-1])):
        return f"a file of its input {named}"
    return ""


def _paths_of(named: str) -> list[str]:
    """The paths that the name of an input may mean, those that a pattern matches before the pattern."""
    match = NAMED.fullmatch(named)
    names = [named, named.rpartition("#")[0]]
    names += [match[1], match[1].rpartition("#")[0]] if match is not None else []
    names = [name for name in dict.fromkeys(names) if name]
    if any(os.path.lexists(name) for name in names):
        return names
    return [*(hit for name in names if glob.has_magic(name) for hit in glob.iglob(name, recursive=True)), *names[-1:]]


def refuse_irregular(path: Path) -> None:
    """Refuse to write in the place of a link, a folder, a device or a pipe.

    Raises
    ------
    StoreError
        The path is one.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:  # there is nothing, or the system says more when the file is written
        return
    if stat.S_ISLNK(mode):
        raise StoreError(
            f"{path} is a link to {os.readlink(path)}, which is not overwritten",
            hint="remove the link, or name another file",
        )
    if not stat.S_ISREG(mode):
        what = "folder" if stat.S_ISDIR(mode) else "device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "pipe"
        raise StoreError(f"{path} is a {what}, not a file", hint="name a file")


def check_folder(path: Path, kind: FolderKind, *, leftovers: Iterable[str] = ()) -> bool:
    """Whether a folder of this kind exists; otherwise there must be nothing, or an empty folder.

    Parameters
    ----------
    leftovers
        Names that a folder may hold of which nothing was written yet: locks.

    Raises
    ------
    StoreError
        The path is a file, or a folder with other files.
    """
    if os.path.lexists(path) and not path.is_dir():
        what = "a link to nothing" if path.is_symlink() else "a file"
        raise StoreError(f"{path} is {what}, not a folder", hint=f"name another folder with {arg('out')}")
    if not path.is_dir():
        return False
    owner = kind_of(path)
    if owner is kind:
        return True
    others = [p.name for p in path.iterdir() if p.name not in leftovers and not p.name.endswith(PART)]
    if owner is not None or others:
        what = f"a {owner.name}" if owner is not None else f"files that do not belong to a {kind.name}"
        raise StoreError(f"{path} holds {what}", hint=f"name a new or empty folder with {arg('out')}")
    return False
