"""``momus ask``: labels of documents by a language model that answers a question about each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from momus.arguments import arg
from momus.cli.options import Device, Quiet, Reading, Without, comma_separated, expanded
from momus.cli.printing import echo
from momus.cli.sources import named_paths
from momus.errors import UsageError
from momus.numeric.devices import resolve_device
from momus.ownership import check_place
from momus.parameters import exclude, need
from momus.progress import Silent, default_reporter
from momus.reading import as_corpus
from momus.schema import parse_json
from momus.text.counting import clipped, counted
from momus_adapters.asking.asking import Asking
from momus_adapters.asking.labellers import TOKENS, Labeller, LocalLabeller, ServerLabeller
from momus_adapters.asking.question import Question, bounds_of
from momus_adapters.language_models.openai import OpenAIServer
from momus_adapters.language_models.transformers import TransformersLM

SHOWN = 3


@expanded
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question about each document.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File of labels to write, .jsonl.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help="The model's name at --url; without --url, a folder of transformers.")
    ],
    url: Annotated[
        str | None, typer.Option("--url", help="Address with chat completions as of OpenAI, up to and with /v1.")
    ] = None,
    generated: Annotated[
        list[str] | None, typer.Option("--generated", "-g", metavar="NAME=TEXT", help="A text, as in `momus compare`.")
    ] = None,
    real: Annotated[str | None, typer.Option("--real", "-r", metavar="TEXT", help="Human text.")] = None,
    fit: Annotated[str | None, typer.Option("--fit", "-f", metavar="TEXT", help="Human text to fit on.")] = None,
    answers: Annotated[
        str | None, typer.Option(help="The words of which one is the answer, comma-separated; default: yes,no.")
    ] = None,
    number: Annotated[str | None, typer.Option(metavar="LOW-HIGH", help="Or a number, such as 1-5.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the label; default: that of the file.")] = None,
    key: Annotated[str, typer.Option(metavar="VARIABLE", help="Environment variable with the key.")] = "OPENAI_API_KEY",
    body: Annotated[
        str | None,
        typer.Option(metavar="JSON", help='More for each request, such as {"max_tokens": 400}; null leaves out.'),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at once.")] = 8,
    resume: Annotated[bool, typer.Option("--resume", help="Ask only for the answers that --out lacks.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how much would be asked, and stop.")] = False,
    device: Device = "auto",
    reading: Annotated[Reading, Without("keep", "language")] = Reading(),
    quiet: Quiet = False,
) -> None:
    """Ask a language model a question about each document: its answers are labels.

    The model is behind an address (--url) or a local folder, and answers yes or
    no, one of --answers, or a --number. What it says else is counted and kept as
    unanswered. Each answer is in --out as soon as it comes; a text that occurs
    twice is asked once. The prompt and the settings are in OUT.asked.json. The
    key is read from the environment and written nowhere.

    Examples (the second uses the answers):

      [bold]momus ask "Does it offer further help?" -r real.jsonl -g new=new.jsonl
        --url http://localhost:8000/v1 -m qwen3 -o help.jsonl[/bold]
      [bold]momus compare -r real.jsonl -g new=new.jsonl --labels help.jsonl[/bold]

    Next: answer 50 documents of each text yourself, for `momus compare --gold`.
    """
    exclude(answers=answers, number=number)
    named = {"real": real, "fit": fit, **named_paths(generated or [])}
    paths = {text: path for text, path in named.items() if path is not None}
    if not paths:
        raise UsageError("there is no text", hint=f"name one with {arg('generated')} or {arg('real')}")
    check_place(out, paths.values())
    asked = Question(question, tuple(comma_separated(answers) or ("yes", "no")), bounds_of(number) if number else None)
    labeller, settings = _labeller(model, url, key, body, concurrency, device)
    reporter = Silent() if quiet else default_reporter(lines=True)
    options = reading.options(list(paths))
    texts = [as_corpus(path, text, options, reporter) for text, path in paths.items()]
    asking = Asking(asked, labeller, texts, out, name or out.name.partition(".")[0], resume=resume)
    _announce(asking, url)
    if dry_run:
        return
    try:
        asking.run(settings, reporter)
    except KeyboardInterrupt:
        echo(f"\nInterrupted. The answers so far are in {out}; {arg('resume', True)} asks for the rest.", err=True)
        raise
    _tell(asking)
    if asking.failed:
        raise typer.Exit(1)


def _labeller(
    model: str, url: str | None, key: str, body: str | None, concurrency: int, device: str
) -> tuple[Labeller, dict[str, Any]]:
    """Who answers, and its settings for the file beside the answers."""
    if url is None:
        need("url", False, body=body)
        place = resolve_device(device)
        return LocalLabeller(TransformersLM(model, device=place)), {"model": model, "device": place}
    more = parse_json(body, arg("body"), 'write an object, such as {"max_tokens": 400}') if body else {}
    if not isinstance(more, dict):
        raise UsageError(f"{arg('body')} is no object of JSON", hint='write one, such as {"max_tokens": 400}')
    labeller = ServerLabeller(OpenAIServer(url, model, key=key, concurrency=concurrency), more)
    return labeller, {"url": url, "body": labeller.body}


def _announce(asking: Asking, url: str | None) -> None:
    """Say how much is asked, before anything is."""
    calls = len(asking.waiting)
    documents = sum(map(len, asking.documents.values()))
    what = counted(calls, "call" if url else "text")
    most = f", and at most {calls * TOKENS:,} of answers" if url else ""
    tokens = f"about {asking.tokens:,} tokens{most}"
    echo(f"{counted(documents, 'document')} to label, {what} to {asking.labeller.name}, {tokens}")
    if asking.empty:
        echo(f"{counted(asking.empty, 'document')} without words: not asked about")


def _tell(asking: Asking) -> None:
    """Say what was answered, and what was not."""
    echo(f"Labels: {asking.out} (label {asking.name}, by {asking.labeller.name})")
    if asking.unanswered:
        said = "; ".join(f"“{clipped(said, 60)}”" for said in list(dict.fromkeys(asking.unanswered.values()))[:SHOWN])
        echo(f"Unanswered: {counted(len(asking.unanswered), 'document')}, of which was said {said}")
    for reason, texts in asking.failed.items():
        echo(f"Failed: {counted(texts, 'text')} ({reason}); {arg('resume', True)} asks again", err=True)
