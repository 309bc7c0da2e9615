"""Verdicts: one row for each critic, statistic and generated corpus, with effect, interval, p and n."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from momus.errors import UsageError

ADJUSTMENTS = ("holm", "bh", "none")


@dataclass(frozen=True)
class Verdict:
    """One row of ``verdicts.jsonl``; a value that does not exist is None.

    Attributes
    ----------
    real_value, generated_value
        The statistic of each corpus. Of a distance: what two samples of these sizes from one source differ by, on
        average over permutations, and what the two corpora differ by.
    difference, low, high
        generated − real, with its bootstrap interval.
    effect, effect_kind
        ``hedges_g``, ``log_ratio`` or ``difference``.
    p, p_adjusted, q
        Permutation p-value; adjusted over the headline rows (headline statistics) or over all rows (the others);
        Benjamini–Hochberg q over all rows.
    reference
        What the generated corpus is compared with: ``real``, or another generated corpus.
    delta, equivalent
        Whether the effect is shown to lie within ±δ: its interval at level 1 − 2α (`effect_low`, `effect_high`) lies
        inside. None where no δ was given, or where there is no interval.
    refit_spread
        Standard deviation of the difference over refits of the critic on bootstrap resamples of the fitted text.
    mde
        Minimum detectable difference: 80 % power at a two-sided level of 5 %, from the bootstrap standard error.
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
    method: str
    null: str
    reference: str = "real"
    effect_low: float | None = None
    effect_high: float | None = None
    delta: float | None = None
    equivalent: bool | None = None
    refit_spread: float | None = None

    def row(self) -> dict[str, Any]:
        """As a dict that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Verdict:
        """Build from a row of ``verdicts.jsonl``; keys that a newer version may have added are ignored."""
        known: dict[str, Any] = {f.name: row.get(f.name) for f in fields(cls)}
        known["reference"] = row.get("reference", "real")
        return cls(**known)


def check_delta(delta: float | None) -> None:
    """Raise `UsageError` unless δ is None or a positive number."""
    if delta is not None and not (delta > 0 and math.isfinite(delta)):
        raise UsageError(f"--equivalence {delta:g}: δ must be above 0", hint="0.2 is a small effect in Hedges' g")


def within(verdict: Verdict, delta: float | None) -> Verdict:
    """Say whether the effect is shown to lie within ±δ.

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

    Headline rows are adjusted among themselves: they carry the verdict. The other rows are adjusted over all rows.

    Raises
    ------
    UsageError
        The method is none of ``holm``, ``bh`` and ``none``.
    """
    from momus.inference import benjamini_hochberg, holm

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
