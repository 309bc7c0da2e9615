"""Tests of one law between two running texts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from momus.errors import MomusError
from momus.laws.jackknife import Jackknifed, jackknife, joined, shortened, shuffled
from momus.laws.law import ErrorEstimate, Law
from momus.text.running import RunningText

LEAST_GROUPS = 4
FEWEST_DOCUMENTS = 10
"""Texts of this many documents or more are cut so that no document lies in two groups."""
RELABELLINGS = 199


@dataclass(frozen=True)
class LawTest:
    """Two texts under one law: values with their standard errors, and the test of their difference.

    Attributes
    ----------
    low, high, inner
        Intervals of generated − real at level 1 − α and at level 1 − 2α (the latter for tests of equivalence).
    tokens
        Length at which the texts were compared.
    error
        How the standard errors were estimated, see `momus.laws.Law`; ``relabelled`` is a permutation test, the others
        are Welch's t.
    relabellings
        Of the permutation test; 0 otherwise.
    """

    real: Jackknifed
    generated: Jackknifed
    difference: float
    low: float | None
    high: float | None
    p: float | None
    mde: float | None
    tokens: int
    inner: tuple[float, float] | None
    error: ErrorEstimate
    relabellings: int = 0


def compare_law(
    law: Law, real: RunningText, generated: RunningText, confidence: float, relabellings: int = RELABELLINGS
) -> LawTest:
    """Test one law between two running texts.

    An exponent fitted on a finite text depends on its length, so the longer text is cut to the length of the shorter.

    Raises
    ------
    MomusError, ValueError
        A text is too short for the law, or does not determine it.
    """
    texts = (real, generated)
    tokens = min(map(len, texts))
    groups = min(groups_for(law, len(text), name) for text, name in zip(texts, ("real", "generated"), strict=True))
    documents = min(1 if text.ends is None else len(text.ends) for text in texts)
    if documents >= FEWEST_DOCUMENTS:
        groups = min(groups, documents)
    cut = [shortened(text, tokens, groups, law.align) for text in texts]
    tokens = min(map(len, cut))  # whole documents meet the length only nearly
    if law.error == "relabelled":
        return _relabelled(law.function, cut[0], cut[1], groups, confidence, relabellings)
    a, b = (standard_error(law, text, groups) for text in cut)
    difference = b.value - a.value
    p, low, high, mde = _welch(difference, a, b, confidence)
    inner = _welch(difference, a, b, max(2 * confidence - 1, 0.0))[1:3]
    both = None if inner[0] is None or inner[1] is None else (inner[0], inner[1])
    return LawTest(a, b, difference, low, high, p, mde, tokens, both, law.error)


def standard_error(law: Law, text: RunningText, groups: int) -> Jackknifed:
    """The value of a law for one text with its standard error, estimated as the law declares.

    Raises
    ------
    ValueError
        The text does not determine it.
    """
    if law.error == "shuffled":
        return shuffled(law.function, text, groups, law.orders, law.reordered)
    return jackknife(law.function, text, groups, law.align)


def groups_for(law: Law, tokens: int, name: str) -> int:
    """The number of groups that a text is cut into: as many as declared, if what is left is still long enough.

    Raises
    ------
    MomusError
        The text is too short for the law, or for its jackknife.
    """
    if tokens < law.minimum:
        raise MomusError(f"{name!r} has {tokens:,} tokens of running text, the law needs {law.minimum:,}")
    if tokens * (1 - 1 / LEAST_GROUPS) < law.minimum:
        raise MomusError(
            f"{name!r} has {tokens:,} tokens; for an interval the law needs "
            f"{int(law.minimum * LEAST_GROUPS / (LEAST_GROUPS - 1)) + 1:,}"
        )
    groups = law.groups
    while groups > LEAST_GROUPS and tokens * (1 - 1 / groups) < law.minimum:
        groups -= 1
    return groups


def _relabelled(
    function: Callable[[RunningText], float],
    real: RunningText,
    generated: RunningText,
    groups: int,
    confidence: float,
    relabellings: int,
) -> LawTest:
    """Reassign the groups of both texts at random: a permutation test, whose quantiles give the interval.

    For statistics that are neither smooth nor less noisy in longer texts, nor normally distributed. The spread is that
    of two texts from one source; where the texts differ much it is too large, never too small.

    Raises
    ------
    ValueError
        The statistic does not exist for a text, or for more than one in ten of the relabelled ones.
    """
    values = function(real), function(generated)
    both = real + generated
    parts = both.part(0, len(real)), both.part(len(real), len(both))
    pieces = [piece for part in parts for piece in part.cut(groups, whole=True)]
    null = _null_gaps(function, both, pieces, groups, relabellings)
    missing = relabellings - len(null)
    if missing > relabellings / 10:
        raise ValueError("most texts made of pieces of both do not give the statistic")
    gaps = np.sort([*null, *[np.inf] * missing])
    difference = values[1] - values[0]

    def within(level: float) -> float:
        """The gap that a share ``level`` of relabellings does not exceed."""
        return float(gaps[min(int(np.ceil(level * (relabellings + 1))), relabellings) - 1])

    error = float(np.sqrt(np.mean(np.square(null)) / 2))
    a, b = (Jackknifed(v, error, groups, groups - 1) for v in values)
    outer, inner = within(confidence), within(max(2 * confidence - 1, 0.0))
    return LawTest(
        a,
        b,
        difference,
        low=difference - outer,
        high=difference + outer,
        p=(int((gaps >= abs(difference)).sum()) + 1) / (relabellings + 1),
        mde=within(0.95) + within(0.6),  # a fifth of a symmetric distribution with 0.6 within the latter lies below
        tokens=min(len(real), len(generated)),
        inner=(difference - inner, difference + inner),
        error="relabelled",
        relabellings=relabellings,
    )


def _null_gaps(
    function: Callable[[RunningText], float],
    both: RunningText,
    pieces: list[RunningText],
    groups: int,
    relabellings: int,
) -> list[float]:
    """Absolute differences between two texts made of randomly reassigned pieces; those that have none are left out."""
    rng = np.random.default_rng(groups)
    gaps: list[float] = []
    for _ in range(relabellings):
        order = rng.permutation(len(pieces))
        sides = (joined(both, [pieces[j] for j in side]) for side in (order[:groups], order[groups:]))
        with suppress(ValueError):  # this text does not determine the statistic
            one, other = map(function, sides)
            gaps.append(abs(other - one))
    return gaps


def _welch(
    difference: float, a: Jackknifed, b: Jackknifed, confidence: float
) -> tuple[float | None, float | None, float | None, float | None]:
    """Welch's t test: p, the interval, and the minimum detectable difference."""
    from scipy.stats import t

    variance = a.error**2 + b.error**2
    if variance == 0:
        return (1.0 if difference == 0 else None), None, None, None
    freedom = variance**2 / (a.error**4 / a.freedom + b.error**4 / b.freedom)
    error = float(np.sqrt(variance))
    p = float(2 * t.sf(abs(difference) / error, freedom))
    reach = float(t.ppf((1 + confidence) / 2, freedom)) * error
    return p, difference - reach, difference + reach, float(t.ppf(0.975, freedom) + t.ppf(0.8, freedom)) * error
