"""The outcome of one test, and how it was tested, as fields; `momus.report.words.findings` puts them into words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from momus.inference.intervals import NONE, Interval

Test = Literal["permutation", "multipliers", "squares", "relabelled groups", "welch", "none"]
Unit = Literal["documents", "pairs", "prompts", "clusters", "bins", "blocks", "groups"]
Family = Literal["value", "distance", "law"]
ZeroVariance = Literal["", "share", "none"]
Lacking = Literal["", "real", "generated", "both"]


@dataclass(frozen=True)
class Method:
    """The test of one row.

    Attributes
    ----------
    test
        ``permutation`` of units; ``multipliers``: random signs of units that are not exchangeable, for a distance
        itself, or for the ``squares`` of its differences (`momus.inference.multipliers`); ``relabelled groups`` of
        running text; ``welch``: Welch's t on two standard errors;
        ``none``: not tested, see ``reason``.
    family
        What kind of number is compared: a ``value`` of each text, a ``distance`` between both, or a ``law`` of
        running text.
    design
        The units of the test: ``documents``, ``pairs``, ``prompts`` (documents relabelled within prompts),
        whole ``clusters``, ``bins`` of a covariate (documents relabelled within bins), ``blocks`` or contiguous
        ``groups`` of running text.
    grouped
        Whether the units are groups that documents were given as belonging to.
    studentised
        Whether contrasts were divided by their standard error under each relabelling.
    units_real, units_generated
        Numbers of such units, or of the random blocks that they were put into.
    block
        Units per random block (`momus.inference.matching`); 1 without blocks.
    exact
        Whether all relabellings were enumerated.
    permutations, resamples
        Relabellings of the test, or draws of random signs; resamples of the bootstrap standard error (0: no bootstrap).
    rows
        Rows in the table of which this is one, for the level of the minimum detectable difference.
    error
        How the standard error of a law was estimated: ``jackknife``, ``shuffled``, ``relabelled``; empty otherwise.
    tokens
        Length at which two running texts were compared; 0 otherwise.
    reason
        Why the row was not tested; empty where it was.
    lacks
        Which text has no value of the statistic (a text without quotations has no mean length of quotations), or one
        of 0 where logarithms are compared; empty where both have one.
    skewness
        Standardised third cumulant of the difference, where T is transformed for it (`momus.inference.studentised`);
        0 elsewhere.
    zero_variance
        Where texts differ although the documents of neither vary: ``share``, the interval of two shares of 0 and 1
        (`momus.inference.without_variance`), or ``none``, no interval. Empty where documents vary.
    critical
        The value that a distance exceeds by chance with probability α/rows: where it is the largest of many sizes, each
        of these that exceeds it is significant by itself. None for other statistics.
    independent
        Effective number of independent statistics in the family of its axis (`momus.inference.selection`).
    """

    test: Test = "none"
    family: Family = "value"
    design: Unit = "documents"
    units_real: int = 0
    units_generated: int = 0
    grouped: bool = False
    studentised: bool = False
    exact: bool = False
    permutations: int = 0
    resamples: int = 0
    rows: int = 1
    error: str = ""
    tokens: int = 0
    reason: str = ""
    lacks: Lacking = ""
    zero_variance: ZeroVariance = ""
    block: int = 1
    critical: float | None = None
    skewness: float = 0.0
    independent: float = 1.0

    @property
    def floor(self) -> float:
        """The smallest p-value that so many relabellings allow; 0 where p does not come from relabellings.

        Among all relabellings of texts with as many units each, every one has its opposite, which is as extreme.

        >>> Method(units_real=3, units_generated=3, exact=True, permutations=20).floor
        0.1
        """
        if not self.permutations:
            return 0.0
        opposites = self.exact and self.family != "law" and self.units_real == self.units_generated
        return (2 if opposites else 1) / (self.permutations + (0 if self.exact else 1))


NAN = float("nan")


@dataclass(frozen=True)
class TestResult:
    """The outcome of one test; None for what does not exist (such as an interval from one document).

    NaN and infinities become None: a missing value is null, never a magic number.

    Attributes
    ----------
    real_value, generated_value
        Values of the statistic. For a distance: its mean over relabellings (the distance of two samples of these sizes
        from one source), and the observed distance.
    difference, low, high
        generated − real, with an interval that excludes 0 wherever p ≤ 1 − confidence. For a distance: the distance
        between the two populations, cross-fitted (`momus.inference.influence`) or the excess over chance, with its
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
    n_real, n_generated
        Numbers of documents that take part in the test (of groups, for laws of running text).
    effective_real, effective_generated
        Numbers of equally long documents that would determine the value as well: (Σw)²/Σw² over the denominators w.
    left_out_real, left_out_generated
        Scored documents that do not take part, because their prompt or bin has no document on the other side.
    p_axis, p_in_axis
        Of a statistic in the family of its axis: p of the axis, and the p of this statistic adjusted over the family by
        step-down, of which the former is the smallest (`momus.inference.multiplicity`). None for other statistics.
    method
        How the result was computed.
    """

    __test__ = False

    statistic: str
    real_value: float | None = None
    generated_value: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    effect: float | None = None
    effect_low: float | None = None
    effect_high: float | None = None
    effect_kind: str = "difference"
    equivalence_low: float | None = None
    equivalence_high: float | None = None
    p: float | None = None
    standard_error: float | None = None
    freedom: float | None = None
    mde: float | None = None
    n_real: int = 0
    n_generated: int = 0
    effective_real: float | None = None
    effective_generated: float | None = None
    left_out_real: int = 0
    left_out_generated: int = 0
    p_axis: float | None = None
    p_in_axis: float | None = None
    method: Method = field(default_factory=Method)

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is not None:  # NumPy's numbers too become plain ones
                object.__setattr__(self, name, float(value) if math.isfinite(value) else None)


_NUMBERS = tuple(f.name for f in fields(TestResult) if f.type == "float | None")


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
