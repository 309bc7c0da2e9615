"""How many documents a difference touches: the size by which findings of unlike statistics compete."""

from __future__ import annotations

import math

from momus.verdicts.verdict import Verdict

RATIO = 0.5
"""What a shift counts that t alone tells: of ratios of totals, some documents have most, and prompts take some away."""
WHOLE = 0.05
"""How far the deviation of a share may lie from that of documents that have it wholly or not at all."""


def touched(effect: float) -> float:
    """Share of the documents of one text that must change for a normal statistic to lose a shift of so many deviations.

    The total variation of two normal laws, 2 Φ(|g| / 2) − 1.

    >>> round(touched(0.5), 3), touched(0.0)
    (0.197, 0.0)
    """
    return math.erf(abs(effect) / math.sqrt(8))


def surely_touched(v: Verdict) -> float:
    """Share of documents that would surely have to change, at the end of the interval that is nearer to no difference.

    Of what documents have or lack, the difference of both shares; of a distance, itself; of other values, `touched` of
    the shift in standard deviations. 0 where the interval holds 0, where there is none, and of a test statistic.
    """
    # of texts whose documents are all alike, a difference has no effect, but may have an interval
    size, low, high = (v.difference, v.low, v.high) if v.effect is None else (v.effect, v.effect_low, v.effect_high)
    if v.wording.format == "score" or not size or low is None or high is None or low <= 0 <= high:
        return 0.0
    sure = min(abs(low), abs(high)) / abs(size)
    if v.method.family == "distance":
        return min(sure * abs(size), 1.0)
    if _whole(v):
        return sure * abs(v.difference or 0.0)
    return touched(_deviations(v) * sure)


def _whole(v: Verdict) -> bool:
    """Whether each document has what a share counts wholly or not at all."""
    real, generated = v.real_value, v.generated_value
    if v.wording.format != "share" or real is None or generated is None or not v.difference:
        return False
    if not v.effect:
        return v.method.zero_variance == "share"
    bernoulli = math.sqrt(max(real * (1 - real) + generated * (1 - generated), 0.0) / 2)
    return v.effect_kind == "hedges_g" and abs(abs(v.difference / v.effect) - bernoulli) <= WHOLE * bernoulli


def _deviations(v: Verdict) -> float:
    """The shift in standard deviations of documents: Hedges' g, or what t and the numbers of documents say of it."""
    if v.effect_kind == "hedges_g" and v.effect is not None:
        return abs(v.effect)
    if not v.standard_error or not v.difference or not (v.n_real and v.n_generated):
        return 0.0
    return RATIO * abs(v.difference / v.standard_error) * math.sqrt(1 / v.n_real + 1 / v.n_generated)
