"""Reference processes against what is known of them."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from processes import pitman_yor, shuffle_corpus, shuffle_ngrams, simon
from scipy import stats

from momus import Corpus, MomusError
from momus.text.running import RunningText
from momus.text.tokens import get_tokenizer
from momus_critics.laws import LongRange, Taylor

from ..sequences.ngram_sampler import NGramSampler

WORDS = get_tokenizer("words")


def stream(ids):
    return RunningText(ids, [f"w{i}" for i in range(int(ids.max()) + 1)])


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_shuffles_keep_ngrams(n):
    ids = np.arange(1003)
    shuffled = shuffle_ngrams(ids, n, seed=0)
    assert sorted(shuffled) == ids.tolist()
    pieces = {tuple(shuffled[i : i + n]) for i in range(0, 1003 // n * n, n)}
    assert pieces == {tuple(ids[i : i + n]) for i in range(0, 1003 // n * n, n)}
    assert not np.array_equal(shuffled, ids)


def test_shuffled_corpora_keep_their_lengths():
    corpus = Corpus.from_texts(["a b c d", "e f"], prompts=["p", "q"])
    mixed = shuffle_corpus(corpus, WORDS, 1, seed=0)
    assert [len(d.text.split()) for d in mixed] == [4, 2]
    assert mixed.prompts == ["p", "q"]
    assert Counter(" ".join(d.text for d in mixed).split()) == Counter("abcdef")


def chi_square(drawn, exact):
    counts = Counter(drawn)
    observed = np.array([counts[k] for k in exact])
    assert sum(observed) == len(drawn)
    return stats.chisquare(observed, np.array(list(exact.values())) * len(drawn)).pvalue


def partitions(n):
    """Sequences of word numbers by first appearance."""
    for tail in product(*(range(i + 1) for i in range(n))):
        if all(w <= max(tail[:i], default=-1) + 1 for i, w in enumerate(tail)):
            yield tail


def test_simon_equals_its_exact_distribution():
    """Chi-square over all sequences of four tokens, 6,000 draws; false alarm 1e-4."""
    alpha, exact = 0.3, {}
    for path in partitions(4):
        p = 1.0
        for t in range(1, 4):
            p *= alpha if path[t] not in path[:t] else (1 - alpha) * path[:t].count(path[t]) / t
        exact[path] = p
    assert sum(exact.values()) == pytest.approx(1)
    assert chi_square([tuple(simon(4, alpha, s).tolist()) for s in range(6000)], exact) > 1e-4


def test_pitman_yor_equals_its_exact_distribution():
    """Chi-square over all sequences of four tokens, 6,000 draws; false alarm 1e-4."""
    d, theta, exact = 0.6, 0.8, {}
    for path in partitions(4):
        p = 1.0
        for t in range(1, 4):
            k = len(set(path[:t]))
            seen = path[t] in path[:t]
            p *= ((path[:t].count(path[t]) - d) if seen else (theta + d * k)) / (theta + t)
        exact[path] = p
    assert sum(exact.values()) == pytest.approx(1)
    assert chi_square([tuple(pitman_yor(4, d, theta, s).tolist()) for s in range(6000)], exact) > 1e-4


def test_processes_of_a_million_words_have_the_laws_that_are_known():
    s = stream(simon(1_000_000, 0.1, seed=0))
    assert Taylor().line(s).slope == pytest.approx(0.50, abs=0.01)
    assert LongRange().verdict(s) == "Strong"
    lags, c = LongRange().curve(s)
    assert c[lags <= 100].min() > 0.5 * c[0]
    p = stream(pitman_yor(1_000_000, 0.8, 1.0, seed=0))
    assert Taylor().line(p).slope == pytest.approx(0.50, abs=0.01)
    assert LongRange().verdict(p) == "No"


CORPUS = Corpus.from_texts(["a b a c", "b a", "c a b a b", "a"])


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("smoothing", ["none", "kneser-ney"])
def test_conditional_distributions_sum_to_one(order, smoothing):
    model = NGramSampler(order, smoothing).fit(CORPUS, WORDS)
    contexts = [list(c) for n in range(3) for c in product(["a", "b", "c", "zzz"], repeat=n)]
    seen = 0
    for context in contexts:
        try:
            p = model.conditional(context)
        except MomusError:
            assert smoothing == "none"
            continue
        seen += 1
        assert p.sum() == pytest.approx(1)
        assert (p >= 0).all()
        assert smoothing == "none" or (p > 0).all()
    assert seen >= 1


def test_kneser_ney_equals_a_literal_bigram_computation():
    model = NGramSampler(2).fit(CORPUS, WORDS)
    bigrams = Counter()
    for d in CORPUS:
        words = ["<s>", *d.text.split(), "</s>"]
        bigrams.update(pairwise(words))
    n1, n2 = (sum(c == k for c in bigrams.values()) for k in (1, 2))
    high = n1 / (n1 + 2 * n2)
    after = Counter(w for _, w in bigrams)
    m1, m2 = (sum(c == k for c in after.values()) for k in (1, 2))
    low = m1 / (m1 + 2 * m2) if m1 and m2 else 0.5
    v = 4
    for w in ("a", "b", "c", "</s>"):
        unigram = max(after[w] - low, 0) / sum(after.values()) + low * len(after) / sum(after.values()) / v
        total = sum(c for (x, _), c in bigrams.items() if x == "a")
        types = sum(x == "a" for x, _ in bigrams)
        expected = max(bigrams["a", w] - high, 0) / total + high * types / total * unigram
        assert model.conditional(["a"])[model.vocabulary.index(w)] == pytest.approx(expected)


def test_samples_follow_the_model():
    """Chi-square over first words and first bigrams of 4,000 documents; false alarm 1e-4 each."""
    pytest.importorskip("torch")
    model = NGramSampler(2).fit(CORPUS, WORDS)
    drawn = [d.text.split() for d in model.sample(4000, seed=0)]
    first = dict(zip(model.vocabulary, model.conditional([]), strict=True))
    assert chi_square([d[0] if d else "</s>" for d in drawn], first) > 1e-4
    second = dict(zip(model.vocabulary, model.conditional(["a"]), strict=True))
    assert chi_square([d[1] if len(d) > 1 else "</s>" for d in drawn if d and d[0] == "a"], second) > 1e-4


def test_more_documents_leave_the_first_as_they_are():
    pytest.importorskip("torch")
    model = NGramSampler(3).fit(CORPUS, WORDS)
    few, many = model.sample(5, seed=1), model.sample(9, seed=1)
    assert [d.text for d in few] == [d.text for d in many][:5]
