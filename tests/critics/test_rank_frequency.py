"""Ranks and frequencies: Zipf's law against its likelihood, simulation and plain sums; distances by definition."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats
from scipy.special import zeta

import momus
from momus import Corpus
from momus.text.tokens import get_tokenizer
from momus_critics import rank_frequency as zipf
from momus_critics.rank_frequency import RankFrequency

from .measured import assert_finds, measured, texts


def test_reference_figures(data):
    wikitext = momus.read_corpus(data / "wikitext-2" / "train.txt.gz", fmt="lines")
    table = wikitext.tokens(get_tokenizer("whitespace", lower=False))
    counts = np.bincount(table.ids).astype(float)
    s = zipf.fit_exponent(counts)
    assert s == pytest.approx(1.18924, abs=1e-5)
    ordered = zipf.ranked(counts[None])
    assert zipf.ks_given_law(ordered, s)[0] == pytest.approx(0.15634, abs=1e-5)
    assert zipf.ks_own_law(ordered)[0] == pytest.approx(0.15634, abs=1e-4)
    first = np.cumsum(ordered[0, :10_000])
    law = zipf.law_shares(np.array([s]), 10_000)[0]
    assert np.abs(first / first[-1] - law / law[-1]).max() == pytest.approx(0.20496, abs=1e-5)
    assert RankFrequency(tokens="whitespace", lower=False).fit(wikitext).exponent_ == s


def test_zeta_fit_maximises_the_likelihood():
    counts = np.array([50.0, 21, 9, 9, 4, 1])
    ks = np.arange(1, 7)
    likelihood = lambda s: -(counts @ (s * np.log(ks))) - counts.sum() * np.log(zeta(s))  # noqa: E731
    s = zipf.fit_exponent(counts)
    assert likelihood(s) >= max(likelihood(s - 1e-3), likelihood(s + 1e-3))
    assert zipf.exponents(zipf.ranked(counts[None]))[0] == pytest.approx(s, abs=1e-4)


def test_zeta_fit_recovers_the_exponent():
    ranks = stats.zipf(1.8).rvs(200_000, random_state=0)
    assert zipf.fit_exponent(np.bincount(ranks)[1:]) == pytest.approx(1.8, abs=0.02)


def test_rank_distances_literally():
    p, q = np.array([[5.0, 0, 3, 2]]), np.array([[1.0, 6, 1, 0]])
    a, b = np.cumsum([5, 3, 2, 0]) / 10, np.cumsum([6, 1, 1, 0]) / 8
    ranked = zipf.ranked(p), zipf.ranked(q)
    assert zipf.ks_ranked(*ranked)[0] == pytest.approx(np.abs(a - b).max())
    law = np.cumsum(np.arange(1, 5) ** -1.5) / zeta(1.5)
    assert zipf.ks_given_law(ranked[0], 1.5)[0] == pytest.approx(np.abs(a - law).max())


def test_new_words_of_a_document_take_the_next_ranks_by_appearance():
    critic = RankFrequency(tokens="whitespace").fit(Corpus.from_texts(["a a b", "a c"]))
    z = critic.project(Corpus.from_texts(["x a y x", "z y", "b"]))
    assert z.states.tolist() == [4, 1, 5, 4, 4, 5, 2]


def test_scores_are_those_of_the_zeta_distribution():
    critic = RankFrequency().fit(Corpus.from_texts(["a a a b b c", "a a a d b"]))
    law = stats.zipf(critic.exponent_)
    scores = critic.score(Corpus.from_texts(["a b d", "a x", "", "c"]))
    assert scores.reasons == [None, None, "empty", None]
    expected = [law.logpmf(ranks).sum() for ranks in ([1, 2, 4], [1, 5], [3])]
    assert -scores.nll[[0, 1, 3]] == pytest.approx(expected)


def test_all_ranks_have_probability_one():
    critic = RankFrequency().fit(Corpus.from_texts(["a " * 60 + "b " * 15, "c " * 7 + "d d d d e e f"]))
    head = np.exp(-critic.exponent_ * np.log(np.arange(1, 200_001)) - zipf.log_normalizer(critic.exponent_))
    tail = 200_000.5 ** (1 - critic.exponent_) / (critic.exponent_ - 1) / zeta(critic.exponent_)  # integral of the rest
    assert head.sum() + tail == pytest.approx(1, abs=1e-9)


def test_statistics_literally():
    fit, real, generated = texts(40, 0), texts(20, 1), texts(30, 2, vocabulary=150)
    critic = RankFrequency().fit(fit)

    def shares(corpus):
        counts = Counter(word for d in corpus for word in d.text.split())
        descending = np.array(sorted(counts.values(), reverse=True))
        return descending, np.cumsum(np.pad(descending / descending.sum(), (0, 600 - len(descending))))

    def law(exponent):
        return stats.zipf(exponent).cdf(np.arange(1, 601))

    (_, p), (counts, q) = shares(real), shares(generated)
    assert measured(critic, real, generated) == pytest.approx({"ks": np.abs(p - q).max()})
    own = zipf.fit_exponent(counts)
    first = slice(0, len(counts))  # over the ranks that the text has
    values = measured(critic, generated)
    assert values["exponent"] == pytest.approx(own, abs=1e-4)
    assert values["ks_own_law"] == pytest.approx(np.abs(q - law(own))[first].max(), abs=1e-4)
    assert values["ks_real_law"] == pytest.approx(np.abs(q - law(critic.exponent_))[first].max(), abs=1e-9)


def test_a_smaller_vocabulary_is_found():
    assert_finds("rank-frequency", vocabulary=120)
