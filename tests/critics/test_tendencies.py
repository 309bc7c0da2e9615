"""Statistical tendencies: reference figures, exact small cases, and critics that find what was changed."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import zeta

import momus
from momus import Corpus, MomusError, Values
from momus.critic import kolmogorov_smirnov
from momus.text.tokens import get_tokenizer
from momus_critics.fits import heaps as heaps_poisson
from momus_critics.fits import zipf
from momus_critics.length import Length
from momus_critics.rank_frequency import RankFrequency
from momus_critics.shares import StopwordShare, SymbolShare, fit_beta_binomial
from momus_critics.stopword_lists import LANGUAGES, stopwords
from momus_critics.type_token import TypeToken, count_types
from momus_critics.unigram import Unigram

SPLIT = {"tokens": "whitespace", "lower": False}
WHITE = get_tokenizer("whitespace", lower=False)


@pytest.fixture(scope="module")
def wikitext(data):
    return momus.read_corpus(data / "wikitext-2" / "train.txt.gz", fmt="lines")


def test_reference_figures(wikitext):
    table = wikitext.tokens(WHITE)
    counts = np.bincount(table.ids).astype(float)
    s = zipf.fit_exponent(counts)
    assert s == pytest.approx(1.18924, abs=1e-5)
    assert zipf.fit_exponent(counts, truncated=True) == pytest.approx(1.01861, abs=1e-5)
    ordered = zipf.ranked(counts[None])
    assert zipf.ks_given_law(ordered, s)[0] == pytest.approx(0.15634, abs=1e-5)
    assert zipf.ks_own_law(ordered)[0] == pytest.approx(0.15634, abs=1e-4)
    first = np.cumsum(ordered[0, :10_000])
    law = zipf.law_shares(np.array([s]), 10_000)[0]
    assert np.abs(first / first[-1] - law / law[-1]).max() == pytest.approx(0.20496, abs=1e-5)
    assert RankFrequency(**SPLIT).fit(wikitext).exponent_ == s
    for n, reference in ((1, (0.98501, 0.90131)), (2, (0.91936, 1.00054))):
        critic = TypeToken(n=n, **SPLIT).fit(wikitext)
        assert (critic.alpha_, critic.beta_) == pytest.approx(reference, abs=1e-5)


def test_zeta_fit_maximises_the_likelihood():
    counts = np.array([50.0, 21, 9, 9, 4, 1])
    ks = np.arange(1, 7)
    likelihood = lambda s: -(counts @ (s * np.log(ks))) - counts.sum() * np.log(zeta(s))  # noqa: E731
    s = zipf.fit_exponent(counts)
    assert likelihood(s) >= max(likelihood(s - 1e-3), likelihood(s + 1e-3))
    assert zipf.exponents(zipf.ranked(counts[None]))[0] == pytest.approx(s, abs=1e-4)
    truncated = lambda s: -(counts @ (s * np.log(ks))) - counts.sum() * np.log((ks**-s).sum())  # noqa: E731
    t = zipf.fit_exponent(counts, truncated=True)
    assert truncated(t) >= max(truncated(t - 1e-3), truncated(t + 1e-3))


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
    assert zipf.ks_given_law(ranked[0], 1.5, types=3)[0] == pytest.approx(
        np.abs(
            a - np.minimum(np.cumsum(np.array([1, 2, 3, np.inf]) ** -1.5) / (np.arange(1, 4) ** -1.5).sum(), 1)
        ).max()
    )


def test_new_words_of_a_document_take_the_next_ranks_by_appearance():
    critic = RankFrequency(tokens="whitespace").fit(Corpus.from_texts(["a a b", "a c"]))
    z = critic.project(Corpus.from_texts(["x a y x", "z y", "b"]))
    assert z.states.tolist() == [4, 1, 5, 4, 4, 5, 2]


def test_unigram_probabilities_sum_to_one_and_leave_room_for_new_words():
    critic = Unigram().fit(Corpus.from_texts(["a a a b b c", "d"]))
    assert np.exp(critic.log_probabilities_).sum() == pytest.approx(1)
    assert np.exp(critic.log_probabilities_[-1]) == pytest.approx(2.5 / 8)
    assert critic.score(Corpus.from_texts(["never seen"])).nll[0] == pytest.approx(-2 * np.log(2.5 / 8))


@pytest.mark.parametrize("bins", [0, 1, 7])
def test_length_distribution_is_proper(bins):
    critic = Length(bins=bins).fit(
        Corpus.from_texts(["a " * int(n) for n in np.random.default_rng(0).poisson(9, 60) + 1])
    )
    lengths = np.arange(1, 5000).astype(float)
    assert np.exp(critic.log_prior(Values(lengths)).values).sum() == pytest.approx(1, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab c", max_size=14), min_size=1, max_size=6), st.integers(1, 3))
def test_types_are_counted_within_documents(texts, n):
    table = Corpus.from_texts(texts).tokens(WHITE)
    expected = []
    for text in texts:
        words = text.split()
        expected.append(len({tuple(words[i : i + n]) for i in range(len(words) - n + 1)}))
    assert count_types(table, n).tolist() == expected


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
    assert heaps_poisson.alphas(pooled)[0] == pytest.approx(alpha, rel=1e-5)
    assert beta == pytest.approx(0.8, abs=0.02)


def test_beta_binomial_is_the_maximum():
    hits, tokens = np.array([1, 4, 2, 0, 9]), np.array([10, 20, 11, 4, 20])
    a, b = fit_beta_binomial(hits, tokens)
    value = lambda x, y: stats.betabinom.logpmf(hits, tokens, x, y).sum()  # noqa: E731
    assert value(a, b) >= max(value(a * 1.01, b), value(a * 0.99, b), value(a, b * 1.01), value(a, b * 0.99))


def test_share_distance_equals_scipy():
    critic = SymbolShare().fit(Corpus.from_texts(["a , b .", "a b c !", "x"]))
    texts = ["a .", "b , c", "d", "! !"], ["a . . .", "b", "c c ,"]
    scores = [critic.score(Corpus.from_texts(t)) for t in texts]
    shares = [sum(c in ".,!" for c in t.split()) / len(t.split()) for t in texts[0]]
    assert critic.project(Corpus.from_texts(texts[0])).shares.tolist() == pytest.approx(shares)
    from momus.critic import aligned, pool

    a, b = (pool(r)[None] for r in aligned([s.rows["shares"] for s in scores]))
    other = critic.project(Corpus.from_texts(texts[1])).shares
    assert kolmogorov_smirnov(a, b)[0] == pytest.approx(stats.ks_2samp(shares, other).statistic)


def test_stopwords():
    assert all(len(stopwords(language)) > 90 for language in LANGUAGES)
    assert {"the", "of", "is"} <= stopwords("en")
    assert {"nicht", "und"} <= stopwords("de")
    with pytest.raises(MomusError, match="`words`"):
        StopwordShare(language="xx").fit(Corpus.from_texts(["a", "b"]))
    mine = StopwordShare(words=["foo"]).fit(Corpus.from_texts(["foo bar", "bar"]))
    assert mine.project(Corpus.from_texts(["foo the foo"])).hits.tolist() == [2]


def texts(n, seed, stop=0.4, symbols=0.1, vocabulary=400):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{chr(97 + i % 26)}{'x' * (i // 26)}" for i in range(vocabulary)])
    p = 1 / np.arange(1, vocabulary + 1)
    out = []
    for _ in range(n):
        length = rng.integers(30, 90)
        kind = rng.random(length)
        drawn = rng.choice(words, length, p=p / p.sum())
        drawn = np.where(kind < stop, rng.choice(["the", "of", "and", "to"], length), drawn)
        out.append(" ".join(np.where(kind > 1 - symbols, rng.choice([",", ".", "7"], length), drawn)))
    return Corpus.from_texts(out, name=f"t{seed}")


@pytest.mark.parametrize(
    ("critic", "change"),
    [
        ("stopword-share", {"stop": 0.45}),
        ("symbol-share", {"symbols": 0.14}),
        ("type-token", {"vocabulary": 120}),
        ("rank-frequency", {"vocabulary": 120}),
        ("unigram", {"vocabulary": 120}),
    ],
)
def test_each_critic_finds_its_own_change(critic, change):
    fit, real, same = texts(200, 0), texts(150, 1), texts(150, 2)
    found = momus.compare(
        real,
        {"same": same, "changed": texts(150, 3, **change)},
        fit=fit,
        critics=[critic],
        permutations=499,
        resamples=99,
    )
    headline = {v.generated: v for v in found.verdicts if v.headline}
    assert headline["changed"].p <= 0.01
    assert headline["same"].p > 0.01
    assert headline["changed"].low > 0


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


def test_counts_of_words_equal_counter():
    corpus = texts(5, 0)
    scores = Unigram(tokens="whitespace").fit(texts(5, 1)).score(corpus)
    expected = Counter(" ".join(d.text for d in corpus).split())
    assert scores.summary.counts["words"] == pytest.approx(dict(expected))
