"""``momus filter``: copy the documents of a text that pass for real ones, and those that do not."""

from __future__ import annotations

import os
from dataclasses import asdict
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from momus.cli.options import Device, Jobs, Json, Quiet, Reading, Trust, Without, expanded
from momus.cli.outliers_view import flagged_line
from momus.cli.parts import split_paths
from momus.cli.printing import echo, print_json, print_view
from momus.report.safe import one_line
from momus.report.words.format import rounded
from momus.text.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

    from momus.outliers.filtering import Filtered
    from momus.outliers.flagging import Flagged

SNIPPET = 140
"""Characters of an example that are shown."""


@expanded
def filter_(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="CRITIC TEXT",
            help="Folders of fitted critics, or of a run; then texts: files, folders, patterns.",
        ),
    ],
    real: Annotated[
        list[str], typer.Option("--real", "-r", help="Real text that the critics have not seen; repeat it.")
    ],
    kept: Annotated[Path, typer.Option("--kept", help="File for documents that stay: .jsonl or .parquet.")],
    dropped: Annotated[Path, typer.Option("--dropped", help="File for documents that go: .jsonl or .parquet.")],
    fdr: Annotated[
        float, typer.Option("--fdr", help="Largest expected share of real-like documents among those that go.")
    ] = 0.05,
    skip_fitted: Annotated[
        bool,
        typer.Option("--skip-fitted", help="Leave out real documents that a critic was fitted on, and count them."),
    ] = False,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Folder for the scores, which are not computed twice; default: KEPT.scores."),
    ] = None,
    jobs: Jobs = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the outputs, and scores of other texts or critics.")
    ] = False,
    reading: Annotated[Reading, Without("prompt")] = Reading(),
    device: Device = "auto",
    trust: Trust = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Remove documents unlike any human text, at a stated error rate.

    Each document gets a p-value from real documents: the share of them that are
    as odd under the critics. Of the documents that go, an expected share of at
    most --fdr are as real as --real. Records are copied whole. Any amount of
    text is filtered in little memory; run the command again after an
    interruption, or with another --fdr: what is scored is not scored again.

    Example:

      [bold]momus filter run new.jsonl -r real.jsonl --kept a.jsonl --dropped b.jsonl[/bold]

    Next: read the examples it prints; `momus compare` says if the rest is better.
    """
    from momus.outliers.filtering import filter_text
    from momus.progress import Silent, default_reporter, reporting

    folder = scores or Path(f"{kept}.scores")
    critics, texts = split_paths(paths, "momus filter")
    try:
        with reporting(Silent() if quiet else default_reporter(lines=True)):
            filtered = filter_text(
                texts,
                critics,
                real,
                kept,
                dropped,
                folder,
                fdr=fdr,
                skip_fitted=skip_fitted,
                reading=reading.options(),
                workers=jobs or os.cpu_count() or 1,
                overwrite=overwrite,
                device=device,
                trust=trust or (),
            )
    except KeyboardInterrupt:
        echo(f"\nInterrupted: no output was written. Scores are in {folder}; run the command again.", err=True)
        raise
    if as_json:
        print_json({**asdict(filtered), "kept": filtered.kept, "expected": filtered.expected})
    else:
        print_view(filtered_view(filtered, kept, dropped), 80)


def filtered_view(filtered: Filtered, kept: Path, dropped: Path) -> RenderableType:
    """Build the report: how many documents went, for which critics, and examples."""
    from rich.console import Group
    from rich.text import Text

    f = filtered
    share = f"{rounded(100 * f.dropped / f.documents)} %" if f.documents else "none"
    parts: list[RenderableType] = [
        Text(f"{f.dropped:,} of {counted(f.documents, 'document')} dropped ({share}) → {one_line(str(dropped))}"),
        Text(f"{f.kept:,} kept → {one_line(str(kept))}"),
    ]
    parts += [Text(line, style="dim") for line in _notes(f)]
    for name, (unlikely, likely) in f.by_critic.items():
        if unlikely or likely:
            ends = f" ({unlikely:,} unlikely, {likely:,} too likely)" if likely else ""
            parts += [Text(""), Text(f"{name}: {unlikely + likely:,} dropped{ends}", style="bold")]
            parts += [_example(e) for e in f.examples if e.critic == name]
    return Group(*parts)


def _notes(f: Filtered) -> Iterator[str]:
    from momus.engine.chosen import left_out_warning

    if f.p is None:
        yield (
            f"No document is odd enough: of {f.documents:,}, at least {f.fewest:,} must be as odd as the oddest real "
            f"documents to be told from chance at a false-discovery rate of {f.fdr:g}."
        )
    else:
        yield (
            f"Those with p ≤ {f.p:.2g} go: expect at most {ceil(f.expected):,} false drops "
            f"(false-discovery rate {f.fdr:g})."
        )
    yield f"Real text: {counted(f.real, 'document')}, of which {f.calibrating:,} calibrate the p-values."
    if f.left_out:
        yield f"{counted(f.left_out, 'real document')} left out: a critic was fitted on the same text."
    for name, n in f.seen.items():
        if n:
            yield f"Critic {name} was fitted on {n:,} of the real documents, which makes its p-values a little small."
    for name, reasons in f.unscored.items():
        for reason, n in reasons.items():
            yield f"{name}: {n:,} unscored ({one_line(reason)}), not odd under this critic"
    if f.failed:
        yield left_out_warning(f.failed)
    if f.judged_by_none:
        yield f"{counted(f.judged_by_none, 'document')} could not be scored by any critic: kept."


def _example(e: Flagged) -> Text:
    """A document that went, and the beginning of its text."""
    beginning = one_line(" ".join(e.text.split()), SNIPPET)
    return flagged_line(e, named=False).append(f"\n  “{beginning}”", style="not bold dim")
