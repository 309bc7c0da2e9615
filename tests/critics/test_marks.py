"""Marks and case: classes against plain counting, the beta-binomials against SciPy and enumeration, planted defects."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import momus
from momus import Corpus
from momus_critics.marks import Marks
from momus_critics.marks.characters import CODE, NAMES, OUTSIDE, classes_of, count_characters

from .measured import measured

KINDS = {
    "—": "em dash", "--": "em dash", "–": "en dash", "-": "hyphen", "---": "mark of layout", ";": "semicolon",
    "...": "ellipsis", "..": "repeated mark", "!!!": "repeated mark",
    "?!": "question mark exclamation mark", "…": "ellipsis",
    '"': "straight quotation mark", "“": "curly quotation mark",
    "'": "single quotation mark", "’": "single quotation mark", "(": "parenthesis", "#": "mark of layout", "7": "digit",
    "€": "other symbol", "A": "capital", "AB": "capital among capitals " * 2, "東": "letter without case",
    "é": "small letter",
}  # fmt: skip


@pytest.mark.parametrize("text", KINDS)
def test_each_character_has_its_class(text):
    found = " ".join(NAMES[c] for c in classes_of(text).tolist() if c != OUTSIDE)
    assert found == KINDS[text].strip()


def test_an_apostrophe_is_within_a_word_and_a_quotation_mark_is_not():
    counts = count_characters(["'Don't,' he said. It's the boys'"]).counts[0]
    assert counts[CODE["inner apostrophe"]] == 2
    assert counts[CODE["single quotation mark"]] == 3


def test_words_are_counted_and_neighbouring_documents_do_not_touch():
    z = count_characters(["It's 10 o'clock-ish", "", "-", "-A", "B"])
    assert z.words.tolist() == [4, 0, 0, 1, 1]
    assert z.counts[:, CODE["hyphen"]].tolist() == [1, 0, 1, 1, 0]
    assert z.counts[:, CODE["capital"]].tolist() == [1, 0, 0, 1, 1]


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_counts_do_not_depend_on_the_batch(texts):
    whole = count_characters(texts)
    alone = [count_characters([t]) for t in texts]
    assert whole.counts.tolist() == [z.counts[0].tolist() for z in alone]
    assert whole.words.tolist() == [int(z.words[0]) for z in alone]
    assert whole.counts.sum(axis=1).max(initial=0) <= max(map(len, texts))


def corpus(n, seed, dash=0.02, upper=True):
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        rate = rng.beta(20 * dash, 20 * (1 - dash))
        words = ["the", "Alpha", "be,", "well-known", "end."]
        text = " ".join(("— " if rng.random() < rate else "") + str(rng.choice(words)) for _ in range(150))
        out.append(text if upper else text.lower())
    return Corpus.from_texts(out, name=f"t{seed}")


def test_the_probability_is_a_product_of_beta_binomials():
    critic = Marks().fit(corpus(40, 0))
    z = critic.project(corpus(3, 1))
    expected, left = np.zeros(3), z.counts.sum(axis=1)
    for k in range(len(NAMES) - 1):
        strength = 1 / critic.correlations_[k] - 1
        a, b = critic.shares_[k] * strength, (1 - critic.shares_[k]) * strength
        expected += stats.betabinom.logpmf(z.counts[:, k], left, a, b)
        left = left - z.counts[:, k]
    assert critic.log_prior(z).values == pytest.approx(expected)


def test_all_counts_of_two_characters_have_probability_one():
    critic = Marks().fit(corpus(40, 0))
    k = len(NAMES)
    pairs = {tuple(np.bincount(pair, minlength=k).tolist()) for pair in product(range(k), repeat=2)}
    total = np.exp(critic._log_probabilities(np.array(sorted(pairs))).sum(axis=1)).sum()
    assert total == pytest.approx(1)


def test_moments_recover_share_and_correlation():
    rng = np.random.default_rng(0)
    n = rng.integers(200, 400, 4000)
    dashes = rng.binomial(n, rng.beta(2, 38, 4000))
    critic = Marks().fit(Corpus.from_texts(["—" * d + "a" * (m - d) for d, m in zip(dashes, n, strict=True)]))
    assert critic.shares_[CODE["em dash"]] == pytest.approx(0.05, rel=0.05)
    assert critic.correlations_[CODE["em dash"]] == pytest.approx(1 / 41, rel=0.1)


def test_rates_are_per_thousand_words():
    critic = Marks().fit(corpus(10, 0))
    values = measured(critic, Corpus.from_texts(["One — two — three; four.", "five"]))
    assert values["em_dash"] == pytest.approx(1000 * 2 / 5)
    assert values["semicolon"] == pytest.approx(200)
    assert values["capital"] == pytest.approx(200)


def test_documents_with_a_mark_are_counted_once():
    critic = Marks().fit(corpus(10, 0))
    values = measured(critic, Corpus.from_texts(["“One” — two — 'three'", "five", "'six'", "it's 7"]))
    found = {k: values[f"with_{k}_share"] for k in ("quotation_marks", "em_dashes", "digits", "semicolons")}
    assert found == {"quotation_marks": 0.5, "em_dashes": 0.25, "digits": 0.25, "semicolons": 0}


def test_the_mixture_is_of_marks_alone():
    critic = Marks().fit(corpus(10, 0))
    real, other = Corpus.from_texts(["a, b; c."]), Corpus.from_texts(["a? b. LONG words, without an end"])
    # a third each of comma, semicolon, full stop against question mark, full stop, comma
    assert measured(critic, real, other)["marks"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("change", "row", "sign"), [({"dash": 0.08}, "em_dash", 1), ({"upper": False}, "capital", -1)])
def test_planted_marks_are_found_and_named(change, row, sign):
    texts = {"same": corpus(80, 2), "changed": corpus(80, 3, **change)}
    found = momus.compare(corpus(80, 1), texts, fit=corpus(80, 0), critics=["marks"], permutations=499, resamples=99)
    rows = {(v.generated, v.statistic): v for v in found.verdicts}
    assert rows["changed", row].p <= 0.01
    assert np.sign(rows["changed", row].difference) == sign
    assert rows["same", row].p > 0.01
    nats = [rows["changed", s].difference for s in ("latent_nll",)]
    assert nats[0] > 0


def test_marked_characters_are_those_that_stand_too_often():
    critic = Marks().fit(corpus(40, 0))
    (marked,) = [critic.explain(Corpus.from_texts(["the end — the end — be well — — — the"]))]
    labels = [s.label for s in marked.steps if s.marked or s.label]
    assert labels == ["em dash"] * 5
    assert "".join(s.text for s in marked.steps) == "the end — the end — be well — — — the"
    assert all(a.text != b.text for a, b in pairwise(marked.steps) if a.label and b.label)


def test_the_table_is_sorted_by_the_factor_between_rates():
    critic = Marks().fit(corpus(10, 0))
    real, other = (critic.score(Corpus.from_texts([t])).summary for t in ("a, b; c. d.", "a? b. c. d."))
    (table,) = critic.evidence(real, other)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["question marks"] == (0.0, 250.0, pytest.approx(np.log(250.05 / 0.05), rel=1e-3))
    assert rows["semicolons"] == (250.0, 0.0, pytest.approx(-np.log(250.05 / 0.05), rel=1e-3))
    assert rows["full stops"][2] == pytest.approx(np.log(750.05 / 500.05), rel=1e-3)
    factors = [abs(row[-1]) for row in table.rows]
    assert factors == sorted(factors, reverse=True)
