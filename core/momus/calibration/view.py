"""What a reader sees of a calibration: tables for the terminal, and the page with p-values, power and a matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from momus.calibration.cells import Cell
from momus.calibration.plan import NULL
from momus.calibration.rates import Curves, Detectable, Rate, curves, detectable, family_wise, on_axis, rate
from momus.controls import DEFECTS
from momus.evidence import Axis, Chart, Heatmap, Role, Series, Table
from momus.report.html import render_page
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


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], align: str) -> RenderableType:
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return text_table(heads, cells, align)


def _sorted(by_defect: Curves) -> list[tuple[tuple[str, tuple[int, int], str], list[Cell]]]:
    """Sort by critic, in order of appearance; defects on the critic's axis come first."""
    critics = list(dict.fromkeys(critic for critic, _, _ in by_defect))
    return sorted(by_defect.items(), key=lambda item: (critics.index(item[0][0]), not on_axis(item[0][0], item[0][2])))


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
    """Build the tables, with notes and provenance."""
    from rich.console import Group
    from rich.markup import escape
    from rich.text import Text

    plan = calibration.plan
    parts: list[RenderableType] = [
        Text(answer_text(calibration), style="bold"),
        Text("\nFalse alarms where both sides are the same real text"),
        _table(null_heads(calibration), null_rows(calibration), "lrrrrl"),
    ]
    parts += [Text(line) for line in family_texts(calibration)]
    if any(c.defect != NULL for c in calibration.cells):
        smallest = _table(power_heads(calibration), power_rows(calibration), "lllr")
        parts += [Text("\nSmallest detectable defect", style="bold"), smallest]
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


SHOWN = 200
"""Points of an empirical distribution that a figure shows, at most."""


def p_value_chart(cells: Sequence[Cell], name: str) -> Chart:
    """Plot the distribution of a critic's null p-values at each size against the uniform distribution."""
    series = [Series("uniform", [0.0, 1.0], [0.0, 1.0], "reference")]
    roles: tuple[Role, ...] = ("real", "generated", "fitted")
    for i, cell in enumerate(c for c in cells if c.tested):
        # the empirical distribution function: y[i] is the share of p-values up to p[i]
        p = np.sort([v for v in cell.p if v is not None])
        y = np.arange(1, len(p) + 1) / len(p)
        if len(p) > SHOWN:
            shown = np.unique(np.linspace(0, len(p) - 1, SHOWN).astype(int))
            p, y = p[shown], y[shown]
        label = f"{cell.n_real:,} | {cell.n_generated:,}"
        x = np.concatenate([[0.0], p, [1.0]]).tolist()
        series.append(Series(label, x, np.concatenate([[0.0], y, [1.0]]).tolist(), roles[i % 3], "steps"))
    axes = Axis("p-value of a null split"), Axis("share of splits")
    note = "If the test keeps its level, the curve follows the diagonal; a curve above it means too many false alarms."
    return Chart(name, "p-values of null splits", *axes, series, note)


def power_chart(by_defect: dict[str, list[Cell]], critic: str, alpha: float, name: str) -> Chart:
    """Plot power against strength for each defect; defects on the critic's axis have intervals."""
    series = []
    for defect in sorted(by_defect, key=lambda d: not on_axis(critic, d)):
        tested = [c for c in by_defect[defect] if c.tested]
        rates = [rate(c, alpha) for c in tested]
        x, y = [c.strength for c in tested], [r.share for r in rates]
        if on_axis(critic, defect):
            band = [r.low for r in rates], [r.high for r in rates]
            series.append(Series(defect, x, y, "generated", "line", *band))
        else:
            series.append(Series(f"({defect})", x, y, "reference"))
    title = "Power by strength (defects of other axes in brackets)"
    note = "Bands are 95 % Clopper–Pearson intervals; the value at strength 0 is the false-alarm rate."
    return Chart(name, title, Axis("strength"), Axis("share of splits with an alarm"), series, note)


def specificity(
    cells: Sequence[Cell], size: tuple[int, int], strength: float, alpha: float, units: str = "documents"
) -> Heatmap:
    """Tabulate the alarm rate of each critic for each defect at one strength."""
    sized = [c for c in cells if (c.n_real, c.n_generated) == size]
    critics = list(dict.fromkeys(c.critic for c in sized))
    defects = list(dict.fromkeys(c.defect for c in sized))
    table = {(c.critic, c.defect): rate(c, alpha) for c in sized if c.defect == NULL or c.strength == strength}
    values = [[_share(table.get((c, d))) for d in defects] for c in critics]
    return Heatmap(
        f"specificity-{size[0]}-{size[1]}-{strength:g}",
        f"Critics and defects at strength {strength:g}, {size[0]:,} | {size[1]:,} {units}",
        critics,
        ["no defect" if d == NULL else d for d in defects],
        values,
        "share of splits with an alarm",
        limit=1.0,
        note="A critic should alarm only at defects of its axis; several critics should alarm at a defect that changes "
        "several axes. –: not measured.",
    )


def _share(alarms: Rate | None) -> float | None:
    return None if alarms is None or not alarms.n else alarms.share


def render_calibration(calibration: Calibration) -> str:
    """Render the page; all text from outside is cleaned and escaped."""
    plan = calibration.plan
    null = [c for c in calibration.cells if c.defect == NULL]
    sizes = list(dict.fromkeys((c.n_real, c.n_generated) for c in calibration.cells))
    by_curve = curves(calibration.cells)
    heads, smallest, critics = power_heads(calibration), power_rows(calibration), []
    for i, critic in enumerate(calibration.critics):
        name = critic["name"]
        charts = [p_value_chart([c for c in null if c.critic == name], f"p-{i}")]
        for size in sizes:
            by_defect = {d: curve for (c, s, d), curve in by_curve.items() if c == name and s == size and d != NULL}
            if by_defect:
                charts.append(power_chart(by_defect, name, plan.alpha, f"power-{i}-{size[0]}-{size[1]}"))
        by_critic = [row[1:] for row in smallest if row[0] == name]
        critics.append(
            {**critic, "charts": charts, "table": Table("smallest", "Smallest detectable defect", heads[1:], by_critic)}
        )
    strengths = sorted(plan.strengths) if plan.defects else []
    shown = [strengths[-1], strengths[(len(strengths) - 1) // 2]] if strengths else []  # highest and median
    matrices = [
        specificity(calibration.cells, size, s, plan.alpha, plan.units) for size in sizes for s in dict.fromkeys(shown)
    ]
    return render_page(
        "calibration.html.j2",
        calibration=calibration,
        null=Table("null", f"False alarms at p ≤ {plan.alpha:g}", null_heads(calibration), null_rows(calibration)),
        answer=answer_text(calibration),
        family=family_texts(calibration),
        critics=critics,
        matrices=matrices,
        defects=[DEFECTS[d] for d in plan.defects],
    )
