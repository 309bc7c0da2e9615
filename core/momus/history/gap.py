"""The distance of a text to real text on one axis, with an interval at any level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from momus.verdicts.verdict import Verdict

NORMAL = 1e6
"""Degrees of freedom of a normal distribution, near enough."""
FARTHEST = 60.0
"""The widest interval that is looked at, in standard errors."""


@dataclass(frozen=True)
class Gap:
    """An effect with standard errors, and the unit that its size is measured in.

    Attributes
    ----------
    effect
        The effect of a headline verdict.
    below, above
        Standard errors on each side, from the interval of the verdict, which may be asymmetric.
    freedom
        Degrees of freedom.
    unit
        Human band; 1 to measure the effect itself.
    signed
        Whether the effect has a sign, so that the distance is its size.
    """

    effect: float
    below: float
    above: float
    freedom: float
    unit: float
    signed: bool

    @classmethod
    def of(cls, verdict: Verdict, effect: bool = False) -> Gap | str:
        """From a headline verdict, in human bands or (``effect``) in units of the effect; or why there is none."""
        from scipy.stats import t

        v = verdict
        if v.effect is None:
            return v.method.reason or "it was not tested"
        if v.effect_low is None or v.effect_high is None:
            return "its effect has no interval"
        if not effect and not v.band:
            return f"it has no human band; give its limit as {v.critic}.effect"
        freedom = v.freedom or NORMAL
        reach = float(t.isf(v.alpha / 2, freedom))
        sides = max(v.effect - v.effect_low, 0.0) / reach, max(v.effect_high - v.effect, 0.0) / reach
        unit = 1.0 if effect or not v.band else v.band
        return cls(v.effect, *sides, freedom, unit, v.effect_kind != "distance")

    @property
    def value(self) -> float:
        """The distance."""
        return (abs(self.effect) if self.signed else max(self.effect, 0.0)) / self.unit

    def interval(self, level: float) -> tuple[float, float]:
        """Interval of the distance that misses it with probability ``level`` at most."""
        from scipy.stats import t

        return self._within(float(t.isf(level / 2, self.freedom)))

    def _within(self, reach: float) -> tuple[float, float]:
        low, high = self.effect - reach * self.below, self.effect + reach * self.above
        if not self.signed:
            return max(low, 0.0) / self.unit, max(high, 0.0) / self.unit
        inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return inner / self.unit, max(abs(low), abs(high)) / self.unit

    def p_above(self, limit: float) -> float:
        """p of the hypothesis that the distance is at most ``limit``: the smallest level whose interval lies above.

        >>> gap = Gap(effect=0.5, below=0.1, above=0.1, freedom=1e6, unit=1.0, signed=True)
        >>> round(gap.p_above(0.304), 3), gap.p_above(0.6)
        (0.05, 1.0)
        """
        return p_above(lambda reach: self._within(reach)[0], limit, self.freedom)


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
    from scipy.optimize import brentq
    from scipy.stats import t

    if lower(0.0) <= limit:
        return 1.0
    if lower(FARTHEST) > limit:
        return 0.0
    reach = brentq(lambda c: lower(c) - limit, 0.0, FARTHEST, xtol=1e-7)
    return min(1.0, 2 * columns * float(t.sf(reach, freedom)))
