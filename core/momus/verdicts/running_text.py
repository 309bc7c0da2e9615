"""Tests of laws between two running texts: of each law of the whole text, and of Latent NLL of blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from momus.critic import RunningTextCritic, Statistic
from momus.critic.powers import headline_of
from momus.critic.scores import LATENT_NLL, Scores
from momus.critic.statistic import mean
from momus.errors import MomusError
from momus.inference import Design, holm
from momus.inference.intervals import t_quantile
from momus.inference.result import NAN, Method, TestResult, numbers
from momus.inference.testing import compare_one
from momus.laws.law import LEAST_GROUPS, Jackknifed, Law, pieces_of, shortened, standard_error, too_short
from momus.laws.relabelled import relabel, relabellings_for
from momus.text.counting import counted
from momus.text.running import RunningText, group_numbers
from momus.verdicts.settings import Settings

FEWEST_DOCUMENTS = 10
"""If both texts have at least this many documents, no document is split between two groups."""
Errors = dict[tuple[object, ...], Jackknifed]
"""Standard errors of one text by law and cut."""


def judge_laws(
    critic: RunningTextCritic[Any], real: Scores, generated: Scores, settings: Settings, family: int = 1
) -> list[TestResult]:
    """Test every law of a critic, and Latent NLL of blocks by permutation.

    Laws share no relabellings, so the p of several that ``decides`` marks are adjusted by Holm's method.

    Parameters
    ----------
    family
        Number of headline rows that are adjusted together; see `compare_law`.
    """
    laws = [_test_law(critic, law, real, generated, settings.confidence, family) for law in critic.laws()]
    results = [*laws, _test_blocks(real, generated, settings, family)]
    decisive = {headline_of(critic), *(law.name for law in critic.laws() if law.decides)}
    return of_axis(results, [r.statistic in decisive for r in results])


def of_axis(results: Sequence[TestResult], decides: Sequence[bool]) -> list[TestResult]:
    """Mark the results that decide an axis, with p adjusted by Holm's method.

    >>> one, two = (TestResult(name, p=p) for name, p in (("a", 0.01), ("b", 0.04)))
    >>> [(r.p_in_axis, r.p_axis) for r in of_axis([one, two], [True, True])]
    [(0.02, 0.02), (0.04, 0.02)]
    """
    # a law that a text does not determine has no p, and must not raise those of the others
    p = {i: r.p for i, r in enumerate(results) if decides[i] and r.p is not None}
    adjusted = dict(zip(p, holm(list(p.values())).tolist(), strict=True))
    return [
        replace(r, p_axis=min(adjusted.values()), p_in_axis=adjusted[i]) if i in adjusted else r
        for i, r in enumerate(results)
    ]


def _test_law(
    critic: RunningTextCritic[Any], law: Law, real: Scores, generated: Scores, confidence: float, family: int
) -> TestResult:
    try:
        texts = _text_of(real), _text_of(generated)
        # computed for the first generated text, and kept with the real one for those after it
        errors = texts[0].law_errors.setdefault(f"{critic.name} {critic.get_params()!r}", {})
        return compare_law(law, *texts, confidence, family, real_errors=errors)
    except (MomusError, ValueError) as error:
        return TestResult(law.name, method=Method(family="law", design="groups", error=law.error, reason=str(error)))


def _test_blocks(real: Scores, generated: Scores, settings: Settings, family: int) -> TestResult:
    fewest = min(real.n_scored, generated.n_scored)
    if fewest < LEAST_GROUPS:
        reason = f"{counted(fewest, 'scored block')} on a side, at least {LEAST_GROUPS} are needed"
        return TestResult("latent_nll", method=Method(design="blocks", reason=reason))
    design = _blocks_of_groups(real, generated)
    result = compare_one(
        Statistic("latent_nll", LATENT_NLL, "value", mean, effect="hedges_g"),
        real.test_rows()[LATENT_NLL],
        generated.test_rows()[LATENT_NLL],
        design=design,
        confidence=settings.confidence,
        family=family,
        seed=settings.seed,
    )
    method = replace(result.method, grouped=True) if design else replace(result.method, design="blocks")
    return replace(result, method=method)


def _blocks_of_groups(real: Scores, generated: Scores) -> Design | None:
    """Blocks of one group belong together: clusters, if both texts have enough; None: every block is a unit.

    A block that holds the end of one group and the beginning of the next counts to the first.
    """
    sides = [
        group_numbers(s.scored_groups) if s.groups else np.arange(s.n_scored, dtype=np.int64) for s in (real, generated)
    ]
    clusters = [len(np.unique(side)) for side in sides]
    # one block per group: clusters would be the blocks themselves
    if min(clusters) < LEAST_GROUPS or clusters == [len(side) for side in sides]:
        return None
    return Design.clusters(*sides)


def _text_of(scores: Scores) -> RunningText:
    if not isinstance(scores.summary, RunningText):
        reasons = "".join(f"; {reason} ({n})" for reason, n in scores.unscored.items())
        raise MomusError(f"{scores.corpus!r} has no scored block{reasons}")
    return scores.summary


def compare_law(
    law: Law,
    real: RunningText,
    generated: RunningText,
    confidence: float,
    family: int = 1,
    relabellings: int | None = None,
    real_errors: Errors | None = None,
) -> TestResult:
    """Test one law between two running texts: by Welch's t-test, or by relabelling its pieces as the law declares.

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
    for text, name in zip(texts, ("real", "generated"), strict=True):
        if reason := too_short(name, len(text), law.minimum):
            raise MomusError(reason)
    groups = law.groups
    documents = [0 if text.ends is None else len(text.ends) for text in (real, generated)]
    if min(documents) >= FEWEST_DOCUMENTS:
        # both texts are cut into as many pieces, so that their standard errors have alike degrees of freedom
        groups = min(groups, *documents)
    cut = [shortened(text, tokens, groups, law.align, g) for text, g in zip(texts, by_group, strict=True)]
    for text, name, g in zip(cut, ("real", "generated"), by_group, strict=True):
        _check_rest(law, text, groups, name, g)
    most = relabellings_for(family, 1 - confidence) if relabellings is None else relabellings
    if law.error == "relabelled":
        result = _permuted(law, cut[0], cut[1], groups, by_group, confidence, most)
    else:
        # the error of the real text depends on the other text by its length and its cut alone: all that is in this key
        key = (law.name, law.error, len(real), len(cut[0]), groups, by_group[0])
        known = None if real_errors is None else real_errors.get(key)
        a = standard_error(law, cut[0], groups, by_group[0]) if known is None else known
        if real_errors is not None:
            real_errors[key] = a
        result = _welch(law, a, standard_error(law, cut[1], groups, by_group[1]), confidence)
    # cut between documents, a text has about the length asked for, not exactly
    method = replace(result.method, rows=family, grouped=any(by_group), tokens=min(map(len, cut)))
    error, freedom, level = result.standard_error, result.freedom, (1 - confidence) / family
    # 80 % power at a two-sided level of α/family
    mde = (t_quantile(1 - level / 2, freedom) + t_quantile(0.8, freedom)) * error if error and freedom else NAN
    return replace(
        result,
        mde=mde,
        n_real=documents[0] or method.units_real,
        n_generated=documents[1] or method.units_generated,
        method=method,
    )


def _result(
    law: Law,
    texts: tuple[Jackknifed, Jackknifed],
    p: float,
    margins: tuple[float, float],
    spread: tuple[float, float],
    relabellings: int = 0,
    exact: bool = False,
) -> TestResult:
    """The result of a test, from half the widths of its intervals, and standard error and degrees of freedom."""
    real, generated = texts
    difference = generated.value - real.value
    around = [(difference - margin, difference + margin) for margin in margins]
    method = Method(
        test="relabelled groups" if law.error == "relabelled" else "welch",
        family="law",
        design="groups",
        units_real=real.groups,
        units_generated=generated.groups,
        exact=exact,
        permutations=relabellings,
        error=law.error,
    )
    values: dict[str, Any] = numbers((real.value, generated.value), difference, p, around[0], around, (*spread, NAN))
    return TestResult(law.name, **values, method=method)


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
    # equal pieces are long enough by `too_short`; groups may differ much in length
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
) -> TestResult:
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
    test = relabel(law.function, both, (pieces[0], pieces[1]), values[1] - values[0], most)
    # no error of one text by itself: relabelling gives that of the difference
    a, b = (Jackknifed(v, float("nan"), len(p), len(p) - 1) for v, p in zip(values, pieces, strict=True))
    margins = test.within(confidence), test.within(max(2 * confidence - 1, 0.0))
    return _result(law, (a, b), test.p, margins, (test.spread, a.freedom + b.freedom), len(test.gaps), test.exact)


def _welch(law: Law, a: Jackknifed, b: Jackknifed, confidence: float) -> TestResult:
    """Welch's t-test; without a standard error there is no interval, and p is 1 for equal values, else NaN."""
    from scipy.stats import t

    difference, variance = b.value - a.value, a.error**2 + b.error**2
    error = math.sqrt(variance)
    if variance == 0:
        return _result(law, (a, b), 1.0 if difference == 0 else NAN, (NAN, NAN), (error, NAN))
    freedom = variance**2 / (a.error**4 / a.freedom + b.error**4 / b.freedom)  # Welch–Satterthwaite
    outer, inner = (
        t_quantile((1 + level) / 2, freedom) * error for level in (confidence, max(2 * confidence - 1, 0.0))
    )
    p = float(2 * t.sf(abs(difference) / error, freedom))
    return _result(law, (a, b), p, (outer, inner), (error, float(freedom)))
