"""``momus export``: a finished run in experiment trackers."""

from __future__ import annotations

from typing import Annotated

import typer

from momus.cli.printing import Run, echo, run_folder


def export(
    to: Annotated[
        list[str],
        typer.Option(
            "--to",
            metavar="TRACKER:PLACE",
            help="wandb:ENTITY/PROJECT, mlflow:EXPERIMENT or tensorboard:FOLDER; can be repeated.",
        ),
    ],
    run: Run = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the run there; default: that of the folder.")
    ] = None,
    step: Annotated[
        int | None, typer.Option("--step", min=0, help="Training step that the texts are from; makes curves of runs.")
    ] = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Send no HTML report: it holds passages of your documents.")
    ] = False,
) -> None:
    """Send a finished run to experiment trackers: W&B, MLflow, TensorBoard.

    Sends, for each text and axis, the size of the gap in human bands with its
    interval, the effect, the adjusted p-value and n; a table of verdicts; and the
    report. Nothing is computed again. Without RUN, takes the newest run in
    momus-runs.

    Accounts and servers are those that the tracker itself is configured with
    (`wandb login`, MLFLOW_TRACKING_URI, …); Momus asks for no key and stores none.

    Examples (the second needs no network):

      [bold]momus export run --to wandb:team/project --to mlflow:evaluation[/bold]
      [bold]momus export run --to tensorboard:runs --name opt-1.3b --step 2000[/bold]

    Next: open the tracker; runs of one name and several steps are curves there.
    """
    from momus import read_comparison
    from momus_training.tracked import log_to

    folder = run_folder(run)
    comparison = read_comparison(folder)
    for target in to:
        where = log_to(comparison, target, run=name or folder.resolve().name, step=step, report=not no_report)
        tracker = target.partition(":")[0]
        echo(f"Sent to {tracker}, {where}")
        if tracker == "tensorboard":
            echo(f"Next: tensorboard --logdir {target.partition(':')[2]}")
