"""``momus plan``: how many documents the next comparison needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from momus.cli.printing import print_view
from momus.report.words.format import text_table
from momus.text.counting import percentage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from momus.joint.planning import AxisPlan


def plan(
    run: Annotated[Path, typer.Argument(help="Folder of a pilot run that `momus compare --out` wrote.")],
    difference: Annotated[
        float | None,
        typer.Option(
            "--difference",
            "-d",
            help="Smallest difference that matters to you, in units of each axis' effect; required.",
        ),
    ] = None,
    power: Annotated[float, typer.Option(help="Wanted probability of detecting the difference.")] = 0.8,
    family: Annotated[
        int | None,
        typer.Option(help="Rows adjusted together: each is tested at level α/family; default: as in the pilot."),
    ] = None,
) -> None:
    """Plan how many documents and prompts the next comparison needs.

    The standard errors of a pilot run say how many documents each axis needs to
    detect a difference with a wanted power. Errors shrink with the square root
    of the number of documents; brackets show the uncertainty of the pilot's.

    Example: detect 0.2 standard deviations

      [bold]momus plan pilot --difference 0.2[/bold]

    Next: generate that many documents, and compare them in a new run.
    """
    from momus.joint.planning import plan as plan_of
    from momus.runs.folder import read_results

    print_view(plan_view(plan_of(read_results(run).verdicts, difference=difference, power=power, family=family)))


def plan_view(plans: Sequence[AxisPlan]) -> RenderableType:
    """A table of plans: what the pilot had, what is aimed at, and what is needed."""
    from rich.console import Group
    from rich.text import Text

    rows = []
    for p in plans:
        if p.pilot is None:
            rows.append((p.name, p.generated, "–", "–", "–", p.reason, ""))
            continue
        aimed = f"{p.difference:.3g} {_unit(p.pilot.effect_kind)}" if p.difference > 0 else "–"
        needed = (p.reason, "") if p.reason else (_needed(p), _two(p.units()))
        rows.append((p.name, p.generated, _two(p.pilot.n), f"{_two(p.pilot.units)} {p.pilot.design}", aimed, *needed))
    heads = ("axis", "generated", "pilot documents", "units", "to detect", "documents needed", "units needed")
    return Group(text_table(heads, rows, "l"), Text(_caption(plans), style="dim"))


def _needed(p: AxisPlan) -> str:
    """Documents of both texts; the interval is that of the real text."""
    (low, _), (high, _) = p.documents(p.low), p.documents(p.high)
    return f"{_two(p.documents())} [{low:,}–{high:,}]"


def _caption(plans: Sequence[AxisPlan]) -> str:
    first = next((p for p in plans if not p.reason), None)
    if first is None:
        return ""
    return (
        f"{percentage(first.power, 0)} power at level {first.level:.2g}; real | generated, at the pilot's proportion "
        "and documents per unit; brackets: 95 % interval of the real documents, from the uncertainty "
        "of the pilot's standard error"
    )


def _two(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]:,} | {sizes[1]:,}"


def _unit(kind: str) -> str:
    return {"hedges_g": "g", "log_ratio": "log-ratio", "distance": "distance"}.get(kind, "difference")
