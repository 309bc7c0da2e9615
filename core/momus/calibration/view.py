"""What the terminal shows of a calibration: one table of false alarms and smallest detectable defects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from momus.calibration.plan import NULL
from momus.calibration.rates import Rate, RateRow, family_wise, rate, rows
from momus.report.words.format import number, percent, text_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from momus.calibration.store import Calibration


def rate_text(alarms: Rate) -> str:
    """A rate with its interval.

    >>> rate_text(Rate.of(50, 1000)), rate_text(Rate.of(0, 0))
    ('0.050 [0.037, 0.065]', '–')
    """
    return "–" if not alarms.n else f"{alarms.share:.3f} [{alarms.low:.3f}, {alarms.high:.3f}]"


def strength_text(strength: float | None, bound: str) -> str:
    """A smallest detectable strength: ``0.12``, ``≤ 0.02``, ``not reached``, or ``–`` if nothing was measured.

    >>> strength_text(0.02, "≤"), strength_text(None, ">")
    ('≤ 0.02', 'not reached')
    """
    if strength is None:
        return "not reached" if bound == ">" else "–"
    return f"{'≤ ' if bound == '≤' else ''}{strength:.3g}"


def _cells(row: RateRow) -> tuple[str, ...]:
    """The cells of a row: of null splits whether the level is kept, of a defect the strength from which it is found."""
    alarms = rate_text(Rate.of(row.alarms, row.tested))
    at = "" if row.defect == NULL or not row.tested else f" at {row.strength:g}"
    level = row.level or strength_text(row.smallest, row.bound)
    if row.difference is not None:
        level += f" ({row.statistic} {number(row.difference)})"
    defect = f"{row.defect} *" if row.own_axis else row.defect
    return row.critic, f"{row.n_real:,} | {row.n_generated:,}", defect, f"{row.tested:,}", alarms + at, level


def answer_text(calibration: Calibration) -> str:
    """The first sentence: which critics raise too many false alarms, and how many all raise."""
    alpha = calibration.plan.alpha
    null = [(c, rate(c, alpha)) for c in calibration.cells if c.defect == NULL and c.tested]
    if not null:
        return "No critic could be tested on these texts."
    shares = [r.share for _, r in null]
    spread = percent(shares[0]) if len(null) == 1 else f"{100 * min(shares):.1f} to {100 * max(shares):.1f} %"
    loud = [f"{c.critic} ({percent(r.share)} at {c.n_real:,} | {c.n_generated:,})" for c, r in null if r.low > alpha]
    if loud:
        return f"Too many false alarms: {', '.join(loud)}; {percent(alpha)} are expected. Do not trust their verdicts."
    tests = "The test keeps its level" if len(null) == 1 else f"All {len(null)} tests keep their level"
    splits = " to ".join(f"{n:,}" for n in sorted({min(r.n for _, r in null), max(r.n for _, r in null)}))
    return f"{tests}: false alarms in {spread} of {splits} splits ({percent(alpha)} are expected)."


def family_texts(calibration: Calibration) -> list[str]:
    """One sentence per size with the family-wise false-alarm rate."""
    sizes = dict.fromkeys((c.n_real, c.n_generated) for c in calibration.cells)
    sentences = []
    for size in sizes:
        r, critics = family_wise(calibration.cells, calibration.plan.alpha, size)
        if critics > 1 and not math.isnan(r.share):
            sentences.append(
                f"At {size[0]:,} | {size[1]:,} {calibration.plan.units}, at least one of {critics} critics alarms in "
                f"{percent(r.share)} [{100 * r.low:.2g}, {100 * r.high:.2g}] of {r.n:,} splits (Holm)."
            )
    return sentences


def calibration_view(calibration: Calibration) -> RenderableType:
    """Build the table, with notes and provenance."""
    from rich.console import Group
    from rich.markup import escape
    from rich.text import Text

    plan = calibration.plan
    level = f"level; smallest strength at power {plan.power:g}" if plan.defects else "level"
    heads = ("critic", f"{plan.units} a side", "defect", "splits", f"rate of p ≤ {plan.alpha:g} [95 %]", level)
    parts: list[RenderableType] = [
        Text(answer_text(calibration), style="bold"),
        Text("\nFalse alarms (no defect)" + (" and smallest detectable defects" if plan.defects else "")),
        text_table(heads, [_cells(row) for row in rows(calibration.cells, plan.alpha, plan.power)], "lllrll"),
    ]
    if plan.defects:
        parts.append(Text("*: of the critic's own axis. Rates of a defect are those at its highest strength."))
    parts += [Text(line) for line in family_texts(calibration)]
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
