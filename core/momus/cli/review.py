"""``momus review``: whether texts are odd among their like, and where."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momus.arguments import arg
from momus.cli.options import (
    Config,
    CriticNames,
    Json,
    Quiet,
    Reading,
    Seed,
    Trust,
    comma_separated,
    config_tables,
    expanded,
)
from momus.cli.printing import echo, print_json
from momus.critic.hooks import with_needs
from momus.errors import UsageError
from momus.files import TABLE, write_json
from momus.ownership import check_output, check_place
from momus.progress import Silent, default_reporter, reporting

if TYPE_CHECKING:
    from momus.progress import Reporter
    from momus.reading import ReadingOptions
    from momus.review import Body
    from momus.text.corpus import Corpus

SARIF = "SARIF of a review"


@expanded
def review(
    paths: Annotated[list[str], typer.Argument(metavar="FILE", help="Texts to judge: files, folders, records.")],
    body: Annotated[
        str,
        typer.Option(
            "--body",
            "-b",
            metavar="HUMAN",
            help="Human text of the kind, 60 documents or more; or what --save kept.",
        ),
    ],
    models: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Text of models: what tells it from human text decides."),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Human text of the kinds of --models, where these are not of the body's kind."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Other versions of FILE, or other answers: say which of each two is odder."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Judge each document by those of HUMAN that agree in a field, e.g. register; register=news: by news.",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Share of human documents of the kind that may be called odd.")] = 0.05,
    critics: CriticNames = None,
    config: Config = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep what was fitted; --body FOLDER then starts at once.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what --save kept before.")] = False,
    as_json: Json = False,
    sarif: Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Also write SARIF.")] = None,
    github: Annotated[bool, typer.Option("--github", help="Also print annotations of GitHub Actions.")] = False,
    reading: Reading = Reading(),
    trust: Trust = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Say of single documents whether they are odd among human ones, and where.

    Critics are fitted on two fifths of HUMAN; the rest tells how often a human
    document would be called odd: in 5 of 100 cases, or what --level says. Odd
    means unlike HUMAN. It does not say who wrote a text; do not use it so.

    Faults that hardly any document of HUMAN has (a text that breaks off, a loop, a
    passage in another language) are told in any case.

    --against TEXT pairs documents by prompt, id or order, and says which of each
    two is odder, where, and how often two human documents differ as much.

    With --by, the level holds in each register, or whatever the field tells apart.

    Exit code 7 if a document of FILE is odd or has such a fault, so that a build can stop.

    Examples (the second keeps what it fitted, and the next use it):

      [bold]momus review draft.md --body essays.jsonl[/bold]
      [bold]momus review answers.jsonl --body human.jsonl --save human-body[/bold]
      [bold]momus review new/*.md --body human-body --sarif review.sarif[/bold]
      [bold]momus review new.jsonl --against old.jsonl --body human-body[/bold]
      [bold]momus review draft.md --body essays.jsonl --by author=ann[/bold]

    Next: `momus filter` removes odd documents from a text of any size.
    """
    from momus.report.annotations import sarif as as_sarif
    from momus.report.annotations import workflow_commands
    from momus.report.words.review import choice_lines, review_lines
    from momus.review import choose
    from momus.review import review as judge
    from momus.review.kept import HELD_OUT, save_body

    field, _, category = (by or "").partition("=")
    if by is not None and not field:
        raise UsageError(f"{arg('by', by)} names no field", hint="give a field of the records, such as register")
    options = reading.options().needing([field] if field else [])
    reporter = Silent() if quiet or as_json else default_reporter()
    if sarif is not None:
        check_output(sarif, SARIF, paths)
    if save is not None:
        check_place(save, [body, *paths])
        check_output(save / HELD_OUT, TABLE)
    with reporting(reporter):
        fitted = _body(body, models, people, critics, config, options, trust or (), seed, reporter, field)
        if save is not None:
            save_body(fitted, save, overwrite=overwrite)
        documents, files = _read(paths, with_needs(options, fitted.critics), reporter)
        if category:
            documents = documents.with_field(field, [category] * len(documents))
        if against is None:
            result = judge(documents, fitted, level, reporter, field)
            lines, content = review_lines(result), asdict(result)
        else:
            others, _ = _read([against], with_needs(options, fitted.critics), reporter)
            if category:
                others = others.with_field(field, [category] * len(others))
            choice = choose(documents, others, fitted, level, reporter, field)
            result, lines, content = choice.reviews[0], choice_lines(choice), asdict(choice)
    if as_json:
        print_json(content)
    else:
        echo("\n".join(lines))
    if sarif is not None:
        write_json(sarif, as_sarif(result, files), kind=SARIF)
    for line in workflow_commands(result, files) if github else ():
        echo(line, err=as_json)
    if result.marked:
        raise typer.Exit(7)


def _body(
    body: str,
    models: str | None,
    people: str | None,
    critics: str | None,
    config: Path | None,
    options: ReadingOptions,
    trust: Any,
    seed: int,
    reporter: Reporter,
    by: str,
) -> Body:
    """Read a body that was kept, or fit one."""
    from momus.critic.effects import is_trusted
    from momus.reading import as_corpus
    from momus.review import fit_body
    from momus.review.kept import is_body, load_body

    if is_body(body):
        if models or people or critics or config:
            raise UsageError(
                f"{body} holds fitted critics",
                hint="leave out what to fit, or give human text",
            )
        return load_body(Path(body), trust=is_trusted(Path(body), trust))
    human = as_corpus(body, Path(body).stem, options, reporter)
    generated = None if models is None else as_corpus(models, "models", options, reporter)
    others = None if people is None else as_corpus(people, "people", options, reporter)
    return fit_body(human, generated, comma_separated(critics), config_tables(config), seed, reporter, others, by)


def _read(paths: list[str], options: ReadingOptions, reporter: Reporter) -> tuple[Corpus, dict[str, str]]:
    """Read the texts; gives the documents, whose ids are distinct, and the file of each id."""
    from momus.reading import as_corpus
    from momus.text.corpus import Corpus

    documents, files = [], {}
    for path in paths:
        for document in as_corpus(path, Path(path).name, options, reporter):
            # a file that is one document is known by its path
            id = path if document.id in files or document.id == Path(path).name else document.id
            id = id if id not in files else f"{path}:{document.id}"
            files[id] = path
            documents.append(replace(document, id=id))
    return Corpus.from_documents(documents, paths[0] if len(paths) == 1 else "documents"), files
