"""Unigram: Good–Turing probabilities, scores and distances against plain counting."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from momus import Corpus
from momus_critics.unigram import UNKNOWN, Unigram

from .measured import assert_finds, measured, texts


def counted(corpus):
    return Counter(word for d in corpus for word in d.text.split())


def test_probabilities_sum_to_one_and_leave_room_for_new_words():
    critic = Unigram().fit(Corpus.from_texts(["a a a b b c", "d"]))
    assert np.exp(critic.log_probabilities_).sum() == pytest.approx(1)
    assert np.exp(critic.log_probabilities_[-1]) == pytest.approx(2.5 / 8)
    assert critic.score(Corpus.from_texts(["never seen"])).nll[0] == pytest.approx(-2 * np.log(2.5 / 8))
    assert [*critic.state_names] == ["a", "b", "c", "d", UNKNOWN]


def test_seen_words_share_what_is_left_by_their_frequency():
    critic = Unigram().fit(Corpus.from_texts(["a a a b b c", "d"]))
    assert np.exp(critic.log_probabilities_[:-1]) == pytest.approx(np.array([3, 2, 1, 1]) / 7 * (1 - 2.5 / 8))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_all_documents_of_a_length_have_probability_one(length):
    critic = Unigram().fit(Corpus.from_texts(["a a b", "c a"]))
    documents = [" ".join(words) for words in product(["a", "b", "c", "new"], repeat=length)]
    assert np.exp(-critic.score(Corpus.from_texts(documents)).nll).sum() == pytest.approx(1)


def test_mass_of_new_words_is_about_the_share_of_new_words():
    rng = np.random.default_rng(0)
    words = np.array([f"w{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}" for i in range(5000)])
    p = 1 / np.arange(1, 5001)
    draws = words[rng.choice(5000, 40_000, p=p / p.sum())]
    seen, later = draws[:8000], draws[8000:]
    critic = Unigram().fit(Corpus.from_texts([" ".join(seen[:4000]), " ".join(seen[4000:])]))
    new = np.mean(~np.isin(later, seen))
    assert np.exp(critic.log_probabilities_[-1]) == pytest.approx(new, rel=0.1)  # Good (1953)


def test_an_unseen_word_is_rarer_than_a_word_of_the_fitted_text():
    """Together, unseen words are as common as a frequent word: text of nothing else was “written in commoner words”."""
    rare = " ".join(f"once{chr(97 + i)}" for i in range(20))
    critic = Unigram().fit(Corpus.from_texts([f"a a a a b b b c c {rare}", "a a b"]))
    scores = critic.score(Corpus.from_texts(["a b c oncea", "new words here only"]))
    assert scores.nll[1] > scores.nll[0]
    assert scores.nll[1] / 4 > critic.score(Corpus.from_texts(["oncea onceb"])).nll[0] / 2


def test_scores_are_sums_over_words():
    critic = Unigram().fit(Corpus.from_texts(["a a b", "c a"]))
    p = {"a": 3 / 5 * 7 / 12, "b": 1 / 5 * 7 / 12, "c": 1 / 5 * 7 / 12}  # two of five words occur once: 2.5 of 6 is new
    scores = critic.score(Corpus.from_texts(["a b a", "A x", " "]))
    assert scores.reasons == [None, None, "empty"]
    assert scores.nll[:2] == pytest.approx([-2 * np.log(p["a"]) - np.log(p["b"]), -np.log(p["a"]) - np.log(5 / 12)])


def test_counts_of_words_equal_counter():
    corpus = texts(5, 0)
    scores = Unigram(tokens="whitespace").fit(texts(5, 1)).score(corpus)
    assert scores.summary.counts["words"] == pytest.approx(dict(counted(corpus)))


def test_distances_and_the_share_of_common_words_by_plain_counting():
    fit, real, generated = texts(40, 0), texts(20, 1), texts(20, 2, vocabulary=120)
    critic = Unigram(tokens="whitespace").fit(fit)
    p, q = counted(real), counted(generated)
    gaps = [abs(p[w] / p.total() - q[w] / q.total()) for w in p | q]
    assert measured(critic, real, generated) == pytest.approx({"tvd": sum(gaps) / 2, "sup": max(gaps)})
    by_rank = sorted(counted(fit).items(), key=lambda item: (-item[1], item[0]))
    common = {word for word, _ in by_rank[:100]}
    assert measured(critic, real)["common_share"] == pytest.approx(sum(p[w] for w in common) / p.total())


def test_the_evidence_shows_rates_per_thousand():
    fit = Corpus.from_texts(["a b c", "a"])
    real, generated = Corpus.from_texts(["a a b c"]), Corpus.from_texts(["a b b x"])
    critic = Unigram().fit(fit)
    (table,) = critic.evidence(*(critic.score(text).summary for text in (real, generated)))
    assert {row[0]: row[1:] for row in table.rows} == {
        "a": (500, 250, -250, "yes"),
        "b": (250, 500, 250, "yes"),
        "c": (250, 0, -250, "yes"),
        "x": (0, 250, 250, "no"),
    }


def test_another_vocabulary_is_found():
    assert_finds("unigram", vocabulary=120)


def test_words_are_named_that_are_too_frequent_or_too_rare():
    critic = Unigram().fit(Corpus.from_texts(["a b c", "a"]))
    real, generated = (Corpus.from_texts([t]) for t in ("a a a b b b b c c !", "a a a b b b c c ! x"))
    (table,) = critic.evidence(critic.score(real).summary, critic.score(generated).summary)
    assert [(i.text, i.real, i.generated) for i in table.overuse.items[:2]] == [("b", 400, 300), ("x", 0, 100)]
    assert [i.size for i in table.overuse.items] == pytest.approx([0.1, 0.1, 0, 0])
    assert table.overuse.of == "sup"
