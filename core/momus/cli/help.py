"""Help in panels, and the error that says which package a command belongs to."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from momus.errors import UsageError

PACKAGES = {"export": "training", "prepare": "preparing", "study": "people"}
"""Commands of plug-in packages of the checkout, by the folder in ``examples``."""


def refuse_absent_command(name: str) -> None:
    """Raise `UsageError` if a command belongs to a package that is not installed.

    >>> refuse_absent_command("study")
    Traceback (most recent call last):
    momus.errors.UsageError: 'study' is a command of another package
      → in a checkout: pip install -e examples/people
    """
    if name in PACKAGES:
        package = f"pip install -e examples/{PACKAGES[name]}"
        raise UsageError(f"{name!r} is a command of another package", hint=f"in a checkout: {package}")


def options_of(command: Any) -> dict[str, str]:
    """The options of a command and of its subcommands, as `momus.arguments.as_options` takes them.

    >>> from momus.cli.app import app
    >>> found = options_of(typer.main.get_command(app).get_command(None, "compare"))
    >>> found["fmt"], found["resume=True"], found["paired=False"], found["generated"]
    ('--format', '--resume', '--unpaired', '--generated')
    """
    options: dict[str, str] = {}
    for inner in getattr(command, "commands", {}).values():
        options |= options_of(inner)
    for param in command.params:
        shown = next((o for o in param.opts if o.startswith("--")), param.metavar or param.name.upper())
        options.setdefault(shown.removeprefix("--").replace("-", "_"), shown)
        options[param.name] = shown
        if getattr(param, "is_flag", False):
            options |= {f"{param.name}=True": shown}
            options |= {f"{param.name}=False": other for other in param.secondary_opts}
    return options


READING = "Reading files"
PANELS = {
    "Texts": (
        "real",
        "generated",
        "against",
        "pairs",
        "split_by",
        "chain",
        "folds",
        "fit",
        "text",
        "field",
        "prompt",
        "where",
        "keep",
        "reuse",
    ),
    "Statistics": (
        *("critics", "label", "labels", "gold", "config", "permutations", "resamples", "multiplicity", "paired"),
        *("register", "pairwise", "control_for", "seed", "defects"),
        *(
            "strengths",
            "sizes",
            "by",
            "better",
            "without",
            "replacement",
            "splits",
            "power_splits",
            "alpha",
            "power",
            "classes",
        ),
        *("trust", "device", "sample"),
    ),
    "Output": (
        *("out", "no_out", "overwrite", "resume", "top", "every", "as_json", "markdown", "latex", "quiet"),
        *("keep", "jobs", "workers", "part_size", "engine", "address"),
    ),
    READING: ("fmt", "encoding", "skip_bad_lines", "limits", "include", "turns", "language", "normalise"),
}
"""Panels of the options of commands that read texts, with the parameters in each; the others are *Options*."""


class Command(TyperCommand):
    """A command; one that reads texts has its options in panels."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command.

        Raises
        ------
        UsageError
            An option is given twice although it takes one value.
        """
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param, times in Counter(order).items():
            if times > 1 and isinstance(param, TyperOption) and not (param.multiple or param.is_flag or param.count):
                raise UsageError(
                    f"{param.opts[0]} is given {times} times, and takes one value",
                    hint="give it once; names in a list are joined by commas, as in --critics length,unigram",
                )
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters in the order of their panels; those for reading files are hidden unless they are asked for."""
        params: list[Any] = super().get_params(ctx)
        if not any(param.name == "fmt" for param in params):
            return params
        panels = {name: panel for panel, names in PANELS.items() for name in names}
        for param in params:
            if param.param_type_name == "option" and param.name in panels:
                param.rich_help_panel = panels[param.name]
                param.hidden = param.rich_help_panel == READING and not ctx.meta.get(READING, False)
        order = [None, *PANELS]
        return sorted(params, key=lambda param: order.index(getattr(param, "rich_help_panel", None)))


def _show_all(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.meta[READING] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", callback=_show_all, is_eager=True, help="Show all options, those for reading files too, and exit."
    ),
]
