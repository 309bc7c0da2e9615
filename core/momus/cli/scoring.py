"""``momus fit`` and ``momus score``: critics fitted, saved, and used on new text."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import momus
from momus.cli.options import (
    Config,
    Device,
    LabelFiles,
    Quiet,
    Reading,
    Trust,
    Without,
    comma_separated,
    config_tables,
    expanded,
)
from momus.cli.parts import Share, score_into_folder, tell_failed, tell_left_out, tell_scores
from momus.cli.printing import echo
from momus.critic.hooks import DeviceMixin, moved, overlap, with_needs
from momus.errors import UsageError
from momus.files import TABLE, write_table
from momus.ownership import check_output, check_place
from momus.parameters import exclude
from momus.progress import Silent, default_reporter, reporting
from momus.text.counting import counted

TABLES = (".parquet", ".csv", ".jsonl")
"""Endings of files of rows; anything else is a folder."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from momus.critic import Critic
    from momus.critic.scores import Scores
    from momus.engine.worker import CriticFolders
    from momus.progress import Reporter
    from momus.reading import ReadingOptions
    from momus.text.corpus import Corpus


@expanded
def fit(
    critics: Annotated[
        list[str],
        typer.Argument(
            metavar="CRITIC",
            help="Names of critics (`momus critics` lists them), or package.module:Class, or ./file.py:Class.",
        ),
    ],
    text: Annotated[str, typer.Option("--fit", "-f", help="Real text to fit on.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the fitted critic; of several, each into a folder in it.")
    ],
    config: Config = None,
    device: Device = "auto",
    labels: LabelFiles = None,
    reading: Annotated[Reading, Without("prompt")] = Reading(),
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Count the text part by part in so many processes; for critics that count."
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=2, help="Fit on a random sample of so many documents; for other critics.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace fitted critics in --out.")] = False,
    quiet: Quiet = False,
) -> None:
    """Fit critics on real text, and save them.

    Large texts do not fit in memory. Critics that learn from counts (length,
    unigram, …) are fitted with --jobs N: each part of the text is counted by
    itself, and the result is that of the whole text, exactly. Others learn by
    passes over all text; fit them on a sample: --sample 20000.

    Examples (the second reads any amount of text in little memory):

      [bold]momus fit sections --fit train.jsonl --out sections-critic[/bold]
      [bold]momus fit unigram length --fit train.jsonl --out fitted --jobs 4[/bold]

    Next: `momus score sections-critic samples.jsonl`. You need not fit critics
    before a comparison: `momus compare` fits and saves its own.
    """
    from momus.critic.registry import make_critics, named
    from momus.critic.saved import reserved
    from momus.numeric.devices import resolve_device

    check_place(out, [text, config])
    exclude(jobs=jobs, sample=sample)
    models = make_critics([named(critic) for critic in critics], config_tables(config))
    folders = [out if len(models) == 1 else out / model.name for model in models]
    options = with_needs(reading.options(labels=labels), models)
    reporter, corpus = Silent() if quiet else default_reporter(), None
    with ExitStack() as stack, reporting(reporter):
        for folder in folders:
            stack.enter_context(reserved(folder, overwrite=overwrite))
        for model, folder in zip(models, folders, strict=True):
            if isinstance(model, DeviceMixin):
                model.to(resolve_device(device))
            if jobs is not None:
                from momus.engine.fitting import fit_in_parts

                tell_left_out(fit_in_parts(model, text, options, jobs))
            else:
                corpus = corpus or _text_to_fit(text, options, sample, reporter)
                with reporter.stage(f"fitting {model.name}"):
                    model.fit(corpus)
            model.save(folder)
            _tell_fitted(model, folder)


def _tell_fitted(model: Critic[Any], folder: Path) -> None:
    from momus.critic.base import notes_of

    left_out = model.fitted_on_["left_out"]
    documents = counted(model.fitted_on_["documents"], "document")
    echo(f"{model!r} fitted on {documents} ({left_out:,} left out) → {folder}")
    for note in notes_of(model):
        echo(f"Warning: {note.text}" if note.warning else note.text)


def _text_to_fit(real: str, options: ReadingOptions, sample: int | None, reporter: Reporter) -> Corpus:
    """Read the text to fit on, or a sample of it, and say what was read."""
    if sample is None:
        from momus.reading import as_corpus

        corpus = as_corpus(real, "fit", options, reporter)
    else:
        from momus.engine.fitting import read_sample

        corpus, documents, left_out = read_sample(real, sample, options)
        tell_left_out(left_out)
        echo(f"A sample of {counted(len(corpus), 'document')}, drawn at random from {documents:,}")
    options.check_kept([corpus])
    _tell_reading(corpus)
    return corpus


@expanded
def score(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="CRITIC TEXT",
            help="Folder of a fitted critic or of a run, and text to score; several of both, if --out is a folder.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File for the rows: .parquet, .csv or .jsonl; or a folder, for any amount."),
    ] = None,
    device: Device = "auto",
    labels: LabelFiles = None,
    reading: Annotated[Reading, Without("prompt")] = Reading(),
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            metavar="CLASSES",
            help="Classes of critics that are not registered, as package.module:Class or ./file.py:Class.",
        ),
    ] = None,
    trust: Trust = None,
    share: Share = Share(),
    quiet: Quiet = False,
) -> None:
    """Score new text with a saved critic: one row per document.

    Prints the Latent NLL of the text (and its Latent PPL, if the critic's latents
    are sequences) and counts unscored documents by reason. A run folder keeps its
    fitted critics in RUN/critics; `momus fit` saves single ones.

    If --out is a folder, several critics score texts of any size part by part,
    in several processes, and --resume goes on after an interruption. `momus
    compare` takes such folders instead of texts.

    A critic that connects to a server, or opens a model or a file, is used only
    with --trust FOLDER; `momus critics FOLDER` shows what it would do.

    Examples (the second scores any amount of text):

      [bold]momus score run/critics/sections samples.jsonl --out rows.parquet[/bold]
      [bold]momus score run samples.jsonl --out rows[/bold]

    Next: score real text too; only differences between texts are meaningful.
    """
    from momus.reading import as_corpus

    _name_classes(comma_separated(classes) or ())
    options = reading.options(labels=labels)
    check_place(out, paths)
    if out is not None and _is_folder(out):
        score_into_folder(paths, out, share, options, device, trust or (), quiet)
        return
    share.refuse()
    if len(paths) != 2:
        raise UsageError(
            f"{len(paths)} paths are given, expected a critic and a text",
            hint="several critics or texts are scored into a folder: momus score CRITIC… TEXT… -o ROWS",
        )
    if out is not None:
        check_output(out, TABLE)
    folders = _folders(Path(paths[0]), out)
    critics = {}
    for name, folder in [*folders.paths.items()]:
        with folders.leaving_out(name):
            critics[name] = _loaded(folder, device, trust or ())
    reporter = Silent() if quiet else default_reporter()
    options = with_needs(options, critics.values())
    corpus = as_corpus(paths[1], reading=options, reporter=reporter)
    options.check_kept([corpus])
    _tell_reading(corpus)
    scored = 0
    for name, critic in critics.items():
        with folders.leaving_out(name), reporter.stage(f"scoring {corpus.name}", len(corpus)) as advance:
            scores = critic.score(corpus, progress=advance)
        if name in folders.failed:
            continue
        if out is not None:
            _write_rows(scores, corpus, options.keep, out)
        nats, steps = (float(column[scores.scored].sum()) for column in (scores.nll, scores.steps))
        tell_scores(critic, len(scores), nats, steps, scores.unscored)
        scored += scores.n_scored
        shared = overlap(critic, corpus)
        if shared:
            whose = "the critic" if len(critics) == 1 else name
            echo(f"Note: {shared:,} of these documents were in the text that {whose} was fitted on.", err=True)
    tell_failed(folders.failed)
    if not scored:
        raise typer.Exit(1)


def _folders(path: Path, out: Path | None) -> CriticFolders:
    """The folder of a critic, or those of all critics of documents in a run, unless their rows would go to one file."""
    from momus.critic.saved import JSON_NAME, read_critic_json
    from momus.engine.worker import CriticFolders

    if (path / JSON_NAME).is_file():
        name = str(read_critic_json(path)["critic"])
        return CriticFolders({name: path}, {name})
    folders = CriticFolders.of([path])
    if out is not None and len(folders.paths) > 1:
        raise UsageError(
            f"{path} holds {len(folders.paths)} critics, and a file takes the rows of one",
            hint=f"name one of them, such as {next(iter(folders.paths.values()))}, or a folder for the rows of all: "
            "-o ROWS",
        )
    return folders


def _name_classes(locations: Sequence[str]) -> None:
    """Make classes known to this run that are not registered."""
    from momus.critic.registry import named

    for location in locations:
        if ":" not in location:
            raise UsageError(
                f"--classes {location} names no class",
                hint="write package.module:Class or ./file.py:Class; saved critics are named by their folders",
            )
        named(location)


def _is_folder(out: Path) -> bool:
    """Whether rows go to a folder rather than to a file, by its name."""
    if not out.is_dir() and out.suffix in TABLES:
        return False
    if out.suffix and not out.is_dir():
        raise UsageError(
            f"{out}: rows go to a file that ends in {', '.join(TABLES)}, or to a folder",
            hint="name a folder without such an ending",
        )
    return True


def _loaded(folder: Path, device: str, trust: Sequence[Path]) -> Critic[Any]:
    """Read a fitted critic, and say if it was fitted with another splitting into words."""
    from momus.critic.effects import is_trusted
    from momus.critic.splitting import other_splitting
    from momus.numeric.devices import resolve_device

    critic: Critic[Any] = momus.load_critic(folder, trust=is_trusted(folder, trust))
    if splitting := other_splitting(critic):
        echo(f"Warning: {splitting}", err=True)
    if isinstance(critic, DeviceMixin):
        moved(critic, resolve_device(device))
    return critic


def _write_rows(scores: Scores, corpus: Corpus, keep: Sequence[str], out: Path) -> None:
    """Write one row per document, with the fields that are kept; those that a column is named like are "field NAME"."""
    from momus.reading.paths import origins

    rows, names = scores.table(), [origins(kept)[0] for kept in keep]
    for name in names:
        column = name
        while column in (*rows.column_names, *(other for other in names if other != name)):
            column = f"field {column}"
        rows = rows.append_column(column, [corpus.field(name)])
    write_table(rows, out)


def _tell_reading(corpus: Corpus) -> None:
    """Say how many texts of lists became documents, and what was left out or set apart, if anything."""
    from momus.checks.notes import reading_notes

    for note in reading_notes(corpus):
        echo(f"Note: {note}", err=True)
