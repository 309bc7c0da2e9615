"""Verdicts: one row per critic, statistic and generated corpus, with effect, interval, p and n."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from momus.critic import Scores
from momus.errors import UsageError
from momus.evidence import Wording
from momus.inference import Method, TestResult, benjamini_hochberg, holm

if TYPE_CHECKING:
    from momus.critic import Critic

ADJUSTMENTS = ("holm", "bh", "none")
ALPHA = 0.05
NUMBERS = (
    *("real_value", "generated_value", "difference", "low", "high", "effect", "effect_low", "effect_high"),
    *("equivalence_low", "equivalence_high", "p", "mde", "standard_error", "freedom"),
    *("effective_real", "effective_generated"),
)
"""Numbers of a test result that a verdict holds as floats, or None where they do not exist."""
_Nested = TypeVar("_Nested", Method, Wording)
Finding = Literal[
    "not tested", "not told apart", "within human variation", "undecided", "beyond human variation", "differs"
]


@dataclass(frozen=True)
class Verdict:
    """One row of ``verdicts.jsonl``; a value that does not exist is None.

    Attributes
    ----------
    real_value, generated_value
        The statistic of each corpus. Of a distance: the mean distance of two samples of these sizes from one source,
        over permutations, and the distance of the two corpora.
    difference, low, high
        generated − real, with its interval. Of a distance: the excess over chance, and the interval of the distance
        between the two populations.
    effect, effect_kind, effect_low, effect_high
        ``hedges_g``, ``log_ratio``, ``difference`` or ``distance`` (the cross-fitted estimate of the distance between
        the two populations), with its interval.
    equivalence_low, equivalence_high
        Interval of the effect at level 1 − 2α.
    band, band_source, band_groups
        The human band, in units of the effect: real text differs from real text of other groups by no more in 95 % of
        cases (source ``groups``; `momus.verdicts.band`), or a stated default (source ``default``). None where no
        default applies.
    p, p_adjusted, q
        The p-value of the test; adjusted over the headline rows (headline statistics) or over all rows (the others);
        Benjamini–Hochberg q over all rows.
    n_real, n_generated
        Documents that take part in the test (groups, for laws of running text).
    effective_real, effective_generated
        Numbers of equally long documents that would determine the values as well.
    left_out_real, left_out_generated
        Scored documents without a partner on the other side, which do not take part.
    standard_error, freedom
        Standard error of the difference, and its degrees of freedom.
    reference
        What the generated corpus is compared with: ``real``, or another generated corpus.
    delta, equivalent
        Whether the effect is shown to lie within ±δ: its interval at level 1 − 2α lies inside. None where no δ was
        given, or where there is no interval.
    refit_spread
        Standard deviation of the difference over refits of the critic on bootstrap resamples of the fitted text.
    mde
        Minimum detectable difference: 80 % power at the level α/m of a table with m headline rows.
    method
        How the row was tested, see `momus.inference.Method`.
    told
        Whether this row tells direction and size of the difference on the critic's axis.
    wording
        Name, direction, unit and format of the statistic for readers, see `momus.evidence.Wording`.
    """

    critic: str
    axis: str
    statistic: str
    unit: str
    generated: str
    real_value: float | None
    generated_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    effect: float | None
    effect_kind: str
    p: float | None
    p_adjusted: float | None
    q: float | None
    mde: float | None
    n_real: int
    n_generated: int
    unscored_real: int
    unscored_generated: int
    headline: bool
    reference: str = "real"
    effect_low: float | None = None
    effect_high: float | None = None
    equivalence_low: float | None = None
    equivalence_high: float | None = None
    band: float | None = None
    band_source: str = ""
    band_groups: int = 0
    standard_error: float | None = None
    freedom: float | None = None
    effective_real: float | None = None
    effective_generated: float | None = None
    left_out_real: int = 0
    left_out_generated: int = 0
    alpha: float = ALPHA
    delta: float | None = None
    equivalent: bool | None = None
    refit_spread: float | None = None
    method: Method = field(default_factory=Method)
    told: bool = False
    wording: Wording = field(default_factory=Wording)

    @classmethod
    def of(
        cls, critic: Critic[Any], result: TestResult, real: Scores, generated: Scores, *, alpha: float = ALPHA
    ) -> Verdict:
        """Build the row of one test."""
        # fields that a test result and a verdict both have; NaN becomes None
        shared = {f.name for f in fields(cls)} & {f.name for f in fields(result)}
        values = {name: getattr(result, name) for name in shared}
        values |= {name: finite(values[name]) for name in NUMBERS}
        return cls(
            critic=critic.name,
            axis=critic.axis,
            unit=critic.unit,
            generated=generated.corpus,
            reference=real.corpus,
            unscored_real=len(real) - real.n_scored,
            unscored_generated=len(generated) - generated.n_scored,
            headline=result.statistic == critic.headline_statistic,
            p_adjusted=None,
            q=None,
            alpha=alpha,
            **values,
        )

    @property
    def differs(self) -> bool:
        """Whether the adjusted p-value rejects equality at level ``alpha``."""
        return self.p_adjusted is not None and self.p_adjusted <= self.alpha

    @property
    def gap(self) -> float | None:
        """Size of the effect in human bands: 0 as near as text can be, 1 as far as other human text."""
        if self.effect is None or not self.band:
            return None
        size = max(self.effect, 0.0) if self.effect_kind == "distance" else abs(self.effect)
        return size / self.band

    @property
    def gap_interval(self) -> tuple[float, float] | None:
        """Interval of `gap`; its lower end is 0 where the interval of the effect holds 0."""
        if self.effect_low is None or self.effect_high is None or not self.band:
            return None
        low, high = self.effect_low, self.effect_high
        inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return inner / self.band, max(abs(low), abs(high)) / self.band

    @property
    def finding(self) -> Finding:
        """What the row shows: whether texts differ, and if so whether by more than human texts do.

        A difference is *within* human variation if its whole interval lies inside the human band, *beyond* if it lies
        outside, and *undecided* in between. Without a band it only *differs*.
        """
        if self.p_adjusted is None:
            return "not tested"
        if not self.differs:
            return "not told apart"
        interval = self.gap_interval
        if interval is None:
            return "differs"
        if interval[1] <= 1:
            return "within human variation"
        return "beyond human variation" if interval[0] > 1 else "undecided"

    def row(self) -> dict[str, Any]:
        """The fields as a dict that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Verdict:
        """Build from a row of ``verdicts.jsonl``; keys that a newer version may have added are ignored.

        Raises
        ------
        ValueError
            The row has no ``method`` with fields.
        """
        if not isinstance(row.get("method"), Mapping):
            raise ValueError("a row has no fields under `method`: an older version wrote it")
        known: dict[str, Any] = {f.name: row[f.name] if f.name in row else _default(f) for f in fields(cls)}
        known["method"] = _nested(Method, row["method"])
        words = dict(row.get("wording") or {})
        known["wording"] = _nested(Wording, {**words, "direction": tuple(words.get("direction", ()))})
        return cls(**known)


def _default(field: Field[Any]) -> Any:
    """The default of a field that a row lacks; None where there is none."""
    return None if field.default is MISSING else field.default


def _nested(kind: type[_Nested], row: Mapping[str, Any]) -> _Nested:
    """A dataclass from those of its fields that a row has."""
    return kind(**{f.name: row[f.name] for f in fields(kind) if f.name in row})


def check_delta(delta: float | None) -> None:
    """Raise `UsageError` unless δ is None or a positive number."""
    if delta is not None and not (delta > 0 and math.isfinite(delta)):
        raise UsageError(f"--equivalence {delta:g}: δ must be above 0", hint="0.2 is a small effect in Hedges' g")


def within(verdict: Verdict, delta: float | None) -> Verdict:
    """Record whether the effect is shown to lie within ±δ.

    Raises
    ------
    UsageError
        δ is not positive.
    """
    check_delta(delta)
    if delta is None:
        return verdict
    low, high = verdict.equivalence_low, verdict.equivalence_high
    inside = None if low is None or high is None else -delta < low and high < delta
    return replace(verdict, delta=delta, equivalent=inside)


def finite(value: float | None) -> float | None:
    """Turn NaN and infinities into None: a missing value is null, never a magic number.

    >>> finite(float("nan")), finite(1.5)
    (None, 1.5)
    """
    return None if value is None or not math.isfinite(value) else float(value)


def adjust(verdicts: Sequence[Verdict], method: str = "holm") -> list[Verdict]:
    """Adjust p-values over the table.

    Headline rows decide the verdict and are adjusted among themselves. The other rows are adjusted over all rows.

    Raises
    ------
    UsageError
        The method is none of ``holm``, ``bh`` and ``none``.
    """
    if method not in ADJUSTMENTS:
        raise UsageError(f"no adjustment {method!r}", hint=f"choose one of {', '.join(ADJUSTMENTS)}")
    tested = [i for i, v in enumerate(verdicts) if v.p is not None]
    everything = [float(verdicts[i].p or 0.0) for i in tested]
    headlines = [i for i in tested if verdicts[i].headline]
    corrections: dict[str, Callable[[Sequence[float]], Sequence[float]]]
    corrections = {"holm": holm, "bh": benjamini_hochberg, "none": list}  # type: ignore[dict-item]
    correct = corrections[method]
    adjusted = dict(zip(tested, correct(everything), strict=True)) if tested else {}
    if headlines:
        adjusted |= dict(zip(headlines, correct([float(verdicts[i].p or 0.0) for i in headlines]), strict=True))
    q = dict(zip(tested, benjamini_hochberg(everything), strict=True)) if tested else {}
    return [
        replace(v, p_adjusted=float(adjusted[i]), q=float(q[i]))
        if i in adjusted
        else replace(v, p_adjusted=None, q=None)
        for i, v in enumerate(verdicts)
    ]
