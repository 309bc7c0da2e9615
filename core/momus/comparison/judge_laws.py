"""Tests of critics of running text: each law of the whole text, and Latent NLL of blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic import Scores, Statistic, mean
from momus.critic.scores import LATENT_NLL
from momus.errors import MomusError
from momus.inference import Method, TestResult, compare_rows
from momus.laws import Law, LawTest, compare_law
from momus.laws.test import LEAST_GROUPS
from momus.text.running import RunningText

if TYPE_CHECKING:
    from momus.comparison.settings import Settings
    from momus.critic import RunningTextCritic


def judge_laws(critic: RunningTextCritic[Any], real: Scores, generated: Scores, settings: Settings) -> list[TestResult]:
    """Test every law of a critic, and Latent NLL of blocks by permutation."""
    laws = [_test_law(law, real, generated, settings.confidence) for law in critic.laws()]
    return [*laws, _test_blocks(real, generated, settings)]


def _test_law(law: Law, real: Scores, generated: Scores, confidence: float) -> TestResult:
    try:
        outcome = compare_law(law, _text_of(real), _text_of(generated), confidence)
    except (MomusError, ValueError) as error:
        return TestResult(law.name, method=Method(family="law", design="groups", error=law.error, reason=str(error)))
    return _result(law.name, outcome)


def _result(name: str, outcome: LawTest) -> TestResult:
    a, b = outcome.real, outcome.generated
    low, high, p, mde = (np.nan if v is None else v for v in (outcome.low, outcome.high, outcome.p, outcome.mde))
    inner = outcome.inner or (np.nan, np.nan)
    return TestResult(
        statistic=name,
        real_value=a.value,
        generated_value=b.value,
        difference=outcome.difference,
        low=low,
        high=high,
        effect=outcome.difference,
        effect_low=low,
        effect_high=high,
        equivalence_low=inner[0],
        equivalence_high=inner[1],
        p=p,
        standard_error=float(np.hypot(a.error, b.error)),
        mde=mde,
        n_real=a.groups,
        n_generated=b.groups,
        method=Method(
            test="relabelled groups" if outcome.error == "relabelled" else "welch",
            family="law",
            design="groups",
            units_real=a.groups,
            units_generated=b.groups,
            permutations=outcome.relabellings,
            error=outcome.error,
            tokens=outcome.tokens,
        ),
    )


def _test_blocks(real: Scores, generated: Scores, settings: Settings) -> TestResult:
    fewest = min(real.n_scored, generated.n_scored)
    if fewest < LEAST_GROUPS:
        reason = f"{fewest} scored blocks on a side, at least {LEAST_GROUPS} are needed"
        return TestResult("latent_nll", method=Method(design="blocks", reason=reason))
    (result,) = compare_rows(
        [Statistic("latent_nll", LATENT_NLL, "value", mean, effect="hedges_g")],
        {LATENT_NLL: real.test_rows()[LATENT_NLL]},
        {LATENT_NLL: generated.test_rows()[LATENT_NLL]},
        confidence=settings.confidence,
        seed=settings.seed,
    )
    return replace(result, method=replace(result.method, design="blocks"))


def _text_of(scores: Scores) -> RunningText:
    if not isinstance(scores.summary, RunningText):
        reasons = "".join(f"; {reason} ({n})" for reason, n in scores.unscored.items())
        raise MomusError(f"{scores.corpus!r} has no scored block{reasons}")
    return scores.summary
