"""``momus calibrate``: false-alarm rates and power of critics on a user's own text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from momus.cli.options import (
    Config,
    CriticNames,
    Device,
    LabelFiles,
    Reading,
    Seed,
    Without,
    comma_separated,
    command_line,
    config_tables,
    expanded,
)
from momus.cli.printing import echo, print_view
from momus.errors import UsageError
from momus.limits import MOST_PERMUTATIONS, MOST_RESAMPLES


@expanded
def calibrate(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the table; finished measurements are reused.")],
    real: Annotated[str, typer.Option("--real", "-r", help="Real text to split and to plant defects in.")],
    fit: Annotated[
        str | None,
        typer.Option("--fit", "-f", help="Real text to fit critics on; default: half of --real, drawn by the seed."),
    ] = None,
    critics: CriticNames = None,
    labels: LabelFiles = None,
    defects: Annotated[
        str | None,
        typer.Option(help="Defects to plant, comma-separated, or `none` for false alarms only; default: all."),
    ] = None,
    strengths: Annotated[
        str | None,
        typer.Option(help="Strengths of the defects, above 0 and at most 1; default: 0.02,0.05,0.1,0.2,0.4,0.8."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Documents per side (groups with --by), e.g. 50,200x1000; default: half of the held-out text each."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="What is split at random as a whole: document, or all documents of one group (group_id) or prompt."
        ),
    ] = "document",
    replacement: Annotated[
        bool, typer.Option("--replacement", help="Draw documents with replacement if a size needs more than there are.")
    ] = False,
    splits: Annotated[
        int, typer.Option(min=20, max=MOST_RESAMPLES, help="Random splits without a defect, per critic and size.")
    ] = 1000,
    power_splits: Annotated[
        int, typer.Option(min=20, max=MOST_RESAMPLES, help="Random splits per defect and strength.")
    ] = 200,
    permutations: Annotated[int, typer.Option(min=19, max=MOST_PERMUTATIONS, help="Permutations per test.")] = 999,
    alpha: Annotated[float, typer.Option(help="Significance level: a test with p up to it is an alarm.")] = 0.05,
    power: Annotated[float, typer.Option(help="Share of alarms from which a defect counts as detected.")] = 0.8,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Number of processes.")] = 1,
    seed: Seed = 0,
    device: Device = "auto",
    config: Config = None,
    reading: Annotated[Reading, Without("keep", "language")] = Reading(),
) -> None:
    """Measure each critic's false-alarm rate and power on your real text.

    The real text is split at random many times. Both sides come from one source,
    so every alarm is a false one; about 5 % of the splits should alarm. Then
    defects of known strength are planted in one side, to find the weakest that
    each critic detects. If your texts come in groups (novels, authors), split
    with --by group: chapters of one novel are not independent.

    Examples (the first measures false alarms only, which is much faster):

      [bold]momus calibrate -f train.jsonl -r real.jsonl --defects none -o calibration[/bold]
      [bold]momus calibrate -f train.jsonl -r real.jsonl --sizes 200 -o calibration[/bold]

    To resume after an interruption, run the same command again.

    The table is also in calibration/calibration.csv and calibration.json. Do
    not trust verdicts of a critic that alarms too often at your sample size.
    """
    from momus.calibration import CalibrationPlan
    from momus.calibration import calibrate as run
    from momus.calibration.plan import STRENGTHS, By, parse_sizes
    from momus.calibration.rates import calibration_view
    from momus.calibration.store import TABLE_CSV
    from momus.controls import DEFECTS

    try:
        levels = [float(s) for s in (comma_separated(strengths) or STRENGTHS)]
    except ValueError as error:
        raise UsageError(f"--strengths: {error}", hint="write 0.05,0.2,0.8, say") from error
    plan = CalibrationPlan(
        sizes=parse_sizes(sizes),
        splits=splits,
        power_splits=power_splits,
        permutations=permutations,
        alpha=alpha,
        power=power,
        defects=() if defects == "none" else tuple(comma_separated(defects) or DEFECTS),
        strengths=tuple(levels),
        seed=seed,
        replacement=replacement,
        by=cast(By, by),  # which the plan checks
    )
    try:
        calibration = run(
            real,
            fit=fit,
            critics=comma_separated(critics),
            config=config_tables(config),
            out=out,
            plan=plan,
            reading=reading.options(["real", "fit"], labels),
            jobs=jobs,
            device=device,
            command=command_line(),
        )
    except KeyboardInterrupt:
        echo(f"\nInterrupted. Finished measurements are in {out}; run the same command again to resume.", err=True)
        raise
    print_view(calibration_view(calibration))
    echo(f"Table: {out / TABLE_CSV}")
