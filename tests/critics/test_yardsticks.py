"""Perplexity and MAUVE as critics, against literal computations and, where it is installed, mauve-text."""

from __future__ import annotations

import numpy as np
import pytest
from arpa import KneserNey
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import shuffle_corpus

import momus
from momus import Corpus
from momus.errors import MomusError
from momus.text.tokens import get_tokenizer
from momus_adapters.language_models.kenlm import KenlmScorer
from momus_adapters.language_models.transformers import TransformersLM
from momus_critics.mauve import Mauve, frontier_area
from momus_critics.perplexity import Perplexity

from ..core.sequences.ngram_sampler import NGramSampler

WORDS = get_tokenizer("words")
RNG = np.random.default_rng(0)
TEXTS = [
    " ".join(RNG.choice(["cat", "dog", "sat", "ran", "on", "the", "mat"], RNG.integers(3, 20))) for _ in range(150)
]


def test_perplexity_is_that_of_the_ngram_model():
    real, held = Corpus.from_texts(TEXTS[:100]), Corpus.from_texts(TEXTS[100:])
    critic = Perplexity(order=2).fit(real)
    sampler = NGramSampler(2).fit(real, WORDS)
    total, count = 0.0, 0
    for d in held:
        words = [*d.text.split(), "</s>"]
        for i, w in enumerate(words):
            total += np.log(sampler.conditional(words[:i])[sampler.vocabulary.index(w)])
            count += 1
    # the critic keeps one symbol for unseen words, so that its uniform distribution is over one more
    assert critic.score(held).latent_ppl == pytest.approx(np.exp(-total / count), rel=2e-3)


def test_shuffled_words_are_less_predictable_and_real_ones_are_not():
    real = Corpus.from_texts([f"the {a} {b} on the {c}" for a in "cdefg" for b in "pqrst" for c in "vwxyz"] * 2)
    fit, held = real.take(np.arange(0, 250, 2)), real.take(np.arange(1, 250, 2))
    other = shuffle_corpus(held, WORDS, 1, seed=0)
    result = momus.compare(held, {"shuffled": other, "same": fit}, fit=fit, critics=["perplexity"], seed=1)
    p = {v.generated: v.p for v in result.verdicts if v.statistic == "latent_ppl"}
    assert p["shuffled"] < 0.01
    assert p["same"] is None or p["same"] > 0.01  # all texts have the same perplexity: there is nothing to test


def test_a_causal_model_scores_by_words(causal_lm):
    corpus = Corpus.from_texts(TEXTS[:8])
    critic = Perplexity(scorer="transformers", options={"model": causal_lm}).fit(corpus)
    lm = TransformersLM(causal_lm)
    scores = lm.score_texts([d.text for d in corpus])
    words = sum(len(d.text.split()) + 1 for d in corpus)
    assert critic.score(corpus).latent_ppl == pytest.approx(np.exp(-scores.totals.sum() / words), rel=1e-4)
    assert critic.score(corpus, batch_size=3).latent_ppl == pytest.approx(critic.score(corpus).latent_ppl, rel=1e-4)


def test_an_arpa_file_scores(tmp_path):
    corpus = Corpus.from_texts(TEXTS[:50])
    table = corpus.tokens(WORDS)
    KneserNey(order=3).fit(table.ids, table.offsets, table.vocabulary).write_arpa(tmp_path / "m.arpa")
    critic = Perplexity(scorer="kenlm", options={"path": str(tmp_path / "m.arpa")}).fit(corpus)
    scores = KenlmScorer(tmp_path / "m.arpa").score_texts([d.text for d in corpus])
    expected = np.exp(-scores.log_probabilities.mean())
    assert critic.score(corpus).latent_ppl == pytest.approx(expected, rel=1e-9)


def test_wrong_parameters_are_named():
    corpus = Corpus.from_texts(TEXTS[:5])
    with pytest.raises(MomusError, match="choose one of ngram"):
        Perplexity(scorer="oracle").fit(corpus)
    with pytest.raises(MomusError, match="scorer 'kenlm'"):
        Perplexity(scorer="kenlm").fit(corpus)
    with pytest.raises(MomusError, match="choose one of lsa"):
        Mauve(embedder="oracle").fit(corpus)


def test_the_words_of_a_document_are_explained():
    critic = Perplexity().fit(Corpus.from_texts(TEXTS))
    shown = critic.explain(Corpus.from_texts(["the cat sat on xyzzy"]))
    assert [(s.text, s.label) for s in shown.steps] == [("the cat sat on ", ""), ("xyzzy", "xyzzy")]
    assert [s.marked for s in shown.steps] == [False, True]


@given(st.lists(st.integers(0, 20), min_size=3, max_size=8), st.integers(0, 10**6))
@settings(max_examples=50)
def test_the_area_is_symmetric_and_one_only_for_equal_histograms(counts, seed):
    p = np.array([counts], dtype=float) + 0.1
    q = np.random.default_rng(seed).permutation(p[0])[None]
    a, b = frontier_area(p, q)[0], frontier_area(q, p)[0]
    assert a == pytest.approx(b)
    assert 0 <= a <= 1 + 1e-9
    assert frontier_area(p, 3 * p)[0] == pytest.approx(1)
    if (p != q).any():
        assert a < 1 - 1e-6 * np.abs(p / p.sum() - q / q.sum()).sum()


def test_the_area_equals_that_of_mauve_text():
    pytest.importorskip("mauve")
    from mauve.compute_mauve import get_divergence_curve_for_multinomials
    from sklearn.metrics import auc

    rng = np.random.default_rng(0)
    for _ in range(5):
        p, q = rng.dirichlet(np.ones(12), 2)
        curve = get_divergence_curve_for_multinomials(p, q, np.linspace(1e-6, 1 - 1e-6, 25), 5)
        x, y = curve.T
        forward, backward = np.argsort(x), np.argsort(y)
        expected = 0.5 * (auc(x[forward], y[forward]) + auc(y[backward], x[backward]))
        assert frontier_area(p[None], q[None])[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_several_clusterings_make_mauve_depend_less_on_the_seed():
    rng = np.random.default_rng(2)
    words = [f"w{i}" for i in range(120)]
    shares = rng.dirichlet(np.full(120, 0.3), 12)  # of words in each topic

    def texts(n, topics):
        return Corpus.from_texts([" ".join(rng.choice(words, 40, p=shares[rng.integers(topics)])) for _ in range(n)])

    fitted, real, other = texts(300, 12), texts(150, 12), texts(150, 9)
    spread = {}
    for clusterings in (1, 5):
        gaps = []
        for seed in range(6):
            critic = Mauve(clusterings=clusterings, seed=10 * seed).fit(fitted)
            pooled = [
                critic.sufficient_statistics(critic.project(c))["regions"].sum(axis=0)[None] for c in (real, other)
            ]
            assert pooled[0].sum() == clusterings * 150
            gaps.append(1 - frontier_area(*pooled)[0])
        spread[clusterings] = np.std(gaps, ddof=1)
    assert spread[5] < 0.75 * spread[1]


def test_mauve_sees_another_subject_and_not_the_same():
    words = [[f"{k}{i}" for i in range(30)] for k in "abcd"]
    rng = np.random.default_rng(1)

    def texts(n, shares):
        return [" ".join(rng.choice(words[rng.choice(4, p=shares)], 30)) for _ in range(n)]

    real, same, other = texts(300, [0.25] * 4), texts(150, [0.25] * 4), texts(150, [0.6, 0.2, 0.1, 0.1])
    result = momus.compare(real, {"same": same, "other": other}, critics=["mauve"], seed=0)
    p = {v.generated: v.p for v in result.verdicts if v.statistic == "mauve_gap"}
    assert p["other"] < 0.01 < p["same"]
