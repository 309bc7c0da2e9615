"""Recognise files and folders that hold one split of a data set: train, validation, test."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from momus.errors import UsageError
from momus.reading.sniffing import SUFFIXES, split_name

SPLITS = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "valid": "validation",
    "validation": "validation",
    "val": "validation",
    "dev": "validation",
}
"""Names of splits, as files and folders have them."""
BORDERS = re.compile(r"[-_.]+")


def split_of(relative: PurePath) -> str | None:
    """Name the split that a file within a folder belongs to; None if nothing says so.

    Folders count if they are named after a split. So do files of records whose name begins or ends with that of a
    split, and files of plain text whose whole name is one.

    >>> [split_of(PurePath(p)) for p in ("train-00000-of-00002.parquet", "test/a.jsonl", "val.txt", "train-ride.txt")]
    ['train', 'test', 'validation', None]
    """
    for folder in relative.parts[:-1]:
        if folder.lower() in SPLITS:
            return SPLITS[folder.lower()]
    stem, suffix = split_name(relative)
    words = BORDERS.split(stem.lower())
    named = [words[0], words[-1]] if len(words) == 1 or SUFFIXES.get(suffix) != "text" else []
    return next((SPLITS[word] for word in named if word in SPLITS), None)


def refuse_splits(folder: str, paths: Sequence[PurePath]) -> None:
    """Refuse to read the files of several splits as one text; the paths are those within the folder.

    Raises
    ------
    UsageError
        The files belong to two splits or more; the hint says how to name one, or all.
    """
    files: dict[str, list[PurePath]] = {}
    for relative in paths:
        split = split_of(relative)
        if split is not None:
            files.setdefault(split, []).append(relative)
    if len(files) < 2:
        return
    counts = ", ".join(f"{split} ({_counted(names)})" for split, names in files.items())
    within = folder.rstrip("/") + "/"
    ways = " or ".join(within + _pattern(names) for names in files.values())
    everything = within + ("*" if all(len(path.parts) == 1 for path in paths) else "**/*")
    raise UsageError(
        f"{folder}: the folder holds the splits {counts}, expected one",
        hint=f"name one: {ways}; '{everything}' (in quotes) reads all as one text",
    )


def _counted(names: Sequence[PurePath]) -> str:
    return names[0].as_posix() if len(names) == 1 else f"{len(names)} files"


def _pattern(names: Sequence[PurePath]) -> str:
    """A path or a pattern that matches the files of one split: a file, a folder, or the common start of their names."""
    if len(names) == 1:
        return names[0].as_posix()
    if len(names[0].parts) > 1 and len({name.parts[0] for name in names}) == 1:
        return names[0].parts[0]
    first = BORDERS.split(names[0].name)[0]
    return f"{first}*" if all(name.as_posix().startswith(first) for name in names) else names[0].as_posix()
