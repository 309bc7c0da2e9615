"""Rates with intervals, computed from cells: false alarms, power, smallest detectable defect, family-wise error.

The terminal shows them as one table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from momus.calibration.cells import SplitCell
from momus.calibration.plan import NULL
from momus.controls import DEFECTS
from momus.inference import holm
from momus.report.words.format import number, percent, text_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from momus.calibration.store import Calibration

Curves = dict[tuple[str, tuple[int, int], str], list[SplitCell]]
"""Cells by (critic, size, defect)."""


@dataclass(frozen=True)
class Rate:
    """The share of n splits in which a test alarmed, with its Clopper–Pearson interval; NaN if n is 0."""

    count: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The rate, count / n."""
        return self.count / self.n if self.n else float("nan")

    @classmethod
    def of(cls, count: int, n: int, confidence: float = 0.95) -> Rate:
        """Compute the exact interval of a binomial share (Clopper & Pearson 1934).

        >>> rate = Rate.of(50, 1000)
        >>> rate.share, round(rate.low, 4), round(rate.high, 4)
        (0.05, 0.0373, 0.0654)
        """
        from scipy.stats import binomtest

        if n == 0:
            return cls(0, 0, float("nan"), float("nan"))
        interval = binomtest(count, n).proportion_ci(confidence, "exact")
        return cls(count, n, float(interval.low), float(interval.high))


def on_axis(critic: str, defect: str) -> bool:
    """Whether a defect lies on the critic's axis."""
    return defect in DEFECTS and critic in DEFECTS[defect].critics


def rate(cell: SplitCell, alpha: float) -> Rate:
    """The share of a cell's splits in which its test alarmed at level α."""
    return Rate.of(cell.alarms(alpha), cell.tested)


@dataclass(frozen=True)
class Detectable:
    """The smallest strength at which a defect is detected with the required power.

    Attributes
    ----------
    strength
        Interpolated between the strengths measured; None if none of them reaches the power.
    bound
        ``=``; ``≤`` if already the lowest strength reaches the power; ``>`` if the highest does not; ``?`` if nothing
        was measured.
    difference
        Mean difference of the statistic that leads at this strength.
    """

    strength: float | None
    bound: str
    difference: float | None


def detectable(curve: Sequence[SplitCell], alpha: float, power: float) -> Detectable:
    """Find where a power curve crosses the required power.

    The curve starts at strength 0 (unchanged text), is made monotone by isotonic regression, and interpolated linearly.

    Parameters
    ----------
    curve
        Cells of one critic, size and defect, with the null cell (strength 0) first.
    """
    from scipy.optimize import isotonic_regression

    tested = [c for c in sorted(curve, key=lambda c: c.strength) if c.tested]
    if not any(c.strength > 0 for c in tested):
        return Detectable(None, "?", None)
    # strengths, monotone power and mean difference: each float (tested cells,)
    x = np.array([c.strength for c in tested])
    shares, weights = [rate(c, alpha).share for c in tested], [float(c.tested) for c in tested]
    y = isotonic_regression(shares, weights=weights).x
    d = np.array([c.mean_difference or 0.0 for c in tested])
    reached = np.flatnonzero((y >= power) & (x > 0))
    if not len(reached):
        return Detectable(None, ">", None)
    j = int(reached[0])
    # between no defect and the lowest strength the curve is unknown
    if j == 0 or y[j] == y[j - 1] or not x[j - 1]:
        return Detectable(float(x[j]), "≤", float(d[j]))
    at = slice(j - 1, j + 1)
    return Detectable(float(np.interp(power, y[at], x[at])), "=", float(np.interp(power, y[at], d[at])))


def curves(cells: Sequence[SplitCell]) -> Curves:
    """Group cells by (critic, size, defect), each group led by its null cell; the null cell alone under ``none``."""
    by_defect: Curves = {}
    null = {(c.critic, c.n_real, c.n_generated): c for c in cells if c.defect == NULL}
    for c in cells:
        key = (c.critic, (c.n_real, c.n_generated), c.defect)
        if key not in by_defect:
            first = null.get((c.critic, c.n_real, c.n_generated))
            by_defect[key] = [first] if first is not None and c.defect != NULL else []
        by_defect[key].append(c)
    return by_defect


def family_wise(cells: Sequence[SplitCell], alpha: float, size: tuple[int, int]) -> tuple[Rate, int]:
    """The rate at which any critic alarms on a null split after Holm's adjustment, and the number of critics."""
    null = [c for c in cells if c.defect == NULL and (c.n_real, c.n_generated) == size and c.tested]
    if not null:
        return Rate.of(0, 0), 0
    splits = min(len(c.p) for c in null)
    alarms = 0
    for k in range(splits):
        p = [c.p[k] for c in null]
        known = [v for v in p if v is not None]
        alarms += bool(known) and bool((holm(known) <= alpha).any())
    return Rate.of(alarms, splits), len(null)


@dataclass(frozen=True)
class RateRow:
    """One row of the table of a calibration: a critic on texts of one size, without a defect or with one.

    Attributes
    ----------
    statistic
        The statistic that leads in most splits.
    defect, own_axis, strength
        The defect (``none``: null splits), whether it lies on the critic's axis, and the highest strength measured.
    tested, alarms
        Splits that could be tested, and those with p ≤ α, at this strength.
    rate, low, high
        Share of alarms with its 95 % interval: of null splits, the false-alarm rate. None where nothing was tested.
    level
        Of null splits, in words: ``kept``, ``exceeded``, ``conservative``, or why nothing was measured.
    smallest, bound, difference
        As in `Detectable`, of a defect.
    usable
        As in `SplitCell`.
    """

    critic: str
    statistic: str
    n_real: int
    n_generated: int
    defect: str
    own_axis: bool
    strength: float
    tested: int
    alarms: int
    rate: float | None
    low: float | None
    high: float | None
    level: str
    smallest: float | None
    bound: str
    difference: float | None
    usable: int


def level_of(alarms: Rate, alpha: float) -> str:
    """Whether a test keeps its level α, by the interval of its false-alarm rate.

    >>> level_of(Rate.of(50, 1000), 0.05), level_of(Rate.of(90, 1000), 0.05), level_of(Rate.of(10, 1000), 0.05)
    ('kept', 'exceeded', 'conservative')
    """
    if not alarms.n:
        return "not measured"
    if alarms.low > alpha:
        return "exceeded"
    return "conservative" if alarms.high < alpha else "kept"


def rows(cells: Sequence[SplitCell], alpha: float, power: float) -> list[RateRow]:
    """One row per critic, size and defect: critics in order, and within a size the defects of their axis first."""
    critics = list(dict.fromkeys(c.critic for c in cells))
    by_defect = curves(cells)
    places = {k: (critics.index(k[0]), k[1], k[2] != NULL, not on_axis(k[0], k[2])) for k in by_defect}
    return [_row(key[2], by_defect[key], alpha, power) for key in sorted(by_defect, key=places.__getitem__)]


def _row(defect: str, curve: Sequence[SplitCell], alpha: float, power: float) -> RateRow:
    c = curve[-1]  # of the highest strength
    alarms = rate(c, alpha)
    smallest = Detectable(None, "", None) if defect == NULL else detectable(curve, alpha, power)
    return RateRow(
        **{n: getattr(c, n) for n in ("critic", "n_real", "n_generated", "strength", "usable")},
        statistic=c.leading,
        defect=defect,
        own_axis=on_axis(c.critic, defect),
        tested=c.tested,
        alarms=alarms.count,
        rate=alarms.share if alarms.n else None,
        low=alarms.low if alarms.n else None,
        high=alarms.high if alarms.n else None,
        level=c.reason or (level_of(alarms, alpha) if defect == NULL else ""),
        smallest=smallest.strength,
        bound=smallest.bound,
        difference=smallest.difference,
    )


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
