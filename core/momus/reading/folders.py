"""List the readable files of a folder: plain, remote, with the splits of a data set, or saved by ``datasets``."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from glob import glob, has_magic
from pathlib import Path, PurePath

from momus.arguments import arg
from momus.errors import UsageError
from momus.ownership import kind_at
from momus.reading.location import Location, base_of, list_remote, shorten
from momus.reading.logs import LogReader
from momus.reading.markup import SUFFIXES as MARKUP
from momus.reading.streams import PACKED, SUFFIXES, TEXTUAL, split_name
from momus.redact import redacted
from momus.schema import parse_json
from momus.text.documents import LeftOut

ASIDE = ("readme", "license", "licence", "copying", "notice")
"""Names of files that describe the others and are not documents."""
SCORES = re.compile(r"results_\d{4}-\d\d-\d\dT[\d.:-]+\.json")
"""Names under which lm-evaluation-harness and lighteval keep the scores of a run, beside its samples."""
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
NAMED = 5
"""Kinds of files that an error names."""


@dataclass(frozen=True)
class Listed:
    """The files to read, each with its format if that is settled, and what is left out."""

    files: list[tuple[Location, str | None]]
    left_out: LeftOut = field(default_factory=LeftOut)


def files_in(top: Location) -> tuple[list[Location], bool] | None:
    """The files of a folder or a pattern, without hidden ones and those of hidden folders, and whether it is a pattern.

    The prefix of each is its path within the folder, or within the part of the pattern before its first magic
    character. None if this is one file.

    Raises
    ------
    ReadingError
        A folder cannot be listed, or holds a link to a folder.
    """
    place = top.url or str(top.path)
    pattern = has_magic(place)
    paths: Sequence[PurePath] | None = None
    if top.url is not None:
        paths = list_remote(top)
    elif top.path is not None and top.path.is_dir():
        paths, pattern = _walk(top, top.path), False
    elif top.path is not None and pattern and not top.path.exists():
        names = [Path(name) for name in glob(place, recursive=True)]
        paths = sorted(path.relative_to(base_of(place)) for path in names if path.is_file())
    if paths is None:
        return None
    base = base_of(place) if pattern else f"{place.rstrip('/')}/"
    files: list[Location] = []
    for path in (path.as_posix() for path in paths if not any(name.startswith(".") for name in path.parts)):
        at = base + path
        files.append(
            Location(Path(at), str(Path(at)), path) if top.url is None else Location(None, redacted(at), path, url=at)
        )
    return files, pattern


def locations(top: Location, fmt: str | None, include: Sequence[str] = (), reader: LogReader | None = None) -> Listed:
    """List the files to read, in order, each with its format if that is settled.

    Of a folder, files named README, LICENSE and the like are left out unless a pattern of ``include`` matches their
    name or path; with ``fmt``, files of other formats are, and with a ``reader``, files that are no logs of it.

    Raises
    ------
    ReadingError
        No file can be read (the message counts the others by extension), standard input or a remote folder is of
        a format that needs a file, or it belongs to a run, a fitted critic or the like.
    UsageError
        The folder holds several splits of a data set.
    """
    kind = kind_at(top.path) if top.path is not None else None
    if kind is not None:
        raise top.error(
            f"this belongs to a folder of Momus ({kind.name}), expected texts", "name a file or a folder of texts"
        )
    if top.stdin and (reader is not None or fmt == "arrow"):
        what = "Arrow data" if reader is None else "a log"
        raise top.error(f"{what} is not read from standard input", "write it to a file, and give that")
    if top.path is not None and fmt is None and reader is None and is_dataset(top.path):
        return Listed([(Location(path, str(path), top.prefix), "arrow") for path in datasets_files(top, top.path)])
    if (listing := files_in(top)) is None:
        return Listed([(top, fmt)])
    files, pattern = listing
    if reader is not None and not pattern:
        logs = [file for file in files if reader.fits(PurePath(file.prefix).name)]
        if not logs:
            patterns = " or ".join(reader.patterns())
            raise top.error(f"no file in this folder is called {patterns}", "name the log file itself")
        return Listed([(file, None) for file in logs])
    if top.url is not None and any(PurePath(file.prefix).name == "state.json" for file in files):
        raise top.error(
            "this is a remote folder that Hugging Face datasets saved",
            "name its files by a pattern that ends in *.arrow, or fetch the folder first",
        )
    return _matching(top, files, fmt) if pattern else _members(top, files, fmt, include)


def _matching(top: Location, files: list[Location], fmt: str | None) -> Listed:
    """The files of a pattern: one that ends in * means files that can be read, one that says more means just these."""
    if (top.url or str(top.path)).endswith("*"):
        known = "markup" if fmt == "markup" else None
        files = [file for file in files if _readable(split_name(PurePath(file.prefix))[1], known)]
    if not files:
        raise top.error("no file matches this pattern", "check the pattern, and put it in quotes")
    return Listed([(file, fmt) for file in files])


def _members(top: Location, files: list[Location], fmt: str | None, include: Sequence[str]) -> Listed:
    """The files of a folder, and what is left out."""
    aside: list[str] = []
    others: Counter[str] = Counter()
    chosen: list[Location] = []
    for file in files:
        path = PurePath(file.prefix)
        stem, suffix = split_name(path)
        if not _readable(suffix, fmt):
            others[path.suffix or "no extension"] += 1
        elif (stem.lower() in ASIDE or SCORES.fullmatch(path.name)) and not any(
            fnmatch(path.name, p) or fnmatch(file.prefix, p) for p in include
        ):
            aside.append(file.prefix)
        else:
            chosen.append(file)
    if not chosen:
        raise _nothing(top, fmt, aside, others)
    if fmt != "markup":
        refuse_splits(top.label, [PurePath(file.prefix) for file in chosen])
    settled = fmt if fmt in (*TEXTUAL, "markup") else None  # where the format of the folder settles that of files
    return Listed([(file, settled) for file in chosen], LeftOut(tuple(aside), dict(others.most_common())))


def _nothing(top: Location, fmt: str | None, aside: Sequence[str], others: Counter[str]) -> Exception:
    """The error for a folder without a file to read."""
    counts = [f"{count} × {suffix}" for suffix, count in others.most_common(NAMED)]
    if aside:
        counts.insert(0, f"{len(aside)} set aside for their names ({shorten(aside[0])}{' …' if aside[1:] else ''})")
        hint = f"to read them, pass {arg('include', [Path(aside[0]).name])}"
    else:
        known = MARKUP if fmt == "markup" else SUFFIXES
        hint = f"known extensions are {', '.join(known)}, also with {', '.join(PACKED)}"
    missing = f"no file of the format {fmt!r}" if fmt else "no file that can be read"
    return top.error(f"{missing} in this folder; found {', '.join(counts) or 'no files'}", hint)


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
        place = Path(parent).relative_to(folder)
        if (link := next((name for name in folders if Path(parent, name).is_symlink()), None)) is not None:
            raise top.error(
                f"the subfolder {shorten(str(place / link))} is a link, which is not followed",
                "replace it by a folder, or name the files by a pattern such as 'folder/*/*.jsonl'",
            )
        paths += [place / name for name in files]
    return sorted(paths, key=lambda path: path.parts)


def is_dataset(path: Path) -> bool:
    """Whether a path is a folder that ``datasets`` saved."""
    state, info = ((path / name).is_file() for name in ("state.json", "dataset_info.json"))
    whole = (path / "dataset_dict.json").is_file() or (state and info)
    return whole or ((state or info) and any(path.glob("*.arrow")))


def datasets_files(location: Location, folder: Path) -> list[Path]:
    """List the Arrow files of a folder written by ``Dataset.save_to_disk``, in order.

    Raises
    ------
    ReadingError
        The folder holds several splits, or a file that it lists is missing.
    """
    if (folder / "dataset_dict.json").is_file():
        splits = _json(folder / "dataset_dict.json").get("splits")
        names = [str(s) for s in splits] if isinstance(splits, list) else []
        if len(names) == 1 and (folder / names[0]).is_dir() and PurePath(names[0]).name == names[0]:
            return datasets_files(location, folder / names[0])
        raise location.error(
            f"this folder holds the splits {', '.join(names)} of a Hugging Face DatasetDict, expected one",
            "give one of them: " + " or ".join(str(folder / name) for name in names),
        )
    state = _json(folder / "state.json") if (folder / "state.json").is_file() else {}
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise location.error(
            "the rows were reordered or filtered but not rewritten (state.json lists index files)",
            "save it again with dataset.flatten_indices().save_to_disk(…)",
        )
    listed = state.get("_data_files")
    if isinstance(listed, list) and listed:
        files = [folder / str(entry["filename"]) for entry in listed if isinstance(entry, dict) and "filename" in entry]
    else:
        files = sorted(folder.glob("*.arrow"))
    missing = [f.name for f in files if not f.is_file()]
    if missing or not files:
        fault = f"{missing[0]} is missing" if missing else "there is no .arrow file"
        raise location.error(f"this Hugging Face dataset is incomplete: {fault}", "save or fetch the folder again")
    return files


def _json(path: Path) -> dict[str, object]:
    value = parse_json(path.read_bytes(), str(path), "save or fetch the folder again")
    return value if isinstance(value, dict) else {}


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
    sizes = {split: names[0].as_posix() if len(names) == 1 else f"{len(names)} files" for split, names in files.items()}
    counts = ", ".join(f"{split} ({size})" for split, size in sizes.items())
    within = folder.rstrip("/") + "/"
    ways = " or ".join(within + _pattern(names) for names in files.values())
    everything = within + ("*" if all(len(path.parts) == 1 for path in paths) else "**/*")
    raise UsageError(
        f"{folder}: the folder holds the splits {counts}, expected one",
        hint=f"name one: {ways}; '{everything}' (in quotes) reads all as one text",
    )


def _pattern(names: Sequence[PurePath]) -> str:
    """A path or a pattern that matches the files of one split: a file, a folder, or the common start of their names."""
    if len(names) == 1:
        return names[0].as_posix()
    if len(names[0].parts) > 1 and len({name.parts[0] for name in names}) == 1:
        return names[0].parts[0]
    first = BORDERS.split(names[0].name)[0]
    return f"{first}*" if all(name.as_posix().startswith(first) for name in names) else names[0].as_posix()
