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
"""Smallest number of groups that a standard error is estimated from."""
FEWEST_DOCUMENTS = 10
"""If both texts have at least this many documents, no document is split between two groups."""
RELABELLINGS = 199
"""Random relabellings of a permutation test."""


@dataclass(frozen=True)
class LawTest:
    """Two texts under one law: values with their standard errors, and the test of their difference.

    Attributes
    ----------
    low, high, inner
        Intervals of generated − real at level 1 − α and, for tests of equivalence, at level 1 − 2α.
    mde
        Minimum detectable difference: 80 % power at a two-sided level of 5 %.
    tokens
        Length at which the texts were compared.
    error
        How the standard errors were estimated, see `momus.laws.Law`; ``relabelled`` means a permutation test, anything
        else Welch's t-test.
    relabellings
        Relabellings of the permutation test; 0 for Welch's t-test.
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

    An exponent fitted to a finite text depends on the length of the text, so the longer text is cut to the length of
    the shorter.

    Raises
    ------
    MomusError
        A text is too short for the law.
    ValueError
        A text does not determine the value of the law.
    """
    texts = (real, generated)
    tokens = min(map(len, texts))
    groups = min(groups_for(law, len(text), name) for text, name in zip(texts, ("real", "generated"), strict=True))
    documents = min(1 if text.ends is None else len(text.ends) for text in texts)
    if documents >= FEWEST_DOCUMENTS:
        groups = min(groups, documents)
    cut = [shortened(text, tokens, groups, law.align) for text in texts]
    tokens = min(map(len, cut))  # cut between documents, a text has about the length asked for, not exactly
    if law.error == "relabelled":
        return _relabelled(law.function, cut[0], cut[1], groups, confidence, relabellings)
    a, b = (standard_error(law, text, groups) for text in cut)
    difference = b.value - a.value
    p, low, high, mde = _welch(difference, a, b, confidence)
    _, inner_low, inner_high, _ = _welch(difference, a, b, max(2 * confidence - 1, 0.0))
    inner = None if inner_low is None or inner_high is None else (inner_low, inner_high)
    return LawTest(a, b, difference, low, high, p, mde, tokens, inner, law.error)


def standard_error(law: Law, text: RunningText, groups: int) -> Jackknifed:
    """Value of a law for one text, and its standard error, estimated as the law declares.

    Raises
    ------
    ValueError
        The text does not determine the value.
    """
    if law.error == "shuffled":
        return shuffled(law.function, text, groups, law.orders, law.reordered)
    return jackknife(law.function, text, groups, law.align)


def groups_for(law: Law, tokens: int, name: str) -> int:
    """Number of groups to cut a text into: as declared, or fewer if the text without one group would be too short.

    Raises
    ------
    MomusError
        The text is too short for the law, or for an estimate of its standard error.
    """
    if tokens < law.minimum:
        raise MomusError(f"{name!r} has {tokens:,} tokens of running text; the law needs {law.minimum:,}")
    if tokens * (1 - 1 / LEAST_GROUPS) < law.minimum:
        raise MomusError(
            f"{name!r} has {tokens:,} tokens of running text; the law needs "
            f"{int(law.minimum * LEAST_GROUPS / (LEAST_GROUPS - 1)) + 1:,} for an interval"
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
    """Permutation test that reassigns the groups of both texts at random; quantiles of the null give the interval.

    For statistics that are not smooth, not normally distributed, and no less noisy in longer texts. The standard error
    is that of two texts from one source; if the texts differ much it is too large, never too small.

    Raises
    ------
    ValueError
        The statistic does not exist for a text, or for more than one in ten relabellings.
    """
    values = float(function(real)), float(function(generated))
    both = real + generated
    # cut both texts after joining them: all pieces then share one vocabulary
    texts = both.part(0, len(real)), both.part(len(real), len(both))
    pieces = [piece for text in texts for piece in text.cut(groups, whole=True)]
    null = _null_gaps(function, both, pieces, groups, relabellings)
    missing = relabellings - len(null)
    if missing > relabellings / 10:
        raise ValueError(f"in {missing} of {relabellings} relabellings a text does not determine the statistic")
    gaps = np.sort([*null, *[np.inf] * missing])  # ascending; a missing gap counts as extreme
    difference = values[1] - values[0]

    def within(level: float) -> float:
        """The quantile ``level`` of the gaps."""
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
        mde=within(0.95) + within(0.6),  # 80 % power: a fifth of a symmetric distribution lies below −within(0.6)
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
    """Absolute differences under random relabellings; relabellings that do not determine the statistic are dropped."""
    rng = np.random.default_rng(groups)
    gaps: list[float] = []
    for _ in range(relabellings):
        order = rng.permutation(len(pieces))
        texts = (joined(both, [pieces[j] for j in half]) for half in (order[:groups], order[groups:]))
        with suppress(ValueError):  # one of the texts does not determine the statistic
            first, second = map(function, texts)
            gaps.append(abs(second - first))
    return gaps


def _welch(
    difference: float, a: Jackknifed, b: Jackknifed, confidence: float
) -> tuple[float | None, float | None, float | None, float | None]:
    """Welch's t-test: p, low and high of the interval, and the minimum detectable difference."""
    from scipy.stats import t

    variance = a.error**2 + b.error**2
    if variance == 0:
        return (1.0 if difference == 0 else None), None, None, None
    freedom = variance**2 / (a.error**4 / a.freedom + b.error**4 / b.freedom)
    error = float(np.sqrt(variance))
    p = float(2 * t.sf(abs(difference) / error, freedom))
    margin = float(t.ppf((1 + confidence) / 2, freedom)) * error
    return p, difference - margin, difference + margin, float(t.ppf(0.975, freedom) + t.ppf(0.8, freedom)) * error
