"""``momus check``: run the conformance checks on a critic."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momus.cli.options import Config, config_tables
from momus.errors import PluginError, UsageError
from momus.estimator import construct

if TYPE_CHECKING:
    from momus.conformance import Report


def find_class(name: str) -> Any:
    """Import a critic's class by plug-in name or as ``package.module:Class``, also from the current folder.

    Raises
    ------
    PluginError, UsageError
        The class cannot be imported, or is not a critic.
    """
    import sys

    from momus.critic import Critic
    from momus.critic.registry import critic_class

    if ":" not in name:
        return critic_class(name)
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # last: a file there must not take the place of an installed module
    try:
        cls = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # foreign modules may raise anything at import
        raise PluginError(
            f"{name} cannot be imported: {type(error).__name__}: {error}", hint="write package.module:Class"
        ) from error
    if not (isinstance(cls, type) and issubclass(cls, Critic)):
        raise UsageError(f"{name} is not a subclass of momus.Critic", hint="name the class of a critic")
    return cls


def check(
    critic: Annotated[str, typer.Argument(help="package.module:Class, or the name of a registered critic.")],
    corpus: Annotated[str | None, typer.Option(help="Real text to run the checks on; default: synthetic text.")] = None,
    config: Config = None,
    slow: Annotated[
        bool, typer.Option("--slow", help="Also fit the critic on text in each script that it claims: ten fits.")
    ] = False,
) -> None:
    """Run the conformance checks on a critic.

    The checks cover the contract of a critic, rows, invariance to batches and
    order, scripts, the posterior, summaries, saving and false alarms. The exit code is 1
    if a check fails, or if too few checks apply to the critic.

    Example:

      [bold]momus check my_package.critic:MyCritic[/bold]

    Next: read the detail of each failed check. Once all checks pass, register the
    class in the entry-point group momus.critics; `momus critics` then lists it.
    """
    from momus.conformance import check_critic, check_names
    from momus.progress import default_reporter
    from momus.reading import read_corpus

    cls = find_class(critic)
    instance = construct(cls, config_tables(config).get(cls.name, {}), place=f"[{cls.name}]")
    text = read_corpus(corpus) if corpus is not None else None
    with default_reporter().stage(f"checking {cls.name}"):
        report = check_critic(instance, text, checks=check_names(slow=slow))
    _show(report)
    if not report.ok:
        raise typer.Exit(1)


def _show(report: Report) -> None:
    from rich.markup import escape
    from rich.table import Table

    from momus.visible import safe_console

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in ("", "check", "detail"):
        table.add_column(name)
    for record in report.shown():
        style = {"failed": "[bold red]failed[/bold red]", "passed": "passed"}.get(record.status, record.status)
        table.add_row(style, record.name.replace("_", " "), escape(record.detail))
    console = safe_console(highlight=False)
    console.print(table)
    counts = ", ".join(f"{n} {status}" for status, n in report.counts.items())
    console.print(f"{report.critic}: {len(report.records)} checks, {counts}")
    if not report.enough:
        console.print("Too few checks apply to this critic for a pass to be meaningful.")
