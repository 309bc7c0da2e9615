"""Results of a finished run: ``show``, ``open``, ``outliers`` and ``figures``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from momus.cli.options import Json, comma_separated, expanded
from momus.cli.printing import Printed, Run, echo, print_json, print_view, run_folder
from momus.errors import StoreError
from momus.ownership import check_output
from momus.parameters import exclude, need


@expanded
def show(
    run: Run = None,
    printed: Printed = Printed(),
    html: Annotated[bool, typer.Option("--html", help="Write the HTML report again instead.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="With --html: file to write; default: report.html of the run.")
    ] = None,
) -> None:
    """Print the results of a finished run, or write its report.

    Prints what `momus compare` printed: the answer, and one row per axis. Nothing
    is computed again. Without RUN, shows the newest run in momus-runs.

    Examples (the second writes the report):

      [bold]momus show run --all[/bold]
      [bold]momus show run --html --out run.html[/bold]

    Next: `momus open run` shows the report.
    """
    from momus import read_comparison
    from momus.runs.folder import REPORT
    from momus.runs.manifest import REPORT_KIND

    exclude(html=html, as_json=printed.as_json, **printed.tables)
    need("html", html, out=out)
    folder = run_folder(run)
    comparison = read_comparison(folder)
    if html:
        if out is not None:
            check_output(out, REPORT_KIND)
        echo(f"Report: {comparison.report(out or folder / REPORT)}")
    else:
        printed.show(comparison, folder)


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

    from momus.runs.folder import REPORT

    folder = run_folder(run)
    path = folder / REPORT
    if not path.is_file():
        raise StoreError(f"{folder}: no {REPORT} in this folder", hint="`momus show RUN --html` writes it")
    echo(str(path) if only_print else f"Report: {path}")
    if not only_print and not webbrowser.open(path.resolve().as_uri()):
        echo("No browser could be started: open this file yourself.", err=True)


def outliers(
    run: Run = None,
    critic: Annotated[
        str | None, typer.Option("--critic", "-c", help="Name of the critic; default: that of the largest gap.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Documents to list per corpus.")] = 10,
    corpus: Annotated[str | None, typer.Option(help="List documents of this corpus only.")] = None,
    fdr: Annotated[
        float | None,
        typer.Option("--fdr", help="List documents odder than real ones, at this false-discovery rate, instead."),
    ] = None,
    fault: Annotated[
        str | None, typer.Option("--fault", help="List documents with this fault, such as broken-off, instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the documents that are least likely under a critic.

    Documents are ranked by Latent NLL (per step for sequences), and shown with
    their steps z, the unlikely ones marked. The texts of the 5 least likely of
    each corpus are kept; `momus compare --top 20` keeps more.

    With --fdr 0.05: the documents that are odder than real ones under any critic,
    or under --critic; on average, at most 5 % of those listed are as real as the
    real text. With --fault broken-off: those that break off.

    Examples (the second lists documents that are odder than real ones):

      [bold]momus outliers run --critic sections --top 5[/bold]
      [bold]momus outliers run --fdr 0.05[/bold]

    Next: read these documents in your file; `momus open run` shows them marked.
    """
    from momus.cli.outliers_view import faulty_view, flagged_view, outlier_view, outliers_json
    from momus.outliers import faulty, flagged, listed

    folder = run_folder(run)
    content: Any
    if fault is not None:
        documents = faulty(folder, fault, corpus)
        content, view = [asdict(d) for d in documents], faulty_view(documents, top)
    elif fdr is not None:
        chosen = flagged(folder, fdr, critic, corpus)
        content, view = [asdict(c) for c in chosen], flagged_view(chosen, top)
    else:
        listing = listed(folder, critic, top, corpus)
        content, view = outliers_json(listing), outlier_view(listing)
    if as_json:
        print_json(content)
    else:
        print_view(view, 80)


def figures(
    run: Annotated[Path, typer.Argument(help="Folder that `momus compare --out` wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the figures to.")],
    formats: Annotated[str, typer.Option("--format", help="pdf, svg and png, comma-separated.")] = "pdf,svg,png",
    width: Annotated[
        float, typer.Option(min=1.5, max=40, help="Inches; 3.35 is a column of a page with two, 6.9 the page.")
    ] = 3.35,
) -> None:
    """Write the figures of a finished run at the width of a column of a paper.

    Overview of all axes, ranks of the generated texts, and the figures of each
    axis, each with its numbers as CSV. Nothing is
    computed again.

    Example:

      [bold]momus figures run --out figures --format pdf --width 6.9[/bold]

    Next: include the files in your paper; the CSV files have the numbers.
    """
    from momus.report.figures.files import write_figures
    from momus.runs.folder import read_results

    written = write_figures(read_results(run), out, comma_separated(formats) or (), width)
    echo(f"{len(written)} files in {out}: {', '.join(path.name for path in written if path.suffix == '.csv')} …")
