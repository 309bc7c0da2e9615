"""Tests of critics of running text: each law of the whole text, and Latent NLL of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic import Statistic
from momus.critic.powers import headline_of
from momus.critic.scores import LATENT_NLL, Scores
from momus.critic.statistic import mean
from momus.errors import MomusError
from momus.inference import Design, Method, TestResult, compare_rows, holm
from momus.laws import LEAST_GROUPS, Law
from momus.text.counting import counted
from momus.text.running import RunningText, group_numbers
from momus.verdicts.law_test import compare_law

if TYPE_CHECKING:
    from momus.critic import RunningTextCritic
    from momus.verdicts.settings import Settings


def judge_laws(
    critic: RunningTextCritic[Any], real: Scores, generated: Scores, settings: Settings, family: int = 1
) -> list[TestResult]:
    """Test every law of a critic, and Latent NLL of blocks by permutation.

    Laws share no relabellings, so the p of several that ``decides`` marks are adjusted by Holm's method.

    Parameters
    ----------
    family
        Number of headline rows that are adjusted together; see `momus.verdicts.law_test.compare_law`.
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
    members = [i for i, r in enumerate(results) if decides[i] and not np.isnan(r.p)]
    adjusted = dict(zip(members, holm([results[i].p for i in members]).tolist(), strict=True))
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
        errors = texts[0].law_errors.setdefault(f"{critic.name} {critic.get_params(deep=False)!r}", {})
        return compare_law(law, *texts, confidence, family, real_errors=errors)
    except (MomusError, ValueError) as error:
        return TestResult(law.name, method=Method(family="law", design="groups", error=law.error, reason=str(error)))


def _test_blocks(real: Scores, generated: Scores, settings: Settings, family: int) -> TestResult:
    fewest = min(real.n_scored, generated.n_scored)
    if fewest < LEAST_GROUPS:
        reason = f"{counted(fewest, 'scored block')} on a side, at least {LEAST_GROUPS} are needed"
        return TestResult("latent_nll", method=Method(design="blocks", reason=reason))
    design = _blocks_of_groups(real, generated)
    (result,) = compare_rows(
        [Statistic("latent_nll", LATENT_NLL, "value", mean, effect="hedges_g")],
        {LATENT_NLL: real.test_rows()[LATENT_NLL]},
        {LATENT_NLL: generated.test_rows()[LATENT_NLL]},
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
    if min(clusters) < LEAST_GROUPS or clusters == [len(side) for side in sides]:
        return None
    return Design.clusters(*sides)


def _text_of(scores: Scores) -> RunningText:
    if not isinstance(scores.summary, RunningText):
        reasons = "".join(f"; {reason} ({n})" for reason, n in scores.unscored.items())
        raise MomusError(f"{scores.corpus!r} has no scored block{reasons}")
    return scores.summary
