"""The folder of a text scored in parts, and how its files are written.

    OUT/manifest.json          what is scored: critics, inputs with their parts, options, versions; sealed
    OUT/critics/NAME/          the fitted critics
    OUT/parts/00000.parquet   one row per document of the first part
    OUT/records/00000.json     its record: SHA-256 of the rows, counts, summaries, outliers; sealed, written last

Every file is written under a temporary name, synced, and renamed. A part is finished when its record is there, carries
the digest of the manifest, and names the length of the rows; anything else is computed again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

from momus.errors import StoreError
from momus.files import PART, delete_leftovers, file_digest, replacing, write_sealed
from momus.locking import Lock
from momus.parameters import Range
from momus.schema import read_json
from momus.text.documents import Document

MANIFEST, CRITICS, PARTS, RECORDS, LOCK = "manifest.json", "critics", "parts", "records", ".lock"
KIND = "rows of scores"
DIGITS = 5
Count = Annotated[int, Range(0)]


class RowsFile(TypedDict):
    """Length and SHA-256 of the rows of a part."""

    bytes: Count
    sha256: str


class CountsRecord(TypedDict, total=False):
    """Counts of labelled items: the key of the rows that they are sums of, or the items and their numbers."""

    rows: str
    labels: list[str | int | float | bool]
    values: list[float]


class ArrayRecord(TypedDict):
    """An array: its shape, and its values row by row."""

    shape: list[Count]
    values: list[float]


class SummaryRecord(TypedDict):
    """A summary of documents, see `momus.runs.summaries`."""

    documents: Count
    arrays: dict[str, ArrayRecord]
    counts: dict[str, CountsRecord]


class CriticRecord(TypedDict):
    """What a record says of one critic."""

    unscored: dict[str, Count]
    fitted_on: Count
    nats: float
    steps: Count
    summary: SummaryRecord | None


class Record(TypedDict):
    """The record of a part: what it belongs to, its rows, and what is known of them."""

    plan: str
    number: Count
    input: str
    documents: Count
    characters: Count
    rows: RowsFile
    critics: dict[str, CriticRecord]
    odd: list[tuple[Count, Document]]


class RowFolder:
    """Paths of a folder of parts, and what is finished in it.

    Parameters
    ----------
    path
        An existing folder, or one to be created.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = self.path / MANIFEST

    def critic(self, name: str) -> Path:
        """Folder of a fitted critic."""
        return self.path / CRITICS / name

    def rows(self, part: int) -> Path:
        """The rows of a part."""
        return self.path / PARTS / f"{part:0{DIGITS}}.parquet"

    def record(self, part: int) -> Path:
        """The record of a part."""
        return self.path / RECORDS / f"{part:0{DIGITS}}.json"

    @contextmanager
    def locked(self, rank: int) -> Iterator[None]:
        """Create the folder, and be the only process that writes the parts of this rank.

        Raises
        ------
        StoreError
            The path is a file or holds other files, or another process has this rank.
        """
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"{self.path} is a file, not a folder", hint="name another folder")
        names = {p.name for p in self.path.iterdir()} if self.path.is_dir() else set()
        ours = {name for name in names if name in (MANIFEST, CRITICS, PARTS, RECORDS) or name.startswith((LOCK, "."))}
        if names - ours and MANIFEST not in names:
            raise StoreError(
                f"{self.path} holds files that do not belong to rows of scores",
                hint="name a new or empty folder",
            )
        with writing(self.path):
            self._make()
        lock = Lock(self.path / f"{LOCK}-{rank}", f"{self.path} (rank {rank})").acquire()
        try:
            yield
        finally:
            lock.release()

    def clear(self) -> None:
        """Delete all parts and critics; the manifest first, so that a rest is never taken for a whole."""
        with writing(self.path):
            self.manifest.unlink(missing_ok=True)
            for name in (RECORDS, PARTS, CRITICS):
                shutil.rmtree(self.path / name, ignore_errors=True)
            self._make()

    def _make(self) -> None:
        for name in (PARTS, RECORDS):
            (self.path / name).mkdir(parents=True, exist_ok=True)

    def sweep(self, parts: Sequence[int]) -> None:
        """Delete the temporary files that killed processes left of these parts; others may be being written."""
        ours = {path.name for i in parts for path in (self.rows(i), self.record(i))}
        for folder in (self.path / PARTS, self.path / RECORDS):
            names = {leftover.name.removesuffix(PART).rsplit(".", 2)[0][1:] for leftover in folder.glob(f".*{PART}")}
            for name in names & ours:  # .NAME.PROCESS.RANDOM.part
                delete_leftovers(folder / name)

    def finished(self, part: int, belongs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The record of a finished part; None if it is not finished, damaged, or of another plan, number or input.

        Parameters
        ----------
        belongs
            What the record must say, see `momus.runs.row_plan.Plan.belongs`.
        """
        try:
            record = read_json(self.record(part), Record, AGAIN, sealed=True)
            same = self.rows(part).stat().st_size == record["rows"]["bytes"]
        except (OSError, StoreError):
            return None
        return dict(record) if same and all(record.get(k) == v for k, v in belongs.items()) else None

    def check_rows(self, part: int, record: dict[str, Any]) -> Path:
        """The path of the rows of a finished part, whose SHA-256 is checked.

        Raises
        ------
        StoreError
            The file is not the one that the record describes.
        """
        path = self.rows(part)
        try:
            digest = file_digest(path)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})", hint=AGAIN) from error
        if digest != record["rows"]["sha256"]:
            raise StoreError(f"{path}: damaged, edited or replaced after it was written (SHA-256)", hint=AGAIN)
        return path

    def holds_rows(self) -> bool:
        """Whether the folder holds rows of scores, finished or not."""
        return self.manifest.is_file() and (self.path / PARTS).is_dir()


AGAIN = "delete the file, and run `momus score … -o … --resume` again: only this part is computed"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Word errors of the file system.

    Raises
    ------
    StoreError
        A full disk, missing rights, …
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror or error})",
            hint="make room or name another folder; finished parts stay, and --resume scores the others",
        ) from error


@contextmanager
def synced(path: Path) -> Iterator[Path]:
    """Give a temporary path that replaces ``path`` once its content has reached the disk."""
    with writing(path), replacing(path) as temporary:
        yield temporary
        handle = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_record(path: Path, content: dict[str, Any]) -> None:
    """Write a sealed JSON file, and sync the folder that names it."""
    with writing(path):
        write_sealed(path, content)
        if hasattr(os, "O_DIRECTORY"):
            handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
