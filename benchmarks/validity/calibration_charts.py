"""Figures of calibrations: null p-values, power by strength, and the matrix of critics and defects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momus.calibration.cells import SplitCell
from momus.calibration.plan import NULL
from momus.calibration.rates import Rate, on_axis, rate
from momus.evidence import Axis, Chart, Heatmap, Role, Series

SHOWN = 200
"""Points of an empirical distribution that a figure shows, at most."""


def p_value_chart(cells: Sequence[SplitCell], name: str) -> Chart:
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


def power_chart(by_defect: dict[str, list[SplitCell]], critic: str, alpha: float, name: str) -> Chart:
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
    cells: Sequence[SplitCell], size: tuple[int, int], strength: float, alpha: float, units: str = "documents"
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
