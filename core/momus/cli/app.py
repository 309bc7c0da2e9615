"""The command ``momus``: its own options and help, and its commands, each imported when it is called.

Most commands are part of Momus; others are plug-ins, registered under the group ``momus.commands``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from momus.arguments import as_options
from momus.cli import EXIT_CODES
from momus.cli.help import Command, options_of, refuse_absent_command
from momus.plugins import COMMANDS, load_plugin, registered
from momus.version import DISTRIBUTION

if TYPE_CHECKING:
    from rich.panel import Panel

OWN = {
    "demo": ("compare:demo", "Run a comparison on texts that ship with Momus."),
    "compare": ("compare:compare", "Compare generated text with real text, and write a report."),
    "read": ("read:read", "Show what would be read of a file: its format, fields, counts, three documents."),
    "show": ("show:show", "Print the results of a finished run, or write its report."),
    "open": ("show:open_report", "Open the report of a run in the browser."),
    "outliers": ("show:outliers", "List the documents that are least likely under a critic."),
    "figures": ("show:figures", "Write the figures of a finished run at the width of a column of a paper."),
    "diff": ("history:diff", "Say whether run B is farther from human text than run A, and on which axes."),
    "discover": ("discover:discover", "Find what tells two texts apart, without naming an axis, and verify it."),
    "gate": ("history:gate", "Pass or fail a run by rules, for continuous integration; exit code 7 if it fails."),
    "review": ("review:review", "Say of single documents whether they are odd among human ones, and where."),
    "fit": ("scoring:fit", "Fit critics on real text, and save them."),
    "score": ("scoring:score", "Score new text with a saved critic: one row per document."),
    "filter": ("filter:filter_", "Remove documents unlike any human text, at a stated error rate."),
    "critics": ("critics:critics", "List the critics, show one, check one, or start a new one."),
    "plan": ("plan:plan", "Plan how many documents and prompts the next comparison needs."),
    "calibrate": ("calibrate:calibrate", "Measure each critic's false-alarm rate and power on your real text."),
}
"""Momus' own commands: where each is below ``momus.cli``, and the first line of its help."""

PANELS = {
    "Start": ("demo", "read", "compare"),
    "Read": ("show", "open", "outliers", "review", "figures"),
    "Versions": ("discover", "diff", "gate"),
    "Scale": ("fit", "score", "filter"),
    "Extend": ("critics",),
    "Research": ("plan", "calibrate"),
}
"""Panels of ``--help`` with their commands; commands of other packages come after them."""


class Commands(TyperGroup):
    """The group of all commands; its help needs none of them, nor Typer's formatter, which loads half of Rich."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands: those of Momus, then those of plug-ins."""
        return [*OWN, *(name for name in registered(COMMANDS) if name not in OWN)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command and hand it to Typer; None if there is none of this name.

        Raises
        ------
        PluginError
            Two plug-ins have the name, or the one that has it is broken.
        MissingExtraError
            The plug-in needs packages that are not installed.
        UsageError
            The command belongs to a package that is not installed.
        """
        if cmd_name in OWN:
            module, _, attribute = OWN[cmd_name][0].partition(":")
            return _click_command(cmd_name, getattr(import_module(f"momus.cli.{module}"), attribute))
        if registered(COMMANDS, cmd_name):
            return _plugin_command(cmd_name)
        refuse_absent_command(cmd_name)
        names: dict[str, Any] = dict.fromkeys(self.list_commands(ctx))
        self.commands = names  # where Typer looks for a similar name
        return None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that the words name; until the context is left, messages name its options."""
        name, command, rest = super().resolve_command(ctx, args)
        ctx.with_resource(as_options(options_of(command)))
        return name, command, rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the usage, the help text, the options, and the commands with their first lines."""
        options = [record for record in (p.get_help_record(ctx) for p in self.get_params(ctx)) if record is not None]
        usage = " ".join([ctx.command_path, *self.collect_usage_pieces(ctx)])
        _print_front_page(usage, self.help or "", options, _summaries(), self.epilog or "")


def _click_command(name: str, target: Any) -> Any:
    """Build the command of a function, or of a Typer app, which is a group of commands."""
    if isinstance(target, typer.Typer):
        return get_group(target)
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False, rich_markup_mode="rich")
    app.command(name, cls=Command, epilog=EXIT_CODES)(target)
    return get_command(app)


def _plugin_command(name: str) -> Any:
    """Load the command of a plug-in."""
    from momus.errors import PluginError

    target = load_plugin(COMMANDS, name)
    try:
        return _click_command(name, target)
    except Exception as error:  # whatever Typer cannot make a command of
        plugin = registered(COMMANDS, name)[name][0]
        raise PluginError(
            f"plug-in {name!r} of distribution {plugin.distribution!r} is no command ({plugin.value}): {error}",
            hint="it must be a typer.Typer, or a function whose parameters Typer takes as options and arguments",
        ) from error


def _summaries() -> list[tuple[str, str]]:
    """Names and first lines of all commands; those of plug-ins are what their package says, without import."""
    from momus.visible import visible

    rows = [(name, summary) for name, (_, summary) in OWN.items()]
    for name, plugins in registered(COMMANDS).items():
        owners = " and ".join(f"{p.distribution!r} ({p.value})" for p in plugins)
        line = plugins[0].listed().get("help")
        if name in OWN:
            line = f"Not called: the name belongs to a command of Momus; from {owners}."
        elif len(plugins) > 1:
            line = f"Not called: two plug-ins have the name; from {owners}."
        elif not isinstance(line, str):
            line = f"From {owners}."
        elif plugins[0].distribution != DISTRIBUTION:
            line += f" ({plugins[0].distribution})"
        rows.append((visible(name), visible(line)))
    return rows


def _print_front_page(
    usage: str, text: str, options: Sequence[tuple[str, str]], commands: Sequence[tuple[str, str]], epilog: str
) -> None:
    """Print usage, text in Rich's markup, tables of (name, help), and a last paragraph, as Typer draws them."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text
    from rich.theme import Theme

    width = os.environ.get("TERMINAL_WIDTH", "")
    theme = Theme({"option": "bold cyan", "usage": "yellow"})
    console = Console(theme=theme, highlight=False, width=int(width) if width.isdigit() else None)
    paragraphs = text.split("\n\n")
    console.print(Padding(Text("Usage: ", "usage") + Text(usage, "bold"), 1))
    console.print(Padding("\n\n".join([" ".join(paragraphs[0].split("\n")), *paragraphs[1:]]), (0, 1, 1, 1)))
    console.print(_panel("Options", options))
    column = max(len(name) for name, _ in commands)
    others = [name for name, _ in commands if not any(name in names for names in PANELS.values())]
    for title, names in (*PANELS.items(), ("Plug-ins", tuple(dict.fromkeys(others)))):
        rows = [(name.ljust(column), line) for wanted in names for name, line in commands if name == wanted]
        if rows:
            console.print(_panel(title, rows))
    if epilog:
        console.print(Padding(Text(epilog), 1))


def _panel(title: str, rows: Sequence[tuple[str, str]]) -> Panel:
    """A box with one row per option or command."""
    from rich import box
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1), expand=True)
    table.add_column(style="option", no_wrap=True)
    table.add_column(ratio=1)
    for name, words in rows:
        line = Text(words)
        line.highlight_regex(r"(^|\W)(?P<option>\-\-?[\w-]+)")
        table.add_row(Text(name), line)
    return Panel(table, title=title, title_align="left", border_style="dim", box=box.ROUNDED)


app = typer.Typer(
    name="momus",
    cls=Commands,
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
        from momus.version import CRITIC_FORMAT, ROWS_FORMAT, RUN_FORMAT, __version__

        formats = f"run folders {RUN_FORMAT}, rows {ROWS_FORMAT}, saved critics {CRITIC_FORMAT}"
        typer.echo(f"momus {__version__} (formats: {formats})")
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

    Next: `momus open run`. `momus COMMAND --help` explains each command.
    """
