"""The distance of a text to real text on one axis, and intervals of its change, simultaneous over axes.

An effect against real text may have a sign: the distance is then its size |θ|, and the change |θ_after| − |θ_before|.
It equals sign(uv) · min(|u|, |v|), where u = θ_after − θ_before and v = θ_after + θ_before. Intervals of u and v of all
axes hold at once; the interval of a change is the range of that function over the box of both. So a change is sure
exactly where `momus.inference.ranking` calls one of two models significantly nearer. Distances have no sign, and
their change is u.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm, t

from momus.inference.ranking import Distances
from momus.inference.spread import LEAST, ratio_interval
from momus.numeric.types import Floats
from momus.verdicts.table import weight_of
from momus.verdicts.verdict import Verdict

RESAMPLES = 999
FEWEST_BEYOND = 5
"""Resamples that must lie beyond a quantile for it to be estimated from them; below it, Bonferroni's bound serves."""
_ERRORS = 9
"""Number that keeps the random stream of errors of verdicts apart."""
NORMAL = 1e6
"""Degrees of freedom of a normal distribution, near enough."""
REACH = 1.96
"""Standard errors that are taken off a mean effect before statistics are put in order."""
FARTHEST = 60.0
"""The widest interval that is looked at, in standard errors."""


@dataclass(frozen=True)
class Gap:
    """An effect with standard errors, and the unit that its size is measured in.

    Attributes
    ----------
    effect
        The effect of a verdict.
    below, above
        Standard errors on each side, from the interval of the verdict, which may be asymmetric.
    freedom
        Degrees of freedom.
    unit, unit_below, unit_above, correlation
        Human band with its standard errors, and the correlation of its error with that of the effect; 1 without an
        error, to measure the effect itself.
    signed
        Whether the effect has a sign, so that the distance is its size.
    """

    effect: float
    below: float
    above: float
    freedom: float
    unit: float
    signed: bool
    unit_below: float = 0.0
    unit_above: float = 0.0
    correlation: float = 0.0

    @classmethod
    def of(cls, verdict: Verdict, effect: bool = False) -> Gap | str:
        """From a verdict, in human bands or (``effect``) in units of the effect; or why there is none."""
        v = verdict
        if v.effect is None:
            return v.method.reason or "it was not tested"
        if v.effect_low is None or v.effect_high is None:
            return "its effect has no interval"
        if not effect and not v.band:
            return f"it has no band; give its limit as {v.critic}.effect"
        freedom = v.freedom or NORMAL
        reach = float(t.isf(v.alpha / 2, freedom))
        sides = max(v.effect - v.effect_low, 0.0) / reach, max(v.effect_high - v.effect, 0.0) / reach
        signed = v.effect_kind != "distance"
        if effect or not v.band:
            return cls(v.effect, *sides, freedom, 1.0, signed)
        normal = float(norm.isf(0.025))
        errors = (v.band - (v.band_low or v.band)) / normal, ((v.band_high or v.band) - v.band) / normal
        return cls(v.effect, *sides, freedom, v.band, signed, *errors, v.band_correlation)

    @classmethod
    def of_difference(cls, verdict: Verdict, words: str) -> Gap | str:
        """From the difference of a verdict in its own unit, as far as `Limit.words` limits it; or why there is none."""
        v = verdict
        if v.difference is None or v.low is None or v.high is None:
            return v.method.reason or "its difference has no interval"
        freedom = v.freedom or NORMAL
        reach = float(t.isf(v.alpha / 2, freedom))
        below, above = max(v.difference - v.low, 0.0) / reach, max(v.high - v.difference, 0.0) / reach
        if words.endswith("fewer"):
            return cls(-v.difference, above, below, freedom, 1.0, signed=False)
        return cls(v.difference, below, above, freedom, 1.0, signed=not words.endswith("more"))

    @property
    def value(self) -> float:
        """The distance."""
        return (abs(self.effect) if self.signed else max(self.effect, 0.0)) / self.unit

    def interval(self, level: float) -> tuple[float, float]:
        """Interval of the distance that misses it with probability ``level`` at most."""
        return self._within(float(t.isf(level / 2, self.freedom)))

    def _within(self, reach: float) -> tuple[float, float]:
        low, high = self.effect - reach * self.below, self.effect + reach * self.above
        inner, outer = max(low, 0.0), max(high, 0.0)
        if self.signed:
            inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
            outer = max(abs(low), abs(high))
        # the error of the band is normal: as far into its tail as the effect is into that of Student's t
        of_unit = min(float(norm.isf(t.sf(reach, self.freedom))), FARTHEST)
        least = max(self.unit - of_unit * self.unit_below, LEAST * self.unit)
        units = self.unit, least, self.unit + of_unit * self.unit_above
        return ratio_interval((self.value * self.unit, inner, outer), units, self.correlation)

    def p_above(self, limit: float) -> float:
        """p of the hypothesis that the distance is at most ``limit``: the smallest level whose interval lies above.

        >>> gap = Gap(effect=0.5, below=0.1, above=0.1, freedom=1e6, unit=1.0, signed=True)
        >>> round(gap.p_above(0.304), 3), gap.p_above(0.6)
        (0.05, 1.0)
        """
        return p_above(lambda reach: self._within(reach)[0], limit, self.freedom)


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


def p_above(lower: Callable[[float], float], limit: float, freedom: float, columns: int = 1) -> float:
    """p of the hypothesis that a value is at most ``limit``, from the lower ends of its intervals.

    It is the smallest α at which the interval of level 1 − α/``columns`` lies above the limit (Bonferroni's bound).

    Parameters
    ----------
    lower
        The lower end of the interval for a reach in standard errors; the value itself for 0.
    freedom
        Degrees of freedom.

    >>> round(p_above(lambda reach: 1.0 - 0.1 * reach, 0.804, 1e6), 3), p_above(lambda reach: 1.0 - reach, 2.0, 9.0)
    (0.05, 1.0)
    """
    if not lower(0.0) > limit:  # nor is NaN, of a value that does not exist
        return 1.0
    if lower(FARTHEST) > limit:
        return 0.0
    reach = brentq(lambda c: lower(c) - limit, 0.0, FARTHEST, xtol=1e-7)
    return min(1.0, 2 * columns * float(t.sf(reach, freedom)))


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
        if before.signed:
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
        return p_above(lambda reach: self.interval(reach)[0], limit, self.freedom, columns)

    def interval(self, reach: float) -> tuple[float, float]:
        """Interval of the change, for a reach in standard errors; it contains `change`."""
        low, high = self.values - reach * self.errors, self.values + reach * self.errors
        if len(self.values) == 1:
            ends = float(low[0]), float(high[0])
        else:
            mirrored = (np.array([-high[0], low[1]]), np.array([-low[0], high[1]]))
            ends = -_largest(*mirrored), _largest(low, high)
        return min(ends[0], self.change), max(ends[1], self.change)


def _largest(low: Floats, high: Floats) -> float:
    """The largest sign(uv) · min(|u|, |v|) over a box, (2,) each."""
    same_sign = [min(ends) for ends in (high, -low) if min(ends) >= 0]
    if same_sign:
        return float(max(same_sign))
    # everywhere uv < 0: the largest value is where the smaller of |u| and |v| is smallest
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return -float(nearest.min())


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
