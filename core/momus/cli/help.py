"""Commands whose options stand in panels, of which the last is shown by ``--help-all`` only."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from momus.cli.renamed import refuse_old_options

READING = "Reading files"
PANELS = {
    "Texts": ("real", "generated", "fit", "field", "prompt", "keep", "donor"),
    "Statistics": (
        *("critics", "config", "permutations", "resamples", "multiplicity", "paired", "equivalence", "register"),
        *("pairwise", "control_for", "subgroups", "refits", "seed", "defects", "strengths", "sizes", "by"),
        *("replacement", "splits", "power_splits", "wide", "alpha", "power", "fdr", "skip_fitted", "classes"),
        *("sample", "sample_seed"),
    ),
    "Output": (
        *("out", "no_out", "overwrite", "top", "every", "details", "as_json", "markdown", "latex", "quiet"),
        *("kept", "dropped", "scores", "csv_as_is"),
    ),
    READING: ("fmt", "encoding", "skip_bad_lines", "max_document", "include", "turns", "language"),
}
"""Panels of the options of commands that read texts, with the parameters in each; the others are *Options*."""


class Command(TyperCommand):
    """A command; one that reads texts has its options in panels."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command.

        Raises
        ------
        UsageError
            An option has another name now.
        """
        refuse_old_options(self.name or "", args)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help; options for reading files only if they are asked for."""
        params: dict[str, Any] = {p.name: p for p in self.get_params(ctx)}
        if "fmt" in params:
            for panel, names in PANELS.items():
                for param in (params[name] for name in names if name in params):
                    param.rich_help_panel = None if param.param_type_name == "argument" else panel
                    param.hidden = panel == READING and not ctx.meta.get(READING, False)
        super().format_help(ctx, formatter)


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
