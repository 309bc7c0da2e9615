"""The tables of the source papers on other texts.

Run:  python benchmarks/reproduce/paper_table.py [ID] [--real TEXT --generated NAME=TEXT]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from papers import as_json as to_json
from papers import find_table, paper_tables
from papers import reproduce as reproduce_table
from papers.view import listing_json, listing_view, reproduction_view

from momus.cli.options import (
    Config,
    Device,
    Json,
    Quiet,
    Reading,
    Seed,
    Testing,
    Without,
    comma_separated,
    command_line,
    config_tables,
    expanded,
)
from momus.cli.printing import echo, print_json, print_view
from momus.cli.sources import named_paths

UNREAD = ("encoding", "skip_bad_lines", "keep", "max_document", "include", "turns", "language")
"""Options of reading that the command does not have."""


@expanded
def reproduce(
    table: Annotated[
        str | None, typer.Argument(help="Table to run, e.g. deng-2; default: list all tables.", show_default=False)
    ] = None,
    real: Annotated[
        str | None, typer.Option("--real", "-r", help="Real text; default: the texts that ship with Momus.")
    ] = None,
    generated: Annotated[
        list[str] | None,
        typer.Option("--generated", "-g", metavar="NAME=PATH", help="Generated text and its name; can be repeated."),
    ] = None,
    fit: Annotated[
        str | None, typer.Option("--fit", "-f", help="Real text to fit critics on; default: half of --real.")
    ] = None,
    critics: Annotated[
        str | None, typer.Option("--critics", "-c", help="Critics of the table to run, comma-separated; default: all.")
    ] = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="Print the paper's parameters as TOML for --config; run nothing.")
    ] = False,
    config: Config = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Use the paper's own encoder where Momus would replace it by one that works offline."
        ),
    ] = False,
    alternative: Annotated[
        str | None, typer.Option(help="Another reading of the paper that the table has, e.g. absolute for deng-6.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run folder to write, with the report; default: none.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    seed: Seed = 0,
    device: Device = "auto",
    testing: Annotated[Testing, Without("resamples", "multiplicity", "equivalence", "pairwise")] = Testing(
        permutations=999
    ),
    reading: Annotated[Reading, Without(*UNREAD)] = Reading(),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a table of a source paper on your texts, and print both figures.

    Without TABLE, lists the tables and figures of the papers: what each found,
    what text it needs, and how long it takes on the texts that ship with Momus.

    With TABLE, runs its critics with the paper's parameters on --real and
    --generated, or on texts that ship with Momus, and prints what the paper
    printed above what was measured here, with intervals and n. Parameters that
    differ from the paper's are named.

    Example: the table of section order, on your own model

      [bold]python benchmarks/reproduce/paper_table.py deng-2 -f train.jsonl -r test.jsonl -g mine=samples.jsonl[/bold]

    Next: add `--out RUN` and `momus open RUN` for the report with all statistics
    of these critics.
    """
    from momus.errors import UsageError
    from momus.progress import Silent, default_reporter

    if table is None:
        if real or generated or fit or settings or out:
            raise UsageError(
                "no table was named",
                hint="`python benchmarks/reproduce/paper_table.py` without options lists the tables",
            )
        tables = list(paper_tables().values())
        if as_json:
            print_json(listing_json(tables))
        else:
            print_view(listing_view(tables), 80)
        return
    chosen = find_table(table)
    if settings:
        if alternative is not None:
            values = chosen.parameters(alternative)
            raise UsageError("--settings prints what the paper names", hint=f"for the alternative, give {values}")
        echo(chosen.settings_text(), nl=False)
        return
    if overwrite and out is None:
        raise UsageError("--overwrite needs the folder of the earlier run", hint="name it with --out")
    paths = named_paths(generated or [])
    found = reproduce_table(
        chosen,
        real,
        paths,
        fit,
        critics=comma_separated(critics),
        config=config_tables(config),
        exact=exact,
        alternative=alternative,
        seed=seed,
        reading=reading.options(["real", "fit", *paths]),
        reporter=Silent() if quiet else default_reporter(lines=True),
        out=out,
        overwrite=overwrite,
        device=device,
        permutations=testing.permutations,
        paired=testing.paired,
        command=command_line(),
    )
    if as_json:
        print_json(to_json(found))
    else:
        print_view(reproduction_view(found), 80)
    if out is not None:
        from momus.runs.folder import REPORT

        echo(f"Report: {out / REPORT}", err=as_json)


if __name__ == "__main__":
    from momus.cli.boundary import report_error

    app = typer.Typer()
    app.command()(reproduce)
    try:
        app(standalone_mode=True)
    except Exception as error:
        sys.exit(report_error(error))
