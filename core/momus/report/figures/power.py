"""The figure of power: the smallest difference that each axis would have detected, in human bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from momus.errors import UsageError
from momus.report.figures.overview import above, frame, note
from momus.report.figures.overview_rows import run_order
from momus.report.figures.palette import COLOURS, LABEL, looks
from momus.report.figures.scale import GapScale
from momus.report.safe import clean
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def detectable(v: Verdict) -> float | None:
    """The smallest difference that a row would have detected in 80 % of cases, in human bands.

    None where there is no band or no such difference. The unit of differences is brought to that of the effect: by
    their ratio for Hedges' g, by the logarithm for ratios.
    """
    if not v.mde or not v.band:
        return None
    if v.effect_kind == "log_ratio":
        if not v.real_value or not v.generated_value or v.real_value < 0 or v.generated_value < 0:
            return None
        # a difference d of two values a and b is 2 √(ab) sinh(log ratio / 2)
        return 2 * math.asinh(v.mde / (2 * math.sqrt(v.real_value * v.generated_value))) / v.band
    if v.effect_kind == "hedges_g":
        return abs(v.mde * v.effect / v.difference) / v.band if v.effect and v.difference else None
    return v.mde / v.band


def power_figure(axes: Axes, verdicts: Sequence[Verdict], legend: bool = True) -> Axes:
    """Draw the smallest detectable difference of each axis into matplotlib axes, and return them.

    Values above 1 mean that the texts are too few: a difference as large as that of two human texts may go unseen.

    Parameters
    ----------
    axes
        Matplotlib axes.
    verdicts
        Rows of a comparison, of which headline rows are drawn.
    legend
        Whether to name the corpora, if there are several.

    Raises
    ------
    UsageError
        No headline row has a detectable difference and a human band.
    """
    rows = [(v, d) for v in verdicts if v.headline and (d := detectable(v)) is not None]
    if not rows:
        raise UsageError(
            "no headline row has a detectable difference in human bands", hint="test more documents, or other critics"
        )
    corpora = looks(run_order(v.generated for v in verdicts))
    worst = {c: max(d for v, d in rows if v.critic == c) for c in dict.fromkeys(v.critic for v, _ in rows)}
    order = sorted(worst, key=lambda c: worst[c])
    names = {v.critic: v.axis for v, _ in rows}
    scale = GapScale.of(list(worst.values()))
    axes.axvspan(0, 1, color=COLOURS["band"], linewidth=0, zorder=0)
    axes.axvline(1, color=COLOURS["line"], linewidth=0.8, zorder=1)
    for name, look in corpora.items():
        points = [(min(d, scale.top), -order.index(v.critic)) for v, d in rows if v.generated == name]
        x, y = [p[0] for p in points], [p[1] for p in points]
        colour = COLOURS[look.colour]
        axes.plot(
            x, y, marker=look.marker, markersize=4, linestyle="", color=colour, label=clean(name, LABEL), clip_on=False
        )
    frame(axes, [names[c] for c in order], scale)
    axes.set_xlabel(f"detectable difference (human bands){note(scale)}", loc="right")
    if legend and len(corpora) > 1:
        above(axes)
    return axes
