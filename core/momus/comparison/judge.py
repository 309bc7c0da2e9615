"""From two tables of scores to verdicts: the statistics of the protocol, the guard, and the critic's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.comparison.judge_laws import judge_laws
from momus.comparison.settings import Settings, with_options
from momus.comparison.verdict import Verdict, within
from momus.critic import (
    Counted,
    Rows,
    RunningTextCritic,
    Scores,
    Statistic,
    StatisticsMixin,
    aligned,
    entropy,
    jensen_shannon,
    mean,
    perplexity,
)
from momus.critic.scores import AGGREGATED, LATENT_NLL, LATENT_PPL
from momus.errors import UsageError
from momus.inference import Design, Method, TestResult, compare_rows, design_of
from momus.inference import Rows as TestRows
from momus.inference.pooling import Tables, total
from momus.inference.pvalues import Prepared, both_values
from momus.numeric.types import Ints

if TYPE_CHECKING:
    from momus.critic import Critic


def all_statistics(critic: Critic[Any], rows: Sequence[str]) -> list[Statistic]:
    """List what is tested of a critic: Latent NLL, Latent PPL of sequences, the mode-seeking guard, and its own.

    The guard is reported beside Latent NLL because Latent NLL alone can be lower than that of real text when a model
    collapses onto likely z. It consists of the entropy of the aggregated posterior, and the Jensen–Shannon divergence
    between the aggregated posteriors of both texts, which is zero only where they agree.
    """
    statistics = [Statistic("latent_nll", LATENT_NLL, "value", mean, effect="hedges_g")]
    if critic.sequence:
        statistics.append(Statistic("latent_ppl", LATENT_PPL, "value", perplexity, scale="log", effect="log_ratio"))
    if critic.guard and AGGREGATED in rows:
        statistics += [
            Statistic("posterior_entropy", AGGREGATED, "value", entropy),
            Statistic("posterior_divergence", AGGREGATED, "distance", jensen_shannon),
        ]
    return statistics + (list(critic.statistics()) if isinstance(critic, StatisticsMixin) else [])


def judge(
    critic: Critic[Any],
    real: Scores,
    generated: Scores,
    settings: Settings | None = None,
    *,
    only_headline: bool = False,
    **options: Any,
) -> list[Verdict]:
    """Test every statistic of a critic between real and generated text; p-values are not adjusted yet.

    Parameters
    ----------
    settings, **options
        `Settings`, or its fields one by one: ``paired``, ``permutations``, ``resamples``, ``confidence``, ``seed``,
        ``equivalence`` are read here. For ``paired`` and several documents per prompt see `momus.inference.design_of`.
    only_headline
        Test the headline statistic alone.
    """
    settings = with_options(settings, options)
    if isinstance(critic, RunningTextCritic):
        _check_headline(critic, [*(law.name for law in critic.laws()), LATENT_NLL])
        results = judge_laws(critic, real, generated, settings)
    else:
        results = _judge_documents(critic, real, generated, settings, only_headline)
    verdicts = [Verdict.of(critic, result, real, generated) for result in results]
    return [within(v, settings.equivalence) for v in verdicts if v.headline or not only_headline]


def _judge_documents(
    critic: Critic[Any], real: Scores, generated: Scores, settings: Settings, only_headline: bool
) -> list[TestResult]:
    statistics = all_statistics(critic, list(real.rows))
    _check_headline(critic, [s.name for s in statistics])
    if only_headline:
        statistics = [s for s in statistics if s.name == critic.headline_statistic]
    if not real.n_scored or not generated.n_scored:
        return [_untested(s, real, generated) for s in statistics]
    rows = _same_columns(real.test_rows(), generated.test_rows())
    for statistic in statistics:
        if statistic.rows not in rows[0]:
            raise UsageError(
                f"critic {critic.name!r}: statistic {statistic.name!r} pools rows {statistic.rows!r}, which "
                "sufficient_statistics() does not return",
                hint=f"it returns {', '.join(real.rows) or 'nothing'}",
            )
    names = real.corpus, generated.corpus
    design = design_of(real.scored_prompts, generated.scored_prompts, settings.paired, names)
    return _by_design(statistics, *rows, design, settings)


def _check_headline(critic: Critic[Any], names: Sequence[str]) -> None:
    if critic.headline_statistic not in names:
        raise UsageError(
            f"critic {critic.name!r}: its headline {critic.headline_statistic!r} is none of its statistics",
            hint=f"set `headline` to one of {', '.join(names)}",
        )


def differences(critic: Critic[Any], real: Scores, generated: Scores) -> dict[str, float]:
    """Generated − real of each statistic of documents (of a distance, itself), without a test."""
    if isinstance(critic, RunningTextCritic) or not real.n_scored or not generated.n_scored:
        return {}
    rows = _same_columns(real.test_rows(), generated.test_rows())
    values = {}
    for s in all_statistics(critic, list(real.rows)):
        tables = Tables.of(rows[0][s.rows], rows[1][s.rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            left, right = both_values(s, Prepared(total(tables.real), total(tables.generated)))
        values[s.name] = float(right[0]) if s.kind == "distance" else float(right[0] - left[0])
    return values


def _by_design(
    statistics: Sequence[Statistic],
    real: dict[str, TestRows],
    generated: dict[str, TestRows],
    design: Design,
    settings: Settings,
) -> list[TestResult]:
    """Test by the design; of clusters, p comes from one document of each, and all else from all documents."""
    options: dict[str, Any] = {
        name: getattr(settings, name) for name in ("permutations", "resamples", "confidence", "seed")
    }
    whole = compare_rows(statistics, real, generated, design=design, **options)
    if design.kind != "clusters" or design.numbers is None:
        return whole
    first, second = (_one_each(numbers, settings.seed) for numbers in design.numbers)
    thin = compare_rows(
        statistics,
        {k: v[first] for k, v in real.items()},
        {k: v[second] for k, v in generated.items()},
        **{**options, "resamples": 0},
    )
    return [
        replace(w, p=t.p, method=replace(t.method, design="one per prompt", resamples=w.method.resamples))
        for w, t in zip(whole, thin, strict=True)
    ]


def _one_each(numbers: Ints, seed: int) -> Ints:
    """A random document of each cluster, in order."""
    order = np.random.default_rng([seed, len(numbers)]).permutation(len(numbers))
    return np.sort(order[np.unique(numbers[order], return_index=True)[1]])


def _untested(statistic: Statistic, real: Scores, generated: Scores) -> TestResult:
    side = real if not real.n_scored else generated
    reasons = ", ".join(f"{reason} ({n})" for reason, n in side.unscored.items())
    reason = f"{side.corpus!r} has no scored document; {reasons or 'it is empty'}"
    return TestResult(
        statistic.name,
        effect_kind=statistic.effect,
        n_real=real.n_scored,
        n_generated=generated.n_scored,
        method=Method(family=statistic.kind, reason=reason),
    )


def _same_columns(real: dict[str, Rows], generated: dict[str, Rows]) -> tuple[dict[str, TestRows], dict[str, TestRows]]:
    """Rows of both texts by key, with the same columns in each."""
    out: tuple[dict[str, TestRows], dict[str, TestRows]] = ({}, {})
    for key, mine in real.items():
        theirs = generated[key]
        if isinstance(mine, Counted) and isinstance(theirs, Counted):
            a, b = aligned([mine, theirs])
            out[0][key], out[1][key] = a.matrix, b.matrix
        else:
            out[0][key], out[1][key] = np.asarray(mine), np.asarray(theirs)
    return out
