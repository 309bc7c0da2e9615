"""Laws of texts that come in groups (novels, authors): whole groups are left out, relabelled and kept."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from momus import Corpus
from momus.errors import MomusError
from momus.laws.law import Law, jackknife, shortened, shuffled
from momus.laws.relabelled import relabel
from momus.text.running import RunningText, blocks
from momus.text.tokens import get_tokenizer
from momus.verdicts.running_text import compare_law

TOKENS = get_tokenizer("words")


def text(numbers, groups=None, ends=None):
    numbers = np.asarray(numbers, dtype=np.int32)
    words = [str(i) for i in range(int(numbers.max(initial=0)) + 1)]
    return RunningText(numbers, words, *(None if x is None else np.cumsum(x) for x in (ends, groups)))


def average(stream):
    return float(stream.ids.mean())


def types(stream):
    return float((stream.counts > 0).sum())


def novels(rng, lengths, spread=200.0):
    """Groups of these lengths around 1,000, each around a mean of its own."""
    means = 1000 + spread * rng.normal(size=len(lengths))
    ids = np.concatenate([rng.normal(m, 50, n) for m, n in zip(means, lengths, strict=True)])
    return text(ids.round().clip(0), lengths, lengths)


# the text


def test_blocks_put_the_documents_of_a_group_together_and_know_where_groups_end():
    corpus = Corpus.from_texts(["a b c", "d e", "f", "g h", "i"], groups=["x", "y", "x", None, "y"])
    units = blocks(corpus, TOKENS, 4)
    table = units.tokens(TOKENS)
    assert [table.vocabulary[i] for i in table.ids] == list("abcfdeigh")
    assert table.groups.tolist() == [4, 7, 9]
    assert units.groups == ["x", "y"], "of the group in which a block begins"
    whole = RunningText.of(table)
    parts = [RunningText.of(table.slice(i, i + 1)) for i in range(len(table))]
    assert (parts[0] + parts[1]).groups.tolist() == whole.groups.tolist()
    assert [p.groups.tolist() for p in whole.cut(2)] == [[4], [3, 5]]
    plain = blocks(Corpus.from_texts(["a b c", "d e"]), TOKENS, 4).tokens(TOKENS)
    assert plain.groups is None


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 12))
def test_pieces_by_group_are_whole_groups_and_lose_nothing(lengths, pieces):
    stream = text(np.arange(sum(lengths)), lengths)
    cut = stream.by_group(pieces)
    assert len(cut) == min(pieces, len(lengths))
    assert np.concatenate([p.ids for p in cut]).tolist() == stream.ids.tolist()
    assert set(np.cumsum([len(p) for p in cut]).tolist()) <= set(np.cumsum(lengths).tolist())


@given(st.lists(st.integers(2, 30), min_size=4, max_size=20), st.floats(0.2, 0.9), st.integers(1, 25))
def test_a_shortened_text_keeps_every_group_and_its_share(lengths, share, pieces):
    ids = np.repeat(np.arange(len(lengths)), lengths)
    tokens = max(int(share * len(ids)), len(lengths))
    short = shortened(text(ids, lengths, np.ones(len(ids), int)), tokens, pieces, by_group=True)
    counts = np.bincount(short.ids, minlength=len(lengths))
    assert (counts >= 1).all()
    assert short.groups.tolist() == np.cumsum(counts).tolist()
    if tokens < len(ids):
        assert abs(len(short) - tokens) <= len(lengths)
        assert (np.abs(counts - np.array(lengths) * tokens / len(ids)) <= 2 + len(lengths) / 2).all()


# standard errors


def test_the_jackknife_over_groups_is_the_standard_error_of_their_means():
    rng = np.random.default_rng(0)
    stream = novels(rng, [300] * 8)
    means = stream.ids.reshape(8, 300).mean(axis=1)
    estimate = jackknife(average, stream, 20, by_group=True)
    assert (estimate.groups, estimate.freedom) == (8, 7)
    assert estimate.error == pytest.approx(means.std(ddof=1) / np.sqrt(8))
    assert shuffled(average, stream, 20, by_group=True).error == pytest.approx(estimate.error)
    assert jackknife(average, stream, 20).error < 0.8 * estimate.error, "pieces of one novel are alike"


@pytest.mark.parametrize("estimate", [jackknife, shuffled])
def test_errors_over_groups_of_unequal_length_are_those_of_the_mean(estimate):
    """The mean over tokens of twelve novels, the longest of which is nine times the shortest."""
    rng = np.random.default_rng(1)
    lengths, values, errors = np.linspace(20, 180, 12).astype(int), [], []
    for _ in range(300):
        stream = novels(rng, rng.permutation(lengths))
        found = estimate(average, stream, 20, by_group=True)
        values.append(found.value)
        errors.append(found.error)
    assert found.freedom == pytest.approx(lengths.sum() ** 2 / (lengths**2).sum() - 1)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(values), rel=0.15)


def test_what_only_the_length_decides_has_no_error():
    rng = np.random.default_rng(2)
    stream = novels(rng, rng.integers(50, 150, 16))
    for estimate in (jackknife, shuffled):
        assert estimate(lambda s: float(np.log(len(s))), stream, 20, by_group=True).error < 0.002


# the tests


@pytest.mark.parametrize("error", ["jackknife", "shuffled", "relabelled"])
@pytest.mark.parametrize("order", [False, True])
def test_texts_of_eight_novels_from_one_source_are_rarely_told_apart(error, order):
    """Without groups the jackknife alarms in most of these pairs of texts."""
    alarms = without = 0
    law = Law("mean", average, error=error)
    for seed in range(100):
        rng = np.random.default_rng([5, seed])
        lengths = rng.integers(40, 160, (2, 8))
        a, b = (novels(rng, x) for x in lengths)
        if order:  # one novel may be longer than half of the other text
            a = novels(rng, [400, *lengths[0, 1:]])
        outcome = compare_law(law, a, b, 0.95, relabellings=99)
        assert outcome.method.grouped
        assert (outcome.method.units_real, outcome.method.units_generated) == (8, 8)
        assert (outcome.n_real, outcome.n_generated) == (8, 8)
        alarms += outcome.p <= 0.05
        if error == "jackknife":
            plain = [RunningText(t.ids, t.vocabulary) for t in (a, b)]
            without += compare_law(law, *plain, 0.95).p <= 0.05
    assert stats.binomtest(alarms, 100, 0.05, "greater").pvalue > 0.005
    if error == "jackknife":
        assert without > 25


def test_texts_of_groups_that_differ_are_told_apart():
    rng = np.random.default_rng(6)
    a, b = (novels(rng, [100] * 8, spread=20) for _ in range(2))
    b = RunningText(b.ids + np.int32(100), [str(i) for i in range(int(b.ids.max()) + 101)], b.ends, b.groups)
    for error in ("jackknife", "shuffled", "relabelled"):
        outcome = compare_law(Law("mean", average, error=error), a, b, 0.95, family=21)
        assert outcome.p < 0.05 / 21
        assert outcome.low < 100 + 3 * outcome.standard_error
        assert 0 < outcome.low < outcome.difference < outcome.high


def test_relabellings_of_three_and_three_groups_are_enumerated():
    values = np.array([1.0, 4.0, 2.0, 6.0, 3.0, 9.0])
    stream = text(np.arange(6), [1] * 6)
    sides = stream.slice(0, 3).by_group(3), stream.slice(3, 6).by_group(3)
    observed = values[3:].mean() - values[:3].mean()
    found = relabel(lambda t: float(values[t.ids].mean()), stream, sides, observed, 199)
    gaps = [abs(values.sum() - 2 * sum(c)) / 3 for c in combinations(values, 3)]
    assert found.exact
    assert found.gaps.tolist() == pytest.approx(sorted(gaps))
    assert found.p == np.mean(np.array(gaps) >= observed - 1e-9)


def test_a_side_without_groups_uses_its_documents():
    rng = np.random.default_rng(7)
    a = novels(rng, [100] * 8)
    documents = text(rng.integers(0, 2000, 1000), ends=[100] * 10)
    outcome = compare_law(Law("mean", average), a, documents, 0.95)
    assert (outcome.method.units_real, outcome.method.units_generated) == (8, 10)
    one = text(rng.integers(0, 2000, 1000), ends=[1000])
    outcome = compare_law(Law("mean", average), a, one, 0.95)
    units = outcome.method.units_real, outcome.method.units_generated
    assert units == (8, 20), "one long text is cut into contiguous pieces"


def test_fewer_than_four_groups_are_cut_as_text_without_groups():
    rng = np.random.default_rng(8)
    a, b = (novels(rng, [400] * 3) for _ in range(2))
    plain = [RunningText(t.ids, t.vocabulary, t.ends) for t in (a, b)]
    law = Law("mean", average)
    # by their printing: some fields are NaN, which equals nothing
    assert repr(compare_law(law, a, b, 0.95)) == repr(compare_law(law, *plain, 0.95))


def test_a_text_that_is_one_long_group_but_for_a_few_words_is_too_short():
    rng = np.random.default_rng(9)
    a, b = novels(rng, [900, 30, 30, 40]), novels(rng, [250] * 4)
    with pytest.raises(MomusError, match="'real' has 1,000 tokens of running text, 900 of them in its longest group"):
        compare_law(Law("mean", average, minimum=500), a, b, 0.95)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_the_order_of_documents_within_groups_changes_no_law_that_ignores_order(seed):
    rng = np.random.default_rng(seed)
    corpora = []
    for side in range(2):
        words = [" ".join(map(str, rng.integers(0, 40 + 5 * side, 12))) for _ in range(20)]
        groups = [f"g{i // 4}" for i in range(20)]
        corpora.append(Corpus.from_texts(words, groups=groups))

    def outcome(one, other):
        streams = (RunningText.of(blocks(c, TOKENS, 50).tokens(TOKENS)) for c in (one, other))
        return compare_law(Law("types", types), *streams, 0.95)

    first = outcome(*corpora)
    # documents change places within their groups, and the groups are scattered over the corpus
    order = np.argsort(np.repeat(np.arange(5), 4) + rng.random(20) * 0.5 + 0.0)
    scattered = np.concatenate([np.arange(0, 20, 4), rng.permutation(np.setdiff1d(np.arange(20), np.arange(0, 20, 4)))])
    for rows in (order, scattered):
        again = outcome(corpora[0].take(rows), corpora[1])
        assert (again.p, again.difference, again.standard_error) == pytest.approx(
            (first.p, first.difference, first.standard_error), nan_ok=True
        )
