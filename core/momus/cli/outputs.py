"""Where commands write: run folders without a name, and outputs that would destroy inputs or files of others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from momus.errors import StoreError, UsageError
from momus.files import PART

MARK = b"<title>Momus"
"""In the head of each report; a page without it is not ours."""


RUNS = Path("momus-runs")
"""Folder in the working directory that holds runs without ``--out``."""
SLUG = 40

Run = Annotated[
    Path | None, typer.Argument(help="Run folder that `momus compare` wrote; default: the newest in momus-runs.")
]


def new_run(names: Sequence[str], now: datetime | None = None) -> Path:
    """A folder that does not exist yet, named by time and generated corpora.

    >>> new_run(["opt 2.7b", "../neox"], datetime(2026, 1, 2, 15, 4, 5)).as_posix()
    'momus-runs/20260102-150405-opt-2.7b-neox'
    """
    name = "-".join(p for p in (f"{now or datetime.now():%Y%m%d-%H%M%S}", slug(names)) if p)
    numbered = (RUNS / (name if i == 1 else f"{name}-{i}") for i in count(1))
    return next(path for path in numbered if not path.exists())


def slug(names: Sequence[str]) -> str:
    r"""Names joined into at most 40 letters, digits, dots, underscores and hyphens.

    >>> slug(["a/b", "\x1b[31m", "c" * 50])
    'a-b-31m-cccccccccccccccccccccccccccccccc'
    """
    text = "".join(c if c.isalnum() or c in "._-" else "-" for c in "-".join(names))
    words = [w for w in (word.strip("._") for word in text.split("-")) if w]
    return "-".join(words)[:SLUG].rstrip("-._")


def run_folder(run: Path | None) -> Path:
    """The run that was named, or the newest in ``momus-runs``.

    Raises
    ------
    UsageError
        None was named, and there is none.
    """
    if run is not None:
        return run
    finished = [path for path in RUNS.glob("*/run.json") if path.is_file()]
    if not finished:
        raise UsageError(f"no run in {RUNS}/", hint="name a run folder, or run `momus compare` without --out first")
    return max(finished, key=lambda path: (path.stat().st_mtime_ns, path)).parent


def check_output(out: Path | None, inputs: Iterable[str | Path | None]) -> None:
    """Make sure that an output is none of the inputs, by another name or through a link either.

    Inputs may be patterns or ``FILE#FIELD``, as readers take them.

    Raises
    ------
    UsageError
        The output is an input, or lies in a folder that is an input.
    """
    if out is None:
        return
    target = Path(os.path.realpath(out))
    for given in filter(None, map(str, (i for i in inputs if i is not None))):
        source = given if os.path.exists(given) else given.rpartition("#")[0] or given
        if not os.path.exists(source):
            continue
        real = Path(os.path.realpath(source))
        same = target == real or (target.exists() and os.path.samefile(target, real))
        if same or (real.is_dir() and real in target.parents and target.exists()):
            raise UsageError(
                f"--out {out} would overwrite {'its own input' if same else f'a file of its input {given}'}",
                hint="name another file with --out",
            )


def check_report(out: Path, overwrite: bool) -> None:
    """Make sure that a page that is to be replaced is a report of Momus.

    Raises
    ------
    StoreError
        The file is something else, and ``overwrite`` is not set.
    """
    if overwrite or not out.exists():
        return
    if out.is_file():
        with out.open("rb") as file:
            if MARK in file.read(8192):
                return
    raise StoreError(
        f"{out} exists and is not a report of Momus", hint="name another file with --out, or pass --overwrite"
    )


def check_critic_folder(out: Path) -> None:
    """Make sure that a folder for a fitted critic is new, empty, or holds a fitted critic, which is replaced.

    Raises
    ------
    StoreError
        The folder holds other files.
    """
    if not out.is_dir() or (out / "critic.json").is_file():
        return
    # a fit that was killed leaves its arrays or temporary files behind
    if any(p.name != "arrays.safetensors" and not p.name.endswith(PART) for p in out.iterdir()):
        raise StoreError(f"{out} holds files that are not of a fitted critic", hint="name a new or empty folder")
