"""The distance of a text to real text on one axis, and intervals of its change, simultaneous over axes.

An effect against real text may have a sign: the distance is then its size |θ|, and the change |θ_after| − |θ_before|.
It equals sign(uv) · min(|u|, |v|), where u = θ_after − θ_before and v = θ_after + θ_before. Intervals of u and v of all
axes hold at once; the interval of a change is the range of that function over the box of both. So a change is sure
exactly where `momus.inference.ranking` calls one of two models significantly nearer. Distances have no sign, and
their change is u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

from momus.inference.ranking import Distances
from momus.joint.gap import Gap, p_above
from momus.numeric.types import Floats
from momus.verdicts.table import weight_of
from momus.verdicts.verdict import Verdict

RESAMPLES = 999
FEWEST_BEYOND = 5
"""Resamples that must lie beyond a quantile for it to be estimated from them; below it, Bonferroni's bound serves."""
_ERRORS = 9
"""Number that keeps the random stream of errors of verdicts apart."""
REACH = 1.96
"""Standard errors that are taken off a mean effect before statistics are put in order."""


def pooled_gap(before: Verdict, after: Verdict) -> float:
    """How far a statistic is surely off in two runs together: the nearer end of the interval of its mean effect.

    In bands, as statistics are put in order (`momus.verdicts.table.weight_of`); −1 without effects or band.
    """
    gaps = [Gap.of(v, effect=True) for v in (before, after)]
    band = before.band or after.band
    one, other = (g if isinstance(g, Gap) else None for g in gaps)
    if one is None or other is None or not band:
        return -1.0
    precision = [1 / max(g.below, g.above, 1e-12) ** 2 for g in (one, other)]
    mean = (one.effect * precision[0] + other.effect * precision[1]) / sum(precision)
    return float(max(abs(mean) - REACH / sum(precision) ** 0.5, 0.0) / band * weight_of(after))


@dataclass(frozen=True)
class DistanceMoves:
    """The change of one axis between two runs.

    Attributes
    ----------
    distances
        Distances to real text, before and after, (2,); no lower than 0.
    values
        u and v of signed effects, (2,); u alone of distances, (1,).
    draws
        Bootstrap deviations of ``values``, (B, 2) or (B, 1); draws of one row are common to all axes.
    freedom
        Degrees of freedom.
    """

    distances: Floats
    values: Floats
    draws: Floats
    freedom: float

    @classmethod
    def of(cls, before: Distances, after: Distances) -> DistanceMoves:
        """From the distances of one model in each run, with deviations from common draws."""
        a, b = before.estimates[0], after.estimates[0]
        da, db = before.deviations[:, 0], after.deviations[:, 0]
        freedom = min(before.freedom, after.freedom)
        distances = np.array([before.shown[0], after.shown[0]])
        if not before.signed:
            return cls(distances, np.array([b - a]), (db - da)[:, None], freedom)
        return cls(distances, np.array([b - a, b + a]), np.column_stack([db - da, db + da]), freedom)

    @classmethod
    def of_gaps(cls, before: Gap, after: Gap, seed: int = 0, number: int = 0) -> DistanceMoves:
        """From effects with standard errors only, in one unit.

        Both runs may share their real text, so the errors may be positively correlated: the error of u is at most that
        of independent differences, √(a² + b²), and that of v at most a + b. ``number`` tells axes apart.
        """
        a, b = before.effect, after.effect
        ea, eb = (max(gap.below, gap.above) for gap in (before, after))
        spread = np.array([np.hypot(ea, eb), ea + eb])
        draws = np.random.default_rng([seed, _ERRORS, number]).standard_normal((RESAMPLES, 2)) * spread
        draws *= spread / np.where(spread > 0, draws.std(axis=0), 1.0)
        freedom = min(before.freedom, after.freedom)
        if before.kind == "size":
            return cls(np.abs([a, b]), np.array([b - a, b + a]), draws, freedom)
        return cls(np.maximum([a, b], 0.0), np.array([b - a]), draws[:, :1], freedom)

    @property
    def change(self) -> float:
        """Distance after − distance before."""
        return float(self.distances[1] - self.distances[0])

    @property
    def errors(self) -> Floats:
        """Standard errors of ``values``."""
        return np.asarray(self.draws.std(axis=0))

    def p_above(self, limit: float, columns: int) -> float:
        """p of the hypothesis that the change is at most ``limit``, adjusted over so many intervals.

        >>> draws = np.random.default_rng(0).normal(size=(999, 2))
        >>> sure = DistanceMoves(np.array([0.0, 5.0]), np.array([5.0, 5.0]), draws, 99.0)
        >>> sure.p_above(0.0, 2) < 0.001, sure.p_above(6.0, 2)
        (True, 1.0)
        """
        return p_above(lambda reach: self.interval(reach)[0], limit, self.freedom, 2 * columns)

    def interval(self, reach: float) -> tuple[float, float]:
        """Interval of the change, for a reach in standard errors; it contains `change`."""
        low, high = self.values - reach * self.errors, self.values + reach * self.errors
        if len(self.values) == 1:
            ends = float(low[0]), float(high[0])
        else:
            # it rises or falls with u for each v, and with v for each u: its extremes lie at corners
            corners = [np.copysign(min(abs(u), abs(v)), u * v) for u in (low[0], high[0]) for v in (low[1], high[1])]
            ends = float(min(corners)), float(max(corners))
        return min(ends[0], self.change), max(ends[1], self.change)


def reaches(axes: Sequence[DistanceMoves], confidence: float) -> list[float]:
    """Reach of the intervals of each axis, in standard errors, so that all hold at once.

    The quantile of the largest |deviation| ÷ standard error over all axes; Bonferroni's bound where too few draws lie
    beyond it. Widened from a normal to Student's t.

    >>> rng = np.random.default_rng(0)
    >>> axes = [DistanceMoves(np.zeros(2), np.zeros(1), rng.normal(size=(999, 1)), 1e9) for _ in range(10)]
    >>> one, ten = reaches(axes[:1], 0.95)[0], reaches(axes, 0.95)[0]
    >>> round(one, 1), round(ten, 1)
    (1.9, 2.8)
    """
    if not axes:
        return []
    columns = sum(len(m.values) for m in axes)
    reach = float(norm.isf((1 - confidence) / (2 * columns)))
    draws = min(len(m.draws) for m in axes)
    if (1 - confidence) * draws >= FEWEST_BEYOND:
        scaled = [np.abs(m.draws[:draws]) / np.where(m.errors > 0, m.errors, np.inf) for m in axes]
        largest = np.concatenate(scaled, axis=1).max(axis=1)
        reach = min(reach, float(np.quantile(largest, confidence, method="higher")))
    return [float(t.isf(norm.sf(reach), m.freedom)) for m in axes]
