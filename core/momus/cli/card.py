"""``momus card``: what critics say of a generated text, for its data card."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momus.cli.echo import echo
from momus.cli.opening import Run, run_folder


def card(
    run: Run = None,
    text: Annotated[
        str | None, typer.Option("--text", "-t", help="Name of the generated text; default: the only one.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option("--into", help="Card to put the section into, such as README.md; an earlier section is replaced."),
    ] = None,
) -> None:
    """Write what critics say of a generated text, as a section of its data card.

    The section has one row per axis: the size of the gap in human bands with its
    interval, the adjusted p-value, n, and the finding; then what it rests on.
    It is Markdown, and holds no passage of any document. Without --into, it is
    printed.

    Example:

      [bold]momus card run --into README.md[/bold]

    Next: publish the card with the data.
    """
    from momus.report.exports import write_card
    from momus.runs.folder import read_comparison

    section = read_comparison(run_folder(run)).to_card(text)
    if into is None:
        echo(section, nl=False)
        return
    replaced = write_card(into, section)
    echo(f"Section {'replaced' if replaced else 'added'}: {into}")
