"""From a contrast and its null distribution to the outcome of the test: p, interval, effect, detectable difference."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from momus.critic.statistic import Statistic, perplexity, total_variation
from momus.inference import intervals
from momus.inference.contrast import Contrast, RatioContrast, SignedContrast
from momus.inference.influence import Errors, bootstraps, cross_fitted, distance_error, witness_of
from momus.inference.intervals import (
    SIGNED,
    Interval,
    Reach,
    chance_value,
    detectable_difference,
    detectable_distance,
    effective_n,
    hedges_factor,
    t_quantile,
)
from momus.inference.pvalues import Prepared, both_values, tie_above
from momus.inference.result import Method, TestResult, numbers
from momus.inference.samples import Samples
from momus.inference.studentised import restored
from momus.inference.without_variance import apart, nothing, nothing_varies, unseen_p, untested
from momus.numeric.types import Floats

SLIGHT = 1e-3
"""Part of a distance that counts as more than 0 where nothing better is known."""


@dataclass(frozen=True)
class Question:
    """What is asked of all rows: level of the intervals, resamples of a bootstrap, size of the family, seed."""

    confidence: float
    resamples: int
    family: int
    seed: int

    @property
    def inner(self) -> float:
        """Level of the interval of tests of equivalence."""
        return max(2 * self.confidence - 1, 0.0)

    @property
    def level(self) -> float:
        """Level of one row, if the family is adjusted by Holm and no other row differs."""
        return (1 - self.confidence) / max(self.family, 1)


def outcome(
    contrast: Contrast,
    samples: Samples,
    null: Floats,
    exact: bool,
    noise: tuple[Floats, Floats] | None,
    errors: Errors,
    question: Question,
) -> TestResult:
    """Build the outcome of one test from the null distribution of its contrast.

    Where all documents of both texts are alike, or the distance has no test, ``method.reason`` says so.
    """
    s, d, method = contrast.statistic, samples.design, _method(contrast, samples, len(null), exact, question)
    if contrast.reason:
        fields, method = untested(contrast, method)
    elif nothing_varies(contrast, samples, null, question.seed):
        fields, method = nothing(contrast, method)
    elif isinstance(contrast, RatioContrast):
        fields = _ratio(contrast, samples, null, exact, question)
    elif s.kind == "distance":
        fields = _distance(contrast, samples, null, exact, noise, errors, question)
    else:
        fields = _value(contrast, samples, null, exact, errors, question)
    zero_variance, critical = fields.pop("zero_variance", ""), fields.pop("critical", None)
    return TestResult(
        statistic=s.name,
        effect_kind="distance" if s.kind == "distance" else s.effect,
        n_real=d.n_real,
        n_generated=d.n_generated,
        left_out_real=d.left_out[0],
        left_out_generated=d.left_out[1],
        method=replace(method, zero_variance=zero_variance, critical=critical),
        **fields,
    )


def _method(contrast: Contrast, samples: Samples, drawn: int, exact: bool, question: Question) -> Method:
    d, ratio = samples.design, isinstance(contrast, RatioContrast)
    signed = contrast.influences if isinstance(contrast, SignedContrast) else None
    return Method(
        test="permutation" if signed is None else "squares" if signed.squared else "multipliers",
        family=contrast.statistic.kind,
        design=d.asked.kind,
        units_real=d.units[0],
        units_generated=d.units[1],
        grouped=d.asked.groups is not None,
        block=d.block,
        studentised=ratio,
        exact=exact,
        permutations=drawn,
        resamples=question.resamples if not ratio and bootstraps(contrast.statistic, samples) else 0,
        rows=question.family,
        skewness=_skewness(contrast),
    )


def _skewness(contrast: Contrast) -> float:
    skewness = contrast.observed.skewness if isinstance(contrast, RatioContrast) else None
    return 0.0 if skewness is None else float(skewness[0])


def _reach(contrast: RatioContrast, null: Floats, exact: bool, freedom: float, confidence: float) -> Reach:
    """Critical values of T above and below 0, such that the interval excludes 0 exactly where p ≤ 1 − confidence.

    Equal for |T|; from both tails and back from the scale of the transform where T is transformed. If so few
    relabellings allow no such p: Student's t, but no less than the observed |T|.
    """
    student = t_quantile((1 + confidence) / 2, freedom)
    if contrast.observed.skewness is None:
        one = _critical(contrast, np.abs(null), abs(contrast.here), student, 1 - confidence, exact)
        return one, one
    skewness, ends = _skewness(contrast), []
    for sign in (1, -1):
        reach = _critical(contrast, sign * null, sign * contrast.here, student, (1 - confidence) / 2, exact)
        # below 0, an end would lie on the other side of the estimate
        ends.append(max(sign * float(restored(np.array(sign * reach), skewness)), 0.0))
    return ends[0], ends[1]


def _critical(contrast: RatioContrast, null: Floats, here: float, student: float, level: float, exact: bool) -> float:
    """Critical value of T, or of |T|, where the observed one is ``here``.

    That of the relabellings holds for texts that are alike. Relabelled documents of texts that lie far apart scatter by
    what lies between these texts, which the error of the difference knows nothing of: from there to twice the critical
    value, it becomes Student's.
    """
    reach = intervals.critical_value(null, level, exact)
    if not math.isfinite(reach):
        return max(student, tie_above(here, contrast.tie))
    reach = tie_above(reach, contrast.tie)
    apart = min(max(abs(contrast.here) / reach - 1, 0.0), 1.0) if reach > 0 else 0.0
    return reach + apart * (min(student, 1.9 * reach) - reach)  # the interval still excludes 0


def _ratio(contrast: RatioContrast, samples: Samples, null: Floats, exact: bool, question: Question) -> dict[str, Any]:
    """Means and ratios: studentised, with an interval that excludes 0 exactly where the test rejects."""
    s, observed = contrast.statistic, contrast.observed
    error, freedom = float(observed.error[0]), contrast.ratio.freedom(observed)
    p = max(contrast.p(null, exact), unseen_p(contrast, samples))
    if error == 0 and contrast.here:
        return _apart(contrast, samples, p, float(observed.value[0]), question) | _lengths(samples)
    reaches = [_reach(contrast, null, exact, freedom, level) for level in (question.confidence, question.inner)]
    for i, level in enumerate((question.confidence, question.inner)):
        if p > 1 - level and error > 0:  # an interval holds 0 where a text hardly varies, and so says too little
            least = tie_above(abs(float(observed.value[0])) / error)
            reaches[i] = max(reaches[i][0], least), max(reaches[i][1], least)
    # the interval at the higher level holds the other
    reaches[0] = max(reaches[0][0], reaches[1][0]), max(reaches[0][1], reaches[1][1])
    mde = detectable_difference(error, freedom, question.level)
    real, generated = contrast.values
    scaled = s.function is perplexity
    plain = error
    if scaled:  # from the log scale to that of the value
        parts = real**2 * float(observed.variance_real[0]) + generated**2 * float(observed.variance_generated[0])
        plain = (real + generated) / 2 * error if samples.design.together else math.sqrt(max(parts, 0.0))
    shown = [_difference(s, real, generated, error, reach, plain) for reach in reaches]
    tested = 0.0 if contrast.equal else float(observed.value[0])
    effect, outer, inner = _effect(s, samples, tested, error, reaches, shown, generated - real)
    if scaled:
        mde = 2 * math.sqrt(real * generated) * intervals.sinh(mde / 2)
    spread = plain, freedom, mde
    return numbers((real, generated), effect, p, shown[0], (outer, inner), spread) | _lengths(samples)


def _apart(contrast: Contrast, samples: Samples, p: float, tested: float, question: Question) -> dict[str, Any]:
    """Values that differ without a standard error; ``tested`` is the difference on the scale of the test."""
    real, generated = contrast.values
    effect, _, _ = _effect(
        contrast.statistic, samples, tested, 0.0, [(0.0, 0.0)] * 2, [intervals.NONE] * 2, generated - real
    )
    return apart(contrast, samples, p, effect, (question.confidence, question.inner))


def _lengths(samples: Samples) -> dict[str, Any]:
    """Numbers of equally long documents that would determine two ratios as well, from their denominators."""
    tables = samples.tables.real, samples.tables.generated
    one, other = (
        effective_n(w * np.asarray(rows)[:, 1]) for w, rows in zip(samples.design.weights, tables, strict=True)
    )
    return {"effective_real": one, "effective_generated": other}


def _difference(s: Statistic, real: float, generated: float, error: float, reach: Reach, plain: float) -> Interval:
    """Interval of a difference with the standard error ``plain``, from ``error``, that on the scale of the test."""
    if s.function is perplexity or s.scale == "log":
        return intervals.both_ends(lambda r: intervals.of_log_ratio(real, generated, error, r, plain), reach)
    return intervals.both_ends(lambda r: intervals.symmetric(generated - real, error, r), reach)


def _effect(
    s: Statistic,
    samples: Samples,
    contrast: float,
    error: float,
    reaches: list[Reach],
    shown: list[Interval],
    difference: float,
) -> tuple[float, Interval, Interval]:
    """Effect size with its intervals at both levels; ``contrast`` and ``error`` are on the scale of the test."""
    if s.effect == "hedges_g":
        tables = samples.tables.real, samples.tables.generated
        factor, freedom = hedges_factor(tables, samples.design.weights)
        if not math.isfinite(factor):
            return factor, intervals.NONE, intervals.NONE
        outer, inner = (
            intervals.both_ends(lambda r: intervals.of_effect(difference * factor, error * factor, freedom, r), reach)
            for reach in reaches
        )
        return difference * factor, outer, inner
    if s.effect == "log_ratio":
        ratio = contrast if s.function is perplexity or s.scale == "log" else math.nan
        outer, inner = (intervals.both_ends(lambda r: intervals.symmetric(ratio, error, r), reach) for reach in reaches)
        return ratio, outer, inner
    return difference, shown[0], shown[1]


def _value(
    contrast: Contrast, samples: Samples, null: Floats, exact: bool, errors: Errors, question: Question
) -> dict[str, Any]:
    """Other values: the larger p-value of a permutation test and a t-test, and the interval of the latter."""
    s = contrast.statistic
    error, freedom = errors.of(s)
    p = contrast.p(null, exact)
    real, generated = contrast.values
    if not math.isfinite(error):
        none, unknown = [intervals.NONE] * 2, (math.nan, math.nan)
        effect, _, _ = _effect(s, samples, contrast.here, math.nan, [unknown] * 2, none, generated - real)
        return numbers((real, generated), effect, p, none[0], none, (math.nan, *unknown))
    if error == 0 and contrast.here:
        return _apart(contrast, samples, p, contrast.here, question)
    if error > 0:
        p = max(p, float(2 * stdtr(freedom, -abs(contrast.here) / error)))
    reaches = [(t_quantile((1 + level) / 2, freedom),) * 2 for level in (question.confidence, question.inner)]
    if error > 0 and p > 1 - question.confidence:  # the interval holds 0 where the test does not reject that
        reaches[0] = (max(reaches[0][0], tie_above(abs(contrast.here) / error)),) * 2
    plain = errors.plain(s, (real, generated), error)
    shown = [_difference(s, real, generated, error, reach, plain) for reach in reaches]
    effect, outer, inner = _effect(s, samples, contrast.here, error, reaches, shown, generated - real)
    mde = detectable_difference(error, freedom, question.level)
    if s.scale == "log":
        mde = 2 * math.sqrt(real * generated) * intervals.sinh(mde / 2)
    return numbers((real, generated), effect, p, shown[0], (outer, inner), (plain, freedom, mde))


def _distance(
    contrast: Contrast,
    samples: Samples,
    null: Floats,
    exact: bool,
    noise: tuple[Floats, Floats] | None,
    errors: Errors,
    question: Question,
) -> dict[str, Any]:
    """Distances: an estimate of the distance between the two populations, and its interval.

    The estimate is the cross-fitted one (`momus.inference.influence`), otherwise the excess over chance; 0 where that
    is negative. The lower end of the interval is 0 unless the test rejects equality, and above 0 otherwise: the
    estimate less its margin of error, or less where that is negative. The upper end is the observed distance, which
    chance makes too large, plus its margin.
    """
    s, distance = contrast.statistic, contrast.values[1]
    chance = float(null[np.isfinite(null)].mean()) if np.isfinite(null).any() else 0.0
    p = contrast.p(null, exact)
    distances, squares = null, contrast.influences if isinstance(contrast, SignedContrast) else None
    if squares is not None and squares.squared:
        assert noise is not None
        distances = both_values(s, Prepared(*noise))[1]
        # the null distribution is of squares; distances under the same signs are kept in `noise`
        chance = float(distances[np.isfinite(distances)].mean())
    witness = witness_of(s)
    if witness is not None:
        error, freedom = distance_error(samples, witness)
        estimate = cross_fitted(samples, witness, question.seed)
    else:
        error, freedom = errors.of(s)
        estimate = distance - chance
    finite = distances[np.isfinite(distances)]
    estimate = 0.0 if contrast.equal else max(estimate, 0.0)  # NaN stays
    shown = []
    for confidence in (question.confidence, question.inner):
        margin = t_quantile((1 + confidence) / 2, freedom) * error if math.isfinite(error) else math.nan
        critical = intervals.critical_value(null, 1 - confidence, exact)
        # how far the distance lies above its critical value
        least = contrast.here - critical
        if squares is not None and squares.squared:
            least = squares.least_distance(critical) if s.function is total_variation else 0.0
        if p > 1 - confidence:
            shown.append((0.0, max(distance, estimate) + margin))
            continue
        if estimate == 0:  # the halves of the texts that were not seen do not show what the test finds
            estimate = max(least, max(distance - chance, distance * SLIGHT) / 2)
        # any number below `least`, which the test does not reject, is a lower end
        low = max(estimate - margin, min(max(least, distance * SLIGHT), estimate / 2))
        shown.append((low, max(distance, estimate) + margin))
    if s.function in SIGNED and s.prepare is None:  # of shares, which differ by 1 at most
        shown = [(low, min(high, 1.0)) for low, high in shown]
    if not math.isfinite(error):
        shown = [intervals.NONE] * 2
    if s.uneven == "itself":  # a number that grows with the documents, such as Higher Criticism, and no share
        mde = math.nan
    elif s.prepare is None and noise is not None and len(finite):
        mde = detectable_distance(s, finite, noise, question.level)
    else:
        mde = chance_value(finite, question.level) - chance + t_quantile(0.8, freedom) * error
    outcome = numbers((chance, distance), estimate, p, shown[0], shown, (error, freedom, mde))
    outcome |= {"difference": estimate if math.isfinite(estimate) else distance - chance}
    critical = chance_value(distances[np.isfinite(distances)], question.level) if len(finite) else math.nan
    return {**outcome, "critical": critical if math.isfinite(critical) else None}
