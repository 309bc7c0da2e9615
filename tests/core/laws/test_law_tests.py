"""Tests of laws between running texts, against closed forms and SciPy."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from momus.critic import LogPrior, Reporting, RunningTextCritic, Values
from momus.errors import MomusError
from momus.laws.law import Law, jackknife, joined, shortened, standard_error
from momus.laws.relabelled import relabel
from momus.text.corpus import Corpus
from momus.text.running import RunningText
from momus.verdicts.judge import judge
from momus.verdicts.running_text import compare_law


def text(numbers, ends=None):
    numbers = np.asarray(numbers, dtype=np.int32)
    return RunningText(numbers, [str(i) for i in range(int(numbers.max(initial=0)) + 1)], ends)


def average(stream):
    return float(stream.ids.mean())


@pytest.fixture
def texts():
    rng = np.random.default_rng(0)
    return text(rng.integers(0, 9, 1200)), text(rng.integers(1, 11, 1200))


def test_the_jackknife_of_a_mean_is_the_standard_error_of_the_group_means(texts):
    means = texts[0].ids.reshape(20, 60).mean(axis=1)
    estimate = jackknife(average, texts[0], 20)
    assert estimate.value == pytest.approx(means.mean())
    assert estimate.error == pytest.approx(means.std(ddof=1) / np.sqrt(20))
    assert (estimate.groups, estimate.freedom) == (20, 19)


def test_the_difference_is_tested_by_welch(texts):
    outcome = compare_law(Law("mean", average), *texts, 0.95)
    a, b = (t.ids.reshape(20, 60).mean(axis=1) for t in texts)
    expected = stats.ttest_ind(b, a, equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert outcome.difference == pytest.approx(b.mean() - a.mean())
    assert outcome.p == pytest.approx(expected.pvalue)
    assert (outcome.low, outcome.high) == pytest.approx((interval.low, interval.high))
    inner = outcome.equivalence_low, outcome.equivalence_high
    assert inner == pytest.approx(tuple(expected.confidence_interval(0.90)))
    error, freedom = expected.confidence_interval(0.95).high - outcome.difference, expected.df
    error /= stats.t.ppf(0.975, freedom)
    assert outcome.mde == pytest.approx((stats.t.ppf(0.975, freedom) + stats.t.ppf(0.8, freedom)) * error)
    method = outcome.method
    assert (method.tokens, method.error, method.permutations) == (1200, "jackknife", 0)


def test_texts_without_spread_have_no_interval():
    flat = text(np.full(400, 3))
    outcome = compare_law(Law("mean", average), flat, flat, 0.95)
    assert outcome.p == 1.0
    assert {outcome.low, outcome.high, outcome.equivalence_low, outcome.mde} == {None}
    other = compare_law(Law("mean", average), flat, text(np.full(400, 4)), 0.95)
    assert other.difference == 1.0
    assert {other.p, other.low} == {None}


def test_the_longer_text_is_cut_to_the_shorter(texts):
    long = text(np.tile(texts[1].ids, 3))
    outcome = compare_law(Law("length", lambda t: float(len(t))), texts[0], long, 0.95)
    assert outcome.method.tokens == 1200
    assert outcome.difference == 0


def test_the_declared_error_estimate_is_used(texts):
    by_order = standard_error(Law("first", lambda t: float(t.ids[0]), error="shuffled"), texts[0], 20)
    by_groups = standard_error(Law("first", lambda t: float(t.ids[0])), texts[0], 20)
    assert by_order.error != by_groups.error
    more = standard_error(Law("first", lambda t: float(t.ids[0]), error="shuffled", orders=9), texts[0], 20)
    assert more.error != by_order.error
    aligned = jackknife(average, texts[0], 7, align=100)
    assert aligned.error == standard_error(Law("mean", average, align=100), texts[0], 7).error
    assert aligned.error != standard_error(Law("mean", average), texts[0], 7).error


GROUPS = [3, 5, 4, 6, 5, 7, 6, 8]


def four_groups_each():
    a, b = text(np.repeat(GROUPS[:4], 100)), text(np.repeat(GROUPS[4:], 100))
    gaps = np.array([abs(sum(GROUPS) - 2 * sum(GROUPS[i] for i in c)) / 4 for c in combinations(range(8), 4)])
    return a, b, gaps


def test_few_relabellings_are_enumerated():
    """Four pieces a side: 70 labellings; p is the share of them that are as extreme."""
    a, b, gaps = four_groups_each()
    outcome = compare_law(Law("mean", average, error="relabelled", groups=4), a, b, 0.95)
    assert outcome.difference == 2.0
    assert outcome.p == pytest.approx(np.mean(gaps >= 2.0))
    method = outcome.method
    assert (method.error, method.permutations, method.exact) == ("relabelled", 70, True)
    assert outcome.high - outcome.difference == pytest.approx(outcome.difference - outcome.low)
    assert outcome.high - outcome.difference == pytest.approx(np.sort(gaps)[67 - 1]), "0.95 · 70 = 66.5"
    assert outcome.equivalence_high <= outcome.high
    assert outcome.standard_error == pytest.approx(np.sqrt(np.mean(gaps**2)))


def test_drawn_relabellings_estimate_the_enumeration():
    a, b, gaps = four_groups_each()
    outcome = compare_law(Law("mean", average, error="relabelled", groups=4), a, b, 0.95, relabellings=69)
    assert not outcome.method.exact
    assert outcome.p == pytest.approx(np.mean(gaps >= 2.0), abs=0.15)
    assert outcome.p * 70 == pytest.approx(round(outcome.p * 70))


def test_few_extreme_relabellings_are_drawn_to_the_end_and_many_are_not():
    rng = np.random.default_rng(0)
    a, law = text(rng.integers(0, 9, 2000)), Law("mean", average, error="relabelled")
    far = compare_law(law, a, text(rng.integers(3, 12, 2000)), 0.95, family=21)
    assert (far.method.permutations, far.p) == (839, 1 / 840)
    assert far.p < 0.05 / 21
    near = compare_law(law, a, text(a.ids[::-1]), 0.95, family=21)
    assert (near.method.permutations, near.p) == (99, 1.0)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.integers(0, 10**6), st.floats(0, 1.5), st.sampled_from([39, 99, 199, 839]))
def test_the_interval_excludes_zero_where_p_is_small_and_only_there(seed, shift, most):
    rng = np.random.default_rng(seed)
    pieces = rng.normal(size=16)
    pieces[8:] += shift
    values = RunningText(np.arange(16, dtype=np.int32), [str(i) for i in range(16)])
    sides = values.slice(0, 8).cut(8), values.slice(8, 16).cut(8)
    observed = float(pieces[8:].mean() - pieces[:8].mean())
    test = relabel(lambda t: float(pieces[t.ids].mean()), values, sides, observed, most)
    for level in (0.9, 0.95, 0.99):
        assert (test.within(level) < abs(observed)) == (test.p <= 1 - level + 1e-12) or test.total < 1 / (1 - level)


@pytest.mark.slow
@pytest.mark.parametrize(("pieces", "most"), [(6, 10), (6, 199), (16, 199)])
def test_p_values_of_texts_from_one_source_are_at_least_uniform(pieces, most):
    """P(p ≤ a) ≤ a for every a, however many relabellings were drawn: 2,000 pairs of texts."""
    rng, p = np.random.default_rng(4), []
    stream = RunningText(np.arange(pieces, dtype=np.int32), [str(i) for i in range(pieces)])
    half = pieces // 2
    sides = stream.slice(0, half).cut(half), stream.slice(half, pieces).cut(half)
    for _ in range(2000 if pieces == 6 else 1000):
        values = rng.exponential(size=pieces)
        observed = float(values[half:].mean() - values[:half].mean())
        p.append(relabel(lambda t, v=values: float(v[t.ids].mean()), stream, sides, observed, most).p)
    for a in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8):
        assert stats.binomtest(int((np.array(p) <= a + 1e-12).sum()), len(p), a, "greater").pvalue > 1e-3


def test_a_statistic_that_most_relabelled_texts_lack_is_no_test():
    def only_pure(stream):
        if len(np.unique(stream.ids)) > 1:
            raise ValueError("mixed")
        return float(stream.ids[0])

    a, b = text(np.full(400, 1)), text(np.full(400, 2))
    with pytest.raises(ValueError, match="68 of 70 relabellings"):
        compare_law(Law("pure", only_pure, error="relabelled", groups=4), a, b, 0.95)


def test_a_text_must_be_long_enough_without_any_one_of_four_pieces():
    law = Law("mean", average, minimum=1000)
    assert compare_law(law, text(np.arange(1334)), text(np.arange(1334)), 0.95).p == 1
    for tokens in (999, 1333):
        needs = (
            rf"'real' has {tokens:,} tokens of running text; the law needs 1,334 \(1,000 without any one of 4 pieces\)$"
        )
        with pytest.raises(MomusError, match=needs):
            compare_law(law, text(np.arange(tokens)), text(np.arange(1334)), 0.95)


def test_whole_documents_meet_a_length_as_nearly_as_they_can():
    ends = np.cumsum([5, 9, 4, 8, 7, 3, 6, 8])
    stream = text(np.arange(50), ends)
    cut = shortened(stream, 30, 2)
    starts = {0, *ends.tolist()}
    assert abs(len(cut) - 30) <= 4.5
    assert all(int(p.ids[0]) in starts for p in (cut,))
    assert shortened(stream, 50, 2) is stream
    assert shortened(stream, 30, 3, align=5).ids.tolist() == [*range(10), *range(15, 25), *range(30, 40)]


def test_pieces_are_joined_in_the_order_given():
    stream = text(np.arange(6))
    pieces = stream.cut(3)
    assert joined(stream, [pieces[2], pieces[0]]).ids.tolist() == [4, 5, 0, 1]


class Types(RunningTextCritic[Values]):
    """Number of types, and of tokens, of a text in blocks of 100."""

    name = axis = "types"
    reporting = Reporting(
        headline="types",
    )

    def fit(self, real):
        return self

    def project(self, batch):
        self.text_ = RunningText.of(batch.tokens(self.tokenizer))
        return Values(np.ones(len(batch)))

    def log_prior(self, latents):
        return LogPrior.of_vectors(latents.values)

    def summarize(self, latents):
        return self.text_

    def laws(self):
        return (Law("types", lambda t: (t.counts > 0).sum()), Law("short", lambda t: np.float32(len(t))))


def drawn_texts(*words):
    """A text for each number of words, of 30 documents of 40 tokens."""
    rng = np.random.default_rng(0)
    return [
        Corpus.from_texts([" ".join(map(str, rng.integers(0, n, 40))) for _ in range(30)], name=f"t{k}")
        for k, n in enumerate(words)
    ]


def test_laws_may_return_any_kind_of_number():
    corpora = drawn_texts(50, 59)
    critic = Types(block=100).fit(corpora[0])
    rows = judge(critic, *(critic.score(c) for c in corpora), permutations=99, resamples=99)
    assert [type(v.real_value) for v in rows[:2]] == [float, float]
    assert json.loads(json.dumps([v.row() for v in rows], allow_nan=False))


def test_errors_that_are_kept_are_those_of_the_real_text():
    """One generated text beside two real ones: each has its own error."""
    one, other, generated = drawn_texts(50, 400, 60)
    critic = Types(block=100).fit(one)
    shared = critic.score(generated)
    for real in (one, other):
        kept, fresh = (
            judge(critic, critic.score(real), g, permutations=99)[0] for g in (shared, critic.score(generated))
        )
        assert (kept.p, kept.standard_error) == (fresh.p, fresh.standard_error)


def test_the_standard_error_of_a_real_text_is_computed_once_for_several_generated_ones(texts):
    calls = []

    def counted(stream):
        calls.append(len(stream))
        return float(stream.ids.mean())

    rng, law, errors = np.random.default_rng(3), Law("mean", counted), {}
    others = [text(rng.integers(0, 9, 1200)) for _ in range(3)]
    kept = [compare_law(law, texts[0], other, 0.95, real_errors=errors) for other in others]
    assert len(calls) == (1 + 3) * 21
    # by their printing: some fields are NaN, which equals nothing
    assert repr(kept) == repr([compare_law(law, texts[0], other, 0.95) for other in others])
    shorter = text(rng.integers(0, 9, 900))
    again = compare_law(law, texts[0], shorter, 0.95)
    assert repr(compare_law(law, texts[0], shorter, 0.95, real_errors=errors)) == repr(again)
    assert len(errors) == 2, "a text cut to another length has another error"


def test_the_minimum_detectable_difference_is_that_of_the_family(texts):
    alone, among = (compare_law(Law("mean", average), *texts, 0.95, family=n) for n in (1, 21))
    assert (alone.p, alone.low) == (among.p, among.low)
    assert (alone.method.rows, among.method.rows) == (1, 21)
    quantiles = stats.t.ppf(1 - 0.05 / 42, among.freedom) + stats.t.ppf(0.8, among.freedom)
    assert among.mde == pytest.approx(quantiles * among.standard_error)
    assert among.mde > alone.mde
