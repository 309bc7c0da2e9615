"""One p-value for a family of statistics of the same documents, and step-down p-values of its members.

The statistics share their relabellings, so that the distribution of the most extreme of them is that of dependent
statistics (Westfall & Young 1993). They have scales of their own: studentised means, distances, signed influences. Each
is put on the scale of its p-value among its own relabellings (min-P), the observed contrast being one of B + 1 that are
equally likely under the null hypothesis. Equal contrasts all have the rank of the last of them, so a statistic with few
values is no more extreme than its p-value. Beyond the rank `TAIL`, p-values follow the tail of a nominal distribution
(`momus.inference.multiplicity`): so p can be 1/(B + 1), however many statistics there are.

The headline has the share `HEADLINE` of the level and the others have the rest in equal shares: the most extreme
statistic is that with the smallest p ÷ share (weighted min-P; Genovese, Roeder & Wasserman 2006). However many others
there are, a difference in the headline alone is found no less often than by a test of the headline at that share of
the level. All of it depends on the B + 1 contrasts in the same way whichever is the observed one, and shares are fixed
beforehand, which is all that validity needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.inference.contrast import Contrast, RatioContrast
from momus.inference.multiplicity import maximum_test, strength_of_contrasts, strength_of_t
from momus.inference.pvalues import TIE
from momus.numeric.types import Floats

HEADLINE = 0.8
"""Share of the level of a family that its headline has."""
TAIL = 10
"""Rank of a contrast among its relabellings from which on its nominal strength decides."""


@dataclass(frozen=True)
class FamilyTest:
    """The test of a family of F statistics.

    Attributes
    ----------
    extreme
        How many relabellings have a most extreme statistic as extreme as the observed one.
    adjusted
        Step-down p-value of each statistic, (F,); the smallest is the p-value of the family.
    """

    extreme: int
    adjusted: Floats


def family_test(contrasts: Sequence[Contrast], nulls: Sequence[Floats], exact: bool, headline: str = "") -> FamilyTest:
    """Test the hypothesis that no statistic of a family differs, and each of them by step-down.

    Parameters
    ----------
    nulls
        Contrasts under the same B relabellings, (B,) each.
    exact
        Whether these are all relabellings, the observed one among them.
    headline
        Name of the statistic with the share `HEADLINE` of the level; all have equal shares if none has this name.
    """
    shares = _shares([contrast.statistic.name for contrast in contrasts], headline)
    scaled = [
        _scores(contrast, null, exact, share) for contrast, null, share in zip(contrasts, nulls, shares, strict=True)
    ]
    here = np.array([score for score, _ in scaled])
    found = maximum_test(here, np.column_stack([null for _, null in scaled]), exact)
    b = len(nulls[0])
    extreme = round(found.p * b) if exact else round(found.p * (b + 1)) - 1
    return FamilyTest(extreme, found.adjusted)


def _shares(names: Sequence[str], headline: str) -> list[float]:
    """Share of the level that each statistic has."""
    if headline not in names or len(names) == 1:
        return [1 / len(names)] * len(names)
    return [HEADLINE if name == headline else (1 - HEADLINE) / (len(names) - 1) for name in names]


def _scores(contrast: Contrast, null: Floats, exact: bool, share: float) -> tuple[float, Floats]:
    """log₁₀(share ÷ c) of the observed contrast and of (B,) others, larger for more extreme ones.

    c contrasts are as extreme as this one, less s/(2 + 2s) where s ≥ 0 is its strength: by rank, then by strength. Of
    the `TAIL` most extreme ones, c = `TAIL` · 10^(s₀ − s), where s₀ is the smallest strength of these.
    """
    if isinstance(contrast, RatioContrast):
        two_sided, tie = contrast.ratio.transforms, contrast.tie
        here, values = (contrast.here, null) if two_sided else (abs(contrast.here), np.abs(null))
        units = contrast.samples.design.units
        freedom = float(units[0] - 1 if contrast.samples.design.together else sum(units) - 2)
        strengths = strength_of_t(np.append(values, here), max(freedom, 1.0))
    else:
        here, values, tie = contrast.here, null, TIE
        two_sided = contrast.statistic.kind == "value"
        strength, of_null = strength_of_contrasts(here, null, two_sided=two_sided, exact=exact)
        strengths = np.append(of_null, strength)
    everything = np.append(values, here)
    everything = np.where(np.isnan(everything), np.inf, everything)
    pool = np.sort(everything[:-1] if exact else everything)
    size = np.where(np.isfinite(everything), np.abs(everything), 0.0)
    slack = tie * np.maximum(1.0 if two_sided else 1e-3, size)
    reached = len(pool) - np.searchsorted(pool, everything - slack, "left")
    if two_sided:  # twice the smaller tail; contrasts that do not exist are extreme
        below = np.searchsorted(pool, everything + slack, "right")
        missing = int(np.isinf(pool).sum())
        tail = np.minimum(2 * np.minimum(reached - missing, below) + missing, len(pool))
        reached = np.where(np.isfinite(everything), tail, max(missing, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ranks = reached - np.where(np.isfinite(strengths), strengths / (1 + strengths), 1.0) / 2
        rank = min(TAIL, max(len(pool) // TAIL, 1))
        tail = reached <= rank
        if tail.any():
            beyond = np.where(np.isfinite(strengths), strengths - strengths[tail].min(), np.inf)
            ranks = np.where(tail, rank * 10.0**-beyond, ranks)
        scores = np.log10(share) - np.log10(ranks)
    return float(scores[-1]), np.asarray(scores[:-1])
