"""``momus study``: make a blinded study of a run, and read the answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from momus.cli import EXIT_CODES
from momus.cli.options import Json, Reading, Without, expanded
from momus.cli.printing import echo, print_json, print_view

study = typer.Typer(
    name="study",
    no_args_is_help=True,
    help="Ask people: make a blinded study of a run, and read the answers.",
    rich_markup_mode="rich",
    epilog=EXIT_CODES,
)


UNREAD = ("skip_bad_lines", "keep", "max_document", "include", "turns", "language")
"""Options of reading that the command does not have."""


@dataclass(frozen=True)
class Asked:
    """Keys of the protocol that most studies choose, as options; None leaves what the protocol has."""

    question: Annotated[
        str | None,
        typer.Option("--question", "-q", help="coherence, fluency, quality, humanness, or a question of your own."),
    ] = None
    kind: Annotated[str | None, typer.Option(help="rating of single passages, or pair.")] = None
    items: Annotated[int | None, typer.Option(help="Number of passages or pairs; default: 60.")] = None
    raters: Annotated[int | None, typer.Option(help="Number of raters; default: 5.")] = None
    judgements: Annotated[int | None, typer.Option(help="Raters who judge each item; default: 3.")] = None
    words: Annotated[int | None, typer.Option(help="Words per passage; 0: whole documents. Default: 150.")] = None
    seed: Annotated[int | None, typer.Option(help="Random seed; the same seed draws the same study.")] = None


@study.command(name="new")
@expanded
def new(
    run: Annotated[Path, typer.Argument(help="Run folder, whose documents people are to judge.")],
    generated: Annotated[
        list[str], typer.Option("--generated", "-g", metavar="NAME=PATH", help="A generated text of the run; repeat.")
    ],
    real: Annotated[
        str | None, typer.Option("--real", "-r", help="The real text of the run; without it, only models compete.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the study to write.")] = Path("study"),
    asked: Asked = Asked(),
    config: Annotated[Path | None, typer.Option("--config", help="TOML file with a protocol.")] = None,
    reading: Annotated[Reading, Without(*UNREAD)] = Reading(),
) -> None:
    """Draw a blinded study from a run: pages for raters, and the key.

    A run keeps no texts, so give those that it compared. The folder holds one
    HTML page per rater, which works offline; `key.json` says which passage is
    whose: keep it back until all answers are in.

    Example:

      [bold]momus study new run -r real.jsonl -g gpt2=a.jsonl --items 60 --raters 5[/bold]

    Next: send each rater a page; `momus study read STUDY answers/*.json`.
    """
    from momus.cli.sources import named_paths
    from momus.reading import as_corpus
    from momus_people.protocol import Protocol, read_protocol
    from momus_people.study import check_free, make_study, write_study
    from momus_people.view import made_view

    protocol = (Protocol() if config is None else read_protocol(config)).updated(**vars(asked))
    paths = ({"real": real} if real is not None else {}) | named_paths(generated)
    options = reading.options(paths)
    corpora = {name: as_corpus(path, name, options) for name, path in paths.items()}
    check_free(out)
    drawn, counts = make_study(run, corpora, protocol)
    write_study(drawn, out, counts)
    print_view(made_view(drawn, counts, str(out)), 110)


RESULT = "a result of a study"


@study.command(name="read")
def read(
    folder: Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of the study, with its key.")],
    answers: Annotated[list[Path], typer.Argument(help="Files that raters saved.")],
    max_failed: Annotated[
        float, typer.Option(help="Leave raters out who fail more than this share of their attention checks.")
    ] = 0.5,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave out a rater, by name; can be repeated.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write the result as JSON.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap intervals.")] = 0,
    as_json: Json = False,
) -> None:
    """Read the answers: agreement, corpora, raters, and whether the axes of the run matter to readers.

    Answers are validated, missing ones counted, and raters who fail their
    attention checks left out. Corpora are compared with simultaneous intervals
    for other readers and other passages; α has a bootstrap interval.

    Example:

      [bold]momus study read study answers/*.json --out study.json[/bold]

    Next: put its sentences into your paper.
    """
    from momus.files import write_json
    from momus.ownership import check_output
    from momus_people.answers import read_answers
    from momus_people.result import analysed
    from momus_people.study import read_study
    from momus_people.view import result_view

    if out is not None:
        check_output(out, RESULT, answers)
    drawn = read_study(folder)
    result = analysed(
        drawn, read_answers(drawn, answers), max_failed=max_failed, exclude=tuple(exclude or ()), seed=seed
    )
    if out is not None:
        write_json(out, result.to_json(), kind=RESULT)
    if as_json:
        print_json(result.to_json())
    else:
        print_view(result_view(result), 110)
        if out is not None:
            echo(f"Result: {out}")
