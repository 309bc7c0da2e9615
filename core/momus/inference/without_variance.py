"""Rows whose documents do not vary: nothing to test, or no variance to make an interval from."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic
from momus.inference.contrast import Contrast, RatioContrast
from momus.inference.intervals import NONE, Interval
from momus.inference.pvalues import Prepared, both_values
from momus.inference.result import Method, numbers
from momus.inference.samples import Samples, pooled
from momus.numeric.rounding import ROUNDING
from momus.numeric.types import Floats

EMPTY, UNSEEN = 0.01, 5
"""A text hardly varies if its variance is so much of that of the other; values that none of its units has are as many
gaps away."""
SPLITS = 64
"""Random halves of all documents that are compared."""
_SPLITS = 6
"""Number that keeps the random stream of splits apart."""


def nothing_varies(contrast: Contrast, samples: Samples, null: Floats, seed: int) -> bool:
    """Whether all documents of both texts are alike in a statistic, so that there is nothing to compare.

    No relabelling has a contrast then, and neither have random halves of all documents. The halves ignore the design,
    because identical pairs have no contrast under relabelling either, although their documents vary.

    Parameters
    ----------
    null
        Contrasts under relabelling, (B,).
    """
    s = contrast.statistic
    size = max(1.0, *(abs(v) for v in contrast.values if np.isfinite(v)))
    if not (np.abs(np.append(null, contrast.here)) <= ROUNDING * size).all():
        return False
    rows, rng = samples.tables.both(), np.random.default_rng([seed, _SPLITS])
    n = rows.shape[0]
    # one split per column, (N, SPLITS): half of the documents have a 1
    halves = rng.permuted(np.tile(np.arange(n)[:, None] % 2, SPLITS), axis=0).astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = both_values(s, Prepared(pooled(rows, halves), pooled(rows, 1 - halves)))
    gaps = np.abs(other if s.kind == "distance" else other - one)
    defined = gaps[np.isfinite(gaps)]
    return bool(len(defined) and (defined <= ROUNDING * size).all())


def nothing(contrast: Contrast, method: Method) -> tuple[dict[str, Any], Method]:
    """The fields and the method of a row in which nothing varies: no p, and the reason why."""
    s, value = contrast.statistic, contrast.values[1]
    if s.kind == "distance":
        reason = "all documents of both texts are alike; nothing to compare"
    else:
        name = s.wording.label or s.name.replace("_", " ")
        reason = f"{name} is {value:.4g} in every document of both texts; nothing to compare"
    fields = {"real_value": 0.0 if s.kind == "distance" else value, "generated_value": value, "difference": 0.0}
    return fields, _without_test(method, reason)


def untested(contrast: Contrast, method: Method) -> tuple[dict[str, Any], Method]:
    """The fields and the method of a row that has no test: values that exist, and the reason why."""
    real, generated = contrast.values
    fields = {"real_value": real, "generated_value": generated}
    return fields, replace(_without_test(method, contrast.reason), lacks=contrast.lacks)


def _without_test(method: Method, reason: str) -> Method:
    kept = {name: getattr(method, name) for name in ("family", "design", "grouped", "rows")}
    return Method(**kept, units_real=method.units_real, units_generated=method.units_generated, reason=reason)


def apart(contrast: Contrast, samples: Samples, p: float, effect: float, levels: tuple[float, float]) -> dict[str, Any]:
    """The fields of a row whose values differ although its units do not vary: no standard error exists.

    Shares of 0 and 1 have the interval of `separation_interval`, which holds 0 wherever the test does not reject. Any
    other value has none: nothing bounds how far documents that were not seen lie from those that were.

    Parameters
    ----------
    effect
        The effect size, NaN where it does not exist.
    levels
        Levels of the interval for readers, and of that for tests of equivalence.
    """
    s, (real, generated) = contrast.statistic, contrast.values
    units = share_units(s, samples)
    shown = [NONE, NONE]
    if units is not None and {real, generated} == {0.0, 1.0}:
        for i, level in enumerate(levels):
            low, high = separation_interval(real, generated, units, samples.design.together, level)
            shown[i] = (low, high) if p <= 1 - level else (min(low, 0.0), max(high, 0.0))
    # both effect sizes that are not on a log scale are multiples of the difference
    scale = math.nan if s.effect == "log_ratio" else effect / (generated - real)
    effects = [(low * scale, high * scale) for low, high in shown]
    zero_variance = "share" if math.isfinite(shown[0][0]) else "none"
    return {**numbers((real, generated), effect, p, shown[0], effects), "zero_variance": zero_variance}


def unseen_p(contrast: RatioContrast, samples: Samples) -> float:
    """The smallest p that a text can have whose units hardly vary: how often it misses a value that others have.

    Of a text without variance no test knows that it may have a few units with other values, which would move its mean:
    of 8 draws of 10 · Bernoulli(0.1), all are 0 in 0.43 of cases, and no relabelling has a 10. If a share π of units
    have a value 1/π gaps away (for shares: as far as 0 and 1 allow), the means are equal, and n units all miss it
    with probability (1 − π)ⁿ.

    Parameters
    ----------
    contrast
        Of units that are independent within and between texts; of others there is no such p.

    Returns
    -------
    (1 − π)ⁿ of the fewest units of a text whose variance is at most `EMPTY` of that of the other; 0 if there is none.
    """
    observed, design = contrast.observed, samples.design
    if design.kind not in ("documents", "clusters") or not contrast.here:
        return 0.0
    variances = [
        float(v[0]) * n if n > 1 else math.inf
        for v, n in zip((observed.variance_real, observed.variance_generated), design.units, strict=True)
    ]
    rounding = float(observed.flat) ** 2 * max(design.units)
    empty = [n for v, n in zip(variances, design.units, strict=True) if v <= EMPTY * max(variances) + rounding]
    if not empty:
        return 0.0
    gap = abs(float(observed.value[0]))
    share = max(1 / UNSEEN, min(gap, 1.0)) if contrast.statistic.wording.format == "share" else 1 / UNSEEN
    return float((1 - share) ** min(empty))


def share_units(s: Statistic, samples: Samples) -> tuple[int, int] | None:
    """Numbers of independent units behind two shares, if all units of a text have the same weight; None otherwise.

    `separation_interval` needs equal weights: a rare unit with a large weight could hold a large part of a share.
    """
    if s.wording.format != "share" or s.prepare is not None or samples.rows.shape[1] != 2:
        return None
    for rows in samples.unit_rows:
        weights = np.asarray(rows.toarray() if sparse.issparse(rows) else rows)[:, 1]
        if not np.allclose(weights, weights[0], rtol=1e-9, atol=0):
            return None
    return samples.design.units


def separation_interval(
    real: float, generated: float, units: tuple[int, int], together: bool, level: float
) -> Interval:
    """Interval of the difference of two shares of which one is 0 in every unit, and the other 1 in every unit.

    No variance can be estimated from such texts, but the observation itself says how far the shares may be from 0 and
    1. If units have shares in [0, 1] with mean π, all of n units are 0 with probability at most (1 − π)ⁿ, and all are 1
    with probability at most πⁿ. The interval holds all differences of shares (π_r, π_g) under which the observed texts
    have a probability of (1 − level)/2 or more: the inversion of a test, as that of Clopper & Pearson (1934) for one
    share, where it gives the rule of three (Hanley & Lippman-Hand 1983). Texts that are wholly apart and an interval
    that misses the difference thus meet with a probability of (1 − level)/2 at most, at any number of documents.

    Parameters
    ----------
    real, generated
        The shares, 0 and 1 or 1 and 0.
    units
        Independent units of both texts, of equal weight.
    together
        Whether the units of both texts are the same (pairs, prompts): their differences are all 1, or all −1.

    Returns
    -------
    The interval, which ends at ±1; NaN for other shares.

    >>> [round(bound, 3) for bound in separation_interval(0.0, 1.0, (30, 30), False, 0.95)]
    [0.881, 1.0]
    """
    if {real, generated} != {0.0, 1.0}:
        return NONE
    least = (1 - level) / 2
    # of units that are drawn together a share q has a difference of 1, and the others have one of −1 or more
    nearest = (2 * least ** (1 / units[0]) if together else _least_sum(units, least)) - 1
    return (nearest, 1.0) if generated > real else (-1.0, -nearest)


def _least_sum(units: tuple[int, int], least: float) -> float:
    """The smallest a + b with a^n · b^m = ``least`` and a, b ≤ 1."""
    n, m = units
    # at the minimum a = λn and b = λm, unless that is above 1
    # in logarithms: nⁿ · mᵐ overflows from about a hundred units on
    scale = float(np.exp((np.log(least) - n * np.log(n) - m * np.log(m)) / (n + m)))
    a, b = scale * n, scale * m
    if a > 1:
        return 1.0 + math.exp(math.log(least) / m)
    return 1.0 + math.exp(math.log(least) / n) if b > 1 else a + b
