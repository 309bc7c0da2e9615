"""The commands; each imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momus.cli import EXIT_CODES
from momus.cli.calibrate import calibrate
from momus.cli.check import check
from momus.cli.generate import generate
from momus.cli.new import new
from momus.cli.options import (
    Config,
    CriticNames,
    Device,
    Encoding,
    Field,
    Format,
    Seed,
    SkipBad,
    comma_separated,
    command_line,
    config_tables,
    named_paths,
    print_view,
)
from momus.cli.prepare import prepare

app = typer.Typer(
    name="momus",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)

# Typer keeps the line breaks of all paragraphs but the first: lines of at most 78 characters fit a terminal of 80


def _version(value: bool) -> None:
    if value:
        from momus.version import __version__

        typer.echo(f"momus {__version__}")
        raise typer.Exit


@app.callback()
def momus(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Measure along which axes generated text departs from real text.

    Each critic is a simple model of one axis, such as section order, length or
    vocabulary, fitted on real text. Momus compares real and generated text under
    each critic and reports tests, intervals and the documents that stand out.

    See it work on texts that ship with Momus:

      [bold]momus demo[/bold]

    Then compare your own (JSON Lines, Parquet, plain text, folders; .gz, .zst):

      [bold]momus compare -f train.jsonl -r held-out.jsonl -g mine=samples.jsonl -o run[/bold]

    Next: open run/report.html. `momus COMMAND --help` explains each command.
    """


@app.command(epilog=EXIT_CODES)
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
    permutations: Annotated[int, typer.Option(min=99, help="Permutations per test.")] = 9999,
    resamples: Annotated[int, typer.Option(min=99, help="Bootstrap resamples per interval.")] = 2000,
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
    refits: Annotated[
        int, typer.Option(min=0, help="Refit each critic on this many resamples of --fit, and report the spread.")
    ] = 0,
    field: Field = None,
    fmt: Format = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run in --out.")] = False,
    every: Annotated[
        bool, typer.Option("--every", help="Print every statistic, not only the headline of each critic.")
    ] = False,
) -> None:
    """Compare generated text with real text, and write a report.

    Critics are fitted on --fit; then each --generated text is compared with
    --real. Documents that share a prompt_id are compared in pairs. The table has
    one row per critic and generated text: difference, interval, effect size,
    adjusted p-value, verdict.

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
            reading=ReadingOptions(field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines),
            seed=seed,
            device=device,
            permutations=permutations,
            resamples=resamples,
            adjustment=adjustment,
            paired=paired,
            equivalence=equivalence,
            pairwise=pairwise,
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


@app.command(epilog=EXIT_CODES)
def fit(
    critic: Annotated[str, typer.Argument(help="Name of the critic; `momus critics` lists them.")],
    real: Annotated[str, typer.Option("--real", "-r", help="Real text to fit on.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the fitted critic into.")],
    config: Config = None,
    device: Device = "auto",
    field: Field = None,
    fmt: Format = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
) -> None:
    """Fit one critic on real text, and save it.

    Example:

      [bold]momus fit sections --real train.jsonl --out sections-critic[/bold]

    Next: `momus score sections-critic samples.jsonl`. You need not fit critics
    before a comparison: `momus compare` fits and saves its own.
    """
    from momus.critic.registry import make_critics
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter, reporting
    from momus.reading import ReadingOptions

    (model,) = make_critics([critic], config_tables(config))
    if model.uses_device:
        model.to(resolve_device(device))
    options = ReadingOptions(field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines)
    reporter = default_reporter()
    corpus = options.read(real, "fit", reporter)
    with reporting(reporter), reporter.stage(f"fitting {critic}"):
        model.fit(corpus)
    model.save(out)
    left_out = model.fitted_on_["left_out"]
    typer.echo(f"{model!r} fitted on {model.fitted_on_['documents']:,} documents ({left_out:,} left out) → {out}")
    for note in model.notes():
        typer.echo(note.text)


@app.command(epilog=EXIT_CODES)
def score(
    saved: Annotated[Path, typer.Argument(help="Folder of a fitted critic.")],
    text: Annotated[str, typer.Argument(help="Text to score.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the rows: .parquet, .csv or .jsonl.")
    ] = None,
    device: Device = "auto",
    field: Field = None,
    fmt: Format = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
) -> None:
    """Score new text with a saved critic: one row per document.

    Prints the Latent NLL of the text (and its Latent PPL, if the critic's latents
    are sequences) and counts unscored documents by reason. A run folder keeps its
    fitted critics in RUN/critics; `momus fit` saves single ones.

    Example:

      [bold]momus score run/critics/sections samples.jsonl --out rows.parquet[/bold]

    Next: score real text too; only differences between texts are meaningful.
    """
    import momus as m
    from momus.files import write_table
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter
    from momus.reading import ReadingOptions
    from momus.report.format import number

    critic = m.load_critic(saved)
    if critic.uses_device:
        critic.to(resolve_device(device))
    options = ReadingOptions(field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines)
    reporter = default_reporter()
    corpus = options.read(text, reporter=reporter)
    with reporter.stage(f"scoring {corpus.name}", len(corpus)) as advance:
        scores = critic.score(corpus, progress=advance)
    if out is not None:
        write_table(scores.table(), out)
    if scores.n_scored:
        ppl = f", Latent PPL {number(scores.latent_ppl)}" if critic.sequence else ""
        scored = f"{scores.n_scored:,} of {len(scores):,} documents scored"
        typer.echo(f"{critic.name}: Latent NLL {number(scores.latent_nll)} nats{ppl}; {scored}")
    else:
        typer.echo(f"{critic.name}: none of {len(scores):,} documents could be scored", err=True)
    for reason, n in scores.unscored.items():
        typer.echo(f"unscored: {n:,} ({reason})")
    if not scores.n_scored:
        raise typer.Exit(1)
    shared = critic.overlap(corpus)
    if shared:
        typer.echo(f"Note: {shared:,} of these documents were in the text that the critic was fitted on.", err=True)


@app.command(epilog=EXIT_CODES)
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


@app.command(epilog=EXIT_CODES)
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


@app.command(epilog=EXIT_CODES)
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


@app.command(epilog=EXIT_CODES)
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


app.command(epilog=EXIT_CODES)(generate)
app.command(epilog=EXIT_CODES)(calibrate)
app.command(epilog=EXIT_CODES)(check)
app.command(epilog=EXIT_CODES)(prepare)
app.add_typer(new)
