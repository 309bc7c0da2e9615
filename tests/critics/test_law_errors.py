"""Exponents of two texts: equal lengths, and intervals that cover (more in benchmarks/validity/coverage.py)."""

import numpy as np
import pytest

from momus import Corpus
from momus.laws.law import jackknife, joined, shortened, shuffled
from momus.text.running import RunningText, blocks
from momus.text.tokens import get_tokenizer
from momus.verdicts.running_text import compare_law
from momus_critics.laws import Ebeling, Heaps, LongRange, Taylor, ZipfSlope

TYPES = 4000
WORDS = [f"w{i}" for i in range(TYPES)]


def text(rng, documents, s=1.0):
    """Documents of 500 words, three in ten of them from 50 words of the document's own."""
    cumulated = np.cumsum(np.arange(1, TYPES + 1) ** -s)
    draw = lambda n: np.searchsorted(cumulated, rng.random(n) * cumulated[-1], side="right")  # noqa: E731
    parts = []
    for _ in range(documents):
        ids, own = draw(500), rng.random(500) < 0.3
        ids[own] = draw(50)[rng.integers(0, 50, own.sum())]
        parts.append(ids)
    ids = np.concatenate(parts).clip(0, TYPES - 1).astype(np.int32)
    return RunningText(ids, WORDS, np.arange(1, documents + 1) * 500)


def test_texts_are_cut_to_equal_length_evenly():
    stream = RunningText(np.arange(100, dtype=np.int32), [str(i) for i in range(100)])
    assert shortened(stream, 100, 4) is stream
    assert shortened(stream, 20, 4).ids.tolist() == [k + i for k in (0, 25, 50, 75) for i in range(5)]
    assert shortened(stream, 40, 2, align=10).ids.tolist() == [*range(20), *range(50, 70)]


@pytest.mark.slow
@pytest.mark.parametrize("critic", [ZipfSlope(), Heaps()])
def test_one_source_is_not_told_apart_when_one_text_is_four_times_as_long(critic):
    """The exponents themselves differ with length; 30 pairs of texts, of which 5 % should be told apart."""
    rng, alarms = np.random.default_rng(0), 0
    law = critic.laws()[0]
    for _ in range(30):
        a, b = text(rng, 60), text(rng, 240)
        found = compare_law(law, a, b, 0.95)
        assert found.method.tokens == 30_000
        alarms += found.p < 0.05
    whole = [law.function(x) for x in (a, b)]
    assert abs(whole[1] - whole[0]) > 2 * abs(found.difference)
    assert alarms <= 5


@pytest.mark.slow
@pytest.mark.parametrize("critic", [ZipfSlope(), Heaps()])
def test_intervals_of_exponents_cover_the_mean_difference(critic):
    rng, rows = np.random.default_rng(1), []
    for _ in range(60):
        found = compare_law(critic.laws()[0], text(rng, 60), text(rng, 60, 1.1), 0.95)
        rows.append((found.difference, found.low, found.high))
        assert found.low < found.equivalence_low < found.difference < found.equivalence_high < found.high
    d, low, high = np.array(rows).T
    inside = (low <= d.mean()) & (d.mean() <= high)
    assert 52 <= inside.sum() <= 60
    assert 3.2 < (high - low).mean() / d.std() < 5.5, "3.9 is due"


def test_orders_see_what_hangs_on_the_beginning_and_pieces_what_does_not():
    """Of the value of the first token all spread is at the beginning: one piece left out in twenty hardly sees it.

    The spread of a mean, whatever the order of its terms, is its jackknife error.
    """
    rng, ratio = np.random.default_rng(2), []

    def first(stream):
        return float(stream.ids[0])

    def mean(stream):
        return float(stream.ids.mean())

    def both(stream):
        """Two parts of about the same variance."""
        return mean(stream) + first(stream) / 45

    for _ in range(100):
        stream = RunningText(rng.integers(0, 1000, 2000).astype(np.int32), [str(i) for i in range(1000)])
        ratio.append([f(first, stream, 20).error / np.sqrt(1000**2 / 12) for f in (jackknife, shuffled)])
    one, orders = np.array(ratio).T
    assert 0.85 < orders.mean() < 1.1
    assert orders.std() < one.std() / 3
    assert shuffled(mean, stream, 20).error == pytest.approx(jackknife(mean, stream, 20).error)
    words = stream.vocabulary
    errors = [shuffled(both, RunningText(rng.permutation(stream.ids), words), 20, 20).error for _ in range(40)]
    due = np.sqrt(1000**2 / 12 * (1 / 2000 + 1 / 45**2))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(due, rel=0.1)


@pytest.mark.slow
def test_pieces_of_unequal_length_are_brought_to_one():
    """What only the length decides has no spread between texts of one length; Zipf's slope of uneven documents has."""
    rng, found = np.random.default_rng(6), []
    ends = np.cumsum(rng.integers(100, 900, 40))
    stream = RunningText(np.zeros(ends[-1], np.int32), ["x"], ends)
    error = jackknife(lambda s: float(np.log(len(s))), stream, 10).error
    lengths = np.array([len(p) for p in stream.cut(10, whole=True)])
    assert lengths.std() / lengths.mean() > 0.05
    assert error < 0.01 * lengths.std() / lengths.mean()
    law = ZipfSlope().laws()[0]
    for _ in range(100):
        whole = text(rng, 120)
        ends = np.cumsum(np.exp(rng.normal(size=500)) * 150).astype(int)
        a = RunningText(whole.ids, WORDS, np.append(ends[ends < 59_000], 60_000))
        found.append((law.function(a), jackknife(law.function, a, 20).error))
    value, errors = np.array(found).T
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(value.std(ddof=1), rel=0.25)


def test_bursts_are_left_out_by_whole_segments_and_correlations_need_some():
    rng = np.random.default_rng(3)
    a, b = text(rng, 300), text(rng, 300)
    assert {law.align for law in Taylor().laws()} == {5620}
    found = compare_law(Taylor().laws()[0], a, b, 0.95)
    assert found.low < found.difference < found.high
    with pytest.raises(ValueError, match="no decay"):
        compare_law(LongRange().laws()[1], a, b, 0.95)


@pytest.mark.slow
def test_correlations_of_rare_words_are_tested_by_relabelling():
    rng, texts = np.random.default_rng(3), []
    for _ in range(2):
        slopes = rng.normal(1.0, 0.2, 32).tolist()  # a document has more or fewer rare words than others
        cumulated = [np.cumsum(np.arange(1, TYPES + 1) ** -s) for s in slopes]
        ids = [np.searchsorted(c, rng.random(5000) * c[-1], side="right") for c in cumulated]
        texts.append(RunningText(np.concatenate(ids).clip(0, TYPES - 1).astype(np.int32), WORDS))
    for law in LongRange().laws()[:2]:
        found = compare_law(law, *texts, 0.95)
        assert found.method.error == "relabelled"
        assert 99 <= found.method.permutations <= 199
        assert found.p > 0.05
        assert found.low < 0 < found.high
        assert found.low - found.difference == pytest.approx(found.difference - found.high)
    mixed = RunningText(rng.permutation(texts[1].ids), WORDS)
    found = compare_law(LongRange().laws()[0], texts[0], mixed, 0.95)
    assert found.p <= 0.01
    assert found.high < 0
    assert abs(found.generated_value) < 0.02 < found.real_value, "words in random order have no memory"
    with pytest.raises(ValueError, match="fewer than 1,000 distances"):
        LongRange().correlation(RunningText(texts[0].ids[:15_000], WORDS))
    with pytest.raises(ValueError, match="needs 100,000 tokens"):
        LongRange().decay(RunningText(texts[0].ids[:90_000], WORDS))


def test_groups_are_whole_documents_where_there_are_enough():
    """Of 12 documents of unequal length none lies in two groups, and a group more than documents is not made."""
    ends = np.cumsum([50, 70, 40, 90, 60, 55, 65, 45, 80, 75, 30, 100])
    stream = RunningText(np.arange(ends[-1], dtype=np.int32), [str(i) for i in range(ends[-1])], ends)
    borders = {0, *ends.tolist()}
    for pieces in (2, 4, 6):
        cut = stream.cut(pieces, whole=True)
        assert np.concatenate([p.ids for p in cut]).tolist() == stream.ids.tolist()
        assert {int(p.ids[0]) for p in cut} <= borders
    assert [len(p) for p in stream.cut(6, align=10, whole=True)] == [len(p) for p in stream.cut(6, align=10)]
    rng = np.random.default_rng(4)
    a, b = text(rng, 12), text(rng, 12)
    law = Heaps().laws()[0]
    assert compare_law(law, a, b, 0.95).method.units_real == 12
    one = RunningText(a.ids, a.vocabulary)
    assert compare_law(Heaps(groups=14).laws()[0], one, b, 0.95).method.units_real == 14


def test_ends_of_documents_follow_their_tokens():
    """Through blocks, batches, sums and cuts to length."""
    corpus = Corpus.from_texts(["a b c", "d e", "f g h i", "j"])
    tokenizer = get_tokenizer("words")
    table = blocks(corpus, tokenizer, 4).tokens(tokenizer)
    assert table.ends.tolist() == [3, 5, 9, 10]
    one, two = RunningText.of(table.slice(0, 1)), RunningText.of(table.slice(1, len(table)))
    assert (one + two).ends.tolist() == [3, 5, 9, 10]
    assert table.take(np.arange(len(table))[::-1]).ends.tolist() == [1, 2, 3, 9]
    stream = RunningText(np.arange(12, dtype=np.int32), [str(i) for i in range(12)], np.array([2, 8, 12]))
    assert shortened(stream, 6, 3).ends.tolist() == [2, 4, 6], "documents are longer than pieces: they are cut"
    lengths = [3, 5, 4, 2, 6, 4, 3, 5, 4, 4, 5, 3]
    stream = RunningText(np.arange(48, dtype=np.int32), [str(i) for i in range(48)], np.cumsum(lengths))
    short = shortened(stream, 24, 4)
    documents = [set(range(b - n, b)) for n, b in zip(lengths, np.cumsum(lengths).tolist(), strict=True)]
    assert all(d <= set(short.ids.tolist()) or not d & set(short.ids.tolist()) for d in documents), "whole ones"
    assert abs(len(short) - 24) <= 3
    assert short.ids[short.ends[:-1]].tolist() == [min(d) for d in documents if d <= set(short.ids.tolist())][1:]


def test_dealt_windows_agree_with_joined_text():
    """The exponent of pieces in any order, against the literal one of the joined text."""
    rng = np.random.default_rng(5)
    stream = text(rng, 160)
    pieces = stream.cut(16)
    law = Ebeling().laws()[0]
    dealt, found = law.reordered(pieces), []
    for _ in range(12):
        order = rng.permutation(16)[:8]
        found.append((law.function(joined(stream, [pieces[j] for j in order])), dealt(order)))
    exact, fast = np.array(found).T
    assert np.abs(exact - fast).max() < 0.1 * exact.std()
