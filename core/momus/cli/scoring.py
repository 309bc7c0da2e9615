"""``momus fit`` and ``momus score``: one critic, fitted, saved, and used on new text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from momus.cli.echo import echo
from momus.cli.options import (
    Config,
    CsvAsIs,
    Device,
    Encoding,
    Field,
    Format,
    Include,
    Keep,
    Language,
    MaxDocument,
    SkipBad,
    Trust,
    Turns,
    config_tables,
    reading_options,
)
from momus.cli.outputs import check_critic_folder, check_output
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.text.corpus import Corpus


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
    keep: Keep = None,
    max_document: MaxDocument = None,
    include: Include = None,
    turns: Turns = "assistant",
    language: Language = None,
) -> None:
    """Fit one critic on real text, and save it.

    Example:

      [bold]momus fit sections --real train.jsonl --out sections-critic[/bold]

    Next: `momus score sections-critic samples.jsonl`. You need not fit critics
    before a comparison: `momus compare` fits and saves its own.
    """
    from momus.critic.base import notes_of
    from momus.critic.registry import make_critics
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter, reporting

    check_critic_folder(out)
    check_output(out, [real])
    (model,) = make_critics([critic], config_tables(config))
    if model.uses_device:
        model.to(resolve_device(device))
    options = reading_options(
        field,
        fmt,
        encoding,
        skip_bad_lines,
        max_document,
        keep=keep,
        include=include,
        turns=turns,
        language=language,
    )
    reporter = default_reporter()
    corpus = options.read(real, "fit", reporter)
    options.check_kept([corpus])
    _tell_reading(corpus)
    with reporting(reporter), reporter.stage(f"fitting {critic}"):
        model.fit(corpus)
    model.save(out)
    left_out = model.fitted_on_["left_out"]
    documents = counted(model.fitted_on_["documents"], "document")
    echo(f"{model!r} fitted on {documents} ({left_out:,} left out) → {out}")
    for note in notes_of(model):
        echo(f"Warning: {note.text}" if note.warning else note.text)


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
    keep: Keep = None,
    max_document: MaxDocument = None,
    include: Include = None,
    turns: Turns = "assistant",
    language: Language = None,
    csv_as_is: CsvAsIs = False,
    trust: Trust = None,
) -> None:
    """Score new text with a saved critic: one row per document.

    Prints the Latent NLL of the text (and its Latent PPL, if the critic's latents
    are sequences) and counts unscored documents by reason. A run folder keeps its
    fitted critics in RUN/critics; `momus fit` saves single ones.

    A critic that connects to a server, or opens a model or a file, is used only
    with --trust FOLDER; `momus critics FOLDER` shows what it would do.

    Example:

      [bold]momus score run/critics/sections samples.jsonl --out rows.parquet[/bold]

    Next: score real text too; only differences between texts are meaningful.
    """
    import momus as m
    from momus.critic.effects import is_trusted
    from momus.critic.splitting import other_splitting
    from momus.files import write_table
    from momus.numeric.devices import resolve_device
    from momus.progress import default_reporter
    from momus.report.format import number

    check_output(out, [text, saved])
    critic = m.load_critic(saved, trust=is_trusted(saved, trust or ()))
    if splitting := other_splitting(critic):
        echo(f"Warning: {splitting}", err=True)
    if critic.uses_device:
        critic.to(resolve_device(device))
    options = reading_options(
        field,
        fmt,
        encoding,
        skip_bad_lines,
        max_document,
        keep=keep,
        include=include,
        turns=turns,
        language=language,
    )
    reporter = default_reporter()
    corpus = options.read(text, reporter=reporter)
    options.check_kept([corpus])
    _tell_reading(corpus)
    with reporter.stage(f"scoring {corpus.name}", len(corpus)) as advance:
        scores = critic.score(corpus, progress=advance)
    if out is not None:
        rows = scores.table()
        if scores.groups:
            rows = rows.append_column("group", corpus.table["group"])
        for name in options.keep:
            column = f"field {name}" if name in rows.column_names else name
            rows = rows.append_column(column, [corpus.field(name)])
        write_table(rows, out, as_is=csv_as_is)
    if scores.n_scored:
        ppl = f", Latent PPL {number(scores.latent_ppl)}" if critic.sequence else ""
        scored = f"{scores.n_scored:,} of {counted(len(scores), 'document')} scored"
        echo(f"{critic.name}: Latent NLL {number(scores.latent_nll)} nats{ppl}; {scored}")
    else:
        echo(f"{critic.name}: none of {counted(len(scores), 'document')} could be scored", err=True)
    for reason, n in scores.unscored.items():
        echo(f"unscored: {n:,} ({reason})")
    if not scores.n_scored:
        raise typer.Exit(1)
    shared = critic.overlap(corpus)
    if shared:
        echo(f"Note: {shared:,} of these documents were in the text that the critic was fitted on.", err=True)


def _tell_reading(corpus: Corpus) -> None:
    """Say how many texts of lists became documents, and what was left out or set apart, if anything."""
    from momus.comparison.texts import reading_notes

    for note in reading_notes(corpus):
        echo(f"Note: {note}", err=True)
