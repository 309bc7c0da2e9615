"""Preferences of simulated raters are recovered; estimates and variances agree with sums over all pairs."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulated_raters import Truth, simulated_answers
from studies_of_people import true_preference

from momus_people.answers import RaterAnswers, row_of, scores_of
from momus_people.axis import axis_rows, correlations
from momus_people.estimate import _interval, mean_score, preference
from momus_people.excerpts import YARDSTICKS

from .by_hand import scores_frame
from .studies import study

RNG = np.random.default_rng(0)


def answered(made, truth, seed=0):
    return RaterAnswers.of(made, simulated_answers(made, truth, seed)).items(range(made.protocol.raters))


def ratings(rng, raters=4, passages=10):
    """Ratings of two corpora, a third of which are missing."""
    table = rng.integers(0, 5, size=(raters, 2 * passages)) / 4
    table[rng.random(table.shape) < 0.3] = np.nan
    return scores_frame(table, list("ab") * passages, [0] * 2 * passages, False), table


def test_a_preference_between_ratings_is_that_of_all_pairs_of_a_reader():
    scores, table = ratings(RNG)
    pairs = [
        (row[i] > row[j]) + 0.5 * (row[i] == row[j])
        for row in table
        for i in range(0, 20, 2)
        for j in range(1, 20, 2)
        if np.isfinite(row[[i, j]]).all()
    ]
    one, other = preference(scores, "a", "b"), preference(scores, "b", "a")
    assert one.value == pytest.approx(np.mean(pairs))
    assert (other.value, other.low, other.high) == pytest.approx((1 - one.value, 1 - one.high, 1 - one.low))
    assert preference(scores, "a", "c") is None


def test_the_interval_of_a_mean_is_clustered_by_raters_and_items():
    """With one answer of each rater to each item, the variance is that of a table with two random effects."""
    raters, items = 6, 15
    table = 0.1 * RNG.normal(size=(raters, 1)) + 0.1 * RNG.normal(size=(1, items)) + RNG.random((raters, items)) / 2
    table = np.clip(table, 0, 1)
    found = mean_score(scores_frame(table, ["a"] * items, [0] * items, False), "a")
    of_items, of_raters = table.mean(axis=0).var(ddof=1) / items, table.mean(axis=1).var(ddof=1) / raters
    noise = ((table - table.mean()) ** 2).sum() / table.size**2
    tastes = max(of_raters - noise, 0)
    freedom = (of_items + tastes) ** 2 / (of_items**2 / (items - 1) + tastes**2 / (raters - 1))
    centre = (items * table.mean() + 0.5) / (items + 1)
    added = 0.25 * ((1 - centre) ** 2 + centre**2) / (items + 1) ** 2
    reach = stats.t.isf(0.025, freedom) * np.sqrt(of_items + tastes + added) / (centre * (1 - centre))
    assert found.value == pytest.approx(table.mean())
    logits = np.log([found.low / (1 - found.low), found.high / (1 - found.high)])
    assert logits == pytest.approx(np.log(centre / (1 - centre)) + np.array([-reach, reach]))


def test_several_intervals_are_wider():
    scores, _ = ratings(RNG)
    widths = [np.diff([(s := preference(scores, "a", "b", tests)).low, s.high])[0] for tests in (1, 2, 10)]
    assert widths == sorted(widths)
    assert widths[0] < widths[2]


@pytest.mark.parametrize("n", [10, 40])
def test_unanimous_answers_have_about_the_exact_interval(n):
    found = _interval(1.0, np.zeros(n), np.arange(n) % 4, np.arange(n), n, 1)
    assert found.low == pytest.approx(stats.binomtest(n, n).proportion_ci().low, abs=0.06)
    assert found.low < 1 - 1 / n < found.high < 1


@pytest.mark.parametrize("kind", ["rating", "pair"])
def test_preferences_of_raters_are_recovered(kind):
    truth = Truth({"real": 1.2, "model-a": 0.0, "model-b": -1.2}, 0.5, 0.2, 0.4)
    made = study(200, kind=kind, items=90, raters=6, checks=1, ties=kind == "pair")
    scores = scores_of(made, answered(made, truth, 1))
    for one, other in combinations(made.corpora, 2):
        true = true_preference(made.protocol, truth, truth.effects[one], truth.effects[other], np.random.default_rng(0))
        found = preference(scores, one, other)
        assert found.low < true < found.high
        assert found.high - found.low < 0.4
    assert preference(scores, "real", "model-b").low > 0.6
    means = [mean_score(scores, n) for n in made.corpora]
    assert means[0].low > means[1].value > means[2].high
    for name, mean in zip(made.corpora, means, strict=True):
        assert mean.value == pytest.approx(scores.score[scores.corpus == name].mean())


def test_left_sides_preferred_are_no_preference_for_a_corpus():
    made = study(200, kind="pair", items=120, raters=3, judgements=3)
    answers = answered(made, Truth(dict.fromkeys(made.corpora, 0.0), 0.1, 0.1, 0.0))
    trials = {t.code: t for t in made.design.trials}
    rows = [row_of(made, trials[a.trial], "left" if k % 10 else a.value) for k, a in enumerate(answers.itertuples())]
    left = pd.DataFrame(rows)
    for name in made.corpora[1:]:
        found = preference(scores_of(made, left), "real", name)
        assert found.low < 0.5 < found.high


def test_correlations_are_those_of_residuals():
    x = RNG.normal(size=(50, 5))
    x -= x.mean(axis=0)
    (found,) = correlations((x.T @ x)[None], 2)
    assert found[:, 0] == pytest.approx(np.corrcoef(x.T)[-1, :-1])
    for k, held in ((0, [2, 3]), (1, [2, 3]), (2, [3])):
        left = [v - x[:, held] @ np.linalg.lstsq(x[:, held], v, rcond=None)[0] for v in (x[:, k], x[:, 4])]
        assert found[k, 1] == pytest.approx(np.corrcoef(left)[0, 1])


@pytest.mark.slow
def test_the_axis_that_readers_follow_is_found_and_length_is_not_taken_for_it():
    """One critic goes with the answers by itself, one through length only, one not at all."""
    made = study(200, items=120, raters=6, checks=1)
    count = len(made.design.passages)
    rng = np.random.default_rng(3)
    length, follows = rng.normal(size=count), rng.normal(size=count)
    beyond = {k: float(1.5 * length[k] - 1.5 * follows[k]) for k in range(count)}
    answers = answered(made, Truth(dict.fromkeys(made.corpora, 0.0), 0.3, 0.1, 0.3, beyond))
    plain = [dict(zip(YARDSTICKS, [v, *rng.normal(size=4)], strict=True)) for v in length.tolist()]
    values = {
        "sections": follows.tolist(),
        "length alone": (length + 0.3 * rng.normal(size=count)).tolist(),
        "nothing": [None if k % 9 == 0 else v for k, v in enumerate(rng.normal(size=count).tolist())],
    }
    rows = {r.critic: r for r in axis_rows(scores_of(made, answers), values, {}, plain)}
    assert rows["sections"].high < -0.1
    assert rows["sections"].p_adjusted < 0.001
    assert rows["length alone"].low > 0.2
    assert rows["length alone"].partial_low < 0 < rows["length alone"].partial_high
    assert rows["nothing"].partial_low < 0 < rows["nothing"].partial_high
    assert rows["nothing"].passages < rows["sections"].passages == 120
    assert rows["length"].is_yardstick
    assert np.isnan(rows["length"].p_adjusted)


def test_differences_between_strata_do_not_count():
    strata = np.repeat(np.arange(30), 2)
    level = np.repeat(RNG.normal(size=30) * 10, 2)
    scores = scores_frame(np.tile(level + RNG.normal(size=60), (3, 1)), ["a"] * 60, strata, True)
    plain = [dict(zip(YARDSTICKS, v, strict=True)) for v in RNG.normal(size=(60, 5)).tolist()]
    (row, *_) = axis_rows(scores, {"x": (level + RNG.normal(size=60)).tolist()}, {}, plain)
    assert abs(row.rho) < 0.6
    assert row.low < 0 < row.high
