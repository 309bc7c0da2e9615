"""Print a comparison in the form that was asked for."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from momus.cli.echo import echo
from momus.cli.options import print_json, print_view

if TYPE_CHECKING:
    from momus.runs.result import Comparison

Form = Literal["text", "json", "markdown", "latex"]


def chosen_form(as_json: bool, markdown: bool, latex: bool) -> Form:
    """The form that the options ask for.

    Raises
    ------
    UsageError
        They ask for several.

    >>> chosen_form(False, True, False)
    'markdown'
    """
    from momus.errors import UsageError

    asked: dict[Form, bool] = {"json": as_json, "markdown": markdown, "latex": latex}
    forms: list[Form] = [form for form, given in asked.items() if given]
    if len(forms) > 1:
        raise UsageError(
            f"{' and '.join(f'--{form}' for form in forms)} exclude each other",
            hint="print one, then `momus show RUN` in the other form",
        )
    return forms[0] if forms else "text"


def print_comparison(
    comparison: Comparison, form: Form = "text", every: bool = False, wide: bool = False, run: Path | None = None
) -> None:
    """Print a comparison, and where its report is; other forms than text leave standard output to themselves."""
    if form == "json":
        from momus.report.exports import comparison_json

        # ASCII only: names of corpora may hold what a terminal must not see
        print_json(comparison_json(comparison))
    elif form == "markdown":
        from momus.report.exports import comparison_markdown

        echo(comparison_markdown(comparison), nl=False)
    elif form == "latex":
        from momus.report.exports import comparison_latex

        echo(comparison_latex(comparison), nl=False)
    else:
        from momus.report.terminal import WIDTH, comparison_view

        print_view(comparison_view(comparison, every, wide), None if every or wide else WIDTH)
        _details(every, run)
    if run is not None:
        from momus.runs.folder import REPORT

        echo(f"Report: {run / REPORT}", err=form != "text")


def _details(every: bool, run: Path | None) -> None:
    """Say how to see the numbers that are not printed."""
    if every:
        return
    how = f"momus show {shlex.quote(str(run))} --every" if run is not None else "the same command with --every"
    echo(f"Details: {how}")
