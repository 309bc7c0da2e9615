"""Write tables and JSON files, and digests of files."""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import secrets
import select
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.errors import StoreError, UsageError
from momus.locking import is_on_disk, try_lock
from momus.schema import SEAL, seal

if TYPE_CHECKING:
    import pyarrow as pa

FORMULA = r"^[=+\-@\t\r]"
"""Spreadsheets read texts that begin so as formulas."""
PART = ".part"
"""Ending of temporary files."""


def write_table(table: pa.Table, path: Path, *, as_is: bool = False) -> None:
    """Write Parquet, CSV or JSON Lines, according to the file extension; the file appears when it is complete.

    In CSV, texts that a spreadsheet would run as formulas get an apostrophe in front, unless ``as_is``.

    Raises
    ------
    UsageError
        The extension is another one.
    """
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    if path.suffix not in (".parquet", ".csv", ".jsonl"):
        raise UsageError(f"{path}: unknown extension {path.suffix!r}", hint="use .parquet, .csv or .jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            pq.write_table(table, temporary, compression="zstd")
        elif path.suffix == ".csv":
            pa_csv.write_csv(table if as_is else _without_formulas(table), temporary)
        else:
            table.to_pandas().to_json(temporary, orient="records", lines=True, force_ascii=False)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; it takes the place of ``path`` if the context ends without an error.

    The temporary file is hidden, and only its owner can read it. Its name holds the process number and a random part:
    writers of the same file do not mix. What killed processes left behind is deleted first.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("done")
    >>> target.read_text(), temporary.exists()
    ('done', False)
    """
    delete_leftovers(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}{PART}")
    # exclusive: never through a link that somebody has put there
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)  # what the umask leaves: the mode of the finished file
        _set_mode(temporary, 0o600)
        if sys.platform == "win32":  # which cannot rename an open file
            os.close(handle)
        else:
            try_lock(handle)
        try:
            yield temporary
            _set_mode(temporary, mode)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    finally:
        if sys.platform != "win32":
            os.close(handle)


def replace_file(path: Path, text: str) -> None:
    """Write a text file in one step, beside the old one until it is complete.

    Raises
    ------
    StoreError
        The path is a link: the file that it points to is somebody's, and is not overwritten.
    OSError
        The file cannot be written.
    """
    refuse_link(path)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_text(path: Path, text: str, hint: str = "name another file") -> Path:
    """Write a text file with the folders that it needs, as `replace_file` does, and return its path.

    Raises
    ------
    StoreError
        The file cannot be written, or is a link; ``hint`` is the way out.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})", hint=hint) from error
    return path


def refuse_link(path: Path) -> None:
    """Refuse to write a page or a figure through a link.

    Raises
    ------
    StoreError
        The path is a link.
    """
    if path.is_symlink():
        raise StoreError(
            f"{path} is a link to {os.readlink(path)}, which is not overwritten",
            hint="remove the link, or name another file",
        )


def delete_leftovers(path: Path) -> None:
    """Delete the temporary files of ``path`` whose processes were killed.

    Such a file is nobody's if its process number is not in use on this machine and no process holds its lock. On
    Windows, which has no such test of a number, nothing is deleted.
    """
    if sys.platform == "win32":
        return
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*{PART}"):
        number = leftover.name.removesuffix(PART).split(".")[-2]
        if not number.isdecimal() or _is_running(int(number)):
            continue
        with suppress(OSError):
            handle = os.open(leftover, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if try_lock(handle) and is_on_disk(handle, leftover):
                    leftover.unlink()
            finally:
                os.close(handle)


def _is_running(number: int) -> bool:
    """Whether a process of this number still runs; True if that cannot be known.

    On Linux, one that has ended does not run even if nobody has asked for its status yet.
    """
    try:
        os.kill(number, 0)
        if sys.platform != "linux":
            return True
        handle = os.pidfd_open(number)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    try:
        return not select.select([handle], [], [], 0)[0]
    finally:
        os.close(handle)


def _set_mode(path: Path, mode: int) -> None:
    with suppress(OSError):  # file systems without modes
        path.chmod(mode)


def _without_formulas(table: pa.Table) -> pa.Table:
    """Put an apostrophe in front of texts that look like formulas; numbers stay numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = pc.replace_substring_regex(table.column(i), FORMULA, r"'\0")
            table = table.set_column(i, field, column)
    return table


def plain(value: Any) -> Any:
    """Lists for tuples, and None for numbers that are not finite: what JSON can hold.

    >>> plain({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


def file_digest(path: Path) -> str:
    """SHA-256 of the content of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sealed(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object with the SHA-256 of its content, which `momus.schema.read_json` checks."""
    write_json(path, {**content, SEAL: seal(content)})


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically: a reader sees either the old file or the complete new one."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    # of names that are not UTF-8, Python makes unpaired surrogates: JSON holds them as escapes
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))


def link_or_copy(source: str, target: str) -> None:
    """Give a file that is never changed a second name; on another disk, copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
