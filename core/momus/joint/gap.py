"""Sizes of effects with standard errors: their intervals, p beyond a limit, and what is found beyond it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from momus.inference.intervals import ratio_interval
from momus.inference.spread import LEAST
from momus.inference.studentised import restored
from momus.verdicts.verdict import Verdict

NORMAL = 1e6
"""Degrees of freedom of a normal distribution, near enough."""
POWER = 0.8
"""Share of cases in which it is told what would have been found."""
FAR = 2.0
"""Standard errors between a limit and 0 from which an effect has the sign of its estimate, if that is beyond."""
Kind = Literal["size", "distance", "side"]
MOST_LOG = 700.0
"""Largest log of a ratio."""
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
    kind
        ``size``: the effect has a sign, and the distance is its size. ``distance``: it has none. ``side``: it is how
        far the text goes one way, below 0 if it goes the other.
    """

    effect: float
    below: float
    above: float
    freedom: float
    unit: float
    kind: Kind
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
            return "it has no band"
        freedom = v.freedom or NORMAL
        reach = -float(stdtrit(freedom, v.alpha / 2))
        sides = max(v.effect - v.effect_low, 0.0) / reach, max(v.effect_high - v.effect, 0.0) / reach
        kind: Kind = "distance" if v.effect_kind == "distance" else "size"
        if effect or not v.band:
            return cls(v.effect, *sides, freedom, 1.0, kind)
        if v.effect_kind == "hedges_g":
            inner = _inner_error((v.effect, v.effect_low, v.effect_high), sides)
            sides = (inner, sides[1]) if v.effect > 0 else (sides[0], inner)
            # with one standard deviation for effect and error, the normal quantile serves
            freedom = NORMAL if freedom >= v.n_real + v.n_generated - 2 else freedom
        normal = -float(ndtri(0.025))
        errors = (v.band - (v.band_low or v.band)) / normal, ((v.band_high or v.band) - v.band) / normal
        return cls(v.effect, *sides, freedom, v.band, kind, *errors, v.band_correlation)

    @classmethod
    def of_difference(cls, verdict: Verdict, side: str) -> Gap | str:
        """From the difference of a verdict in its own unit, in the direction of ``more`` or ``fewer``, or in either.

        Where all documents differ alike, errors are those that p tells.
        """
        v = verdict
        freedom = v.freedom or NORMAL
        reach = -float(stdtrit(freedom, v.alpha / 2))
        if v.difference and v.differs and v.p and v.method.zero_variance == "none":
            below = above = abs(v.difference) / -float(stdtrit(freedom, v.p / 2))
        elif v.difference is None or v.low is None or v.high is None:
            return v.method.reason or "its difference has no interval"
        else:
            below, above = max(v.difference - v.low, 0.0) / reach, max(v.high - v.difference, 0.0) / reach
        if side == "fewer":
            return cls(-v.difference, above, below, freedom, 1.0, "side")
        return cls(v.difference, below, above, freedom, 1.0, "side" if side else "size")

    @property
    def value(self) -> float:
        """The distance."""
        return {"size": abs(self.effect), "side": self.effect, "distance": max(self.effect, 0.0)}[self.kind] / self.unit

    def interval(self, level: float, limit: float = 0.0) -> tuple[float, float]:
        """Interval each of whose ends is beyond a distance of ``limit`` with probability ``level`` at most."""
        return self._within(-float(stdtrit(self.freedom, level / self._tails(limit))))

    def _tails(self, limit: float) -> int:
        """2 where an effect of −limit may be estimated to lie beyond +limit; and of 0, either side of which is told."""
        near = self.kind == "size" and limit * self.unit < FAR * max(self.below, self.above)
        return 2 if near or (self.kind == "side" and not limit) else 1

    def detectable(self, limit: float, level: float) -> float:
        """The distance that is shown to lie beyond the limit in `POWER` of cases, by a normal approximation."""
        steps = -float(stdtrit(self.freedom, level / self._tails(limit)) + stdtrit(self.freedom, 1 - POWER))
        # the interval lies beyond the limit where effect − limit · unit exceeds its margin
        error = float(np.hypot(max(self.below, self.above), limit * self.unit_above))
        return limit + steps * error / self.unit

    def _ends(self, reach: float) -> tuple[float, float]:
        return self.effect - reach * self.below, self.effect + reach * self.above

    def _within(self, reach: float) -> tuple[float, float]:
        low, high = self._ends(reach)
        if self.kind == "side":
            return low, high
        inner, outer = max(low, 0.0), max(high, 0.0)
        if self.kind == "size":
            inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
            outer = max(abs(low), abs(high))
        # the error of the band is normal: as far into its tail as the effect is into that of Student's t
        of_unit = min(-float(ndtri(stdtr(self.freedom, -reach))), FARTHEST)
        least = max(self.unit - of_unit * self.unit_below, LEAST * self.unit)
        units = self.unit, least, self.unit + of_unit * self.unit_above
        return ratio_interval((self.value * self.unit, inner, outer), units, self.correlation)

    def p_above(self, limit: float) -> float:
        """p of the hypothesis that the distance is at most ``limit``: the smallest level whose interval lies above.

        >>> gap = Gap(effect=0.5, below=0.1, above=0.1, freedom=1e6, unit=1.0, kind="size")
        >>> round(gap.p_above(0.304), 3), gap.p_above(0.6)
        (0.025, 1.0)
        """
        return p_above(lambda reach: self._within(reach)[0], limit, self.freedom, self._tails(limit))


@dataclass(frozen=True)
class Ratio:
    """Errors of a mean beside that of a reference.

    Attributes
    ----------
    real_error, covariance
        Standard error of the mean of the reference, and its covariance with the difference.
    log_error, log_skewness
        Standard error of the log of the ratio, 0 where there is no log, and what Hall's transform takes off a fall.
    """

    real_error: float = 0.0
    covariance: float = 0.0
    log_error: float = 0.0
    log_skewness: float = 0.0

    def error_at(self, error: float, share: float) -> float:
        """Standard error of generated − (1 + share) · real, by that of the difference."""
        return math.sqrt(max(error**2 - 2 * share * self.covariance + (share * self.real_error) ** 2, 0.0))

    def fallen(self, reach: float, further: float = 0.0) -> float:
        """By what the text is multiplied at so many standard errors, of which ``further`` are not transformed."""
        steps = float(restored(np.asarray(reach, dtype=np.float64), self.log_skewness)) + further
        return math.exp(min(steps * self.log_error, MOST_LOG))


@dataclass(frozen=True)
class RatioGap(Gap):
    """A difference of two means, limited in percent of the reference: a fall is told by the log of their ratio.

    Few pairs may by chance lack answers that grew much: the fall looks large then, and its error small. The log is less
    skewed, and its error knows those of other slices. A rise errs on the safe side, and is told by the difference.
    """

    falls: bool = False
    means: tuple[float, float] = (1.0, 1.0)
    ratio: Ratio = Ratio()

    def detectable(self, limit: float, level: float) -> float:
        """As that of `Gap`; of falls, along the log."""
        if not self.falls:
            return super().detectable(limit, level)
        t = stdtrit(self.freedom, [level, 1 - POWER])
        return self.means[0] - max(self.means[0] - limit, 0.0) / self.ratio.fallen(-t[0], -t[1])

    def _ends(self, reach: float) -> tuple[float, float]:
        (low, high), moved = super()._ends(reach), self.means[1] * self.ratio.fallen(reach) - self.means[0]
        return (-moved, high) if self.falls else (low, moved)


def _inner_error(effect: tuple[float, float, float], sides: tuple[float, float]) -> float:
    """The standard error of Hedges' g toward a limit, from the interval of g and the standard errors at its ends.

    Its square is linear in g² (`momus.inference.intervals.of_effect`). A standard deviation that is too small makes g
    and its error large: an estimate beyond a limit comes with its own error (Johnson & Welch 1940).
    """
    g, low, high = (x * x for x in effect)
    share = min(max((g - low) / (high - low), 0.0), 1.0) if high != low else 0.5
    return float(np.sqrt((1 - share) * sides[0] ** 2 + share * sides[1] ** 2))


def p_above(lower: Callable[[float], float], limit: float, freedom: float, tails: int = 2) -> float:
    """p of the hypothesis that a value is at most ``limit``, from the lower ends of its intervals.

    It is the smallest α at which the interval with α/``tails`` beyond its lower end lies above the limit.

    Parameters
    ----------
    lower
        The lower end of the interval for a reach in standard errors; the value itself for 0.
    freedom
        Degrees of freedom.

    >>> round(p_above(lambda reach: 1.0 - 0.1 * reach, 0.804, 1e6), 3), p_above(lambda reach: 1.0 - reach, 2.0, 9.0)
    (0.05, 1.0)
    """
    from scipy.optimize import brentq  # slow to import

    if not lower(0.0) > limit:  # nor is NaN, of a value that does not exist
        return 1.0
    if lower(FARTHEST) > limit:
        return 0.0
    reach = brentq(lambda c: lower(c) - limit, 0.0, FARTHEST, xtol=1e-7)
    return min(1.0, tails * float(stdtr(freedom, -reach)))
