"""Tests of one law between two running texts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from momus.errors import MomusError
from momus.laws.jackknife import Jackknifed, jackknife, pieces_of, shortened, shuffled
from momus.laws.law import LEAST_GROUPS, ErrorEstimate, Law, too_short
from momus.laws.relabelled import relabel, relabellings_for
from momus.text.running import RunningText

FEWEST_DOCUMENTS = 10
"""If both texts have at least this many documents, no document is split between two groups."""
Errors = dict[tuple[object, ...], Jackknifed]
"""Standard errors of one text by law and cut."""


@dataclass(frozen=True)
class LawTest:
    """Two texts under one law: values with their standard errors, and the test of their difference.

    Attributes
    ----------
    low, high, inner
        Intervals of generated − real at level 1 − α and, for tests of equivalence, at level 1 − 2α.
    mde
        Minimum detectable difference: 80 % power at a two-sided level of (1 − ``confidence``)/``family``. It is
        (t_{1 − α/2} + t_{0.8}) · ``standard_error``, with quantiles of Student's t with ``freedom`` degrees of freedom.
    tokens
        Length at which the texts were compared.
    error
        How the standard errors were estimated, see `momus.laws.Law`; ``relabelled`` means a permutation test, anything
        else Welch's t-test.
    relabellings
        Relabellings that were computed for the permutation test; 0 for Welch's t-test.
    exact
        Whether these are all relabellings.
    floor
        The smallest p that the test could have given; 0 for Welch's t-test.
    by_group
        For each text, whether its pieces are whole groups of documents.
    documents
        Documents of each text; 0 if unknown.
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
    exact: bool = False
    floor: float = 0.0
    standard_error: float = float("nan")
    freedom: float = float("nan")
    family: int = 1
    by_group: tuple[bool, bool] = (False, False)
    documents: tuple[int, int] = (0, 0)


def compare_law(
    law: Law,
    real: RunningText,
    generated: RunningText,
    confidence: float,
    family: int = 1,
    relabellings: int | None = None,
    real_errors: Errors | None = None,
) -> LawTest:
    """Test one law between two running texts.

    An exponent fitted to a finite text depends on the length of the text, so the longer text is cut to the length of
    the shorter. Where a text has at least `LEAST_GROUPS` groups of documents (novels, authors), its pieces are whole
    groups; where only the other text has groups, its documents are its groups.

    Parameters
    ----------
    family
        Number of tests of which this is one: the minimum detectable difference is for a level of (1 − ``confidence``) /
        ``family``, and a permutation test draws enough relabellings for it.
    relabellings
        Largest number of relabellings; None: `momus.laws.relabelled.relabellings_for` the family.
    real_errors
        Standard errors of the real text from earlier tests of the same critic, which this test adds to.

    Raises
    ------
    MomusError
        A text is too short for the law.
    ValueError
        A text does not determine the value of the law.
    """
    texts, by_group = _grouped(law, real, generated)
    tokens = min(map(len, texts))
    groups = min(groups_for(law, len(text), name) for text, name in zip(texts, ("real", "generated"), strict=True))
    documents = [0 if text.ends is None else len(text.ends) for text in (real, generated)]
    if min(documents) >= FEWEST_DOCUMENTS:
        groups = min(groups, *documents)
    cut = [shortened(text, tokens, groups, law.align, g) for text, g in zip(texts, by_group, strict=True)]
    for text, name, g in zip(cut, ("real", "generated"), by_group, strict=True):
        _check_rest(law, text, groups, name, g)
    most = relabellings_for(family, 1 - confidence) if relabellings is None else relabellings
    if law.error == "relabelled":
        outcome = _permuted(law, cut[0], cut[1], groups, by_group, confidence, most)
    else:
        key = (law.name, law.error, len(real), len(cut[0]), groups, by_group[0])
        known = None if real_errors is None else real_errors.get(key)
        a = standard_error(law, cut[0], groups, by_group[0]) if known is None else known
        if real_errors is not None:
            real_errors[key] = a
        outcome = _welch(law, a, standard_error(law, cut[1], groups, by_group[1]), confidence)
    return replace(
        outcome,
        mde=_detectable(outcome, confidence, family),
        tokens=min(map(len, cut)),  # cut between documents, a text has about the length asked for, not exactly
        family=family,
        by_group=by_group,
        documents=(documents[0], documents[1]),
    )


def standard_error(law: Law, text: RunningText, groups: int, by_group: bool = False) -> Jackknifed:
    """Value of a law for one text, and its standard error, estimated as the law declares.

    Parameters
    ----------
    by_group
        Whether the pieces are whole groups of documents: one per group, or ``groups`` if there are more.

    Raises
    ------
    ValueError
        The text does not determine the value.
    """
    if law.error == "shuffled":
        return shuffled(law.function, text, groups, law.orders, law.reordered, by_group)
    return jackknife(law.function, text, groups, law.align, by_group)


def groups_for(law: Law, tokens: int, name: str) -> int:
    """Number of pieces to cut a text into, as declared.

    Raises
    ------
    MomusError
        The text is too short for the law and its standard error, see `momus.laws.too_short`.
    """
    reason = too_short(name, tokens, law.minimum)
    if reason:
        raise MomusError(reason)
    groups = law.groups
    while groups > LEAST_GROUPS and tokens * (1 - 1 / groups) < law.minimum:
        groups -= 1
    return groups


def _grouped(
    law: Law, real: RunningText, generated: RunningText
) -> tuple[tuple[RunningText, RunningText], tuple[bool, bool]]:
    """Both texts, with documents for groups where only the other has any, and whether each is cut by group."""
    a, b = real, generated
    if a.groups is None and b.groups is not None:
        a = replace(a, groups=a.ends)
    elif b.groups is None and a.groups is not None:
        b = replace(b, groups=b.ends)
    one, other = (t.groups is not None and len(t.by_group(law.groups, law.align)) >= LEAST_GROUPS for t in (a, b))
    return (a, b), (one, other)


def _check_rest(law: Law, text: RunningText, groups: int, name: str, by_group: bool) -> None:
    """Check that a text without its longest group is long enough."""
    longest = max(map(len, text.by_group(groups, law.align))) if by_group else 0
    if len(text) - longest < law.minimum:
        raise MomusError(
            f"{name!r} has {len(text):,} tokens of running text, {longest:,} of them in its longest group; the law "
            f"needs {law.minimum:,} without any one group"
        )


def _permuted(
    law: Law,
    real: RunningText,
    generated: RunningText,
    groups: int,
    by_group: tuple[bool, bool],
    confidence: float,
    most: int,
) -> LawTest:
    """Permutation test that reassigns the pieces of both texts at random; quantiles of the null give the interval.

    For statistics that are not smooth, not normally distributed, and no less noisy in longer texts. The standard error
    is that of two texts from one source; if the texts differ much it is too large, never too small.

    Raises
    ------
    ValueError
        The statistic does not exist for a text, or for more than one in ten relabellings.
    """
    values = float(law.function(real)), float(law.function(generated))
    both = real + generated
    # cut both texts after joining them: all pieces then share one vocabulary
    texts = both.slice(0, len(real)), both.slice(len(real), len(both))
    pieces = [pieces_of(text, groups, by_group=g) for text, g in zip(texts, by_group, strict=True)]
    if len(pieces[0]) != len(pieces[1]):  # relabelled texts are then of more even length
        groups = min(map(len, pieces))
        pieces = [pieces_of(text, groups, by_group=g) for text, g in zip(texts, by_group, strict=True)]
    difference = values[1] - values[0]
    test = relabel(law.function, both, (pieces[0], pieces[1]), difference, most)
    error = test.spread / np.sqrt(2)
    a, b = (Jackknifed(v, float(error), len(p), len(p) - 1) for v, p in zip(values, pieces, strict=True))
    outer, inner = test.within(confidence), test.within(max(2 * confidence - 1, 0.0))
    return LawTest(
        a,
        b,
        difference,
        low=difference - outer,
        high=difference + outer,
        p=test.p,
        mde=None,
        tokens=0,
        inner=(difference - inner, difference + inner),
        error="relabelled",
        relabellings=len(test.gaps),
        exact=test.exact,
        floor=test.floor,
        standard_error=test.spread,
        freedom=a.freedom + b.freedom,
    )


def _welch(law: Law, a: Jackknifed, b: Jackknifed, confidence: float) -> LawTest:
    """Welch's t-test; without a standard error there is no interval, and p is 1 for equal values, else None."""
    from scipy.stats import t

    difference, variance = b.value - a.value, a.error**2 + b.error**2
    error = float(np.sqrt(variance))
    untested = LawTest(a, b, difference, None, None, None, None, 0, None, law.error, standard_error=error)
    if variance == 0:
        return replace(untested, p=1.0 if difference == 0 else None)
    freedom = variance**2 / (a.error**4 / a.freedom + b.error**4 / b.freedom)
    outer, inner = (
        float(t.ppf((1 + level) / 2, freedom)) * error for level in (confidence, max(2 * confidence - 1, 0.0))
    )
    return replace(
        untested,
        p=float(2 * t.sf(abs(difference) / error, freedom)),
        low=difference - outer,
        high=difference + outer,
        inner=(difference - inner, difference + inner),
        freedom=float(freedom),
    )


def _detectable(test: LawTest, confidence: float, family: int) -> float | None:
    """Minimum detectable difference at level (1 − confidence)/family; None without a standard error."""
    from scipy.stats import t

    if not test.standard_error > 0:
        return None
    quantiles = t.ppf(1 - (1 - confidence) / (2 * family), test.freedom) + t.ppf(0.8, test.freedom)
    return float(quantiles * test.standard_error)
