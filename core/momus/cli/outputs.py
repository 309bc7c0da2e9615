"""Where commands write if nothing is named, and which run they read then."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from momus.errors import UsageError

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
