"""Generations of a run folder: a run is written beside the published files, and published by one rename.

While a run is being written, its files are in ``RUN/.next``; the published files of an earlier run stay as they are.
Renaming ``.next`` to ``.ready`` is the moment of publication: from then on, whoever opens the folder moves the files to
their published names first (`complete`), and can be interrupted and repeated at any point.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from momus.errors import StoreError
from momus.files import link_or_copy
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
        if self.path.exists() and not keep:
            shutil.rmtree(self.path)
        if not self.path.exists():
            self.path.mkdir(parents=True)
            if keep and (self.folder / "critics").is_dir():
                shutil.copytree(self.folder / "critics", self.path / "critics", symlinks=True)
            if keep and (self.folder / ROWS).is_dir():  # files of rows are replaced, never changed
                shutil.copytree(self.folder / ROWS, self.path / ROWS, symlinks=True, copy_function=link_or_copy)

    def publish(self) -> None:
        """Publish the generation: write its manifest, rename it, and move the files to their published names.

        Files are not synced one by one, which takes seconds on some disks: after a loss of power, the manifest shows
        what did not reach the disk.
        """
        if (self.folder / ROWS).is_dir():
            (self.path / ROWS).mkdir(exist_ok=True)  # an empty folder replaces the rows of an earlier run
        write_manifest(self.path)
        os.rename(self.path, self.folder / READY)
        complete(self.folder)


def complete(folder: Path) -> None:
    """Finish a publication that was interrupted; nothing to do in any other folder.

    Raises
    ------
    StoreError
        A file cannot be moved.
    """
    ready = folder / READY
    if not ready.is_dir():
        return
    try:
        if (ready / MANIFEST).exists():  # it is moved last
            _move(ready, folder)
        shutil.rmtree(ready)
    except OSError as error:
        raise StoreError(
            f"{folder}: a finished run cannot be published ({error.strerror})",
            hint="make the folder writable, then read it again: nothing is lost",
        ) from error


def _move(ready: Path, folder: Path) -> None:
    """Move the files of a generation to their published names, and remove those of the earlier run."""
    # without its manifest, a folder that is half replaced is refused by readers that cannot complete it
    if (folder / MANIFEST).exists():
        os.replace(folder / MANIFEST, ready / EARLIER)
    if (ready / ROWS).is_dir():  # by one rename: an interrupted publication is repeated
        shutil.rmtree(folder / ROWS, ignore_errors=True)
        os.rename(ready / ROWS, folder / ROWS)
    for path in sorted(_files(ready)):
        target = folder / path.relative_to(ready)
        if path.relative_to(ready).as_posix() not in (MANIFEST, EARLIER):
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
    new = read_entries(ready / MANIFEST)
    for name in set(_earlier(ready)) - set(new):
        (folder / name).unlink(missing_ok=True)
    for path in (*sorted((folder / "critics").glob("*")), folder / ROWS):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    os.replace(ready / MANIFEST, folder / MANIFEST)


def _earlier(ready: Path) -> Iterable[str]:
    """Names of the files of the earlier run; none if its manifest cannot be read."""
    try:
        return read_entries(ready / EARLIER)
    except StoreError:
        return ()


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in folder.rglob("*") if p.is_file() or p.is_symlink())
