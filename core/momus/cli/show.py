"""``momus show``, ``momus report``, ``momus outliers`` and ``momus critics``: results of a run, and critics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from momus.cli.echo import echo
from momus.cli.opening import Run, run_folder
from momus.cli.options import Every, Json, Latex, Markdown, Wide, print_json, print_view
from momus.cli.outputs import check_report
from momus.cli.printing import chosen_form, print_comparison


def show(
    run: Run = None,
    every: Every = False,
    wide: Wide = False,
    as_json: Json = False,
    markdown: Markdown = False,
    latex: Latex = False,
) -> None:
    """Print the results of a finished run.

    Prints what `momus compare` printed: the answer, and one row per axis. Nothing
    is computed again. Without RUN, shows the newest run in momus-runs.

    Example:

      [bold]momus show run --every[/bold]

    Next: `momus open run` shows the report.
    """
    from momus.runs.folder import read_comparison

    folder = run_folder(run)
    form = chosen_form(as_json, markdown, latex)
    print_comparison(read_comparison(folder), form, every, wide, folder)


def outliers(
    run: Run = None,
    critic: Annotated[
        str | None, typer.Option("--critic", "-c", help="Name of the critic; default: that of the largest gap.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Documents to list per corpus.")] = 10,
    corpus: Annotated[str | None, typer.Option(help="List documents of this corpus only.")] = None,
    all_critics: Annotated[
        bool, typer.Option("--all-critics", help="List the documents that are odd on several axes instead.")
    ] = False,
    fdr: Annotated[
        float | None,
        typer.Option("--fdr", help="List documents odder than real ones, at this false-discovery rate, instead."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead, and nothing else.")] = False,
) -> None:
    """List the documents that are least likely under a critic.

    Documents are ranked by Latent NLL (per step for sequences), and shown with
    their steps z, the unlikely ones marked. The texts of the 5 least likely of
    each corpus are kept; `momus compare --top 20` keeps more.

    With --all-critics: the documents that are among the 5 % least likely of their
    corpus on two axes or more, and how many would be so by chance.

    With --fdr 0.05: the documents that are odder than real ones under any critic,
    or under --critic; on average, at most 5 % of those listed are as real as the
    real text.

    Examples (the second lists documents that are odd on several axes):

      [bold]momus outliers run --critic sections --top 5[/bold]
      [bold]momus outliers run --all-critics[/bold]
      [bold]momus outliers run --fdr 0.05[/bold]

    Next: read these documents in your file; `momus open run` shows them marked.
    """
    from dataclasses import asdict

    from momus.cli.outliers_view import flagged_view, outlier_view, outliers_json, several_view
    from momus.errors import UsageError
    from momus.outliers import flagged, listed, odd_on_several

    folder = run_folder(run)
    content: Any
    if fdr is not None:
        if all_critics:
            raise UsageError("--fdr and --all-critics exclude each other", hint="--fdr takes all critics by itself")
        chosen = flagged(folder, fdr, critic, corpus)
        content, view = [asdict(c) for c in chosen], flagged_view(chosen, top)
    elif all_critics:
        if critic is not None:
            raise UsageError("--critic and --all-critics exclude each other", hint="leave one of them out")
        odd = odd_on_several(folder, corpus)
        content, view = [asdict(c) for c in odd], several_view(odd, top)
    else:
        listing = listed(folder, critic, top, corpus)
        content, view = outliers_json(listing), outlier_view(listing)
    if as_json:
        print_json(content)
    else:
        print_view(view, 80)


def report(
    run: Run = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="HTML file to write; default: report.html in the run folder.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file in --out even if it is no report.")
    ] = False,
) -> None:
    """Write the HTML report of a finished run again.

    Nothing is computed again: the report is made from the files of the run.
    Without RUN, takes the newest run in momus-runs.

    Example:

      [bold]momus report run --out run.html[/bold]

    Next: `momus open run`; the file needs no network and no other file.
    """
    from momus.report import write_report
    from momus.runs.folder import REPORT, read_comparison

    folder = run_folder(run)
    if out is not None:
        check_report(out, overwrite)
    echo(f"Report: {write_report(read_comparison(folder), out or folder / REPORT)}")


def critics(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of a critic to show, or a folder of saved critics.", metavar="[NAME|FOLDER]"),
    ] = None,
) -> None:
    """List the critics, or show one critic with its parameters.

    Lists installed plug-ins too; a broken one is shown with the reason. Of a folder,
    shows what each saved critic would do when it scores text, without loading it.

    Example:

      [bold]momus critics sections[/bold]

      [bold]momus critics run/critics[/bold]

    Next: set parameters in a TOML file, and pass it with --config.
    """
    from momus.cli.catalogue import all_critics_view, critic_view, is_folder, saved_critics_view

    if name is not None and is_folder(name):
        print_view(saved_critics_view(Path(name)), 80)
    else:
        print_view(all_critics_view() if name is None else critic_view(name))
