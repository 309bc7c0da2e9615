"""``momus ask``: labels of documents by a language model that answers a question about each."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from momus.arguments import arg
from momus.cli.options import Device, Quiet, Reading, Without, comma_separated, expanded
from momus.cli.printing import echo
from momus.cli.sources import named_paths
from momus.errors import StoreError, UsageError
from momus.numeric.devices import resolve_device
from momus.ownership import check_place
from momus.parameters import exclude
from momus.progress import Silent, default_reporter
from momus.reading import as_corpus
from momus.schema import build, parse_json
from momus.text.counting import clipped, counted
from momus_adapters.asking.asking import REFUSED, UNANSWERED, Asking, Labeller
from momus_adapters.asking.labellers import PROBABILITIES, LocalLabeller, ServerLabeller
from momus_adapters.asking.question import Question
from momus_adapters.language_models.openai import Failed, OpenAIServer
from momus_adapters.language_models.transformers import TransformersLM

BYTES = 4  # of a token, about


@expanded
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question about each document.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File of labels to write, .jsonl.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help="The model's name at --url; without --url, a folder of transformers.")
    ],
    url: Annotated[str, typer.Option(help="Address with chat completions as of OpenAI, up to and with /v1.")] = "",
    generated: Annotated[
        list[str] | None, typer.Option("--generated", "-g", metavar="NAME=TEXT", help="A text, as in `momus compare`.")
    ] = None,
    real: Annotated[str | None, typer.Option("--real", "-r", metavar="TEXT", help="Human text.")] = None,
    fit: Annotated[str | None, typer.Option("--fit", "-f", metavar="TEXT", help="Human text to fit on.")] = None,
    answers: Annotated[str, typer.Option(help="The words of which one is the answer, comma-separated.")] = "yes,no",
    number: Annotated[str, typer.Option(metavar="LOW-HIGH", help="Or a number, such as 1-5.")] = "",
    name: Annotated[str, typer.Option(help="Name of the label; default: that of the file.")] = "",
    key: Annotated[str, typer.Option(metavar="VARIABLE", help="Environment variable with the key.")] = "OPENAI_API_KEY",
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Ask a server for those of words.")] = False,
    body: Annotated[
        str, typer.Option(metavar="JSON", help='More for each request, such as {"max_tokens": 400}; null leaves out.')
    ] = "{}",
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at once.")] = 8,
    resume: Annotated[bool, typer.Option("--resume", help="Ask only for the answers that --out lacks.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Resume, and ask again what was refused.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how much would be asked, and stop.")] = False,
    device: Device = "auto",
    reading: Annotated[Reading, Without("keep", "language")] = Reading(),
    quiet: Quiet = False,
) -> None:
    """Ask a language model a question about each document: its answers are labels.

    The model, behind an address (--url) or in a local folder, answers with one of
    --answers or a --number; what else it says is counted and kept as unanswered,
    and what a server refuses (too long, content filter) with its reason.
    Each answer is in --out as soon as it comes; a text that occurs twice is asked
    about once. The prompt and the settings are in OUT.asked.json. The key is read
    from the environment and written nowhere.

    Examples (the second uses the answers):

      [bold]momus ask "Does it offer further help?" -r real.jsonl -g new=new.jsonl
        --url http://localhost:8000/v1 -m qwen3 -o help.jsonl[/bold]
      [bold]momus compare -r real.jsonl -g new=new.jsonl --labels help.jsonl[/bold]

    Next: label 50 documents of each text yourself, for `momus compare --gold`.
    """
    named = {"real": real, "fit": fit, **named_paths(generated or [])}
    paths = {text: path for text, path in named.items() if path is not None}
    if not paths:
        raise UsageError("there is no text", hint=f"name one with {arg('generated')} or {arg('real')}")
    check_place(out, paths.values())
    exclude(device=None if device == "auto" else device, url=url)
    bounds = re.fullmatch(r"(\d{1,3})-(\d{1,3})", number)
    if number and not bounds:
        raise UsageError(f"{arg('number', number)}: expected two whole numbers", hint="such as 1-5")
    words = comma_separated(answers) or () if bounds is None else map(str, range(int(bounds[1]), int(bounds[2]) + 1))
    asked = Question(question, tuple(words), numbers=bounds is not None)
    labeller: Labeller
    if url:
        try:
            more = build(dict[str, object], parse_json(body, arg("body"), ""), arg("body"))
        except StoreError as error:
            raise UsageError(error.message, hint='write an object of JSON, such as {"max_tokens": 400}') from None
        server = OpenAIServer(url, model, key=key, concurrency=concurrency)
        labeller = ServerLabeller(server, {**(PROBABILITIES if probabilities else {}), **more})
        settings = {"url": url, "body": labeller.body}
    else:
        labeller, settings = LocalLabeller(TransformersLM(model, device=resolve_device(device))), {}
    reporter = Silent() if quiet else default_reporter(lines=True)
    options = reading.options(list(paths))
    texts = [as_corpus(path, text, options, reporter) for text, path in paths.items()]
    label = name or out.name.partition(".")[0]
    asking = Asking(asked, labeller, texts, out, label, resume=resume or again, again=again)
    tokens = sum(len(asked.prompt(text).encode("utf-8", "replace")) for text in asking.waiting.values()) // BYTES
    calls = f"{counted(len(asking.waiting), 'call')} to {labeller.name}, about {tokens:,} tokens"
    echo(f"{counted(sum(map(len, texts)), 'document')}, {calls}")
    if dry_run:
        return
    try:
        asking.run(settings, reporter)
    except KeyboardInterrupt:
        echo(f"\nInterrupted. The answers so far are in {out}; {arg('resume', True)} asks for the rest.", err=True)
        raise
    except Failed as failed:
        raise UsageError(f"{url}: {failed}", hint=f"{arg('resume', True)} asks for the rest") from failed
    echo(f"Labels: {out}")
    reasons = Counter(str(record[REFUSED]) for record in asking.records.values() if REFUSED in record)
    for reason, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:5]:
        echo(f"{counted(n, 'text')} refused: {clipped(reason, 200)}")
    if reasons:
        echo(f"{arg('again', True)} asks about {'it' if reasons.total() == 1 else f'all {reasons.total():,}'} again")
    if said := [record[UNANSWERED] for record in asking.records.values() if UNANSWERED in record]:
        echo(f"Unanswered: {counted(len(said), 'text')}, such as “{clipped(str(said[0]), 80)}”")
