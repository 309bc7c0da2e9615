"""``momus filter``: copy the documents of a text that pass for real ones, and those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from momus.cli.options import (
    Device,
    Json,
    Quiet,
    Reading,
    Trust,
    Without,
    expanded,
)
from momus.cli.outputs import check_output
from momus.cli.printing import echo, print_json, print_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from momus.engine.scoring import ScoringRun


@expanded
def filter_(
    paths: Annotated[list[str], typer.Argument(metavar="TEXT", help="Text to filter: files, folders, patterns.")],
    critics: Annotated[
        list[str], typer.Option("--critics", "-c", help="Folder of a fitted critic, or of a run; repeat it.")
    ],
    real: Annotated[
        list[str], typer.Option("--real", "-r", help="Real text that the critics have not seen; repeat it.")
    ],
    keep: Annotated[Path, typer.Option("--keep", "-k", help="File for documents that stay: .jsonl or .parquet.")],
    drop: Annotated[Path, typer.Option("--drop", "-d", help="File for documents that go: .jsonl or .parquet.")],
    fdr: Annotated[
        float, typer.Option("--fdr", help="Largest expected share of real-like documents among those that go.")
    ] = 0.05,
    shards: Annotated[
        Path | None,
        typer.Option("--shards", help="Folder for the scores, which are not computed twice; default: KEEP.shards."),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; default: one per core.")] = None,
    shard_size: Annotated[
        int | None, typer.Option(min=1, help="Documents per shard at most; default: 10,000, or as before.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the outputs, and scores of other texts or critics.")
    ] = False,
    reading: Annotated[Reading, Without("keep", "prompt")] = Reading(),
    device: Device = "auto",
    trust: Trust = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Drop generated documents that real text does not have, at a stated error rate.

    Each document gets a p-value from real documents: the share of them that are
    as odd under any of the critics. Of the documents that go, an expected share
    of at most --fdr are as real as --real. Records are copied whole. Any amount
    of text is filtered in little memory; run the command again after an
    interruption, or with another --fdr: what is scored is not scored again.

    Example:

      [bold]momus filter synthetic.jsonl -c run -r held-out.jsonl -k kept.jsonl -d dropped.jsonl[/bold]

    Next: read the examples it prints; `momus compare` says if the rest is better.
    """
    import os

    from momus.cli.filter_view import filtered_json, filtered_view
    from momus.cli.shards import shown_progress
    from momus.outliers.filtering import filter_text

    for out in (keep, drop):
        check_output(out, [*paths, *real, *critics])
    show: Callable[[ScoringRun], None] | None = None if quiet else shown_progress()
    folder = shards or keep.with_name(f"{keep.name}.shards")
    try:
        filtered = filter_text(
            paths,
            critics,
            real,
            keep,
            drop,
            folder,
            fdr=fdr,
            reading=reading.options(),
            workers=workers or os.cpu_count() or 1,
            shard_size=shard_size,
            overwrite=overwrite,
            device=device,
            trust=trust or (),
            progress=None if show is None else lambda role, run: show(run),
        )
    except KeyboardInterrupt:
        echo(f"\nInterrupted: no output was written. Scores are in {folder}; run the command again.", err=True)
        raise
    if as_json:
        print_json(filtered_json(filtered))
    else:
        print_view(filtered_view(filtered, keep, drop), 80)
