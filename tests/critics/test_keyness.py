"""Keyness: terms and windows against literal counts, the process against enumeration, planted phrases found."""

import itertools
from collections import Counter

import numpy as np
import pytest
from more_defects import MORE, PHRASES
from scipy import stats

from momus import Corpus
from momus.critic.hooks import settled
from momus.critic.rows import aligned
from momus.verdicts.judge import judge
from momus_critics.keyness import Keyness
from momus_critics.keyness.evidence import keys_of, listed
from momus_critics.keyness.latents import LONGEST, TermProcess, frequent_terms, key_of, keys_at
from momus_critics.prose.examples import higher_criticism, log_odds, proportions_z, two_sided
from momus_critics.prose.reading import paragraph_tokenizer, read_prose


def read(texts):
    return read_prose(Corpus.from_texts(texts).tokens(paragraph_tokenizer("words")))


def sentences(n, seed, length=20, name="text"):
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"{a}{b}" for a in "bcdfgklmnprst" for b in ("ala", "elo", "iru", "ome", "unat")])
    p = 1 / np.arange(1, len(vocabulary) + 1)
    made = [
        " ".join(" ".join(rng.choice(vocabulary, 9, p=p / p.sum())).capitalize() + "." for _ in range(length))
        for _ in range(n)
    ]
    return Corpus.from_texts(made, name=name)


def literal_terms(texts, least):
    """Document frequencies of all terms, by the definition."""
    counts = Counter()
    for text in texts:
        terms = set()
        for sentence in text.lower().split(". "):
            words = sentence.replace(",", " ,").rstrip(".").split()
            for n in range(1, LONGEST + 1):
                for i in range(len(words) - n + 1):
                    gram = words[i : i + n]
                    if gram[0].isalnum() and gram[-1].isalnum():
                        terms.add(" ".join(gram))
        counts.update(terms)
    return {t: c for t, c in counts.items() if c >= least}


def test_frequent_terms_are_those_of_a_literal_count():
    texts = ["One two, three four. Two three one.", "Two, three. One two one two.", "One two, three one. One."] * 2
    found = frequent_terms([read(texts[:4]), read(texts[4:])], 3, 10_000)
    counts = literal_terms(texts, 3)
    assert found == sorted(counts, key=lambda term: (-len(term.split()), -counts[term], term))
    few = frequent_terms([read(texts)], 3, 4)
    assert len(few) <= 4
    assert "two , three" in few


def test_keys_are_the_same_in_every_text():
    for texts in (["so as it were"], ["zebra as it were then", "x"]):
        prose = read(texts)
        at = np.array([prose.spelled.index("as")])
        start = np.flatnonzero(prose.codes == at)
        assert int(keys_at(prose, start, 3)[0]) == key_of("as it were")


def test_windows_literally():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(3, 40))) for _ in range(12)]
    critic = Keyness(min_count=2).fit(Corpus.from_texts(texts))
    latents = critic.project(Corpus.from_texts(texts))
    matrix, w = latents.matrix.toarray(), critic.window_
    for i, text in enumerate(texts):
        words = text.split()
        for j, term in enumerate(latents.columns):
            gram = term.split()
            n = len(gram)
            places = [k for k in range(len(words) - n + 1) if words[k : k + n] == gram]
            windows = range(max(len(words) - w, 0) + 1)
            expected = np.mean([any(s <= k < s + w for k in places) for s in windows])
            assert matrix[i, j] == pytest.approx(expected), (term, text)


def test_the_process_sums_to_one_over_all_sets_of_terms():
    rng = np.random.default_rng(0)
    fit = (rng.random((30, 5)) < [0.1, 0.3, 0.5, 0.7, 0.9]).astype(float)
    from scipy import sparse

    process = TermProcess().fit(sparse.csr_array(fit), rng.integers(5, 50, 30))
    every = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
    for length in (4, 33):
        presence = sparse.csr_array(every), np.full(len(every), length)
        log_p = process.log_probabilities(*presence)
        assert np.exp(log_p).sum() == pytest.approx(1)
        nats = -log_p
        mean = np.exp(log_p) @ nats
        sd = np.sqrt(np.exp(log_p) @ (nats - mean) ** 2)
        assert process.standardised(*presence) == pytest.approx((nats - mean) / sd)


def test_tests_of_proportions_are_those_of_scipy():
    p, q = np.array([[50.0, 10, 3]]), np.array([[80.0, 30, 9]])
    for j in (1, 2):
        table = [[p[0, j], 50 - p[0, j]], [q[0, j], 80 - q[0, j]]]
        assert proportions_z(p, q)[0, j - 1] ** 2 == pytest.approx(stats.chi2_contingency(table, correction=False)[0])
    delta, z = log_odds(p, q)
    assert np.sign(delta).tolist() == np.sign(z).tolist() == [[1.0, 1.0]]
    assert np.allclose(log_odds(q, p)[1], -z)


def test_higher_criticism_literally():
    rng = np.random.default_rng(0)
    p, q = (np.column_stack([np.full(3, 60.0), rng.integers(0, 40, (3, 30))]) for _ in range(2))
    for i in range(3):
        values = np.sort(two_sided(proportions_z(p[i : i + 1], q[i : i + 1]))[0]).clip(1 / 30)
        scores = [30**0.5 * ((k + 1) / 30 - v) / (v * (1 - v)) ** 0.5 for k, v in enumerate(values[:15])]
        assert higher_criticism(p, q)[i] == pytest.approx(max(scores))


def test_planted_phrases_are_found_and_listed():
    fit, real, other = sentences(60, 0), sentences(60, 1), sentences(60, 2, name="made")
    planted = MORE["stock-phrases"].plant(other, 0.05)
    critic = Keyness().fit(fit)
    assert settled(critic, [real, planted])
    assert not settled(critic, [real, planted])
    a, b = critic.score(real), critic.score(planted)
    found = {v.statistic: v for v in judge(critic, a, b, permutations=199, resamples=99)}
    assert found["higher_criticism"].p < 0.02
    over, _ = critic.evidence(a.summary, b.summary)
    shown = " / ".join(row[0] for row in over.rows)
    assert all(" ".join(p.lower().rstrip(",").split()[-4:-1]) in shown for p in PHRASES)
    assert all("«" in row[-1] for row in over.rows)


def test_length_makes_no_keys():
    fit, real, short = sentences(80, 0), sentences(80, 1, length=40), sentences(80, 2, length=10, name="short")
    critic = Keyness().fit(fit)
    settled(critic, [real, short])
    a, b = critic.score(real), critic.score(short)
    assert listed(keys_of(a.summary, b.summary), over=True) == []
    assert listed(keys_of(a.summary, b.summary)[::-1], over=False) == []
    counts = [np.asarray(t.matrix.sum(axis=0)).reshape(1, -1) for t in aligned([a.rows["terms"], b.rows["terms"]])]
    assert higher_criticism(*counts)[0] < 3


def test_of_nested_phrases_the_longest_is_listed():
    texts = sentences(40, 1)
    made = Corpus.from_texts([f"{d.text} At the end of the day it rained." for d in sentences(40, 2)], name="made")
    critic = Keyness().fit(sentences(40, 0))
    settled(critic, [texts, made])
    keys = listed(keys_of(critic.score(texts).summary, critic.score(made).summary), over=True)
    terms = [k.term for k in keys]
    assert not any(a != b and f" {a} " in f" {b} " for a in terms for b in terms)
    assert len(keys) == 4
    assert all(k.term.count(" ") + 1 == LONGEST for k in keys)


def test_unusual_terms_are_marked():
    fit = Corpus.from_texts([*["the cat sat on the mat and so it was"] * 30, *["the odd zebra came"] * 2])
    marked = Keyness(min_count=2).fit(fit).explain(Corpus.from_texts(["The cat and the zebra sat on the mat"]))
    assert "zebra" in "".join(s.text for s in marked.steps if s.marked)


def test_a_heading_before_every_document_is_found_by_the_largest_gap():
    """A single term among many, which Higher Criticism misses."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(400)])
    p = 1 / np.arange(1, 401)

    def texts(n, start=""):
        return [start + " ".join(rng.choice(words, 40, p=p / p.sum())) for _ in range(n)]

    real, generated = Corpus.from_texts(texts(100), name="real"), Corpus.from_texts(texts(100, "# The "), name="g")
    critic = Keyness().fit(Corpus.from_texts(texts(100)))
    critic.settle([real, generated])
    found = {v.statistic: v for v in judge(critic, critic.score(real), critic.score(generated), resamples=19)}
    assert found["largest_gap"].p_in_axis < 0.001
    assert found["largest_gap"].low > 0.5
    assert found["largest_gap"].method.critical < found["largest_gap"].generated_value


def test_shares_are_of_whole_documents_and_tests_of_windows():
    """A heading and a last line, which a window of a long document rarely has."""
    made = [f"{d.text} The end.".replace(". ", ". So be it. ") for d in sentences(40, 2, length=40)]
    texts, made = sentences(40, 1, length=10), Corpus.from_texts([f"# Title {t}" for t in made], name="made")
    critic = Keyness().fit(sentences(40, 0, length=10))
    settled(critic, [texts, made])
    a, b = critic.score(texts).summary, critic.score(made).summary
    assert b.counts["windows"]["title"] < b.counts["windows"]["the end"] * 2 < 2 * 10
    keys = {k.term: k for k in keys_of(a, b)}
    assert {t: (keys[t].real, keys[t].generated) for t in ("title", "the end")} == dict.fromkeys(
        ("title", "the end"), (0, 1)
    )
    named = critic.evidence(a, b)[0].overuse
    assert (named.items[0].text, named.items[0].generated) == ("so be it", 100)
    longer = np.mean([len(read([d.text]).ids) for d in made]) / np.mean([len(read([d.text]).ids) for d in texts])
    assert named.unit == f"% of documents, {longer:.2g} times as long"
    literal = literal_terms([d.text for d in texts], 1)
    assert all(k.real == literal.get(t, 0) / 40 for t, k in keys.items())


def test_a_missing_word_is_listed_with_its_shares():
    rng = np.random.default_rng(0)
    base = sentences(100, 1), sentences(100, 2)

    def saying(corpus, share, name):
        said = rng.permutation(len(corpus)) < share * len(corpus)
        return Corpus.from_texts(
            [d.text + " He said so." * bool(x) for d, x in zip(corpus, said, strict=True)], name=name
        )

    real, generated = saying(base[0], 0.77, "real"), saying(base[1], 0.03, "made")
    critic = Keyness().fit(saying(sentences(60, 0), 0.77, "fit"))
    settled(critic, [real, generated])
    over, under, *_ = critic.evidence(critic.score(real).summary, critic.score(generated).summary)
    assert over.overuse is None
    [said] = under.overuse.items
    assert (said.text, said.real, said.generated, said.example) == ("he said so", 77, 3, "")
    assert under.overuse.what == "missing words and phrases"
    assert under.overuse.of == "largest_gap"
