"""The share of unscored documents: found where it differs, at its level where it does not."""

import numpy as np
import pytest
from scipy import stats

from momus import MomusError
from momus.critic.scores import Scores
from momus.verdicts.judge import missing_result
from momus.verdicts.settings import Settings


def scores(unscored, corpus="real", critic="length", prompts=None, groups=()):
    unscored = np.asarray(unscored, dtype=bool)
    n = len(unscored)
    return Scores(
        critic,
        corpus,
        [f"{corpus}:{i}" for i in range(n)],
        prompts or [None] * n,
        np.where(unscored, np.nan, 1.0),
        (~unscored).astype(int),
        ["it is blank" if u else None for u in unscored],
        groups=groups,
    )


def test_a_third_of_blank_documents_is_found():
    real, generated = scores(np.zeros(50)), scores(np.arange(50) % 3 == 0, "generated")
    result = missing_result(real, generated, Settings())
    assert (result.statistic, result.effect_kind) == ("unscored_share", "difference")
    assert (result.real_value, result.generated_value) == (0, pytest.approx(17 / 50))
    assert result.p < 1e-3
    assert 0 < result.low < 17 / 50 < result.high
    assert (result.n_real, result.n_generated) == (50, 50)


def test_without_unscored_documents_there_is_no_row():
    assert missing_result(scores(np.zeros(5)), scores(np.zeros(4), "g")) is None
    assert missing_result(scores([]), scores([1, 0], "g")) is None


def test_a_text_without_any_score_is_tested():
    assert missing_result(scores(np.zeros(20)), scores(np.ones(20), "g")).p < 1e-3


def test_p_agrees_with_fishers_exact_test():
    a, b = np.arange(40) < 4, np.arange(40) < 11
    result = missing_result(scores(a), scores(b, "g"), Settings(permutations=9999))
    fisher = stats.fisher_exact([[4, 36], [11, 29]]).pvalue
    assert result.p == pytest.approx(fisher, rel=0.15)


def test_documents_of_a_group_fail_together():
    blank = np.repeat(np.arange(10) < 4, 10)
    groups = [str(i // 10) for i in range(100)]
    single = missing_result(scores(np.zeros(100)), scores(blank, "g"))
    whole = missing_result(
        scores(np.zeros(100), groups=[f"r{g}" for g in groups]), scores(blank, "g", groups=[f"g{g}" for g in groups])
    )
    assert single.p < 1e-3 < whole.p
    assert whole.method.design == "clusters"


def test_the_level_holds():
    rng = np.random.default_rng(0)
    settings = Settings(permutations=199)
    p = [
        missing_result(scores(rng.random(60) < 0.2), scores(rng.random(60) < 0.2, "g"), settings).p for _ in range(400)
    ]
    # P(Binomial(400, 0.05) > 32) < 0.005; shares are discrete, so the level may lie below
    assert np.mean(np.array(p) <= 0.05) <= 0.08


def test_scores_of_two_critics_are_refused():
    with pytest.raises(MomusError, match="'length' and of 'unigram'"):
        missing_result(scores([1]), scores([1], "g", critic="unigram"))
