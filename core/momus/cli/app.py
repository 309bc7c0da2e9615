"""The command ``momus``, with its own options and help; `momus.cli.commands` has the commands below it."""

from __future__ import annotations

from typing import Annotated

import typer

from momus.cli import EXIT_CODES
from momus.cli.commands import Commands

app = typer.Typer(
    name="momus",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)

# Typer keeps the line breaks of all paragraphs but the first: lines of at most 78 characters fit a terminal of 80


def _version(value: bool) -> None:
    if value:
        from momus.version import __version__

        typer.echo(f"momus {__version__}")
        raise typer.Exit


@app.callback()
def momus(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Measure along which axes generated text departs from real text.

    Each critic is a simple model of one axis, such as section order, length or
    vocabulary, fitted on real text. Momus compares real and generated text under
    each critic and reports tests, intervals and the documents that stand out.

    See it work on texts that ship with Momus:

      [bold]momus demo[/bold]

    Then compare your own (JSON Lines, Parquet, plain text, folders; .gz, .zst):

      [bold]momus compare -f train.jsonl -r held-out.jsonl -g mine=samples.jsonl -o run[/bold]

    Next: `momus open run`. `momus COMMAND --help` explains each command.
    """
