"""``momus outliers``, ``momus report`` and ``momus critics``: look at a finished run, and at the critics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momus.cli.options import print_view


def outliers(
    run: Annotated[Path, typer.Argument(help="Folder that `momus compare --out` wrote.")],
    critic: Annotated[str, typer.Option("--critic", "-c", help="Name of the critic.")],
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Documents to list per corpus.")] = 10,
    corpus: Annotated[str | None, typer.Option(help="List documents of this corpus only.")] = None,
) -> None:
    """List the documents that are least likely under a critic.

    Documents are ranked by Latent NLL per step. The last column names the
    unlikely parts of those documents that the run has explained.

    Example:

      [bold]momus outliers run --critic sections --top 5[/bold]

    Next: read these documents in your file; run/report.html shows them marked.
    """
    from momus.cli.outliers import outlier_view

    print_view(outlier_view(run, critic, top, corpus))


def report(
    run: Annotated[Path, typer.Argument(help="Folder that `momus compare --out` wrote.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file to write; default: report.html in the run folder.")
    ] = None,
) -> None:
    """Write the HTML report of a finished run again.

    Nothing is computed again: the report is made from the files of the run.

    Example:

      [bold]momus report run --out run.html[/bold]

    Next: open the file in a browser; it needs no network and no other file.
    """
    from momus.comparison import read_comparison
    from momus.report import write_report

    target = out or run / "report.html"
    typer.echo(f"Report: {write_report(read_comparison(run), target)}")


def critics(
    name: Annotated[str | None, typer.Argument(help="Name of a critic to show with its parameters.")] = None,
) -> None:
    """List the critics, or show one critic with its parameters.

    Lists installed plug-ins too; a broken one is shown with the reason.

    Example:

      [bold]momus critics sections[/bold]

    Next: set parameters in a TOML file, and pass it with --config.
    """
    from momus.cli.catalogue import all_critics_view, critic_view

    print_view(all_critics_view() if name is None else critic_view(name))
