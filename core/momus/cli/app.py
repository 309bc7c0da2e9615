"""All commands in the order of ``--help``; each imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from momus.cli import EXIT_CODES
from momus.cli.calibrate import calibrate
from momus.cli.check import check
from momus.cli.compare import compare, demo
from momus.cli.figures import figures
from momus.cli.generate import generate
from momus.cli.history import baseline, diff, gate, history
from momus.cli.new import new
from momus.cli.opening import open_report
from momus.cli.plan import plan
from momus.cli.prepare import prepare
from momus.cli.scoring import fit, score
from momus.cli.show import critics, outliers, report, show

app = typer.Typer(
    name="momus",
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


for command in (
    compare,
    plan,
    fit,
    score,
    show,
    open_report,
    outliers,
    critics,
    report,
    figures,
    diff,
    gate,
    history,
    demo,
    generate,
    calibrate,
    check,
    prepare,
):
    app.command("open" if command is open_report else None, epilog=EXIT_CODES)(command)
app.add_typer(baseline)
app.add_typer(new)
