"""Rates with intervals, computed from cells: false alarms, power, smallest detectable defect, family-wise error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.calibration.cells import SplitCell
from momus.calibration.plan import NULL
from momus.controls import DEFECTS
from momus.inference import holm
from momus.numeric.types import Floats

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
    tested = [c for c in sorted(curve, key=lambda c: c.strength) if c.tested]
    if not any(c.strength > 0 for c in tested):
        return Detectable(None, "?", None)
    # strengths, monotone power and mean difference: each float (tested cells,)
    x = np.array([c.strength for c in tested])
    y = _monotone(np.array([rate(c, alpha).share for c in tested]), np.array([float(c.tested) for c in tested]))
    d = np.array([c.mean_difference or 0.0 for c in tested])
    reached = np.flatnonzero((y >= power) & (x > 0))
    if not len(reached):
        return Detectable(None, ">", None)
    j = int(reached[0])
    if j == 0 or y[j] == y[j - 1]:
        return Detectable(float(x[j]), "≤", float(d[j]))
    at = float((power - y[j - 1]) / (y[j] - y[j - 1]))  # where between x[j - 1] and x[j] the line reaches the power
    bound = "=" if x[j - 1] > 0 else "≤"
    if bound == "≤":  # between no defect and the lowest strength the curve is unknown
        return Detectable(float(x[j]), bound, float(d[j]))
    return Detectable(float(x[j - 1] + at * (x[j] - x[j - 1])), bound, float(d[j - 1] + at * (d[j] - d[j - 1])))


def _monotone(y: Floats, weights: Floats) -> Floats:
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(y, weights=weights).x)


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
    splits, tested, alarms
        Splits, those that could be tested, and those with p ≤ α, at this strength.
    rate, low, high
        Share of alarms with its 95 % interval: of null splits, the false-alarm rate. None where nothing was tested.
    level
        Of null splits, in words: ``kept``, ``exceeded``, ``conservative``, or why nothing was measured.
    smallest, bound, difference
        As in `Detectable`, of a defect.
    changed, places, usable
        As in `SplitCell`.
    """

    critic: str
    statistic: str
    n_real: int
    n_generated: int
    defect: str
    own_axis: bool
    strength: float
    splits: int
    tested: int
    alarms: int
    rate: float | None
    low: float | None
    high: float | None
    level: str
    smallest: float | None
    bound: str
    difference: float | None
    changed: int
    places: int
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

    def place(
        item: tuple[tuple[str, tuple[int, int], str], list[SplitCell]],
    ) -> tuple[int, tuple[int, int], bool, bool]:
        critic, size, defect = item[0]
        return critics.index(critic), size, defect != NULL, not on_axis(critic, defect)

    return [_row(defect, curve, alpha, power) for (_, _, defect), curve in sorted(curves(cells).items(), key=place)]


def _row(defect: str, curve: Sequence[SplitCell], alpha: float, power: float) -> RateRow:
    c = curve[-1]  # of the highest strength
    alarms = rate(c, alpha)
    smallest = Detectable(None, "", None) if defect == NULL else detectable(curve, alpha, power)
    return RateRow(
        **{n: getattr(c, n) for n in ("critic", "n_real", "n_generated", "strength", "changed", "places", "usable")},
        statistic=c.leading,
        defect=defect,
        own_axis=on_axis(c.critic, defect),
        splits=len(c.p),
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
