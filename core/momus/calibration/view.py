"""A calibration as tables for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from momus.calibration.cells import Cell
from momus.calibration.plan import NULL
from momus.calibration.rates import Detectable, Rate, curves, detectable, family_wise, rate
from momus.controls import DEFECTS
from momus.report.format import number

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from momus.calibration.calibrate import Calibration


def rate_text(found: Rate) -> str:
    """A rate with its interval.

    >>> rate_text(Rate.of(50, 1000)), rate_text(Rate.of(0, 0))
    ('0.050 [0.037, 0.065]', '–')
    """
    return "–" if not found.n else f"{found.share:.3f} [{found.low:.3f}, {found.high:.3f}]"


def strength_text(found: Detectable) -> str:
    """A smallest strength: ``0.12``, ``≤ 0.02``, or that it was not reached."""
    if found.strength is None:
        return "not reached" if found.bound == ">" else "–"
    return f"{'≤ ' if found.bound == '≤' else ''}{found.strength:.3g}"


def says(found: Rate, alpha: float) -> str:
    """What a false-alarm rate says, in a word."""
    if not found.n:
        return "not measured"
    if found.low > alpha:
        return "cries wolf"
    return "too quiet" if found.high < alpha else "holds"


def own(critic: str, defect: str) -> bool:
    """Whether a defect lies on a critic's own axis."""
    return defect in DEFECTS and critic in DEFECTS[defect].critics


def null_table(found: Calibration) -> Table:
    """False alarms of each critic and size."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False, header_style="bold", title_justify="left")
    for name in ("critic", "statistic"):
        table.add_column(name)
    for name in ("n real", "n other", "splits", f"p ≤ {found.plan.alpha:g}: rate [95 %]"):
        table.add_column(name, justify="right")
    table.add_column("level")
    for c in found.cells:
        if c.defect == NULL:
            r = rate(c, found.plan.alpha)
            cells = (escape(c.critic), escape(c.statistic), f"{c.n_real:,}", f"{c.n_generated:,}", f"{r.n:,}")
            table.add_row(*cells, rate_text(r), escape(c.reason) if c.reason else says(r, found.plan.alpha))
    return table


def power_table(found: Calibration) -> Table:
    """Smallest strengths, defects on the critic's own axis first."""
    from rich.markup import escape
    from rich.table import Table

    plan = found.plan
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    for name in ("critic", "defect", "axis"):
        table.add_column(name)
    for name in (
        "n real",
        "n other",
        f"strength at power {plan.power:g}",
        "difference there",
        "power at the strongest",
    ):
        table.add_column(name, justify="right")
    for (critic, size, defect), curve in _sorted(curves(found.cells)):
        if defect == NULL:
            continue
        d = detectable(curve, plan.alpha, plan.power)
        table.add_row(
            escape(critic),
            defect,
            "own" if own(critic, defect) else "",
            f"{size[0]:,}",
            f"{size[1]:,}",
            strength_text(d),
            number(d.difference),
            rate_text(rate(curve[-1], plan.alpha)),
            f"{curve[-1].changed:,}",
        )
    return table


Curves = dict[tuple[str, tuple[int, int], str], list[Cell]]


def _sorted(found: Curves) -> list[tuple[tuple[str, tuple[int, int], str], list[Cell]]]:
    place = {key: i for i, key in enumerate(found)}
    critics = list(dict.fromkeys(k[0] for k in found))
    return sorted(found.items(), key=lambda kv: (critics.index(kv[0][0]), not own(kv[0][0], kv[0][2]), place[kv[0]]))


def family_texts(found: Calibration) -> list[str]:
    """The family-wise rate at each size, in words."""
    sizes = dict.fromkeys((c.n_real, c.n_generated) for c in found.cells)
    out = []
    for size in sizes:
        r, critics = family_wise(found.cells, found.plan.alpha, size)
        if critics > 1 and not math.isnan(r.share):
            out.append(
                f"Any of {critics} critics alarms after Holm's adjustment, {size[0]:,} | {size[1]:,} documents: "
                f"{rate_text(r)} of {r.n:,} null splits."
            )
    return out


def calibration_view(found: Calibration) -> RenderableType:
    """Build the tables with notes and signature."""
    from rich.console import Group
    from rich.markup import escape
    from rich.text import Text

    plan = found.plan
    parts: list[RenderableType] = [
        Text("False alarms on null splits of the real text", style="bold"),
        null_table(found),
    ]
    parts += [Text(line) for line in family_texts(found)]
    if any(c.defect != NULL for c in found.cells):
        parts += [Text("\nThe smallest planted defect that is found", style="bold"), power_table(found)]
        parts.append(Text("changed: documents of the held-out text that the strongest defect changed", style="dim"))
    parts += [Text.from_markup(f"[yellow]Note:[/yellow] {escape(w)}") for w in found.warnings]
    s = found.signature
    parts.append(
        Text(
            f"momus {s['momus']} | seed {plan.seed} | {plan.splits:,} null splits, {plan.power_splits:,} a defect and "
            f"strength | {plan.permutations:,} permutations a test ({plan.wide:,} for wide rows) | p not adjusted",
            style="dim",
        )
    )
    return Group(*parts)


def calibration_text(found: Calibration, width: int = 150) -> str:
    """Render the same as plain text."""
    from rich.console import Console

    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(calibration_view(found))
    return capture.get()
