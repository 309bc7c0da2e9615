"""Refuse outputs that would destroy what they do not own: inputs, files and folders of others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from momus.errors import StoreError, UsageError
from momus.files import PART

MARK = b"<title>Momus"
"""In the head of each report; a page without it is not ours."""


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
