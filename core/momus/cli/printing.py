"""What commands print, where they write if nothing is named, and which run they read then."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momus.cli.options import Json
from momus.errors import UsageError
from momus.files import plain
from momus.parameters import exclude
from momus.visible import safe_console, visible

if TYPE_CHECKING:
    from momus.runs.result import Results


def echo(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    r"""Print a line that may hold names and ids from elsewhere, its control characters as escapes.

    >>> echo("Report: a\x1b[2Jb")
    Report: a\x1b[2Jb
    """
    typer.echo(visible(text), nl=nl, err=err)


def print_view(view: Any, width: int | None = None) -> None:
    """Print a rich renderable.

    By default, it is as wide as the terminal, 170 columns into files and pipes, and never below 80. ``width`` is for
    views that are made for one width; a narrower terminal wraps them.
    """
    terminal = safe_console().width if sys.stdout.isatty() else None
    if width is None:
        width = max(terminal or 170, 80)
    safe_console(width=min(width, terminal or width), highlight=False).print(view)


def print_json(content: Any) -> None:
    """Print JSON, in ASCII: names may hold what a terminal must not see; numbers that are not finite are null."""
    typer.echo(json.dumps(plain(content), indent=2, allow_nan=False))


@dataclass(frozen=True)
class Printed:
    """The form in which a comparison is printed.

    Raises
    ------
    UsageError
        The options ask for several forms.
    """

    every: Annotated[
        bool, typer.Option("--all", help="Also print all numbers: every statistic, up to 170 columns.")
    ] = False
    as_json: Json = False
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the overview in Markdown instead.")] = False
    latex: Annotated[
        bool, typer.Option("--latex", help="Print the overview as a LaTeX table (array, booktabs) instead.")
    ] = False

    def __post_init__(self) -> None:
        exclude(as_json=self.as_json, **self.tables)

    @property
    def tables(self) -> dict[str, bool]:
        """Forms of tables for documents, and whether they are asked for."""
        return {"markdown": self.markdown, "latex": self.latex}

    def show(self, comparison: Results, run: Path | None = None) -> None:
        """Print a comparison, and where its report is; other forms than text leave standard output to themselves."""
        if self.as_json:
            from momus.report.exports import comparison_json

            # ASCII only: names of corpora may hold what a terminal must not see
            print_json(comparison_json(comparison))
        elif self.markdown:
            from momus.report.exports import comparison_markdown

            echo(comparison_markdown(comparison), nl=False)
        elif self.latex:
            from momus.report.exports import comparison_latex

            echo(comparison_latex(comparison), nl=False)
        else:
            from momus.report.terminal import WIDTH, comparison_view

            print_view(comparison_view(comparison, self.every), None if self.every else WIDTH)
            if not self.every:
                how = f"momus show {shlex.quote(str(run))} --all" if run else "the same command with --all"
                echo(f"Details: {how}")
        if run is not None:
            from momus.runs.folder import REPORT

            echo(f"Report: {run / REPORT}", err=self.as_json or self.markdown or self.latex)


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
