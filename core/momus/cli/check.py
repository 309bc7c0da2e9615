"""``momus check``: hold a critic to the conformance suite."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momus.errors import PluginError, UsageError

if TYPE_CHECKING:
    from momus.conformance import Report


def find_class(name: str) -> Any:
    """Find a critic's class by plug-in name or as ``package.module:Class``; the current folder is searched too.

    Raises
    ------
    PluginError, UsageError
        It cannot be imported, or is no critic.
    """
    import sys

    from momus.critic import Critic
    from momus.critic.registry import critic_class

    if ":" not in name:
        return critic_class(name)
    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever a foreign module raises at import must not end in a traceback
        raise PluginError(
            f"{name} cannot be imported: {type(error).__name__}: {error}", hint="write package.module:Class"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Critic)):
        raise UsageError(f"{name} is no subclass of momus.Critic", hint="name the class of a critic")
    return found


def check(
    critic: Annotated[str, typer.Argument(help="package.module:Class, or the name of a registered critic.")],
    corpus: Annotated[str | None, typer.Option(help="Real text to check it on; default: made text.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="TOML file with the critic's parameters.")] = None,
) -> None:
    """Hold a critic to what every critic owes: contract, rows, invariances, posterior, summaries, saving, false alarms.

    Exit code 1 if a check fails, or if too few of them apply for a pass to mean something.

    Example: [bold]momus check my_package.critic:MyCritic[/bold]
    """
    from momus.cli.app import _config
    from momus.conformance import check_critic
    from momus.progress import default_reporter
    from momus.reading import read_corpus

    cls = find_class(critic)
    made = cls.with_params(_config(config).get(cls.name, {}), place=f"[{cls.name}]")
    text = read_corpus(corpus) if corpus is not None else None
    with default_reporter().stage(f"checking {cls.name}"):
        report = check_critic(made, text)
    _show(report)
    if not report.ok:
        raise typer.Exit(1)


def _show(report: Report) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in ("", "check", "detail"):
        table.add_column(name)
    for record in report.records:
        style = {"failed": "[bold red]failed[/bold red]", "passed": "passed"}.get(record.status, record.status)
        table.add_row(style, record.name.replace("_", " "), escape(record.detail))
    console = Console(highlight=False)
    console.print(table)
    counts = ", ".join(f"{n} {status}" for status, n in report.counts.items())
    console.print(f"{report.critic}: {len(report.records)} checks, {counts}")
    if not report.enough:
        console.print("Too few checks ran for a pass to mean something.")
