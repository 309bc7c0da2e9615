"""The outcome of one test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from momus.inference.intervals import NONE, Interval
from momus.inference.method import Method

NAN = float("nan")


@dataclass(frozen=True)
class TestResult:
    """The outcome of one test; NaN for what does not exist (such as an interval from one document).

    Attributes
    ----------
    real_value, generated_value
        Values of the statistic. For a distance: its mean over relabellings (the distance of two samples of these sizes
        from one source), and the observed distance.
    difference, low, high
        generated − real, with an interval that excludes 0 wherever p ≤ 1 − confidence. For a distance: the distance
        between the two populations, cross-fitted (`momus.inference.witness`) or the excess over chance, with its
        interval; neither is below 0.
    effect, effect_low, effect_high
        Effect size (``effect_kind``) with its interval. For a distance: the difference.
    equivalence_low, equivalence_high
        Interval of the effect at level 1 − 2α, where α is 1 − confidence: if it lies inside (−δ, δ), the two one-sided
        tests at level α both reject a difference of δ or more (Schuirmann 1987).
    standard_error, freedom
        Standard error of the difference (of a distance: of the distance), and its degrees of freedom.
    mde
        Minimum detectable difference (or distance): 80 % power at the two-sided level α/family.
    n_real, n_generated, n_pairs
        Numbers of documents that take part in the test (of groups, for laws of running text), and of pairs.
    effective_real, effective_generated
        Numbers of equally long documents that would determine the value as well: (Σw)²/Σw² over the denominators w.
    left_out_real, left_out_generated
        Scored documents that do not take part, because their prompt or bin has no document on the other side.
    p_axis, p_in_axis
        Of a statistic in the family of its axis: p of the axis, and the p of this statistic adjusted over the family by
        step-down, of which the former is the smallest (`momus.inference.family`). NaN for other statistics.
    method
        How the result was computed.
    """

    __test__ = False

    statistic: str
    real_value: float = NAN
    generated_value: float = NAN
    difference: float = NAN
    low: float = NAN
    high: float = NAN
    effect: float = NAN
    effect_low: float = NAN
    effect_high: float = NAN
    effect_kind: str = "difference"
    equivalence_low: float = NAN
    equivalence_high: float = NAN
    p: float = NAN
    standard_error: float = NAN
    freedom: float = NAN
    mde: float = NAN
    n_real: int = 0
    n_generated: int = 0
    n_pairs: int = 0
    effective_real: float = NAN
    effective_generated: float = NAN
    left_out_real: int = 0
    left_out_generated: int = 0
    p_axis: float = NAN
    p_in_axis: float = NAN
    method: Method = field(default_factory=Method)


def numbers(
    values: tuple[float, float],
    effect: float,
    p: float,
    low_high: Interval = NONE,
    effects: Sequence[Interval] = (NONE, NONE),
    spread: tuple[float, float, float] = (NAN, NAN, NAN),
) -> dict[str, float]:
    """The numbers that tests of all kinds have, by the name of the field of `TestResult`.

    Parameters
    ----------
    values
        Real and generated value.
    low_high
        Interval of the difference.
    effects
        Intervals of the effect, for readers and for tests of equivalence.
    spread
        Standard error, its degrees of freedom, minimum detectable difference.

    >>> numbers((1.0, 3.0), 0.5, 0.04)["difference"]
    2.0
    """
    return {
        "real_value": values[0],
        "generated_value": values[1],
        "difference": values[1] - values[0],
        "low": low_high[0],
        "high": low_high[1],
        "effect": effect,
        "effect_low": effects[0][0],
        "effect_high": effects[0][1],
        "equivalence_low": effects[1][0],
        "equivalence_high": effects[1][1],
        "p": p,
        "standard_error": spread[0],
        "freedom": spread[1],
        "mde": spread[2],
    }
