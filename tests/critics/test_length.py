"""Length: its distribution against Jeffreys' posterior and a geometric tail, its statistics against SciPy."""

import numpy as np
import pytest
from scipy import stats

from momus import Corpus, Values
from momus.critic.statistic import spread
from momus.verdicts.judge import judge
from momus_critics.length import Length

from .measured import assert_finds, measured


def of_lengths(*lengths):
    return Corpus.from_texts(["a " * n for n in lengths])


def probabilities(critic, lengths):
    return np.exp(critic.log_prior(Values(np.asarray(lengths, dtype=float))).values)


@pytest.mark.parametrize("bins", [0, 1, 7])
def test_the_distribution_is_proper(bins):
    critic = Length(bins=bins).fit(of_lengths(*np.random.default_rng(0).poisson(9, 60) + 1))
    assert probabilities(critic, np.arange(1, 5000)).sum() == pytest.approx(1, abs=1e-6)


def test_one_bin_and_the_tail_share_as_in_the_posterior_of_a_beta_distribution():
    lengths = (1, 2, 2, 3, 6)
    critic = Length(bins=1).fit(of_lengths(*lengths))
    # n documents within the longest and none beyond, after Jeffreys' prior Beta(½, ½); uniform over the lengths 1 … 6
    inside = stats.beta(len(lengths) + 0.5, 0.5).mean()
    assert probabilities(critic, range(1, 7)) == pytest.approx(np.full(6, inside / 6))
    # beyond, a geometric distribution from 7 on, whose mean excess is the mean length
    tail = stats.geom(1 / (1 + np.mean(lengths)), loc=6)
    assert probabilities(critic, range(7, 60)) == pytest.approx((1 - inside) * tail.pmf(np.arange(7, 60)))


def test_the_tail_of_documents_of_one_word_halves_from_length_to_length():
    critic = Length().fit(of_lengths(1, 1, 1))
    inside = stats.beta(3.5, 0.5).mean()
    assert probabilities(critic, [1, 2, 3, 4]) == pytest.approx([inside, *((1 - inside) / 2 ** np.arange(1, 4))])


def test_bins_share_as_in_the_posterior_of_a_dirichlet_distribution():
    critic = Length(bins=3).fit(of_lengths(1, 2, 3, 5, 5, 9, 9, 9, 12))
    cells = [range(1, 5), range(5, 9), range(9, 13)]  # the ninths of the documents at 1/3 and 2/3 have 5 and 9 words
    counts = [3, 2, 4]
    *shares, beyond = stats.dirichlet(np.array([*counts, 0]) + 0.5).mean()
    for cell, share in zip(cells, shares, strict=True):
        assert probabilities(critic, cell) == pytest.approx(np.full(4, share / 4))
    assert probabilities(critic, range(13, 4000)).sum() == pytest.approx(beyond)


def test_bins_hold_as_many_documents_as_there_are_bins():
    assert len(Length().fit(of_lengths(1, 4)).log_mass_) == 1
    assert len(Length().fit(of_lengths(*range(1, 10))).log_mass_) == 3


def test_long_texts_of_one_length_keep_the_digits_of_their_spread():
    """All that remains of it is Sheppard's 1 ÷ (12 z²), a trillionth of the squares of logarithms."""
    critic = Length().fit(of_lengths(100_000, 100_000))
    rows = critic.sufficient_statistics(Values(np.full(6, 1e5)))["logarithms"]
    assert spread(np.asarray(rows).sum(axis=0)[None]) == pytest.approx(12**-0.5 / 1e5, rel=1e-6)


def test_the_unit_is_what_the_tokenizer_counts():
    for tokens, unit in (("words", "words and symbols"), ("whitespace", "tokens")):
        critic = Length(tokens=tokens).fit(of_lengths(1, 2, 3))
        summary = critic.score(of_lengths(1, 2)).summary
        assert critic.evidence(summary, summary)[0].x.label == f"length in {unit}"


def test_scores_are_those_of_the_number_of_tokens():
    critic = Length(tokens="whitespace").fit(of_lengths(*range(1, 30)))
    scores = critic.score(Corpus.from_texts(["one", "one two, three", "", "four " * 80]))
    assert scores.reasons == [None, None, "empty", None]
    kept = np.flatnonzero([r is None for r in scores.reasons])
    assert scores.nll[kept] == pytest.approx(-np.log(probabilities(critic, [1, 3, 80])))


def test_statistics_equal_those_of_scipy_and_numpy():
    rng = np.random.default_rng(0)
    x, y = rng.poisson(9, 40) + 1, rng.poisson(12, 25) + 1
    critic = Length().fit(of_lengths(*x))
    a, b = of_lengths(*x), of_lengths(*y)
    assert measured(critic, a, b)["ks"] == pytest.approx(stats.ks_2samp(x, y).statistic)
    assert measured(critic, b)["mean_length"] == pytest.approx(y.mean())
    # the lengths lie within ± ½, uniformly, with the variance 1/12, on the log scale 1/(12 y²)
    assert measured(critic, b)["spread"] == pytest.approx(np.sqrt(np.log(y).var() + np.mean(1 / (12 * y**2))))


def test_texts_of_one_length_are_told_as_more_alike():
    """Human lengths with a standard deviation of 0.5 in the logarithm; generated ones all at their median."""
    rng = np.random.default_rng(0)
    fit, real, other = (np.exp(rng.normal(5, 0.5, n)).round().astype(int) for n in (80, 60, 60))
    critic = Length().fit(of_lengths(*fit))

    def spread(lengths):
        rows = judge(critic, critic.score(of_lengths(*real)), critic.score(of_lengths(*lengths)), resamples=99)
        return next(v for v in rows if v.statistic == "spread")

    equal, near = spread([148] * 60), spread(rng.integers(140, 157, 60))
    for row in (equal, near):
        assert row.p_in_axis < 0.01
        assert row.difference < 0
        assert row.wording.direction[0] == "more alike in length"
    assert equal.generated_value == pytest.approx(1 / (148 * 12**0.5), rel=1e-6)
    assert spread(other).p > 0.05


def test_the_evidence_is_the_cumulative_distribution_of_the_lengths():
    x, y = np.arange(1, 101) // 3 + 1, np.arange(1, 401, 4) // 7 + 1  # lengths that several documents share
    critic = Length().fit(of_lengths(*x))
    (chart,) = critic.evidence(*(critic.score(of_lengths(*lengths)).summary for lengths in (x, y)))
    for series, lengths in zip(chart.series, (x, y), strict=True):
        assert series.y == pytest.approx([np.mean(lengths <= at) for at in series.x], abs=1e-3)


def test_longer_texts_are_found():
    assert_finds("length", longest=130)
