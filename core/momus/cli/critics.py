"""``momus critics``: list critics, show one and what a saved one would do, check one, start a new one."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from momus.cli import EXIT_CODES
from momus.cli.new import new
from momus.cli.options import Config, comma_separated, config_tables
from momus.cli.printing import print_view
from momus.errors import PluginError, StoreError
from momus.parameters import need
from momus.plugins import ADAPTERS, CRITICS, Plugin, adapter_of, registered
from momus.processes import threads_each
from momus.version import DISTRIBUTION
from momus.visible import safe_console

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from momus.conformance import Record
    from momus.critic import Critic


def all_critics_view() -> RenderableType:
    """Build a table of all critics; broken plug-ins and duplicate names are shown with the reason."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in ("critic", "axis", "from", "state"):
        table.add_column(name)
    adapters = registered(ADAPTERS)
    for name, plugins in registered(CRITICS).items():
        axis, state = _axis_and_state(name, plugins, adapters)
        distributions = ", ".join(sorted({p.distribution for p in plugins}))
        table.add_row(escape(name), escape(axis), escape(distributions), escape(state))
    return table


def _axis_and_state(name: str, plugins: list[Plugin], adapters: Mapping[str, list[Plugin]]) -> tuple[str, str]:
    """What a critic looks at, and whether it can run with its default parameters.

    Momus' own critics are not imported, which would take seconds. Others are, to find broken ones.
    """
    row, alone = plugins[0].listed(), len(plugins) == 1
    if alone and (missing := plugins[0].missing()) is not None:
        return str(row.get("axis", "–")), f"needs {missing.requirement}"
    if not (row and alone and plugins[0].distribution == DISTRIBUTION):
        from momus.critic.registry import critic_class

        try:
            cls = critic_class(name)
        except PluginError as error:
            return "–", f"broken: {error.message}"
        row = {"axis": cls.axis, "adapters": default_adapters(cls)}
    return row["axis"], "; ".join(_missing_adapters(row["adapters"], adapters)) or "ready"


def default_adapters(cls: type[Critic[Any]]) -> dict[str, str]:
    """The adapters that a critic uses by default, by parameter."""
    parameters = inspect.signature(cls.__init__).parameters.values()
    defaults = {p.name: p.default for p in parameters if isinstance(p.default, str)}
    return {name: default for name, default in defaults.items() if adapter_of(name, default) is not None}


def _missing_adapters(defaults: Mapping[str, str], adapters: Mapping[str, list[Plugin]]) -> list[str]:
    """What the adapters that a critic uses by default still need."""
    needs = []
    for parameter, default in defaults.items():
        name = adapter_of(parameter, default, adapters)
        missing = adapters[name][0].missing() if name is not None else None
        if missing is not None:
            needs.append(f"needs {missing.requirement} for {parameter} = {default!r}")
    return needs


def critic_view(name: str) -> RenderableType:
    """Show a critic: its question, its parameters with their defaults, and its documentation."""
    from rich.console import Group
    from rich.text import Text

    from momus.critic.hooks import claimed_scripts
    from momus.critic.registry import critic_class
    from momus.text.plain import READINGS

    cls: type[Critic[Any]] = critic_class(name)
    parameters = inspect.signature(cls.__init__).parameters.values()
    lines = [f"  {_toml(p.name, p.default)}" for p in parameters if p.name != "self"]
    return Group(
        Text(f"{cls.name} — {cls.axis}", style="bold"),
        Text(cls.question or "(this critic states no question)"),
        Text(f"Reads {READINGS.get(reads := getattr(cls, 'reads', 'everything'), reads)}."),
        Text(f"Scripts: {claimed_scripts(cls).words()}."),
        Text(_large_text(cls)),
        Text(f"\nIn a configuration file, under [{name}]:\n" + ("\n".join(lines) or "  (no parameters)") + "\n"),
        Text(inspect.getdoc(cls) or ""),
    )


def _large_text(cls: type[Critic[Any]]) -> str:
    """How the critic is fitted on more text than fits in memory."""
    from momus.critic import MergeableMixin, RunningTextCritic

    if issubclass(cls, MergeableMixin):
        return "Large text: counted in parts, with `momus fit --jobs N`; the fit is that on the whole text."
    if issubclass(cls, RunningTextCritic):
        return "Large text: read as a whole, since it reads what documents follow each other."
    return "Large text: fitted on a random sample of it, with `momus fit --sample N`."


def is_folder(name: str) -> bool:
    """Whether an argument is a folder rather than the name of a critic.

    >>> is_folder("length"), is_folder("no/such/folder")
    (False, True)
    """
    return "/" in name or (name not in registered(CRITICS) and Path(name).is_dir())


def saved_critics_view(folder: Path) -> RenderableType:
    """Show what the saved critics of a folder would do; only their ``critic.json`` is read, and nothing is imported.

    Raises
    ------
    StoreError
        There is no saved critic in the folder.
    """
    from rich.console import Group
    from rich.text import Text

    from momus.critic.saved import JSON_NAME

    places = (folder, *(path for pattern in ("*", "critics/*") for path in sorted(folder.glob(pattern))))
    folders = [path for path in places if (path / JSON_NAME).is_file()]
    if not folders:
        raise StoreError(f"{folder}: no saved critic in this folder", hint="name a folder that `momus fit` wrote")
    return Group(*(Text(line, style=style) for path in folders for line, style in _saved_lines(path)))


def _saved_lines(folder: Path) -> list[tuple[str, str]]:
    """What one saved critic would do, as lines with their styles."""
    from momus.critic.effects import effects_of
    from momus.critic.saved import read_critic_json

    try:
        content = read_critic_json(folder)
    except StoreError as error:
        return [(f"{folder}: refused: {error.message}", "red")]
    effects = effects_of(content["params"])
    head = f"{folder}: critic {content['critic']}, class {content['class']}, Momus {content['momus']}"
    if not effects:
        return [(head, "bold"), ("  computes only: no adapter, address, path or object", "")]
    return [(head, "bold"), *((f"  would {effect} (parameter {effect.parameter})", "") for effect in effects)]


def _toml(name: str, default: Any) -> str:
    """A parameter with its default, as a line of TOML; a comment where TOML has no such value."""
    if default is None or default is inspect.Parameter.empty:
        return f"# {name} = …"
    return f"{name} = {json.dumps(default, ensure_ascii=False)}"


NAME = 40
"""Width of the column of names."""


class _Named(TyperGroup):
    """The group ``critics``; a word that is none of its commands is the name of a critic to show."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the words mean."""
        return super().resolve_command(ctx, args if args[0] in self.commands else ["show", *args])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What stands after the command in its usage."""
        return ["[OPTIONS] [NAME|FOLDER]"]


critics = typer.Typer(
    name="critics",
    cls=_Named,
    invoke_without_command=True,
    epilog=EXIT_CODES,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)


@critics.callback()
def list_critics(ctx: typer.Context) -> None:
    """List the critics, show one, check one, or start a new one.

    Lists installed plug-ins too; a broken one is shown with the reason. With the
    name of a critic, shows its parameters; with a folder of saved critics, what
    each would do when it scores text, without loading it.

    Examples (the second asks about saved critics):

      [bold]momus critics sections[/bold]
      [bold]momus critics run/critics[/bold]

    Next: set parameters in a TOML file, and pass it with --config.
    """
    if ctx.invoked_subcommand is None:
        print_view(all_critics_view())


@critics.command(hidden=True)
def show(
    name: Annotated[str, typer.Argument(help="Name of a critic, or a folder of saved critics.", metavar="NAME|FOLDER")],
) -> None:
    """Show one critic with its parameters, or what saved critics would do."""
    if is_folder(name):
        print_view(saved_critics_view(Path(name)), 80)
    else:
        print_view(critic_view(name))


critics.command(epilog=EXIT_CODES)(new)


@critics.command(epilog=EXIT_CODES)
def check(
    critic: Annotated[
        str, typer.Argument(help="package.module:Class, ./file.py:Class, or the name of a registered critic.")
    ],
    corpus: Annotated[str | None, typer.Option(help="Real text to run the checks on; default: synthetic text.")] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="FIELDS", help="With --corpus: metadata fields that the critic reads.")
    ] = None,
    config: Config = None,
    slow: Annotated[
        bool, typer.Option("--slow", help="Also fit the critic on text in each script that it claims: ten fits.")
    ] = False,
) -> None:
    """Run the conformance checks on a critic.

    The checks cover the contract of a critic, rows, invariance to batches and
    order, scripts, the posterior, summaries, saving and false alarms. The exit
    code is 1 if a check fails, or if too few checks apply to the critic.

    Example:

      [bold]momus critics check my_package.critic:MyCritic[/bold]

    Next: read the detail of each failed check. Once all checks pass, register the
    class in the entry-point group momus.critics; `momus critics` then lists it.
    """
    from momus.conformance import check_critic, check_names

    need("corpus", corpus is not None, keep=keep)
    from momus.critic.hooks import with_needs
    from momus.critic.registry import critic_class, named
    from momus.estimator import construct
    from momus.reading import ReadingOptions, as_corpus

    console, names = safe_console(highlight=False), check_names(slow=slow)
    with threads_each(1):  # the texts of the checks are short: threads would mostly wait for each other
        cls = critic_class(named(critic))
        instance = construct(cls, config_tables(config).get(cls.name, {}), place=f"[{cls.name}]")
        text = None
        if corpus is not None:
            reading = with_needs(ReadingOptions(keep=tuple(comma_separated(keep) or ())), [instance])
            text = as_corpus(corpus, reading=reading)
            reading.check_kept([text])
        with console.status(f"checking {cls.name}"):  # shown on terminals only
            report = check_critic(instance, text, checks=names, on_record=lambda record: _show(record, console))
    counts = ", ".join(f"{n} {status}" for status, n in report.counts.items())
    console.print(f"{report.critic}: {len(report.records)} checks, {counts}")
    if not report.enough:
        console.print("Too few checks apply to this critic for a pass to be meaningful.")
    if not report.ok:
        raise typer.Exit(1)


def _show(record: Record, console: Console) -> None:
    """Print the outcome of one check: its status, its name, and in a third column why it failed or does not apply."""
    from rich.markup import escape
    from rich.table import Table

    line = Table.grid(padding=(0, 2))
    for width in (7, NAME, None):
        line.add_column(width=width)
    style = {"failed": "[bold red]failed[/bold red]"}.get(record.status, record.status)
    detail = f"by the same error as {_words(record.by)}" if record.by else record.detail
    line.add_row(style, _words(record.name), escape(detail))
    console.print(line)
    console.file.flush()


def _words(name: str) -> str:
    return name.replace("_", " ")
