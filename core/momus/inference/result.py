"""The outcome of one test."""

from __future__ import annotations

from dataclasses import dataclass, field

from momus.inference.method import Method

NAN = float("nan")


@dataclass(frozen=True)
class TestResult:
    """The outcome of one test; NaN for what does not exist (such as an interval from one document).

    Attributes
    ----------
    real_value, generated_value
        Values of the statistic. For a distance: its mean over permutations (the distance of two samples from one
        source), and the observed distance.
    difference, low, high
        generated − real, with an interval.
    effect, effect_low, effect_high
        Effect size (``effect_kind``) with a percentile interval.
    equivalence_low, equivalence_high
        Interval of the effect at level 1 − 2α, where α is 1 − confidence: if it lies inside (−δ, δ), the two one-sided
        tests at level α both reject a difference of δ or more (Schuirmann 1987).
    standard_error, mde
        Standard error of the difference; minimum detectable difference (80 % power at the 5 % level).
    n_real, n_generated, n_pairs
        Numbers of units of the test (documents, prompts, clusters or groups), and of pairs.
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
    mde: float = NAN
    n_real: int = 0
    n_generated: int = 0
    n_pairs: int = 0
    method: Method = field(default_factory=Method)
