"""Tables of the studies: setting, quantity, before, after, goal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from harness import Quantity, Study, kept

from momus.calibration.rates import Rate

FEWEST = 20
"""Replications below which nothing is reported."""


def estimate(rows: Sequence[dict[str, object]], quantity: Quantity) -> tuple[float, float, float, int]:
    """Return the share or mean, its 95 % interval (Clopper–Pearson; normal for means), and the number of values."""
    values = [row["values"].get(quantity.key) for row in rows]  # type: ignore[attr-defined]
    x = np.array([v for v in values if v is not None], dtype=np.float64)
    if quantity.kind == "share":
        rate = Rate.of(int(x.sum()), len(x))
        return rate.share, rate.low, rate.high, rate.n
    if len(x) < 2:
        return float("nan"), float("nan"), float("nan"), len(x)
    margin = 1.96 * float(x.std(ddof=1)) / len(x) ** 0.5
    return float(x.mean()), float(x.mean()) - margin, float(x.mean()) + margin, len(x)


def shown(study: Study, quantity: Quantity, engine: str, out: Path) -> str:
    """One entry: value, interval and number of replications, marked if the value misses its goal.

    ``(!)`` if the interval still reaches the goal, ``**!**`` if it does not.
    """
    share, low, high, n = estimate(kept(study, engine, out), quantity)
    if n < min(FEWEST, study.most):
        return "not measured" if not n else f"not measured ({n} replications)"
    mark = ""
    if quantity.goal is not None and not quantity.goal[0] <= share <= quantity.goal[1]:
        mark = " (!)" if low <= quantity.goal[1] and high >= quantity.goal[0] else " **!**"
    return f"{_number(share)} [{_number(low)}, {_number(high)}], {n:,}{mark}"


def goal_text(quantity: Quantity) -> str:
    """The goal in words.

    >>> goal_text(Quantity("", "", (0.93, 0.975))), goal_text(Quantity("", "", (0.0, 0.05)))
    ('0.93 to 0.975', '≤ 0.05')
    """
    if quantity.goal is None:
        return "–"
    low, high = quantity.goal
    if low == high:
        return f"{low:g}"
    if quantity.kind == "share" and low == 0:
        return f"≤ {high:g}"
    if quantity.kind == "share" and high == 1:
        return f"≥ {low:g}"
    return f"{low:g} to {high:g}"


def table(studies: Sequence[Study], out: Path) -> str:
    """Return the tables of all groups of studies in Markdown."""
    lines = []
    for group in dict.fromkeys(s.group for s in studies):
        lines += [f"**{group.capitalize()}**", ""]
        lines += ["| setting | quantity | before | after | goal |", "|---|---|---:|---:|---:|"]
        for study in (s for s in studies if s.group == group):
            for i, quantity in enumerate(study.quantities):
                setting = "" if i else study.setting.replace("|", "\\|")
                entries = [shown(study, quantity, engine, out) for engine in ("before", "after")]
                lines.append(f"| {setting} | {quantity.name} | {' | '.join(entries)} | {goal_text(quantity)} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def cost(studies: Sequence[Study], engine: str, out: Path, replications: int) -> str:
    """Return the minutes that each group takes in one process, from the seconds of the replications kept so far."""
    lines = []
    for group in dict.fromkeys(s.group for s in studies):
        of_group = [s for s in studies if s.group == group]
        rows = {s.name: kept(s, engine, out) for s in of_group}
        measured = [s for s in of_group if rows[s.name]]
        seconds = sum(
            float(np.median([row["seconds"] for row in rows[s.name]])) * min(replications, s.most) for s in measured
        )
        unknown = "" if len(measured) == len(of_group) else f" ({len(of_group) - len(measured)} studies not run yet)"
        lines.append(f"{group}: {len(of_group)} studies, {seconds / 60:.1f} min for {replications:,}{unknown}")
    return "\n".join(lines)


def _number(x: float) -> str:
    """Three decimals; fewer for large numbers, more for small ones.

    >>> _number(0.05), _number(4270.0), _number(0.000234)
    ('0.050', '4,270', '0.00023')
    """
    if not np.isfinite(x):
        return "–"
    if abs(x) >= 100:
        return f"{x:,.0f}"
    return f"{x:.2g}" if 0 < abs(x) < 0.0005 else f"{x:.3f}"
