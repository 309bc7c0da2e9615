"""The folder of a text scored in parts, and how its files are written.

    OUT/manifest.json          what is scored: critics, inputs with their parts, options, versions; sealed
    OUT/critics/NAME/          the fitted critics
    OUT/parts/00000.parquet   one row per document of the first part
    OUT/records/00000.json     its record: SHA-256 of the rows, counts, summaries, outliers; sealed, written last

Every file is written under a temporary name, synced, and renamed. A part is finished when its record is there, carries
the digest of the manifest, and names the length of the rows; anything else is computed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

from momus.errors import StoreError
from momus.files import file_digest, write_sealed
from momus.locking import Lock
from momus.outputs import delete, delete_leftovers, make_folder, sync, write_bytes, writing
from momus.ownership import MARK, PART, ROWS, check_folder
from momus.parameters import Range
from momus.schema import read_json
from momus.text.documents import Document

MANIFEST, CRITICS, PARTS, RECORDS, LOCK = "manifest.json", "critics", "parts", "records", ".lock"
KIND = "rows of scores"
DIGITS = 5
FILES = re.compile(
    rf"{CRITICS}/[^/]+/(critic\.json|\.?arrays\.safetensors)|{PARTS}/\d{{5,}}\.parquet|{RECORDS}/\d{{5,}}\.json"
)
"""Paths of the files of the folder, within it, but for the manifest."""
Count = Annotated[int, Range(0)]


class RowsFile(TypedDict):
    """Length and SHA-256 of the rows of a part."""

    bytes: Count
    sha256: str


class CriticRecord(TypedDict):
    """What a record says of one critic; its summary is read by `momus.rows.packing.summary_from_json`."""

    unscored: dict[str, Count]
    fitted_on: Count
    nats: float
    steps: Count
    summary: dict[str, Any] | None


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
    def locked(self) -> Iterator[None]:
        """Create the folder, and be the only process that writes its parts.

        Raises
        ------
        StoreError
            The path is a file or holds other files, or another process writes to it.
        """
        check_folder(self.path, ROWS, leftovers=[LOCK])
        with writing(self.path, ROOM):
            make_folder(self.path)
            if not (self.path / MARK).exists():  # whose it is, until and if ever the manifest says so
                write_bytes(self.path / MARK, ROWS.name.encode("ascii"))
        lock = Lock(self.path / LOCK, str(self.path)).acquire()
        try:
            yield
        finally:
            lock.release()

    def clear(self) -> None:
        """Delete all parts and critics; the manifest first, so that a rest is never taken for a whole."""
        with writing(self.path, ROOM):
            delete(self.manifest)
            # reverse order: files before the folders that hold them
            below = sorted(self.path.glob("*/**/*"), reverse=True)
            delete(*(p for p in below if p.is_dir() or FILES.fullmatch(p.relative_to(self.path).as_posix())))

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
            What the record must say, see `momus.rows.plan.Plan.belongs`.
        """
        try:
            record = read_json(self.record(part), Record, AGAIN, sealed=True)
            same = self.rows(part).stat().st_size == record["rows"]["bytes"]
        except (OSError, StoreError):
            return None
        # the size here; the SHA-256 is checked when rows are read (`check_rows`), not for each resumption
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


def is_row_file(path: Path) -> bool:
    """Whether a relative path in a folder of folders of rows is that of one of their files; temporary ones count.

    >>> is_row_file(Path("m/parts/00000.parquet")), is_row_file(Path("m/notes.txt"))
    (True, False)
    """
    name = Path(*path.parts[1:]).as_posix()
    return name.endswith(PART) or name in (MANIFEST, MARK) or name.startswith(LOCK) or bool(FILES.fullmatch(name))


AGAIN = "delete the file, and resume the scoring: only this part is computed"


ROOM = "make room or name another folder; finished parts stay, so the scoring can be resumed"
"""The way out where rows cannot be written."""


def write_record(path: Path, content: dict[str, Any]) -> None:
    """Write a sealed JSON file, and sync the folder that names it."""
    with writing(path, ROOM):
        make_folder(path.parent)
        write_sealed(path, content)
        sync(path.parent)
