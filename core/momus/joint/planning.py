"""How many documents a comparison needs, from the standard errors of a pilot run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from momus.arguments import arg
from momus.errors import UsageError
from momus.inference.intervals import t_quantile
from momus.verdicts.verdict import Verdict

LARGEST = 1e6
"""Largest factor by which a pilot may be enlarged; beyond it there is no plan."""
NO_DIFFERENCE = (
    "name the smallest difference that would matter to you, in units of the effect: of g, 0.2 is called small, 0.5 "
    "medium and 0.8 large; a log-ratio of 0.1 is 10 %; a distance of 0.1 is a tenth of the words or documents. The "
    "difference that a small pilot observed is a poor aim, as it is mostly too large"
)


@dataclass(frozen=True)
class Pilot:
    """What a pilot says about one axis, in units of the effect.

    Attributes
    ----------
    error, freedom
        Standard error of the effect at the size of the pilot, and its degrees of freedom.
    detectable
        For distances, the distance that the pilot detects with 80 % power at the level α/`family`; None otherwise.
    n, units
        Documents and independent units of the real and of the generated text.
    design
        What the units are.
    family
        Rows that the pilot's level was divided by.
    alpha
        Level of the pilot's family.
    """

    effect_kind: str
    error: float
    freedom: float
    detectable: float | None
    n: tuple[int, int]
    units: tuple[int, int]
    design: str
    family: int
    alpha: float


@dataclass(frozen=True)
class AxisPlan:
    """What one axis needs to detect a difference.

    Attributes
    ----------
    pilot
        None where the axis cannot be planned; ``reason`` says why.
    difference
        The difference aimed at, in units of the effect.
    level, power
        Two-sided level of the row, α/m, and the wanted power.
    factor, low, high
        How many times the pilot's size is needed, with the interval that the uncertainty of the pilot's standard error
        gives (χ², 95 %).
    """

    critic: str
    name: str
    generated: str
    pilot: Pilot | None = None
    difference: float = math.nan
    level: float = math.nan
    power: float = math.nan
    factor: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = ""

    def documents(self, factor: float | None = None) -> tuple[int, int]:
        """Documents of the real and of the generated text at a factor (default: the one that is needed)."""
        assert self.pilot is not None
        one, other = (math.ceil((self.factor if factor is None else factor) * n - 1e-9) for n in self.pilot.n)
        return one, other

    def units(self) -> tuple[int, int]:
        """Units (prompts, clusters) of both texts that are needed, at the pilot's documents per unit."""
        assert self.pilot is not None
        one, other = (math.ceil(self.factor * n - 1e-9) for n in self.pilot.units)
        return one, other


def power_at(pilot: Pilot, factor: float, difference: float, level: float) -> float:
    """Power to detect a difference with ``factor`` times the documents of the pilot.

    Values: P(T > t₁₋ₐ/₂ − δ/se) for Student's T, where se ∝ 1/√factor. Distances: a normal approximation in which the
    detectable distance is ∝ 1/√factor, and its ratio at other levels and powers is that of normal quantiles.

    >>> pilot = Pilot("hedges_g", 0.1, 198.0, None, (200, 200), (200, 200), "documents", 1, 0.05)
    >>> round(power_at(pilot, 1.0, 0.2801 + 0.0025, 0.05), 2)
    0.8
    """
    from scipy.stats import norm, t

    if pilot.detectable is not None:
        # one-sided, as distances are tested; the pilot's detectable distance lies this many standard errors up
        reached = float(norm.isf(pilot.alpha / pilot.family)) + float(norm.ppf(0.8))
        shift = difference / pilot.detectable * math.sqrt(factor) * reached
        return float(norm.sf(float(norm.isf(level)) - shift))
    freedom = max(pilot.freedom * factor, 1.0)
    shift = difference * math.sqrt(factor) / pilot.error
    edge = t_quantile(1 - level / 2, freedom)
    return float(t.sf(edge - shift, freedom) + t.cdf(-edge - shift, freedom))  # both tails of a two-sided test


def factor_for(pilot: Pilot, difference: float, level: float, power: float) -> float:
    """How many times the pilot's documents reach this power; infinite beyond `LARGEST`.

    The solution of factor = ((t₁₋ₐ/₂ + t_power) · se/δ)², whose quantiles depend on the factor.
    """
    from scipy.optimize import brentq

    low, high = 2 / min(pilot.units), LARGEST  # two units at least
    if power_at(pilot, high, difference, level) < power:
        return math.inf
    if power_at(pilot, low, difference, level) >= power:
        return low
    # over log factor: factors span six decades
    root = brentq(lambda x: power_at(pilot, math.exp(x), difference, level) - power, math.log(low), math.log(high))
    return math.exp(root)


def plan(
    verdicts: Sequence[Verdict],
    *,
    difference: float | None = None,
    power: float = 0.8,
    family: int | None = None,
) -> list[AxisPlan]:
    """Plan the size of a comparison from the headline rows of a pilot.

    Parameters
    ----------
    difference
        The difference to detect, in units of each row's effect (Hedges' g, log-ratio, difference, distance).
    power
        The wanted probability of detecting it.
    family
        Rows that are adjusted together: each is tested at level α/family. Default: as many as in the pilot.

    Raises
    ------
    UsageError
        There is no difference, a number is out of its range, or an older version wrote the run.
    """
    if difference is None:
        raise UsageError(
            f"{arg('difference')} is not given, and how many documents are needed depends on it", hint=NO_DIFFERENCE
        )
    if not (difference > 0 and math.isfinite(difference)):
        raise UsageError(f"{arg('difference', difference)} is not above 0", hint="0.2 is a small effect in Hedges' g")
    if not 0.05 < power < 1:
        raise UsageError(f"{arg('power', power)} is not between 0.05 and 1", hint="0.8 is customary")
    if family is not None and family < 1:
        raise UsageError(
            f"{arg('family', family)} is below 1", hint="give the number of rows that are adjusted together"
        )
    headline = [v for v in verdicts if v.headline]
    if headline and all(v.standard_error is None and v.mde is None for v in headline):
        raise UsageError(
            "the run has no standard errors: an older version of Momus wrote it, or nothing was tested",
            hint="run `momus compare` again on the pilot's texts",
        )
    return [_plan(v, difference, power, family) for v in headline]


def _plan(v: Verdict, difference: float, power: float, family: int | None) -> AxisPlan:
    pilot = pilot_of(v)
    if isinstance(pilot, str):
        return AxisPlan(v.critic, v.axis, v.generated, reason=pilot)
    level = pilot.alpha / (family or pilot.family)
    factor = factor_for(pilot, difference, level, power)
    if not math.isfinite(factor):
        return AxisPlan(v.critic, v.axis, v.generated, pilot, difference, level, power, reason="out of reach")
    low, high = (factor * ratio for ratio in _variance_ratios(pilot.freedom))
    return AxisPlan(v.critic, v.axis, v.generated, pilot, difference, level, power, factor, low, high)


def pilot_of(v: Verdict) -> Pilot | str:
    """The pilot of a row, or why there is none."""
    m = v.method
    if v.p is None:
        return m.reason or "it was not tested"
    error, freedom = v.standard_error, v.freedom
    if error is None or not error > 0 or freedom is None or not freedom > 0:
        return "it has no standard error"
    detectable = None
    if v.effect_kind == "distance":
        if v.mde is None or not v.mde > 0:
            return "no detectable distance is known: the pilot is too small, or its value grows with the documents"
        detectable = v.mde
    else:
        scale = _effect_per_difference(v)
        if scale is None:
            return "its effect is 0 or missing, so the unit of its standard error is unknown"
        error *= scale
    # of random blocks, the units that were put into them
    units = (m.block * m.units_real or v.n_real, m.block * m.units_generated or v.n_generated)
    if min(units) < 1:
        return "it has no units"
    sizes, design = (v.n_real, v.n_generated), "groups" if m.grouped else m.design
    return Pilot(v.effect_kind, error, freedom, detectable, sizes, units, design, m.rows, v.alpha)


def _effect_per_difference(v: Verdict) -> float | None:
    """What turns the standard error of a difference into that of the effect."""
    if v.effect_kind == "difference":
        return 1.0
    if v.effect_kind == "log_ratio" and v.real_value and v.generated_value and v.real_value * v.generated_value > 0:
        # the standard error of a difference was derived from that of the log ratio with this slope
        ratio = math.log(v.generated_value / v.real_value)
        return 1 / (math.sqrt(v.real_value * v.generated_value) * math.cosh(ratio / 2))
    if not v.effect or not v.difference:
        return None
    return abs(v.effect / v.difference)


def _variance_ratios(freedom: float) -> tuple[float, float]:
    """95 % interval of the true variance over the estimated one: χ² of the degrees of freedom.

    >>> [round(x, 2) for x in _variance_ratios(100.0)]
    [0.77, 1.35]
    """
    from scipy.stats import chi2

    return freedom / float(chi2.ppf(0.975, freedom)), freedom / float(chi2.ppf(0.025, freedom))
