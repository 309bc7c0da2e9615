"""Types and tokens: the Poisson law against general optimisers and enumeration, distances against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import momus
from momus import Corpus
from momus.text.tokens import get_tokenizer
from momus_critics.fits import heaps as heaps_poisson
from momus_critics.type_token import TypeToken, count_types

from .measured import assert_finds, measured, texts

WHITE = get_tokenizer("whitespace", lower=False)


def test_reference_figures(data):
    wikitext = momus.read_corpus(data / "wikitext-2" / "train.txt.gz", fmt="lines")
    for n, reference in ((1, (0.98501, 0.90131)), (2, (0.91936, 1.00054))):
        critic = TypeToken(order=n, tokens="whitespace", lower=False).fit(wikitext)
        assert (critic.alpha_, critic.beta_) == pytest.approx(reference, abs=1e-5)


@settings(max_examples=40)
@given(st.lists(st.text("ab c", max_size=14), min_size=1, max_size=6), st.integers(1, 3), st.integers(1, 9))
def test_types_are_counted_within_beginnings_of_documents(texts, n, most):
    table = Corpus.from_texts(texts).tokens(WHITE)
    expected = []
    for text in texts:
        words = text.split()
        expected.append(len({tuple(words[i : i + n]) for i in range(min(len(words) - n + 1, most))}))
    assert count_types(table, n, np.full(len(texts), most)).tolist() == expected


def test_texts_of_one_length_are_compared_with_longer_and_shorter_ones_of_the_same_law():
    """Cut at 60 words, documents do not tell how types grow; of the same documents, 80 words had 1.1 times too many."""
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.3, size=(240, 90)), 3000)
    texts = [" ".join(f"w{k}" for k in row) for row in words.tolist()]

    def cut(part, most):
        # a few words more or less, as tokens of texts that were cut at a number of words
        return Corpus.from_texts([" ".join(t.split()[: most + i % 4]) for i, t in enumerate(part)])

    critic = TypeToken().fit(cut(texts[:80], 60))
    ratios = []
    for other in (60, 80, 40, 50):
        types, expected = critic.score(cut(texts[80:], other)).rows["types"].sum(axis=0)
        ratios.append(types / expected)
    assert np.array(ratios) / ratios[0] == pytest.approx(np.ones(4), rel=0.02)


def test_poisson_growth_fit_equals_a_general_optimiser():
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    t = rng.integers(3, 900, 300)
    v = rng.poisson(1.3 * t**0.8)
    loss = lambda x: -stats.poisson.logpmf(v, np.exp(x[0]) * t ** x[1]).sum()  # noqa: E731
    best = minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-9, "maxiter": 4000}).x
    alpha, beta = heaps_poisson.fit(t, v)
    assert (alpha, beta) == pytest.approx((np.exp(best[0]), best[1]), rel=1e-4)
    pooled = heaps_poisson.features(t, v).sum(axis=0)[None]
    assert heaps_poisson.betas(pooled)[0] == pytest.approx(beta, abs=1e-6)
    assert beta == pytest.approx(0.8, abs=0.02)


def test_documents_of_one_length_have_the_exponent_of_their_halves():
    critic = TypeToken().fit(Corpus.from_texts(["a b c", "a a b", "a a a"]))
    assert (critic.alpha_, critic.beta_) == pytest.approx((1, np.log(2) / np.log(3)))


@pytest.mark.parametrize("n", [1, 2])
def test_scores_are_poisson_probabilities_of_the_types(n):
    critic = TypeToken(order=n).fit(texts(40, 0))
    documents = ["a b a c", "a a a a a a", "a b"]
    scores = critic.score(Corpus.from_texts(documents))
    for text, nll in zip(documents, scores.nll, strict=True):
        words = text.split()
        grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
        expected = critic.alpha_ * len(grams) ** critic.beta_
        assert -nll == pytest.approx(stats.poisson.logpmf(len(set(grams)), expected))


def test_statistics_literally():
    critic, real, generated = TypeToken().fit(texts(60, 0)), texts(40, 1), texts(30, 2, vocabulary=150)

    def middles(corpus):
        """Cumulative probabilities of the types, half of that of their own number taken off."""
        t = np.minimum([len(d.text.split()) for d in corpus], critic.longest_)
        v = np.array([len(set(d.text.split())) for d in corpus])
        law = stats.poisson(critic.alpha_ * t**critic.beta_)
        return t, v, law, np.round((law.cdf(v) + law.cdf(v - 1)) / 2, 3)

    t, v, law, generated_middles = middles(generated)
    distance = stats.ks_2samp(middles(real)[3], generated_middles).statistic
    assert measured(critic, real, generated) == pytest.approx({"ks": distance})
    _, beta = heaps_poisson.fit(t, v)
    values = measured(critic, generated)
    assert values["relative_types"] == pytest.approx(v.sum() / law.mean().sum())
    assert values["beta"] == pytest.approx(beta, rel=1e-5)


def test_short_documents_are_unscored():
    critic = TypeToken(order=3).fit(texts(20, 0))
    reasons = critic.score(Corpus.from_texts(["a b c", "a b", ""])).reasons
    assert reasons[0] is None
    assert all(reasons[1:])


def test_distances_by_length_are_uniform_where_the_law_is_true():
    rng = np.random.default_rng(0)
    t = rng.integers(5, 300, 4000)
    v = np.maximum(rng.poisson(1.2 * t**0.8), 1)
    lengths, (dp, real_law, own) = heaps_poisson.distances_by_length(
        (t[:2000], v[:2000]), (t[2000:], v[2000:]), (1.2, 0.8), heaps_poisson.fit(t[2000:], v[2000:])
    )
    assert len(lengths) >= 10
    n = 2000 / len(lengths)
    assert np.median(dp) < 1.6 * np.sqrt(2 / n)
    assert np.median(real_law) < 1.6 / np.sqrt(n)
    assert np.median(own) < 1.6 / np.sqrt(n)


@pytest.mark.parametrize("length", [4, 20, 60])
def test_distances_to_a_true_law_vanish_for_texts_of_any_length(length):
    rng = np.random.default_rng(length)
    t = rng.integers(length, length + 3, 200_000)
    v = rng.poisson(1.2 * t**0.8)
    # the 99.9 % quantile of Kolmogorov's distribution is 1.95; discrete distributions lie closer
    assert heaps_poisson.gap_to_law(t, v, (1.2, 0.8)) < 1.95 / np.sqrt(len(t))
    assert heaps_poisson.gap_to_law(t, v, (1.2, 0.9)) > 0.02


def test_the_distance_to_a_law_is_the_largest_gap_of_the_cdfs():
    rng = np.random.default_rng(1)
    t, v = rng.integers(3, 30, 50), rng.poisson(6, 50)
    gaps = [
        abs(np.mean(v <= x) - np.mean([stats.poisson.cdf(x, 1.3 * n**0.7) for n in t]))
        for x in range(int(v.max()) + 40)
    ]
    assert heaps_poisson.gap_to_law(t, v, (1.3, 0.7)) == pytest.approx(max(gaps))


def test_fewer_different_words_are_found():
    assert_finds("type-token", vocabulary=120)
