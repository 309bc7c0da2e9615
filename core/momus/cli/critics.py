"""``momus critics``: list critics, show one, check one, start a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from momus.cli import EXIT_CODES
from momus.cli.new import new
from momus.cli.options import Config, config_tables
from momus.cli.printing import print_view

if TYPE_CHECKING:
    from rich.console import Console

    from momus.conformance import Record

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
    from momus.cli.catalogue import all_critics_view

    if ctx.invoked_subcommand is None:
        print_view(all_critics_view())


@critics.command(hidden=True)
def show(
    name: Annotated[str, typer.Argument(help="Name of a critic, or a folder of saved critics.", metavar="NAME|FOLDER")],
) -> None:
    """Show one critic with its parameters, or what saved critics would do."""
    from momus.cli.catalogue import critic_view, is_folder, saved_critics_view

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
    from momus.critic.registry import critic_class, named
    from momus.estimator import construct
    from momus.processes import threads_each
    from momus.reading import read_corpus
    from momus.visible import safe_console

    console, names = safe_console(highlight=False), check_names(slow=slow)
    with threads_each(1):  # the texts of the checks are short: threads would mostly wait for each other
        cls = critic_class(named(critic))
        instance = construct(cls, config_tables(config).get(cls.name, {}), place=f"[{cls.name}]")
        text = read_corpus(corpus) if corpus is not None else None
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
