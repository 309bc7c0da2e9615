"""Verdicts: one row per critic, statistic and generated corpus, with effect, interval, p and n."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from momus.critic import Scores
from momus.errors import UsageError
from momus.inference import Method, TestResult, benjamini_hochberg, holm

if TYPE_CHECKING:
    from momus.critic import Critic

ADJUSTMENTS = ("holm", "bh", "none")
ALPHA = 0.05
NUMBERS = ("real_value", "generated_value", "difference", "low", "high", "effect", "p", "mde")
"""Numbers of a test result that a verdict holds as floats, or None where they do not exist."""


@dataclass(frozen=True)
class Verdict:
    """One row of ``verdicts.jsonl``; a value that does not exist is None.

    Attributes
    ----------
    real_value, generated_value
        The statistic of each corpus. Of a distance: the mean distance of two samples of these sizes from one source,
        over permutations, and the distance of the two corpora.
    difference, low, high
        generated − real, with its interval.
    effect, effect_kind
        ``hedges_g``, ``log_ratio`` or ``difference``.
    p, p_adjusted, q
        The p-value of the test; adjusted over the headline rows (headline statistics) or over all rows (the others);
        Benjamini–Hochberg q over all rows.
    n_real, n_generated
        Units of the test.
    reference
        What the generated corpus is compared with: ``real``, or another generated corpus.
    delta, equivalent
        Whether the effect is shown to lie within ±δ: its interval at level 1 − 2α (`effect_low`, `effect_high`) lies
        inside. None where no δ was given, or where there is no interval.
    refit_spread
        Standard deviation of the difference over refits of the critic on bootstrap resamples of the fitted text.
    mde
        Minimum detectable difference: 80 % power at a two-sided level of 5 %.
    method
        How the row was tested, see `momus.inference.Method`.
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
    delta: float | None = None
    equivalent: bool | None = None
    refit_spread: float | None = None
    method: Method = field(default_factory=Method)

    @classmethod
    def of(cls, critic: Critic[Any], result: TestResult, real: Scores, generated: Scores) -> Verdict:
        """Build the row of one test."""
        # fields that a test result and a verdict both have; NaN becomes None
        shared = {f.name for f in fields(cls)} & {f.name for f in fields(result)}
        values = {name: getattr(result, name) for name in shared}
        values |= {name: finite(values[name]) for name in NUMBERS}
        values |= {"effect_low": finite(result.equivalence_low), "effect_high": finite(result.equivalence_high)}
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
            **values,
        )

    @property
    def differs(self) -> bool:
        """Whether the adjusted p-value rejects equality at level 0.05."""
        return self.p_adjusted is not None and self.p_adjusted <= ALPHA

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
        known: dict[str, Any] = {f.name: row.get(f.name) for f in fields(cls)}
        known["reference"] = row.get("reference", "real")
        known["method"] = _method(row["method"])
        return cls(**known)


def _method(row: Mapping[str, Any]) -> Method:
    return Method(**{f.name: row[f.name] for f in fields(Method) if f.name in row})


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
    low, high = verdict.effect_low, verdict.effect_high
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
