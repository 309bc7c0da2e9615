"""Print a line that may hold names and ids from elsewhere."""

from __future__ import annotations

import typer

from momus.visible import visible


def echo(text: str = "", *, nl: bool = True, err: bool = False) -> None:
    r"""Print a text, its control characters as escapes.

    >>> echo("Report: a\x1b[2Jb")
    Report: a\x1b[2Jb
    """
    typer.echo(visible(text), nl=nl, err=err)
