"""``momus compare`` and ``momus demo``: real and generated text compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momus.cli.options import (
    Config,
    CriticNames,
    Device,
    Encoding,
    Field,
    Format,
    Keep,
    Seed,
    SkipBad,
    comma_separated,
    command_line,
    config_tables,
    kept_fields,
    named_paths,
    print_view,
)


def compare(
    real: Annotated[str, typer.Option("--real", "-r", help="Real text to compare with, held out from --fit.")],
    generated: Annotated[
        list[str],
        typer.Option("--generated", "-g", metavar="NAME=PATH", help="Generated text and its name; can be repeated."),
    ],
    fit: Annotated[
        str | None,
        typer.Option("--fit", "-f", help="Real text to fit critics on; default: half of --real, drawn by the seed."),
    ] = None,
    critics: CriticNames = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run folder to write: report, tables, fitted critics.")
    ] = None,
    seed: Seed = 0,
    device: Device = "auto",
    config: Config = None,
    permutations: Annotated[int, typer.Option(min=99, help="Usual permutations per test.")] = 9999,
    resamples: Annotated[int, typer.Option(min=99, help="Resamples of bootstrap errors, where one is needed.")] = 499,
    adjustment: Annotated[
        str, typer.Option(help="Adjustment of the p-values for multiple tests: holm, bh or none.")
    ] = "holm",
    paired: Annotated[
        bool | None,
        typer.Option(
            "--paired/--unpaired",
            help="Whether to compare documents of one prompt with each other; default: if nearly all have a partner.",
        ),
    ] = None,
    equivalence: Annotated[
        float | None,
        typer.Option(metavar="DELTA", help="Also report whether each effect is shown to lie within ±DELTA, e.g. 0.2."),
    ] = None,
    pairwise: Annotated[
        bool, typer.Option("--pairwise", help="Also compare the generated corpora with each other.")
    ] = False,
    adjust: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Compare again among documents alike in these critics' values or --keep fields, e.g. length,topic.",
        ),
    ] = None,
    subgroups: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Compare again by subgroup: quarters of these critics' values, or --keep fields."
        ),
    ] = None,
    refits: Annotated[
        int, typer.Option(min=0, help="Refit each critic on this many resamples of --fit, and report the spread.")
    ] = 0,
    field: Field = None,
    fmt: Format = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
    keep: Keep = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run in --out.")] = False,
    every: Annotated[
        bool, typer.Option("--every", help="Print every statistic, not only the headline of each critic.")
    ] = False,
) -> None:
    """Compare generated text with real text, and write a report.

    Critics are fitted on --fit; then each --generated text is compared with
    --real. Documents that share a prompt_id are compared in pairs; documents of
    one group_id (author, book, site) stay together in every test. The table has
    one row per critic and generated text: size of the effect in human bands (1 is
    as far as other human text), difference, interval, adjusted p-value, verdict.
    Below: which text is nearest, and which alarms account for others.

    Example:

      [bold]momus compare -f train.jsonl -r held-out.jsonl -g mine=samples.jsonl -o run[/bold]

    Next: open run/report.html. `momus outliers run -c CRITIC` lists the documents
    that stand out; `momus calibrate` measures false alarms on your text.
    """
    import momus as m
    from momus.reading import ReadingOptions
    from momus.report.terminal import comparison_view

    try:
        comparison = m.compare(
            real,
            named_paths(generated),
            fit=fit,
            critics=comma_separated(critics),
            config=config_tables(config),
            out=out,
            overwrite=overwrite,
            resume=resume,
            reading=ReadingOptions(
                field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines, keep=kept_fields(keep)
            ),
            seed=seed,
            device=device,
            permutations=permutations,
            resamples=resamples,
            adjustment=adjustment,
            paired=paired,
            equivalence=equivalence,
            pairwise=pairwise,
            adjust=tuple(comma_separated(adjust) or ()),
            subgroups=tuple(comma_separated(subgroups) or ()),
            refits=refits,
            command=command_line(),
        )
    except KeyboardInterrupt:
        if out is not None:
            typer.echo(f"\nInterrupted. Finished critics are in {out}; resume with --resume.", err=True)
        raise
    print_view(comparison_view(comparison, every))
    if out is not None:
        typer.echo(f"Report: {out / 'report.html'}")


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Run folder to write.")] = Path("momus-demo"),
    seed: Seed = 0,
) -> None:
    """Run a comparison on texts that ship with Momus.

    Compares documentation of Python packages with what a small language model
    writes for the same names, decoded in two ways, along four axes.

    Example:

      [bold]momus demo --out demo-run[/bold]

    Next: open demo-run/report.html, then try `momus compare` on your own texts.
    """
    from momus.demo import run_demo
    from momus.report.terminal import comparison_view

    comparison = run_demo(out, seed, command_line())
    print_view(comparison_view(comparison))
    typer.echo(f"Report: {out / 'report.html'}")
