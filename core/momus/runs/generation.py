"""Generations of a run folder: a run is written beside the published files, and published by one rename.

While a run is being written, its files are in ``RUN/.next``; the published files of an earlier run stay as they are.
Renaming ``.next`` to ``.ready`` is the moment of publication: from then on, whoever opens the folder moves the files to
their published names first (`complete`), and can be interrupted and repeated at any point.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from momus.errors import StoreError
from momus.outputs import copy_folder, delete, delete_folder, make_folder, move, write_bytes
from momus.ownership import MARK, PART, RUN, holds, record_of
from momus.runs.manifest import DERIVED, MANIFEST, ROWS, check_generation, read_entries, write_manifest

NEXT, READY, EARLIER = ".next", ".ready", ".earlier.json"


def is_bare(place: Path) -> bool:
    """Whether a folder of a generation holds nothing yet, but for what a killed process had begun to write."""
    return all(path.name.endswith(PART) for path in place.iterdir())


class Generation:
    """The generation of a run folder that is being written.

    Parameters
    ----------
    folder
        The run folder, locked by this process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / NEXT

    def begin(self, *, keep: bool) -> None:
        """Prepare the folder of the generation.

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
        complete(self.folder)
        delete(self.folder / READY)
        for place in (self.path, self.folder / READY):
            if place.exists() and not is_bare(place) and not (place / MARK).exists():
                raise StoreError(f"{place} is not a run that Momus began", hint="move it, or name another folder")
        check_generation(self.path)
        if self.path.exists() and not keep:
            delete_folder(self.path)
        if not (self.path / MARK).exists():
            make_folder(self.path)
            write_bytes(self.path / MARK, RUN.name.encode("ascii"))
            if keep and (self.folder / "critics").is_dir():
                copy_folder(self.folder / "critics", self.path / "critics")
            if keep and (self.folder / ROWS).is_dir():  # files of rows are replaced, never changed
                copy_folder(self.folder / ROWS, self.path / ROWS, linked=True)

    def publish(self) -> None:
        """Publish the generation: write its manifest, rename it, and move the files to their published names."""
        if (self.folder / ROWS).is_dir():
            make_folder(self.path / ROWS)  # an empty folder replaces the rows of an earlier run
        write_manifest(self.path)
        move(self.path, self.folder / READY)
        complete(self.folder)


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
    delete(*(folder / name for name in set(_earlier(ready)) - set(new)))
    delete(*(p for p in (*sorted((folder / "critics").glob("*")), folder / ROWS) if p.is_dir()))
    move(ready / MANIFEST, folder / MANIFEST)


def _earlier(ready: Path) -> Iterable[str]:
    """Names of the files of the earlier run; none if its manifest cannot be read."""
    try:
        return read_entries(ready / EARLIER)
    except StoreError:
        return ()
