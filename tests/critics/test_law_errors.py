"""Exponents of two texts: equal lengths, and intervals that cover (more in benchmarks/validity/coverage.py)."""

import numpy as np
import pytest

from momus.blocks import compare_law
from momus.spreads import half_samples, jackknife, shortened
from momus.streams import Stream
from momus_critics.laws import Heaps, LongRange, Taylor, ZipfSlope

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
    return Stream(np.concatenate(parts).clip(0, TYPES - 1).astype(np.int32), WORDS)


def test_texts_are_cut_to_equal_length_evenly():
    stream = Stream(np.arange(100, dtype=np.int32), [str(i) for i in range(100)])
    assert shortened(stream, 100, 4) is stream
    assert shortened(stream, 20, 4).ids.tolist() == [k + i for k in (0, 25, 50, 75) for i in range(5)]
    assert shortened(stream, 40, 2, align=10).ids.tolist() == [*range(20), *range(50, 70)]


@pytest.mark.parametrize("critic", [ZipfSlope(), Heaps()])
def test_one_source_is_not_told_apart_when_one_text_is_four_times_as_long(critic):
    """The exponents themselves differ with length; 30 pairs of texts, of which 5 % should be told apart."""
    rng, alarms = np.random.default_rng(0), 0
    law = critic.laws()[0]
    for _ in range(30):
        a, b = text(rng, 60), text(rng, 240)
        found = compare_law(critic, law, a, b, 0.95)
        assert found.tokens == 30_000
        alarms += found.p < 0.05
    whole = [law.function(x) for x in (a, b)]
    assert abs(whole[1] - whole[0]) > 2 * abs(found.difference)
    assert alarms <= 5


@pytest.mark.parametrize("critic", [ZipfSlope(), Heaps()])
def test_intervals_of_exponents_cover_the_mean_difference(critic):
    rng, rows = np.random.default_rng(1), []
    for _ in range(60):
        found = compare_law(critic, critic.laws()[0], text(rng, 60), text(rng, 60, 1.1), 0.95)
        rows.append((found.difference, found.low, found.high))
        assert found.low < found.inner[0] < found.difference < found.inner[1] < found.high
    d, low, high = np.array(rows).T
    inside = (low <= d.mean()) & (d.mean() <= high)
    assert 52 <= inside.sum() <= 60
    assert 3.2 < (high - low).mean() / d.std() < 6.5, "3.9 is due; half-samples of short texts are cautious"


def test_half_samples_see_what_hangs_on_the_beginning():
    """Of the value of the first token all spread is at the beginning: one piece left out in twenty hardly sees it."""
    rng, ratio = np.random.default_rng(2), []
    first = lambda stream: float(stream.ids[0])  # noqa: E731
    for _ in range(100):
        stream = Stream(rng.integers(0, 1000, 2000).astype(np.int32), [str(i) for i in range(1000)])
        ratio.append([f(first, stream, 20).error / np.sqrt(1000**2 / 12) for f in (jackknife, half_samples)])
    one, half = np.array(ratio).T
    assert 0.85 < half.mean() < 1.1
    assert half.std() < one.std() / 3


def test_bursts_are_left_out_by_whole_segments_and_correlations_need_some():
    rng = np.random.default_rng(3)
    a, b = text(rng, 300), text(rng, 300)
    assert Taylor().align == 5620
    found = compare_law(Taylor(), Taylor().laws()[0], a, b, 0.95)
    assert found.low < found.difference < found.high
    with pytest.raises(ValueError, match="no decay"):
        compare_law(LongRange(), LongRange().laws()[0], a, b, 0.95)


def test_correlations_of_rare_words_are_tested_by_relabelling():
    rng, texts = np.random.default_rng(3), []
    for _ in range(2):
        slopes = rng.normal(1.0, 0.2, 32).tolist()  # a document has more or fewer rare words than others
        cumulated = [np.cumsum(np.arange(1, TYPES + 1) ** -s) for s in slopes]
        ids = [np.searchsorted(c, rng.random(5000) * c[-1], side="right") for c in cumulated]
        texts.append(Stream(np.concatenate(ids).clip(0, TYPES - 1).astype(np.int32), WORDS))
    found = compare_law(LongRange(), LongRange().laws()[0], *texts, 0.95)
    assert "relabellings" in found.way
    assert found.p * 200 == pytest.approx(round(found.p * 200))
    assert found.p > 0.01
    assert found.low < 0 < found.high
