"""From two tables of scores to verdicts: the protocol's statistics, the guard's, and the critic's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.inference import Rows as TestRows
from momus.inference import Statistic, TestResult, compare_rows, entropy, jensen_shannon, mean, perplexity
from momus.inference.pooling import Tables, total
from momus.inference.pvalues import Prepared, both_values
from momus.rows import Counted, Rows, aligned
from momus.scores import Scores
from momus.verdicts import Verdict, finite, within

if TYPE_CHECKING:
    from momus.critic import Critic

NOT_TESTED = "not tested"


def all_statistics(critic: Critic[Any], rows: Sequence[str]) -> list[Statistic]:
    """What is tested of a critic: Latent NLL, Latent PPL of sequences, the mode-seeking guard, and its own.

    The guard stands beside Latent NLL because that alone can be lower than for real data when a model
    collapses onto likely z: the entropy of the aggregated posterior, and the Jensen–Shannon divergence between the
    aggregated posteriors of both texts, which is zero only where they agree.
    """
    statistics = [Statistic("latent_nll", "latent_nll", "value", mean, effect="hedges_g")]
    if critic.sequence:
        statistics.append(Statistic("latent_ppl", "latent_ppl", "value", perplexity, scale="log", effect="log_ratio"))
    if critic.guard and "states" in rows:
        statistics += [
            Statistic("posterior_entropy", "states", "value", entropy),
            Statistic("posterior_divergence", "states", "distance", jensen_shannon),
        ]
    return statistics + list(critic.statistics())


def judge(
    critic: Critic[Any],
    real: Scores,
    generated: Scores,
    *,
    paired: bool | None = None,
    permutations: int = 9999,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    equivalence: float | None = None,
    only_headline: bool = False,
) -> list[Verdict]:
    """Test every statistic of a critic between real and generated text; p-values are not adjusted yet.

    Parameters
    ----------
    paired
        Compare documents of the same prompt with each other; None does so where all scored documents pair up, see
        `design_of`, which also says what becomes of several documents of one prompt.
    equivalence
        δ: say of each effect whether it is shown to lie within ±δ.
    only_headline
        Test the headline statistic alone.
    """
    if critic.unit == "block":
        from momus.blocks import judge_blocks

        rows = judge_blocks(critic, real, generated, confidence=confidence, seed=seed)
        return [within(v, equivalence) for v in rows if v.headline or not only_headline]
    statistics = all_statistics(critic, list(real.rows))
    if only_headline:
        statistics = [s for s in statistics if s.name == critic.headline_statistic]
    if not real.n_scored or not generated.n_scored:
        return [_untested(critic, s, real, generated) for s in statistics]
    rows_real, rows_generated = _same_columns(real.test_rows(), generated.test_rows())
    options: dict[str, Any] = {
        "permutations": permutations,
        "resamples": resamples,
        "confidence": confidence,
        "seed": seed,
    }
    results = _by_design(statistics, rows_real, rows_generated, design_of(real, generated, paired), options)
    verdicts = []
    for statistic, found in zip(statistics, results, strict=True):
        verdicts.append(
            Verdict(
                critic=critic.name,
                axis=critic.axis,
                statistic=statistic.name,
                unit=critic.unit,
                generated=generated.corpus,
                real_value=finite(found.real_value),
                generated_value=finite(found.generated_value),
                difference=finite(found.difference),
                low=finite(found.low),
                high=finite(found.high),
                effect=finite(found.effect),
                effect_kind=found.effect_kind,
                p=finite(found.p),
                p_adjusted=None,
                q=None,
                mde=finite(found.mde),
                n_real=found.n_real,
                n_generated=found.n_generated,
                unscored_real=len(real) - real.n_scored,
                unscored_generated=len(generated) - generated.n_scored,
                headline=statistic.name == critic.headline_statistic,
                method=found.method,
                null=found.null,
                reference=real.corpus,
                effect_low=finite(found.equivalence_low),
                effect_high=finite(found.equivalence_high),
            )
        )
    return [within(v, equivalence) for v in verdicts]


def differences(critic: Critic[Any], real: Scores, generated: Scores) -> dict[str, float]:
    """Generated − real of each statistic of documents (of a distance, itself), without a test."""
    if critic.unit == "block" or not real.n_scored or not generated.n_scored:
        return {}
    rows = _same_columns(real.test_rows(), generated.test_rows())
    found = {}
    for s in all_statistics(critic, list(real.rows)):
        tables = Tables.of(rows[0][s.rows], rows[1][s.rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            left, right = both_values(s, Prepared(total(tables.real), total(tables.generated)))
        found[s.name] = float(right[0]) if s.kind == "distance" else float(right[0] - left[0])
    return found


def _by_design(
    statistics: Sequence[Statistic],
    real: dict[str, TestRows],
    generated: dict[str, TestRows],
    together: Together,
    options: dict[str, Any],
) -> list[TestResult]:
    if together.clusters is None:
        return compare_rows(statistics, real, generated, pairs=together.pairs, strata=together.strata, **options)
    one, other = together.clusters
    whole = compare_rows(statistics, real, generated, clusters_real=one, clusters_generated=other, **options)
    first, second = (_one_each(numbers, options["seed"]) for numbers in (one, other))
    thin = compare_rows(
        statistics,
        {k: v[first] for k, v in real.items()},
        {k: v[second] for k, v in generated.items()},
        **{**options, "resamples": 0},
    )
    tested = f"permutation test of one document of each prompt ({len(first):,} and {len(second):,})"
    return [
        replace(w, p=t.p, null=t.null, method=f"{tested}; {w.method.split('; ')[1]} of prompts")
        for w, t in zip(whole, thin, strict=True)
    ]


def _one_each(numbers: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """A random document of each cluster, in order."""
    order = np.random.default_rng([seed, len(numbers)]).permutation(len(numbers))
    return np.sort(order[np.unique(numbers[order], return_index=True)[1]])


def _untested(critic: Critic[Any], statistic: Statistic, real: Scores, generated: Scores) -> Verdict:
    side = real if not real.n_scored else generated
    reasons = ", ".join(f"{reason} ({n})" for reason, n in side.unscored.items())
    return Verdict(
        critic=critic.name,
        axis=critic.axis,
        statistic=statistic.name,
        unit=critic.unit,
        generated=generated.corpus,
        real_value=None,
        generated_value=None,
        difference=None,
        low=None,
        high=None,
        effect=None,
        effect_kind=statistic.effect,
        p=None,
        p_adjusted=None,
        q=None,
        mde=None,
        n_real=real.n_scored,
        n_generated=generated.n_scored,
        unscored_real=len(real) - real.n_scored,
        unscored_generated=len(generated) - generated.n_scored,
        headline=statistic.name == critic.headline_statistic,
        method=NOT_TESTED,
        null=f"not tested: {side.corpus!r} has no scored document; {reasons or 'it is empty'}",
    )


def _same_columns(real: dict[str, Rows], generated: dict[str, Rows]) -> tuple[dict[str, TestRows], dict[str, TestRows]]:
    out: tuple[dict[str, TestRows], dict[str, TestRows]] = ({}, {})
    for key, mine in real.items():
        theirs = generated[key]
        if isinstance(mine, Counted) and isinstance(theirs, Counted):
            a, b = aligned([mine, theirs])
            out[0][key], out[1][key] = a.matrix, b.matrix
        else:
            out[0][key], out[1][key] = np.asarray(mine), np.asarray(theirs)
    return out


@dataclass(frozen=True)
class Together:
    """Which documents belong together, at most one of the three: pairs, prompts of both texts, clusters of each.

    Attributes
    ----------
    pairs
        See `pair_up`.
    strata, clusters
        For both texts, a number for each scored document.
    """

    pairs: NDArray[np.int64] | None = None
    strata: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    clusters: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None


def design_of(real: Scores, generated: Scores, paired: bool | None = None) -> Together:
    """Read from the prompt ids how the documents of two texts belong together.

    * Each prompt has one document on each side: pairs.
    * At least nine in ten scored documents answer a prompt that both sides have, some prompts several times: strata
      (documents without such a prompt are a stratum by themselves, and tell nothing).
    * Prompts have several documents, and the sides do not share them: clusters.

    With ``paired=False`` prompts of the other side are not looked at, but several documents of one prompt still belong
    together.
    """
    pairs = pair_up(real, generated, paired)
    if pairs is not None:
        return Together(pairs=pairs)
    prompts = [[p for p, s in zip(x.prompts, x.scored, strict=True) if s] for x in (real, generated)]
    if not any(len(set(known)) < len(known) for known in ([p for p in side if p is not None] for side in prompts)):
        return Together()
    sides = [{p for p in side if p is not None} for side in prompts]
    common = sides[0] & sides[1]
    matched = [sum(p in common for p in side) for side in prompts]
    if (
        paired is not False
        and len(common) >= 2
        and all(m >= 0.9 * len(s) for m, s in zip(matched, prompts, strict=True))
    ):
        one, other = (_numbers(side, name) for side, name in zip(prompts, "rg", strict=True))
        codes = np.unique(np.concatenate([one, other]), return_inverse=True)[1]
        return Together(strata=(codes[: len(one)], codes[len(one) :]))
    first, second = (np.unique(_numbers(side, "x"), return_inverse=True)[1] for side in prompts)
    return Together(clusters=(first, second))


def _numbers(prompts: Sequence[str | None], side: str) -> NDArray[np.object_]:
    """A key for each document: its prompt, or one of its own."""
    return np.array([f"{side}{i}" if p is None else f"p{p}" for i, p in enumerate(prompts)], dtype=object)


def pair_up(real: Scores, generated: Scores, paired: bool | None = None) -> NDArray[np.int64] | None:
    """Pair scored documents by prompt id: int array (P, 2) of row numbers among the scored ones, or None.

    Pairs are made only where each prompt occurs once on each side. Without ``paired``, at least nine in ten scored
    documents of the smaller side must find a partner; with ``paired=True`` any two pairs will do. Documents without a
    partner are left out of the test, and the table's n says so.
    """
    if paired is False:
        return None
    left, right = _by_prompt(real), _by_prompt(generated)
    common = [p for p in left if p in right]
    if paired and len(common) < 2:
        raise UsageError(
            f"{len(common)} documents of {generated.corpus!r} share a prompt_id with one of {real.corpus!r}: no pairs",
            hint="leave --paired out, or give both sides the same prompt_id",
        )
    enough = len(common) >= 2 and (paired or len(common) >= 0.9 * min(real.n_scored, generated.n_scored))
    return np.array([(left[p], right[p]) for p in common], dtype=np.int64) if enough else None


def _by_prompt(scores: Scores) -> dict[str, int]:
    """Row number, among the scored documents, of each prompt that occurs exactly once."""
    found: dict[str, int] = {}
    doubled = set()
    prompts = [p for p, s in zip(scores.prompts, scores.scored, strict=True) if s]
    for i, prompt in enumerate(prompts):
        if prompt in found:
            doubled.add(prompt)
        if prompt is not None:
            found[prompt] = i
    return {p: i for p, i in found.items() if p not in doubled}
