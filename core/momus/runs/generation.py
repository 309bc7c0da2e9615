"""Generations of a run folder: a run is written beside the published files, and published by one rename.

While a run is being written, its files are in ``RUN/.next``; the published files of an earlier run stay as they are.
Renaming ``.next`` to ``.ready`` is the moment of publication: from then on, whoever opens the folder moves the files to
their published names first (`complete`), and can be interrupted and repeated at any point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from momus.errors import StoreError
from momus.outputs import copy_folder, delete, delete_folder, make_folder, move, write_bytes
from momus.ownership import MARK, RUN, kind_of
from momus.runs.manifest import MANIFEST, ROWS, read_entries, write_manifest

NEXT, READY, EARLIER = ".next", ".ready", ".earlier.json"


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
        """
        complete(self.folder)
        if self.path.exists() and any(self.path.iterdir()) and not (self.path / MARK).exists():
            raise StoreError(f"{self.path} is not a run that Momus began", hint="move it, or name another folder")
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


def complete(folder: Path) -> None:
    """Finish a publication that was interrupted; nothing to do in any other folder.

    Raises
    ------
    StoreError
        A file cannot be moved.
    """
    ready = folder / READY
    if not ready.is_dir() or kind_of(folder) is not RUN:
        return
    try:
        if (ready / MANIFEST).exists():  # it is moved last
            _move(ready, folder)
        delete_folder(ready)
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
    for path in sorted(_files(ready)):
        target = folder / path.relative_to(ready)
        if path.relative_to(ready).as_posix() not in (MANIFEST, EARLIER, MARK):
            make_folder(target.parent)
            move(path, target)
    new = read_entries(ready / MANIFEST)
    delete(*(folder / name for name in set(_earlier(ready)) - set(new)))
    delete(*(p for p in (*sorted((folder / "critics").glob("*")), folder / ROWS) if p.is_dir()))
    move(ready / MANIFEST, folder / MANIFEST)


def _earlier(ready: Path) -> Iterable[str]:
    """Names of the files of the earlier run; none if its manifest cannot be read."""
    try:
        return read_entries(ready / EARLIER)
    except StoreError:
        return ()


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in folder.rglob("*") if p.is_file() or p.is_symlink())
