"""Tables of a calibration for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from momus.calibration.cells import Cell
from momus.calibration.plan import NULL
from momus.calibration.rates import Curves, Detectable, Rate, curves, detectable, family_wise, rate
from momus.controls import DEFECTS
from momus.report.format import number, text_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from momus.calibration.store import Calibration


def rate_text(alarms: Rate) -> str:
    """A rate with its interval.

    >>> rate_text(Rate.of(50, 1000)), rate_text(Rate.of(0, 0))
    ('0.050 [0.037, 0.065]', '–')
    """
    return "–" if not alarms.n else f"{alarms.share:.3f} [{alarms.low:.3f}, {alarms.high:.3f}]"


def strength_text(smallest: Detectable) -> str:
    """A smallest detectable strength: ``0.12``, ``≤ 0.02``, ``not reached``, or ``–`` if nothing was measured."""
    if smallest.strength is None:
        return "not reached" if smallest.bound == ">" else "–"
    return f"{'≤ ' if smallest.bound == '≤' else ''}{smallest.strength:.3g}"


def says(alarms: Rate, alpha: float) -> str:
    """Whether a test keeps its level α, by the interval of its false-alarm rate: in a word or two.

    >>> says(Rate.of(50, 1000), 0.05), says(Rate.of(90, 1000), 0.05), says(Rate.of(10, 1000), 0.05)
    ('kept', 'exceeded', 'conservative')
    """
    if not alarms.n:
        return "not measured"
    if alarms.low > alpha:
        return "exceeded"
    return "conservative" if alarms.high < alpha else "kept"


def on_axis(critic: str, defect: str) -> bool:
    """Whether a defect lies on the critic's axis."""
    return defect in DEFECTS and critic in DEFECTS[defect].critics


def null_rows(calibration: Calibration) -> list[tuple[str, int, int, int, str, str]]:
    """Rows of all null splits: critic, sizes of both sides, splits, false-alarm rate, and what it says."""
    rows = []
    for c in calibration.cells:
        if c.defect == NULL:
            r = rate(c, calibration.plan.alpha)
            level = c.reason or says(r, calibration.plan.alpha)
            rows.append((c.critic, c.n_real, c.n_generated, r.n, rate_text(r), level))
    return rows


def null_heads(calibration: Calibration) -> tuple[str, ...]:
    """Heads of `null_rows`."""
    plan = calibration.plan
    counted = "n" if plan.by == "document" else plan.units
    rate_head = f"rate of p ≤ {plan.alpha:g} [95 %]"
    return "critic", f"{counted} real", f"{counted} other", "splits", rate_head, "level"


def power_heads(calibration: Calibration) -> tuple[str, ...]:
    """Heads of `power_rows`."""
    return (
        "critic",
        "defect",
        "axis",
        "n real",
        "n other",
        f"strength at power {calibration.plan.power:g}",
        "difference at that strength",
        "power at the highest strength",
        "documents changed",
    )


def power_rows(calibration: Calibration) -> list[tuple[str, str, str, int, int, str, str, str, int]]:
    """The smallest detectable strengths of each critic, defects on its axis first."""
    plan, rows = calibration.plan, []
    for (critic, size, defect), curve in _sorted(curves(calibration.cells)):
        if defect != NULL:
            d = detectable(curve, plan.alpha, plan.power)
            strongest = f"{curve[-1].strength:g}: {rate_text(rate(curve[-1], plan.alpha))}"
            axis = "this critic's" if on_axis(critic, defect) else DEFECTS[defect].axis
            shown = "–" if d.difference is None else f"{number(d.difference)} ({curve[-1].leading})"
            smallest = strength_text(d), shown
            rows.append((critic, defect, axis, *size, *smallest, strongest, curve[-1].changed))
    return rows


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], align: str) -> Table:
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return text_table(heads, cells, align)


def _sorted(by_defect: Curves) -> list[tuple[tuple[str, tuple[int, int], str], list[Cell]]]:
    """Sort by critic, in order of appearance; defects on the critic's axis come first."""
    critics = list(dict.fromkeys(critic for critic, _, _ in by_defect))
    return sorted(by_defect.items(), key=lambda item: (critics.index(item[0][0]), not on_axis(item[0][0], item[0][2])))


def family_texts(calibration: Calibration) -> list[str]:
    """One sentence per size with the family-wise false-alarm rate."""
    sizes = dict.fromkeys((c.n_real, c.n_generated) for c in calibration.cells)
    sentences = []
    for size in sizes:
        r, critics = family_wise(calibration.cells, calibration.plan.alpha, size)
        if critics > 1 and not math.isnan(r.share):
            sentences.append(
                f"At {size[0]:,} | {size[1]:,} {calibration.plan.units}, any of {critics} critics alarms after Holm's "
                f"adjustment in {rate_text(r)} of {r.n:,} null splits."
            )
    return sentences


def calibration_view(calibration: Calibration) -> RenderableType:
    """Build the tables, with notes and provenance."""
    from rich.console import Group
    from rich.markup import escape
    from rich.text import Text

    plan = calibration.plan
    parts: list[RenderableType] = [
        Text("False alarms on null splits of the real text", style="bold"),
        _table(null_heads(calibration), null_rows(calibration), "lrrrrl"),
    ]
    parts += [Text(line) for line in family_texts(calibration)]
    if any(c.defect != NULL for c in calibration.cells):
        smallest = _table(power_heads(calibration), power_rows(calibration), "lllr")
        parts += [Text("\nSmallest detectable defect", style="bold"), smallest]
        parts.append(Text("changed: held-out, by the defect at the highest strength", style="dim"))
    parts += [Text.from_markup(f"[yellow]Note:[/yellow] {escape(w)}") for w in calibration.warnings]
    s = calibration.signature
    whole = "" if plan.by == "document" else f" | split by {plan.by}, whole {plan.units} relabelled"
    parts.append(
        Text(
            f"momus {s['momus']} | seed {plan.seed} | {plan.splits:,} null splits, {plan.power_splits:,} per defect "
            f"and strength{whole} | {plan.permutations:,} permutations per test ({plan.wide:,} for wide rows) | "
            "p not adjusted",
            style="dim",
        )
    )
    return Group(*parts)
