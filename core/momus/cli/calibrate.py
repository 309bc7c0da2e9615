"""``momus calibrate``: false alarms and power of critics on a user's own text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def calibrate(
    real: Annotated[str, typer.Option("--real", "-r", help="Real text to split and to plant defects in.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for tables and report; finished cells are kept.")],
    fit: Annotated[
        str | None, typer.Option("--fit", "-f", help="Real text to fit on; without it half of --real is set apart.")
    ] = None,
    critics: Annotated[
        str | None, typer.Option("--critics", "-c", help="Critics, comma-separated; default: all.")
    ] = None,
    defects: Annotated[
        str | None, typer.Option(help="Defects to plant, comma-separated, or `none`; default: all.")
    ] = None,
    strengths: Annotated[
        str | None, typer.Option(help="Strengths above 0 up to 1; default: 0.02,0.05,0.1,0.2,0.4,0.8.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Documents a side: 50,200x1000; default: half of the text each.")
    ] = None,
    replacement: Annotated[
        bool, typer.Option("--replacement", help="Draw documents twice where a size needs more than there are.")
    ] = False,
    splits: Annotated[int, typer.Option(min=20, help="Null splits of each critic and size.")] = 1000,
    power_splits: Annotated[int, typer.Option(min=20, help="Splits of each defect and strength.")] = 200,
    permutations: Annotated[int, typer.Option(min=19, help="Permutations of each test.")] = 999,
    wide: Annotated[int, typer.Option(min=19, help="The same, where rows have more than 64 columns.")] = 199,
    alpha: Annotated[float, typer.Option(help="Level at which alarms are counted.")] = 0.05,
    power: Annotated[float, typer.Option(help="Power at which a defect counts as found.")] = 0.8,
    donor: Annotated[
        str | None, typer.Option(help="Text that defects take pieces from: for language-mixing, another language.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits, defects and tests.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    config: Annotated[
        Path | None, typer.Option("--config", help="TOML file with one table of parameters a critic.")
    ] = None,
    field: Annotated[str | None, typer.Option(help="The field that holds the text.")] = None,
    fmt: Annotated[str | None, typer.Option("--format", help="jsonl, json, parquet, …; default: by the file.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of text files.")] = "utf-8",
    skip_bad_lines: Annotated[bool, typer.Option("--skip-bad-lines", help="Count lines that are no JSON.")] = False,
) -> None:
    """Measure how often each critic cries wolf on your real text, and how small a planted defect it sees.

    Run again with the same options to go on with an interrupted calibration.

    Example: [bold]momus calibrate -f train.jsonl -r held-out.jsonl --sizes 200 -o calibration[/bold]
    """
    from functools import partial

    import momus as m
    from momus.calibration import Plan
    from momus.calibration import calibrate as run
    from momus.calibration.plan import STRENGTHS, parse_sizes
    from momus.calibration.view import calibration_view
    from momus.cli.app import _command, _config, _names, _print
    from momus.controls import DEFECTS
    from momus.errors import UsageError

    try:
        levels = [float(s) for s in (_names(strengths) or STRENGTHS)]
    except ValueError as error:
        raise UsageError(f"--strengths: {error}", hint="write 0.05,0.2,0.8, say") from error
    plan = Plan(
        sizes=parse_sizes(sizes),
        splits=splits,
        power_splits=power_splits,
        permutations=permutations,
        wide=wide,
        alpha=alpha,
        power=power,
        defects=() if defects == "none" else tuple(_names(defects) or DEFECTS),
        strengths=tuple(levels),
        seed=seed,
        replacement=replacement,
    )
    read = partial(m.read_corpus, field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines)
    try:
        found = run(
            read(real, name="real"),
            fit=None if fit is None else read(fit, name="fit"),
            donor=None if donor is None else read(donor, name="donor"),
            critics=_names(critics),
            config=_config(config),
            out=out,
            plan=plan,
            jobs=jobs,
            device=device,
            command=_command(),
        )
    except KeyboardInterrupt:
        print(f"\nInterrupted; finished cells are kept in {out}: run the same again.", file=sys.stderr)
        raise
    _print(calibration_view(found))
    typer.echo(f"Report: {out / 'report.html'}")
