"""``momus figures``: figures of a finished run, ready for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momus.cli.echo import echo
from momus.cli.options import CsvAsIs, comma_separated


def figures(
    run: Annotated[Path, typer.Argument(help="Folder that `momus compare --out` wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the figures to.")],
    formats: Annotated[str, typer.Option("--format", help="pdf, svg and png, comma-separated.")] = "pdf,svg,png",
    width: Annotated[
        str, typer.Option(help="column (3.35 inches), page (6.9 inches), or a number of inches.")
    ] = "column",
    csv_as_is: CsvAsIs = False,
) -> None:
    """Write the figures of a finished run at the width of a column of a paper.

    Overview of all axes, ranks of the generated texts, detectable differences,
    and one figure per axis, each with its numbers as CSV. Nothing is computed
    again.

    Example:

      [bold]momus figures run --out figures --format pdf --width page[/bold]

    Next: include the files in your paper; the CSV files have the numbers.
    """
    from momus.report.figures.files import figure_width, write_figures
    from momus.runs.folder import read_comparison

    inches = figure_width(width)
    chosen = tuple(comma_separated(formats) or ())
    written = write_figures(read_comparison(run), out, chosen, inches, csv_as_is=csv_as_is)
    echo(f"{len(written)} files in {out}: {', '.join(path.name for path in written if path.suffix == '.csv')} …")
