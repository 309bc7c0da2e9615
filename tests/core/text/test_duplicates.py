"""Duplicates: against brute force on small corpora, against datasketch, and by symmetry."""

from itertools import combinations

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH
from hypothesis import given
from hypothesis import strategies as st

from momus.text.corpus import Corpus
from momus.text.duplicates import THRESHOLD, estimates, near_duplicates, shared_texts
from momus.text.shingles import jaccard
from momus.text.sketches import TextSketch
from momus.text.tokens import get_tokenizer

WORDS = np.array([f"w{i}" for i in range(500)])


def passages(n, seed, length=60):
    rng = np.random.default_rng(seed)
    return [" ".join(row) for row in rng.choice(WORDS, (n, length))]


def edited(text, changes, seed):
    rng = np.random.default_rng(seed)
    words = text.split()
    for i in rng.choice(len(words), changes, replace=False):
        words[i] = f"new{rng.integers(1000)}"
    return " ".join(words)


def triples(text):
    words = text.lower().split()
    return {tuple(words[i : i + 3]) for i in range(max(len(words) - 2, 1))} if words else set()


def true_jaccard(a, b):
    a, b = triples(a), triples(b)
    return len(a & b) / len(a | b)


def mixed(seed):
    """Passages, copies of which 0 to 8 words of 60 were changed, and some short texts."""
    base = passages(30, seed)
    return base + [edited(t, k % 9, k) for k, t in enumerate(base)] + ["", "a", "a b", "A B"]


def test_jaccard_is_exact():
    texts = [*mixed(0), "x y z", "x y", "x x x x x"]
    corpus = Corpus.from_texts(texts)
    made, table = TextSketch.of(corpus), corpus.tokens(get_tokenizer("words"))
    filled = [i for i, t in enumerate(texts) if t]
    pairs = np.array(list(combinations(filled, 2)))
    expected = [true_jaccard(texts[i], texts[j]) for i, j in pairs]
    assert jaccard(table, table, pairs) == pytest.approx(expected)
    assert made.shingles.tolist() == [len(triples(t)) for t in texts]


@pytest.mark.parametrize("length", [15, 60, 300])
def test_signatures_estimate_the_jaccard_index_without_bias(length):
    texts = []
    for i, text in enumerate(passages(300, 1, length)):
        texts += [edited(text, length // 15, 2 * i), edited(text, length // 15, 2 * i + 1)]
    corpus = Corpus.from_texts(texts)
    made, table = TextSketch.of(corpus), corpus.tokens(get_tokenizer("words"))
    pairs = np.arange(600).reshape(300, 2)
    index = jaccard(table, table, pairs)
    error = estimates(made, made, pairs) - index
    binomial = np.sqrt((index * (1 - index) / 64).mean())
    assert abs(error.mean()) < 4 * binomial / np.sqrt(300)
    assert error.std() == pytest.approx(binomial, rel=0.2)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_those_of_all_pairs(seed):
    texts = mixed(seed)
    found = near_duplicates(Corpus.from_texts(texts), least=1)
    parent = list(range(len(texts)))
    for i, j in combinations([i for i, t in enumerate(texts) if t], 2):
        if true_jaccard(texts[i], texts[j]) >= THRESHOLD:
            old, new = parent[j], parent[i]
            parent = [new if p == old else p for p in parent]
    same = np.equal.outer(parent, parent)
    assert np.array_equal(np.equal.outer(found.clusters, found.clusters), same)
    assert found.documents == len(texts) - 1
    # "a b" and "A B" are the same words: near, not exact; every ninth copy is unchanged
    assert found.exact == sum(k % 9 == 0 for k in range(30))
    assert found.exact + found.near == len(texts) - len(set(parent))


def test_datasketch_finds_the_same_pairs():
    texts = passages(60, 3)
    texts += [edited(t, 1, i) for i, t in enumerate(texts[:25])]
    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    hashes = MinHash.bulk([[" ".join(t).encode() for t in triples(text)] for text in texts], num_perm=128)
    for i, h in enumerate(hashes):
        index.insert(i, h)
    theirs = {(i, j) for i, h in enumerate(hashes) for j in index.query(h) if i < j}
    found = near_duplicates(Corpus.from_texts(texts))
    pairs = combinations(range(len(texts)), 2)
    assert {(i, j) for i, j in pairs if found.clusters[i] == found.clusters[j]} == theirs
    assert (found.exact, found.near, found.documents) == (0, 25, 85)


texts_of_few_words = st.lists(st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join), min_size=1, max_size=12)


@pytest.mark.slow
@given(texts_of_few_words, st.randoms())
def test_the_order_of_documents_does_not_matter(texts, random):
    corpus = Corpus.from_texts(texts)
    order = list(range(len(texts)))
    random.shuffle(order)
    found, again = near_duplicates(corpus, 1), near_duplicates(corpus.take(order), 1)
    assert (found.exact, found.near, found.documents) == (again.exact, again.near, again.documents)
    clusters = found.clusters[order]
    assert np.array_equal(np.equal.outer(clusters, clusters), np.equal.outer(again.clusters, again.clusters))


@pytest.mark.slow
@given(texts_of_few_words, texts_of_few_words)
def test_shared_texts_are_symmetric_and_those_of_all_pairs(first, second):
    a, b = Corpus.from_texts(first, name="a"), Corpus.from_texts(second, name="b")
    there, back = shared_texts(a, b, 1), shared_texts(b, a, 1)
    for mine, theirs in ((there.either, back.either), (there.exact, back.exact)):
        assert all(np.array_equal(x, y) for x, y in zip(mine, reversed(theirs), strict=True))
    exact = [t != "" and t in second for t in first]
    assert there.exact[0].tolist() == exact
    assert there.documents == (sum(t != "" for t in first), sum(t != "" for t in second))
    # each document that was found has a partner
    for i in np.flatnonzero(there.either[0]):
        assert max(true_jaccard(first[i], t) for t in second if t) >= THRESHOLD
    assert bool(there.either[0].any()) == bool(there.either[1].any())


def test_short_and_repetitive_documents_are_counted_and_left_out():
    found = near_duplicates(Corpus.from_texts(["yes"] * 5 + ["a " * 400, "a " * 401, ""]))
    assert (found.documents, found.exact, found.near) == (2, 0, 0)
    assert len(set(found.clusters.tolist())) == 8
    assert near_duplicates(Corpus.from_texts(["yes"] * 5), least=1).exact == 4
    assert near_duplicates(Corpus.from_texts([])).documents == 0


def test_copies_of_short_documents_count_if_they_are_equal():
    found = near_duplicates(Corpus.from_texts(["It rained all day."] * 12 + ["She left by noon."] * 8))
    assert (found.documents, found.exact, found.near) == (20, 18, 0)


def test_sections_and_running_text_with_the_same_words_are_near_duplicates():
    text = passages(1, 0)[0]
    words = text.split()
    parts = Corpus.from_sections([[("One", " ".join(words[:30])), ("Two", " ".join(words[30:]))]], name="a")
    shared = shared_texts(parts, Corpus.from_texts([text], name="b"))
    assert shared.either[0].tolist() == [True]
    assert shared.exact[0].tolist() == [False]
    assert shared.examples == [("a:1", "b:1")]
