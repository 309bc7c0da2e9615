"""Commands and their options; each imports what it needs when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from momus.cli import EXIT_CODES
from momus.cli.calibrate import calibrate
from momus.cli.check import check
from momus.cli.generate import generate
from momus.cli.new import new
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

CriticNames = Annotated[str | None, typer.Option("--critics", "-c", help="Critics, comma-separated; default: all.")]
Config = Annotated[
    Path | None, typer.Option("--config", help="TOML file with one table of parameters a critic: \\[sections] …")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of splits, tests and fits.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")]
Field = Annotated[str | None, typer.Option(help="The field that holds the text, where it is not `text` or `sections`.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help="jsonl, json, parquet, arrow, text, lines, paragraphs, …; default: by the file."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad-lines", help="Count lines that are no JSON as unscored instead of stopping.")
]


def _version(value: bool) -> None:
    if value:
        from momus.version import __version__

        typer.echo(f"momus {__version__}")
        raise typer.Exit


@app.callback()
def momus(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Tell along which axes, and how surely, generated text departs from real text.

    Try it: [bold]momus demo[/bold]. With your own texts (JSON Lines, Parquet, plain text, folders; .gz and .zst too):

    [bold]momus compare --fit train.jsonl --real held-out.jsonl --generated mine=samples.jsonl --out run[/bold]
    """


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [n for n in (part.strip() for part in text.split(",")) if n]


def _config(path: Path | None) -> dict[str, Any]:
    import tomllib

    from momus.errors import UsageError

    if path is None:
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        hint = "write one TOML table a critic, say [length] and bins = 20"
        raise UsageError(f"--config {path}: {error}", hint=hint) from error
    loose = [k for k, v in content.items() if not isinstance(v, dict)]
    if loose:
        raise UsageError(f"--config {path}: {loose[0]!r} stands outside of a table", hint="put it under [critic-name]")
    return content


def _named(pairs: list[str]) -> dict[str, str]:
    """Read ``NAME=PATH`` pairs."""
    from momus.errors import UsageError

    named: dict[str, str] = {}
    for pair in pairs:
        name, separator, path = pair.partition("=")
        if not separator or not name.strip() or not path:
            raise UsageError(
                f"--generated {pair!r} has no name", hint="write --generated NAME=PATH, e.g. gpt2=out.jsonl"
            )
        if name in named:
            raise UsageError(f"--generated: two corpora are called {name!r}", hint="give each its own name")
        named[name.strip()] = path
    return named


def _print(renderable: Any) -> None:
    from rich.console import Console

    console = Console()
    width = console.width if sys.stdout.isatty() else 150
    Console(width=max(width, 80), highlight=False).print(renderable)


@app.command(epilog=EXIT_CODES)
def compare(
    real: Annotated[str, typer.Option("--real", "-r", help="Real text to compare with (held out from fitting).")],
    generated: Annotated[
        list[str], typer.Option("--generated", "-g", metavar="NAME=PATH", help="Generated text; repeat for more.")
    ],
    fit: Annotated[
        str | None, typer.Option("--fit", "-f", help="Real text to fit on; without it half of --real is set apart.")
    ] = None,
    critics: CriticNames = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run folder to write: report, tables, critics.")
    ] = None,
    seed: Seed = 0,
    device: Device = "auto",
    config: Config = None,
    permutations: Annotated[int, typer.Option(min=99, help="Permutations of each test.")] = 9999,
    resamples: Annotated[int, typer.Option(min=99, help="Bootstrap resamples of each interval.")] = 2000,
    adjustment: Annotated[str, typer.Option(help="Of the p-values over the table: holm, bh, none.")] = "holm",
    paired: Annotated[
        bool | None,
        typer.Option("--paired/--unpaired", help="Compare documents of one prompt; default: where they all pair up."),
    ] = None,
    equivalence: Annotated[
        float | None,
        typer.Option(metavar="DELTA", help="Say whether each effect is shown to lie within ±DELTA (0.2, say)."),
    ] = None,
    pairwise: Annotated[
        bool, typer.Option("--pairwise", help="Compare generated corpora with each other too.")
    ] = False,
    refits: Annotated[
        int, typer.Option(min=0, help="Refit each critic on so many resamples of --fit, and show the spread.")
    ] = 0,
    field: Field = None,
    fmt: Format = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run in --out.")] = False,
    every: Annotated[bool, typer.Option("--every", help="Print every statistic, not only the headlines.")] = False,
) -> None:
    """Compare generated with real text, and write a report.

    Example: [bold]momus compare -f train.jsonl -r held-out.jsonl -g nucleus=a.jsonl -g beam=b.jsonl -o run[/bold]
    """
    from functools import partial

    import momus as m
    from momus.report.terminal import comparison_view

    read = partial(m.read_corpus, field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines)
    named = _named(generated)
    try:
        comparison = m.compare(
            read(real, name="real"),
            {name: read(path, name=name) for name, path in named.items()},
            fit=None if fit is None else read(fit, name="fit"),
            critics=_names(critics),
            config=_config(config),
            out=out,
            overwrite=overwrite,
            resume=resume,
            seed=seed,
            device=device,
            permutations=permutations,
            resamples=resamples,
            adjustment=adjustment,
            paired=paired,
            equivalence=equivalence,
            pairwise=pairwise,
            refits=refits,
            command=_command(),
        )
    except KeyboardInterrupt:
        if out is not None:
            typer.echo(f"\nInterrupted; finished critics are kept in {out}: run again with --resume.", err=True)
        raise
    _print(comparison_view(comparison, every))
    if out is not None:
        typer.echo(f"Report: {out / 'report.html'}")


def _command() -> str:
    import shlex

    return shlex.join(["momus", *sys.argv[1:]])


@app.command(epilog=EXIT_CODES)
def fit(
    critic: Annotated[str, typer.Argument(help="Name of a critic, see `momus critics`.")],
    real: Annotated[str, typer.Option("--real", "-r", help="Real text to fit on.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the fitted critic.")],
    config: Config = None,
    device: Device = "auto",
    field: Field = None,
    fmt: Format = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
) -> None:
    """Fit one critic on real text and save it.

    Example: [bold]momus fit sections --real train.jsonl --out sections-critic[/bold]
    """
    import momus as m
    from momus.critic.registry import make_critics
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter, reporting

    (made,) = make_critics([critic], _config(config))
    if made.uses_device:
        made.to(resolve_device(device))
    corpus = m.read_corpus(real, name="fit", field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines)
    reporter = default_reporter()
    with reporting(reporter), reporter.stage(f"fitting {critic}"):
        made.fit(corpus)
    made.save(out)
    left = made.fitted_on_["left_out"]
    typer.echo(f"{made!r} fitted on {made.fitted_on_['documents']:,} documents ({left:,} left out) → {out}")
    for note in made.notes():
        typer.echo(note.text)


@app.command(epilog=EXIT_CODES)
def score(
    saved: Annotated[Path, typer.Argument(help="Folder of a fitted critic.")],
    text: Annotated[str, typer.Argument(help="Text to score.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Parquet, CSV or JSON Lines file for the rows.")
    ] = None,
    device: Device = "auto",
    field: Field = None,
    fmt: Format = None,
    encoding: Encoding = "utf-8",
    skip_bad_lines: SkipBad = False,
) -> None:
    """Score new text under a saved critic: one row for each document.

    Example: [bold]momus score run/critics/sections samples.jsonl --out rows.parquet[/bold]
    """
    import momus as m
    from momus.files import write_table
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter
    from momus.report.format import number

    critic = m.load_critic(saved)
    if critic.uses_device:
        critic.to(resolve_device(device))
    corpus = m.read_corpus(text, field=field, fmt=fmt, encoding=encoding, skip_bad_lines=skip_bad_lines)
    with default_reporter().stage(f"scoring {corpus.name}", len(corpus)) as advance:
        scores = critic.score(corpus, progress=advance)
    if out is not None:
        write_table(scores.table(), out)
    if scores.n_scored:
        ppl = f", Latent PPL {number(scores.latent_ppl)}" if critic.sequence else ""
        n = f"{scores.n_scored:,} of {len(scores):,} documents scored"
        typer.echo(f"{critic.name}: Latent NLL {number(scores.latent_nll)} nats{ppl}; {n}")
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
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="How many documents of each corpus.")] = 10,
    corpus: Annotated[str | None, typer.Option(help="Only this corpus.")] = None,
) -> None:
    """List the documents that a critic finds least likely.

    Example: [bold]momus outliers run --critic sections --top 5[/bold]
    """
    from momus.cli.outliers import outlier_view

    _print(outlier_view(run, critic, top, corpus))


@app.command(epilog=EXIT_CODES)
def critics(
    name: Annotated[str | None, typer.Argument(help="Show one critic whole.")] = None,
) -> None:
    """List the critics, or show one with its parameters.

    Example: [bold]momus critics sections[/bold]
    """
    from momus.cli.catalogue import all_critics_view, critic_view

    _print(all_critics_view() if name is None else critic_view(name))


@app.command(epilog=EXIT_CODES)
def report(
    run: Annotated[Path, typer.Argument(help="Folder that `momus compare --out` wrote.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file; default: report.html in the run.")] = None,
) -> None:
    """Write the HTML report of a run again.

    Example: [bold]momus report run --out run.html[/bold]
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
    """Compare two ways of decoding a small language model with real documentation, on texts that come with Momus.

    Example: [bold]momus demo --out demo-run[/bold]
    """
    from momus.demo import run_demo
    from momus.report.terminal import comparison_view

    comparison = run_demo(out, seed, _command())
    _print(comparison_view(comparison))
    typer.echo(f"Report: {out / 'report.html'}")


app.command(epilog=EXIT_CODES)(generate)
app.command(epilog=EXIT_CODES)(calibrate)
app.command(epilog=EXIT_CODES)(check)
app.command(epilog=EXIT_CODES)(prepare)
app.add_typer(new)
