"""``momus discover``: what tells two texts apart that nobody thought of."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from momus.arguments import arg
from momus.cli.options import Json, Quiet, Reading, Seed, comma_separated, expanded
from momus.cli.printing import echo, print_json
from momus.cli.sources import named_paths
from momus.errors import UsageError


@expanded
def discover(
    generated: Annotated[str, typer.Option("--generated", "-g", metavar="NAME=TEXT", help="The text to describe.")],
    against: Annotated[
        str | None, typer.Option("--against", metavar="NAME=TEXT", help="The text of a model to compare with.")
    ] = None,
    real: Annotated[str | None, typer.Option("--real", "-r", metavar="TEXT", help="Or human text.")] = None,
    proposals: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Properties that another tool found, by document; several times."),
    ] = None,
    control_for: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Compare documents alike in these: length, or fields such as task."),
    ] = None,
    level: Annotated[float, typer.Option(help="Chance that anything is verified though texts do not differ.")] = 0.05,
    reading: Reading = Reading(),
    as_json: Json = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Find what tells two texts apart, without naming an axis, and verify it.

    Half of the prompts propose: words and phrases, how documents open and end,
    their layout, and two of these together. The other half verifies, all
    proposals at one level. --json lists the ids of the half that proposes: a
    tool that finds properties by itself should see these documents alone.

    Examples (the second also verifies what another tool proposed):

      [bold]momus discover --against old=old.jsonl --generated new=new.jsonl[/bold]
      [bold]momus discover -r human.jsonl -g new=new.jsonl --proposals judge.jsonl[/bold]

    Next: `momus compare` measures all axes of the same texts.
    """
    from momus.discover import discover as find
    from momus.discover.files import read_proposals
    from momus.progress import Silent, default_reporter, reporting
    from momus.reading import as_corpus
    from momus.report.words.discoveries import discoveries_lines

    if (against is None) == (real is None):
        raise UsageError("there is one text to compare with", hint=f"give {arg('against')} or {arg('real')}")
    first = named_paths([against], "--against") if against is not None else {"real": str(real)}
    paths = {**first, **named_paths([generated])}
    if len(paths) < 2:
        raise UsageError("both texts have one name", hint="give each its own")
    reporter = Silent() if quiet or as_json else default_reporter()
    covariates = comma_separated(control_for) or []
    options = reading.options(list(paths)).needing(covariates)
    with reporting(reporter):
        texts = [as_corpus(path, name, options, reporter) for name, path in paths.items()]
        labels = {Path(path).name: read_proposals(path) for path in proposals or ()}
        result = find(texts[0], texts[1], labels, control_for=covariates, level=level, seed=seed, reporter=reporter)
    if as_json:
        print_json(asdict(result))
    else:
        echo("\n".join(discoveries_lines(result)))
