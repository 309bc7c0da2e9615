"""What a test found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TestResult:
    """What a test found; NaN where something does not exist (an interval from one document).

    Attributes
    ----------
    real_value, generated_value
        Of a distance: its mean over permutations (what two samples of one source differ by), and the distance.
    difference, low, high
        generated − real, with an interval.
    effect, effect_low, effect_high
        Effect size (``effect_kind``) with a percentile interval.
    equivalence_low, equivalence_high
        Interval of the effect at level 1 − 2α, where α is 1 − confidence: inside of (−δ, δ), the two one-sided tests at
        level α both reject a difference of δ or more (Schuirmann 1987).
    standard_error, mde
        Bootstrap standard error of the difference; difference found with 80 % power at the 5 % level.
    """

    __test__ = False

    statistic: str
    kind: str
    real_value: float
    generated_value: float
    difference: float
    low: float
    high: float
    effect: float
    effect_low: float
    effect_high: float
    effect_kind: str
    equivalence_low: float
    equivalence_high: float
    p: float
    standard_error: float
    mde: float
    method: str
    null: str
    permutations: int
    resamples: int
    n_real: int
    n_generated: int
    n_pairs: int
