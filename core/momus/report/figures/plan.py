"""The figure of a plan: power against the number of documents, one line per axis, as an SVG file."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from momus.evidence import Axis, Chart, Role, Series
from momus.joint.planning import Plan, power_at
from momus.numeric.types import Floats
from momus.report.figures.standalone import standalone
from momus.report.figures.svg import draw
from momus.text.counting import percentage

ROLES: tuple[Role, ...] = ("generated", "real", "fitted", "reference")
"""Each panel holds as many axes as there are line styles."""
POINTS = 60


def plan_charts(plans: Sequence[Plan]) -> list[Chart]:
    """Charts of power against real documents, four axes each; bands show the uncertainty of the pilot's error."""
    drawn = [p for p in plans if p.pilot is not None and not p.reason]
    several = len({p.generated for p in drawn}) > 1
    charts = []
    for start in range(0, len(drawn), len(ROLES)):
        panel = drawn[start : start + len(ROLES)]
        # from a quarter of the smallest pilot, or need, to twice the largest need
        pilots = [p.pilot for p in panel if p.pilot is not None]
        low = min(min(q.n[0], p.factor * q.n[0]) for p, q in zip(panel, pilots, strict=True)) / 4
        high = max(p.high * q.n[0] for p, q in zip(panel, pilots, strict=True)) * 2
        x = np.geomspace(max(low, 2.0), max(high, 8.0), POINTS)
        series = [_series(p, x, role, several) for p, role in zip(panel, ROLES, strict=False)]
        wanted = panel[0].power
        label = f"documents of the real text (wanted: {percentage(wanted, 0)} power)"
        charts.append(Chart(f"plan-{start}", "Power by number of documents", Axis(label, "log"), Axis("power"), series))
    return charts


def _series(p: Plan, x: Floats, role: Role, several: bool) -> Series:
    assert p.pilot is not None
    factors = x / p.pilot.n[0]
    # an error larger by √(high/factor) needs that many more documents for the same power
    middle, low, high = (
        [power_at(p.pilot, float(f) * scale, p.difference, p.level) for f in factors]
        for scale in (1.0, p.factor / p.high, p.factor / p.low)
    )
    name = f"{p.name} ({p.generated})" if several else p.name
    return Series(name, x.tolist(), middle, role, "line", low, high)


def plan_figure(plans: Sequence[Plan]) -> str:
    """Draw the charts below each other as one SVG file with its own colours; empty if there is nothing to draw."""
    panels = [draw(chart) for chart in plan_charts(plans)]
    if not panels:
        return ""
    boxes = [_view_box(p) for p in panels]
    width, height = max(b[2] for b in boxes), sum(b[3] for b in boxes)
    body, top = [], 0.0
    for panel, box in zip(panels, boxes, strict=True):
        content = re.sub(r'\sstyle="[^"]*"', f' y="{top:g}" width="{box[2]:g}" height="{box[3]:g}"', panel, count=1)
        body.append(content)
        top += box[3]
    opening = f'<svg viewBox="0 0 {width:g} {height:g}" width="{width * 1.25:g}">'
    return standalone(f"{opening}<title>Power by number of documents</title>{''.join(body)}</svg>")


def _view_box(svg: str) -> list[float]:
    """The four numbers of the view box of a figure."""
    _, _, rest = svg.partition('viewBox="')
    return [float(v) for v in rest.partition('"')[0].split()]
