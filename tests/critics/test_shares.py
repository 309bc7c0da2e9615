"""Shares of stopwords and of symbols: the beta-binomial against SciPy, shares and distances against plain counting."""

import numpy as np
import pytest
from scipy import stats

from momus import Corpus, MomusError
from momus.estimator import clone
from momus_critics.shares import StopwordShare, SymbolShare, fit_beta_binomial
from momus_critics.stopword_lists import LANGUAGES, stopwords

from .measured import assert_finds, measured


def test_beta_binomial_is_the_maximum():
    hits, tokens = np.array([1, 4, 2, 0, 9]), np.array([10, 20, 11, 4, 20])
    a, b = fit_beta_binomial(hits, tokens)
    value = lambda x, y: stats.betabinom.logpmf(hits, tokens, x, y).sum()  # noqa: E731
    assert value(a, b) >= max(value(a * 1.01, b), value(a * 0.99, b), value(a, b * 1.01), value(a, b * 0.99))


def test_beta_binomial_recovers_its_parameters():
    rng = np.random.default_rng(0)
    tokens = rng.integers(20, 200, 6000)
    fitted = fit_beta_binomial(rng.binomial(tokens, rng.beta(4, 9, 6000)), tokens)
    assert fitted == pytest.approx((4, 9), rel=0.08)


@pytest.mark.parametrize("critic", [StopwordShare(), SymbolShare()], ids=lambda c: c.name)
@pytest.mark.parametrize("length", [1, 4])
def test_all_numbers_of_hits_have_probability_one(critic, length):
    hit = {"stopword-share": "the", "symbol-share": ","}[critic.name]
    mixed = [" ".join([hit] * k + ["stone"] * (9 - k)) for k in (1, 2, 2, 4)]
    fitted = clone(critic).fit(Corpus.from_texts(mixed))
    all_numbers = [" ".join([hit] * k + ["stone"] * (length - k)) for k in range(length + 1)]
    nll = fitted.score(Corpus.from_texts(all_numbers)).nll
    assert np.exp(-nll).sum() == pytest.approx(1)
    expected = stats.betabinom.logpmf(np.arange(length + 1), length, fitted.alpha_, fitted.beta_)
    assert -nll == pytest.approx(expected)


def test_share_distance_equals_scipy():
    critic = SymbolShare().fit(Corpus.from_texts(["a , b .", "a b c !", "x"]))
    texts = ["a .", "b , c", "d", "! !"], ["a . . .", "b", "c c ,"]
    x, y = ([np.mean([c in ".,!" for c in t.split()]) for t in side] for side in texts)
    real, generated = map(Corpus.from_texts, texts)
    assert critic.project(real).shares == pytest.approx(x)
    assert measured(critic, real, generated) == pytest.approx({"ks": stats.ks_2samp(x, y).statistic})
    assert measured(critic, generated) == pytest.approx({"mean_share": np.mean(y)})


def test_symbols_are_tokens_without_a_letter():
    words = ["a", "7", "--", "a1", "é", "…", "東", "²", "_", "x."]
    found = SymbolShare()._is_hit(words)
    assert dict(zip(words, found.tolist(), strict=True)) == {
        **dict.fromkeys(["a", "a1", "é", "東", "x."], False),
        **dict.fromkeys(["7", "--", "…", "²", "_"], True),
    }


def test_stopwords_are_found_whatever_their_case_and_apostrophe():
    assert StopwordShare()._is_hit(["The", "OF", "stone"]).tolist() == [True, True, False]
    french = StopwordShare(language="fr")
    assert french._is_hit(["Qu'", "qu’", "qu"]).tolist() == [True, True, "qu" in stopwords("fr")]


def test_stopwords():
    assert all(len(stopwords(language)) > 90 for language in LANGUAGES)
    assert {"the", "of", "is"} <= stopwords("en")
    assert {"nicht", "und"} <= stopwords("de")
    with pytest.raises(MomusError, match="`stopwords`"):
        StopwordShare(language="xx").fit(Corpus.from_texts(["a", "b"]))
    mine = StopwordShare(stopwords=["foo"]).fit(Corpus.from_texts(["foo bar", "bar"]))
    assert mine.project(Corpus.from_texts(["foo the foo"])).hits.tolist() == [2]


def test_empty_documents_are_unscored():
    for critic in (StopwordShare(), SymbolShare()):
        scores = critic.fit(Corpus.from_texts(["the cat , sat", "a dog ran ."])).score(Corpus.from_texts(["the", " "]))
        assert scores.reasons == [None, "empty"]


def test_the_evidence_is_the_cumulative_distribution_of_the_shares():
    shares = np.arange(1, 21) / 20
    corpus = Corpus.from_texts([" ".join([","] * k + ["a"] * (20 - k)) for k in range(1, 21)])
    critic = SymbolShare().fit(corpus)
    (chart,) = critic.evidence(critic.score(corpus).summary, critic.score(corpus).summary)
    assert [s.x for s in chart.series] == [pytest.approx(100 * shares)] * 2
    assert [s.y for s in chart.series] == [pytest.approx(shares)] * 2


@pytest.mark.parametrize(
    ("critic", "change"), [("stopword-share", {"stop": 0.45}), ("symbol-share", {"symbols": 0.14})]
)
def test_another_share_is_found(critic, change):
    assert_finds(critic, **change)
