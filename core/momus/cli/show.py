"""Results of a finished run (``show``, ``open``, ``outliers``, ``report``, ``figures``, ``card``), and ``critics``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from momus.cli.options import CsvAsIs, comma_separated, expanded
from momus.cli.outputs import Run, run_folder
from momus.cli.printing import Printed, echo, print_json, print_view


@expanded
def show(
    run: Run = None,
    printed: Printed = Printed(),
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
    printed.show(read_comparison(folder), folder)


def open_report(
    run: Run = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print the path of the report; open nothing.")] = False,
) -> None:
    """Open the report of a run in the browser.

    Without RUN, opens the newest run in momus-runs, where `momus compare` writes
    when it has no --out.

    Example:

      [bold]momus open[/bold]

    Next: `momus show` prints the same run in the terminal.
    """
    import webbrowser

    from momus.errors import StoreError
    from momus.runs.folder import REPORT

    folder = run_folder(run)
    path = folder / REPORT
    if not path.is_file():
        raise StoreError(f"{folder}: no {REPORT} in this folder", hint="`momus report RUN` writes the report of a run")
    echo(str(path) if only_print else f"Report: {path}")
    if not only_print and not webbrowser.open(path.resolve().as_uri()):
        echo("No browser could be started: open this file yourself.", err=True)


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
        bool, typer.Option("--overwrite", help="Replace the page in --out even if it is no report.")
    ] = False,
) -> None:
    """Write the HTML report of a finished run again.

    Nothing is computed again: the report is made from the files of the run.
    Without RUN, takes the newest run in momus-runs.

    Example:

      [bold]momus report run --out run.html[/bold]

    Next: `momus open run`; the file needs no network and no other file.
    """
    from momus.ownership import check_output
    from momus.report.page import ANY_PAGE, REPORT_PAGE, write_report
    from momus.runs.folder import REPORT, read_comparison

    folder = run_folder(run)
    check_output(out or folder / REPORT, ANY_PAGE if overwrite else REPORT_PAGE, kept_by=None if out else folder)
    echo(f"Report: {write_report(read_comparison(folder), out or folder / REPORT)}")


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
