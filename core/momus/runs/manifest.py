"""The manifest of a run folder, and its generations: how a run is written, published by one rename, and checked.

The manifest holds length and SHA-256 of every file; it is written last and checked first. A folder whose files do not
match it was damaged, edited, or replaced in part; its numbers are not shown.

While a run is being written, its files are in ``RUN/.next``; the published files of an earlier run stay as they are.
Renaming ``.next`` to ``.ready`` is the moment of publication: from then on, whoever opens the folder moves the files to
their published names first (`complete`), and can be interrupted and repeated at any point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict

from momus.errors import StoreError
from momus.files import file_digest, write_json
from momus.outputs import copy_folder, delete, delete_folder, make_folder, move, new_folder, write_bytes
from momus.ownership import MARK, PART, RUN, holds, is_own, record_of
from momus.rows.folder import is_row_file
from momus.schema import build, read_json
from momus.version import RUN_FORMAT, __version__

MANIFEST, NEXT, READY, EARLIER = "manifest.json", ".next", ".ready", ".earlier.json"
DERIVED = ("report.html",)
"""Files that can be written again from the others, and that readers never read."""
REPORT_KIND = "a report"
ROWS = "rows"
"""Folder of the rows of texts that were scored in parts; each of its files is sealed by itself."""
OF_CRITIC = re.compile(
    r"critics/[^/]+/((result|critic|manifest)\.json|(scores|headline|real)\.parquet|\.?arrays\.safetensors)"
)
"""Paths of the files of the critics, within a run folder."""
AGAIN = "run `momus compare` again, with another folder"


class Entry(TypedDict):
    """Length and SHA-256 of a file."""

    bytes: int
    sha256: str


class _Manifest(TypedDict):
    """The content of ``manifest.json``."""

    format: int
    files: dict[str, Entry]


def write_manifest(folder: Path) -> None:
    """Record every file of a finished run; temporary and derived files are left out."""
    files = {
        p.relative_to(folder).as_posix(): {"bytes": p.stat().st_size, "sha256": file_digest(p)} for p in _files(folder)
    }
    write_json(folder / MANIFEST, {"format": RUN_FORMAT, "files": dict(sorted(files.items()))})


def check_manifest(folder: Path) -> None:
    """Check that every file of a run is as the run wrote it.

    Raises
    ------
    StoreError
        The folder has no manifest or one of another format; a file is missing, or differs in length or SHA-256.
    """
    recorded = read_entries(folder / MANIFEST)
    for name, entry in recorded.items():
        path = folder / name
        try:
            length = path.stat().st_size
            digest = file_digest(path) if length == entry["bytes"] else ""
        except FileNotFoundError:
            raise StoreError(f"{path}: missing, although the run wrote it", hint=AGAIN) from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})", hint=AGAIN) from error
        if digest != entry["sha256"]:
            what = f"{length:,} bytes, not {entry['bytes']:,}" if length != entry["bytes"] else "other content"
            raise StoreError(f"{path}: not what the run wrote ({what}): damaged, edited or replaced", hint=AGAIN)


def check_strangers(folder: Path) -> None:
    """Make sure that a run can be replaced: under the names that runs keep, all files are as it wrote them.

    Raises
    ------
    StoreError
        One is not; without a manifest that can be read, nobody knows.
    """
    if not any((folder / name).exists() for name in ("run.json", MANIFEST)):
        return  # it was begun, see `check_generation`
    known = read_entries(folder / MANIFEST)
    rows = (p for p in (folder / ROWS).rglob("*") if p.is_file() and not is_row_file(p.relative_to(folder / ROWS)))
    kept = [p for p in _files(folder) if p.relative_to(folder).parts[0] in RUN.names]
    strange = [p for p in (*kept, *rows) if p.relative_to(folder).as_posix() not in known]
    there = [(folder / name, entry["sha256"]) for name, entry in known.items() if (folder / name).is_file()]
    strange += [path for path, digest in there if file_digest(path) != digest]
    strange += [folder / name for name in DERIVED if not is_own(folder / name, REPORT_KIND)]
    if strange:
        raise StoreError(
            f"{strange[0]} is not of the run in {folder}, or was changed since", hint="move it, or name another folder"
        )


def check_generation(folder: Path) -> None:
    """Make sure that a generation can be deleted: all its files have names that a run gives.

    Raises
    ------
    StoreError
        One has not.
    """
    for path in (p for p in folder.rglob("*") if not p.is_dir() or p.is_symlink()):
        within = path.relative_to(folder)
        ours = OF_CRITIC.fullmatch(within.as_posix()) or (
            is_row_file(Path(*within.parts[1:])) if within.parts[0] == ROWS else within.as_posix() in RUN.names
        )
        hidden = path.name.startswith(".") and path.name.endswith((PART, MARK, ".lock"))
        if not ours and not hidden:
            raise StoreError(f"{path} is not of the run that was begun", hint="move it, or name another folder")


def read_entries(path: Path) -> dict[str, Entry]:
    """Read a manifest: length and SHA-256 by name of the file, relative to the run folder.

    Raises
    ------
    StoreError
        There is no manifest, or it is not one of this format.
    """
    folder = path.parent
    try:
        content = read_json(path, dict[str, Any], AGAIN)
    except FileNotFoundError:
        raise StoreError(
            f"{folder}: no {MANIFEST}: an older version of Momus wrote this run, or it was not copied whole", hint=AGAIN
        ) from None
    if content.get("format") != RUN_FORMAT:
        raise StoreError(
            f"{folder}: run folder of format {content.get('format')!r}; Momus {__version__} reads format {RUN_FORMAT}",
            hint="read it with the version that wrote it, or run `momus compare` again",
        )
    files = build(_Manifest, content, str(path), AGAIN)["files"]
    for name in files:
        if not Path(name).parts or Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
            raise StoreError(f"{path}: files.{name!r} is no path inside the folder", hint=AGAIN)
    return files


def _files(folder: Path) -> Iterable[Path]:
    """Files of the run: not hidden, neither derived nor the manifest, no links."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        parts = path.relative_to(folder).parts
        left_out = (
            any(name_part.startswith(".") for name_part in parts) or parts[0] == ROWS or name in (*DERIVED, MANIFEST)
        )
        if path.is_file() and not path.is_symlink() and not left_out:
            yield path


def begin(folder: Path, *, keep: bool) -> Path:
    """Prepare the generation of a run folder that this process has locked, and return the folder of the generation.

    Parameters
    ----------
    keep
        Whether to resume: what an interrupted generation holds is kept, else the critics of the published run are
        copied.

    Raises
    ------
    StoreError
        The places of the generation hold files that no run wrote there.
    """
    complete(folder)
    begun = folder / NEXT
    for place in (begun, folder / READY):
        delete(place)  # if it is empty
        if place.exists() and not (place / MARK).exists():
            raise StoreError(f"{place} is not a run that Momus began", hint="move it, or name another folder")
    check_generation(begun)
    if begun.exists() and not keep:
        delete_folder(begun)
    if (begun / MARK).exists():
        return begun
    with new_folder(begun) as place:  # at once: half of what is kept would be taken for what was begun
        write_bytes(place / MARK, RUN.name.encode("ascii"))
        if keep and (folder / "critics").is_dir():
            copy_folder(folder / "critics", place / "critics")
        if keep and (folder / ROWS).is_dir():  # files of rows are replaced, never changed
            copy_folder(folder / ROWS, place / ROWS, linked=True)
    return begun


def publish(folder: Path) -> None:
    """Publish the generation: write its manifest, rename it, and move the files to their published names."""
    if (folder / ROWS).is_dir():
        make_folder(folder / NEXT / ROWS)  # an empty folder replaces the rows of an earlier run
    write_manifest(folder / NEXT)
    move(folder / NEXT, folder / READY)
    complete(folder)


def is_pending(folder: Path) -> bool:
    """Whether a publication was begun and not finished."""
    return holds(folder / READY / MARK, RUN.name.encode("ascii"))


def complete(folder: Path) -> None:
    """Finish a publication that was interrupted; nothing to do in any other folder. Files of others stay.

    Raises
    ------
    StoreError
        A file cannot be moved.
    """
    ready = folder / READY
    if not is_pending(folder):
        return
    try:
        if (ready / MANIFEST).exists():  # it is moved last
            _move(ready, folder)
        below = sorted((p for p in ready.rglob("*") if p.is_dir()), reverse=True)
        delete(*below, ready / EARLIER, ready / MARK, ready)  # of folders, the empty ones
    except OSError as error:
        raise StoreError(
            f"{folder}: a finished run cannot be published ({error.strerror})",
            hint="make the folder writable, then read it again: nothing is lost",
        ) from error


def _move(ready: Path, folder: Path) -> None:
    """Move the files of a generation to their published names, and remove those of the earlier run."""
    # without its manifest, a folder that is half replaced is refused by readers that cannot complete it
    if (folder / MANIFEST).exists():
        move(folder / MANIFEST, ready / EARLIER)
    if (ready / ROWS).is_dir():  # by one rename: an interrupted publication is repeated
        if (folder / ROWS).exists():
            delete_folder(folder / ROWS)
        move(ready / ROWS, folder / ROWS)
    new = read_entries(ready / MANIFEST)
    derived = [path for name in DERIVED for path in (record_of(Path(name)), Path(name))]
    for name in (*sorted(new), *map(str, derived)):
        if (ready / name).exists():  # else it was moved before the interruption
            make_folder((folder / name).parent)
            move(ready / name, folder / name)
    with suppress(StoreError):  # a manifest that cannot be read names no files
        delete(*(folder / name for name in set(read_entries(ready / EARLIER)) - set(new)))
    delete(*(p for p in (*sorted((folder / "critics").glob("*")), folder / ROWS) if p.is_dir()))
    move(ready / MANIFEST, folder / MANIFEST)
