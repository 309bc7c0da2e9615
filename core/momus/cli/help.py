"""Commands whose options stand in panels, of which the last is shown by ``--help-all`` only."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from momus.cli.renamed import refuse_old_options
from momus.errors import UsageError

READING = "Reading files"
PANELS = {
    "Texts": (
        "real",
        "generated",
        "against",
        "chain",
        "folds",
        "fit",
        "text",
        "field",
        "prompt",
        "keep",
        "donor",
        "reuse",
    ),
    "Statistics": (
        *("critics", "config", "permutations", "resamples", "multiplicity", "paired", "equivalence", "register"),
        *("pairwise", "control_for", "subgroups", "refits", "seed", "defects", "strengths", "sizes", "by"),
        *("replacement", "splits", "power_splits", "wide", "alpha", "power", "fdr", "skip_fitted", "classes"),
        *("trust", "device", "sample", "sample_seed"),
    ),
    "Output": (
        *("out", "no_out", "overwrite", "resume", "top", "every", "details", "as_json", "markdown", "latex", "quiet"),
        *("kept", "dropped", "scores", "csv_as_is", "jobs", "rank", "world_size", "part_size", "engine", "address"),
    ),
    READING: ("fmt", "encoding", "skip_bad_lines", "max_document", "include", "turns", "language", "normalise"),
}
"""Panels of the options of commands that read texts, with the parameters in each; the others are *Options*."""


class Command(TyperCommand):
    """A command; one that reads texts has its options in panels."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command.

        Raises
        ------
        UsageError
            An option has another name now, or is given twice although it takes one value.
        """
        refuse_old_options(self.name or "", args)
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
