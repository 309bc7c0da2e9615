"""The page of a calibration: p-values against uniform, power curves, critics × defects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momus.calibration.cells import Cell
from momus.calibration.plan import NULL
from momus.calibration.rates import curves, detectable, rate
from momus.calibration.view import family_texts, own, rate_text, says, strength_text
from momus.controls import DEFECTS
from momus.evidence import Axis, Chart, Heatmap, Role, Series, Table
from momus.report.format import number
from momus.report.page import asset, digest, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from momus.calibration.calibrate import Calibration


SHOWN = 200
"""Points of a staircase that a figure shows."""


def p_value_chart(cells: Sequence[Cell], name: str) -> Chart:
    """The distribution of null p-values of one critic, at each size, against the uniform one."""
    series = [Series("uniform", [0.0, 1.0], [0.0, 1.0], "reference")]
    roles: tuple[Role, ...] = ("real", "generated", "fitted")
    for i, cell in enumerate(c for c in cells if c.tested):
        p = np.sort([v for v in cell.p if v is not None])
        y = np.arange(1, len(p) + 1) / len(p)
        if len(p) > SHOWN:
            some = np.unique(np.linspace(0, len(p) - 1, SHOWN).astype(int))
            p, y = p[some], y[some]
        label = f"{cell.n_real:,} | {cell.n_generated:,}"
        x = np.concatenate([[0.0], p, [1.0]]).tolist()
        series.append(Series(label, x, np.concatenate([[0.0], y, [1.0]]).tolist(), roles[i % 3], "steps"))
    axes = Axis("p-value of a null split"), Axis("share of splits")
    note = "Under a test that keeps its level, the staircase follows the diagonal; above it the critic cries wolf."
    return Chart(name, "p-values of null splits", *axes, series, note)


def power_chart(found: dict[str, list[Cell]], critic: str, alpha: float, name: str) -> Chart:
    """Power against strength, of each defect; defects on the critic's own axis with their intervals."""
    series = []
    for defect in sorted(found, key=lambda d: not own(critic, d)):
        tested = [c for c in found[defect] if c.tested]
        rates = [rate(c, alpha) for c in tested]
        x, y = [c.strength for c in tested], [r.share for r in rates]
        if own(critic, defect):
            band = [r.low for r in rates], [r.high for r in rates]
            series.append(Series(defect, x, y, "generated", "line", *band))
        else:
            series.append(Series(f"({defect})", x, y, "reference"))
    title = "Power by strength; defects of other axes in brackets"
    note = "A share of splits with its 95 % Clopper–Pearson band; strength 0 is the false-alarm rate."
    return Chart(name, title, Axis("strength"), Axis("share of splits with an alarm"), series, note)


def specificity(cells: Sequence[Cell], size: tuple[int, int], strength: float, alpha: float) -> Heatmap:
    """Critics × defects: how often each critic alarms at one strength."""
    mine = [c for c in cells if (c.n_real, c.n_generated) == size]
    critics = list(dict.fromkeys(c.critic for c in mine))
    defects = list(dict.fromkeys(c.defect for c in mine))
    table = {(c.critic, c.defect): rate(c, alpha) for c in mine if c.defect == NULL or c.strength == strength}
    values = [[_share(table.get((c, d))) for d in defects] for c in critics]
    return Heatmap(
        f"specificity-{size[0]}-{size[1]}-{strength:g}",
        f"Critics and defects at strength {strength:g}, {size[0]:,} | {size[1]:,} documents",
        critics,
        ["no defect" if d == NULL else d for d in defects],
        values,
        "share of splits with an alarm",
        limit=1.0,
        note="Only a defect of a critic's own axis should raise its alarm; defects that change several things raise "
        "several, and rightly. –: not measured.",
    )


def _share(found: Any) -> float | None:
    return None if found is None or not found.n else found.share


def _null_rows(cells: Sequence[Cell], alpha: float) -> Table:
    columns = ("critic", "statistic", "real", "other", "splits", "rate [95 % interval]", "level")
    made = []
    for c in cells:
        r = rate(c, alpha)
        level = c.reason or says(r, alpha)
        made.append((c.critic, c.statistic, c.n_real, c.n_generated, r.n, rate_text(r), level))
    return Table("null", f"False alarms at p ≤ {alpha:g}", columns, made)


def _defect_rows(found: Calibration, critic: str) -> Table:
    plan = found.plan
    columns = (
        "defect",
        "axis",
        "real",
        "other",
        f"strength at power {plan.power:g}",
        "difference there",
        "power at the strongest",
        "documents changed",
    )
    made = []
    for (name, size, defect), curve in curves(found.cells).items():
        if name == critic and defect != NULL:
            d = detectable(curve, plan.alpha, plan.power)
            strongest = f"{curve[-1].strength:g}: {rate_text(rate(curve[-1], plan.alpha))}"
            axis = "own" if own(critic, defect) else DEFECTS[defect].axis
            made.append((defect, axis, *size, strength_text(d), number(d.difference), strongest, curve[-1].changed))
    return Table("smallest", "The smallest defect that is found", columns, made)


def render_calibration(found: Calibration) -> str:
    """Render the page; everything that comes from outside is cleaned and escaped."""
    from markupsafe import Markup

    plan = found.plan
    null = [c for c in found.cells if c.defect == NULL]
    sizes = list(dict.fromkeys((c.n_real, c.n_generated) for c in found.cells))
    by_curve = curves(found.cells)
    critics = []
    for i, each in enumerate(found.critics):
        name = each["name"]
        charts = [p_value_chart([c for c in null if c.critic == name], f"p-{i}")]
        for size in sizes:
            mine = {d: curve for (c, s, d), curve in by_curve.items() if c == name and s == size and d != NULL}
            if mine:
                charts.append(power_chart(mine, name, plan.alpha, f"power-{i}-{size[0]}-{size[1]}"))
        critics.append({**each, "charts": charts, "table": _defect_rows(found, name)})
    levels = sorted(plan.strengths) if plan.defects else []
    shown = [levels[-1], levels[(len(levels) - 1) // 2]] if levels else []
    matrices = [specificity(found.cells, size, s, plan.alpha) for size in sizes for s in dict.fromkeys(shown)]
    script, style = asset("report.js"), asset("style.css")
    return (
        environment()
        .get_template("calibration.html.j2")
        .render(
            calibration=found,
            null=_null_rows(null, plan.alpha),
            family=family_texts(found),
            critics=critics,
            matrices=matrices,
            defects=[DEFECTS[d] for d in plan.defects],
            script=Markup(script),
            style=Markup(style),
            script_digest=digest(script),
        )
    )
