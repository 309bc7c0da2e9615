"""The commands in the order of ``--help``, with their first lines: each is imported when it is called."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from momus.cli import EXIT_CODES


class Command(NamedTuple):
    """Where a command is, below ``momus.cli``, and the first line of its help."""

    module: str
    attribute: str
    summary: str


def module_of(command: Command) -> str:
    """The whole name of the module of a command."""
    return command.module if "." in command.module else f"momus.cli.{command.module}"


COMMANDS = {
    "compare": Command("compare", "compare", "Compare generated text with real text, and write a report."),
    "plan": Command("plan", "plan", "Plan how many documents and prompts the next comparison needs."),
    "fit": Command("scoring", "fit", "Fit one critic on real text, and save it."),
    "score": Command("scoring", "score", "Score new text with a saved critic: one row per document."),
    "filter": Command(
        "filter", "filter_", "Drop generated documents that real text does not have, at a stated error rate."
    ),
    "show": Command("show", "show", "Print the results of a finished run."),
    "open": Command("opening", "open_report", "Open the report of a run in the browser."),
    "outliers": Command("show", "outliers", "List the documents that are least likely under a critic."),
    "critics": Command("show", "critics", "List the critics, or show one critic with its parameters."),
    "report": Command("show", "report", "Write the HTML report of a finished run again."),
    "figures": Command(
        "figures", "figures", "Write the figures of a finished run at the width of a column of a paper."
    ),
    "card": Command("card", "card", "Write what critics say of a generated text, as a section of its data card."),
    "log": Command(
        "momus_adapters.trackers.command",
        "log",
        "Send a finished run to experiment trackers: W&B, MLflow, TensorBoard, Trackio.",
    ),
    "diff": Command("history", "diff", "Say whether run B is farther from human text than run A, and on which axes."),
    "gate": Command(
        "history", "gate", "Pass or fail a run by rules, for continuous integration; exit code 7 if it fails."
    ),
    "history": Command(
        "history", "history", "Draw the distance to real text of all runs below a folder, axis by axis."
    ),
    "reproduce": Command(
        "momus_adapters.papers.command",
        "reproduce",
        "Run a table of a source paper on your texts, and print both figures.",
    ),
    "demo": Command("compare", "demo", "Run a comparison on texts that ship with Momus."),
    "generate": Command(
        "momus_adapters.generating.command", "generate", "Write documents with a language model, ready to be compared."
    ),
    "calibrate": Command(
        "calibrate", "calibrate", "Measure each critic's false-alarm rate and power on your real text."
    ),
    "check": Command("check", "check", "Run the conformance checks on a critic."),
    "prepare": Command(
        "momus_adapters.preparing.command", "prepare", "Turn documents with headings into titled sections."
    ),
    "study": Command(
        "momus_adapters.study.command", "study", "Ask people: make a blinded study of a run, and read the answers."
    ),
    "baseline": Command("history", "baseline", "Name runs that later runs are compared with."),
    "new": Command("new", "new", "Start a package with a new critic."),
}


class LazyCommands(MutableMapping[str, Any]):
    """Click commands by name, built on first use."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _build(name, COMMANDS[name])
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS or name in self._built

    def __iter__(self) -> Iterator[str]:
        return iter({**COMMANDS, **self._built})

    def __len__(self) -> int:
        return len({**COMMANDS, **self._built})


def _build(name: str, command: Command) -> Any:
    """Import a command, which is a function or a group of commands, and hand it to Typer."""
    target = getattr(import_module(module_of(command)), command.attribute)
    if isinstance(target, typer.Typer):
        return get_group(target)
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode="rich")
    app.command(name, epilog=EXIT_CODES)(target)
    return get_command(app)


class Commands(TyperGroup):
    """The group of all commands; its help needs none of them, nor Typer's formatter, which loads half of Rich."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: MutableMapping[str, Any] = LazyCommands()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the usage, the help text, the options, and the commands with their first lines."""
        from momus.cli.front_page import draw

        options = [record for record in (p.get_help_record(ctx) for p in self.get_params(ctx)) if record is not None]
        usage = " ".join([ctx.command_path, *self.collect_usage_pieces(ctx)])
        draw(usage, self.help or "", options, [(n, c.summary) for n, c in COMMANDS.items()], self.epilog or "")
