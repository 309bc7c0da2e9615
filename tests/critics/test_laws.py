"""The scaling laws: reference figures, literal definitions, exact merging, and texts that are too short."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import momus
from momus import Corpus
from momus.errors import FittingError
from momus.estimator import clone
from momus.laws.law import jackknife, tokens_needed
from momus.numeric.ragged import number_keys
from momus.text.running import RunningText, blocks
from momus.text.tokens import get_tokenizer
from momus_critics.laws import Ebeling, Heaps, LongRange, Productivity, Taylor, ZipfSlope, curves
from momus_critics.laws.curves import fit_line

WORDS = get_tokenizer("whitespace", lower=False)
LAWS = (ZipfSlope(), Heaps(), Ebeling(), Taylor(), LongRange(), Productivity())


@pytest.fixture(scope="module")
def wikitext(data):
    corpus = momus.read_corpus(data / "wikitext-2" / "train.txt.gz", fmt="lines")
    stream = RunningText.of(corpus.tokens(WORDS))
    assert len(stream) == 2_051_910
    assert (stream.counts > 0).sum() == 33_277
    return stream


def law(critic, stream):
    line = critic.line(stream)
    return line.slope, line.error


def test_reference_figures(wikitext):
    zipf = ZipfSlope()
    assert zipf.line(wikitext).slope == pytest.approx(-1.243, abs=0.001)
    assert zipf.head_exponent(wikitext) == pytest.approx(-0.958, abs=0.001)
    assert law(Heaps(), wikitext) == pytest.approx((0.747, 0.126), abs=0.01)
    assert law(Ebeling(), wikitext) == pytest.approx((1.324, 0.108), abs=0.005)
    assert law(Taylor(), wikitext) == pytest.approx((0.6190, 0.1538), abs=0.005)
    assert law(LongRange(), wikitext) == pytest.approx((-0.3334, 0.0418), abs=0.01)
    assert LongRange().verdict(wikitext) == "Strong"


def test_shuffled_text_has_no_memory(wikitext):
    shuffled = RunningText(np.random.default_rng(0).permutation(wikitext.ids), wikitext.vocabulary)
    assert law(Heaps(), shuffled) == pytest.approx((0.753, 0.156), abs=0.01)
    assert law(Ebeling(), shuffled) == pytest.approx((1.000, 0.004), abs=0.01)
    assert law(Taylor(), shuffled) == pytest.approx((0.4998, 0.0135), abs=0.01)
    assert LongRange().verdict(shuffled) == "No"


def toy(seed, n=3000, types=60):
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(1, types + 1)
    words = [f"{'w' * (i % 4 + 1)}{i}" for i in range(types)]
    return RunningText(rng.choice(types, n, p=p / p.sum()).astype(np.int32), words)


def test_heaps_literally():
    s = toy(0)
    x, y = curves.heaps(s)
    assert x[:10].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert y.tolist() == [len(set(s.ids[: int(n)].tolist())) for n in x]
    assert x[-1] <= 0.7 * len(s)


def test_ebeling_literally():
    s = toy(1)
    text = " ".join(s.vocabulary[i] for i in s.ids)
    for length, found in zip(*curves.ebeling(s), strict=True):
        windows = [text[i : i + int(length)] for i in range(0, len(text) - int(length) + 1, int(length))]
        counts = np.array([[Counter(w)[c] for c in sorted(set(text))] for w in windows])
        assert found == pytest.approx(counts.var(axis=0).sum())


def test_taylor_literally():
    s = toy(2)
    counts = np.array([np.bincount(s.ids[i : i + 100], minlength=60) for i in range(0, 3000, 100)])
    x, y = curves.taylor(s, 100)
    kept = counts.std(axis=0) > 0
    assert x == pytest.approx(counts.mean(axis=0)[kept])
    assert y == pytest.approx(counts.std(axis=0)[kept])


def test_long_range_literally():
    s = toy(3, n=40_000, types=4000)
    counts, first = Counter(s.ids.tolist()), {}
    for i, w in enumerate(s.ids.tolist()):
        first.setdefault(w, i)
    rare, total = set(), 0
    for w in sorted(counts, key=lambda w: (counts[w], first[w])):
        if total + counts[w] > int(len(s) / 16):
            break
        total += counts[w]
        rare.add(w)
    positions = [i for i, w in enumerate(s.ids.tolist()) if w in rare]
    distances = np.diff(positions)
    lags, c = curves.long_range(s)
    assert lags[:11].tolist() == [*range(1, 11), 12]
    for lag, value in zip(lags.astype(int), c, strict=True):
        assert value == pytest.approx(np.corrcoef(distances[:-lag], distances[lag:])[0, 1])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_productivity_literally(order):
    s = toy(4, n=700)
    grams = [tuple(s.ids[i : i + order].tolist()) for i in range(len(s) - order + 1)]
    (x, y), *_ = curves.productivity(s, (order,))
    for n, value in zip(x.astype(int), y, strict=True):
        assert value == pytest.approx(sum(c == 1 for c in Counter(grams[:n]).values()) / n)


def test_numbering_without_room_to_pack():
    keys = np.array([2**60, 5, 2**60, 5, 7])
    numbers, first, second = number_keys(keys)
    assert numbers.tolist() == [2, 0, 2, 0, 1]
    assert sorted(first.tolist()) == [0, 1, 4]
    assert sorted(second.tolist()) == [2, 3]


@settings(max_examples=25)
@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=12), min_size=1, max_size=7))
def test_streams_of_parts_add_up_to_the_stream_of_the_whole(parts):
    texts = [" ".join(p) for p in parts]
    whole = RunningText.of(Corpus.from_texts(texts).tokens(WORDS))
    total = RunningText(np.zeros(0, np.int32), [])
    for text in texts:
        total = total + RunningText.of(Corpus.from_texts([text]).tokens(WORDS))
    assert [whole.vocabulary[i] for i in whole.ids] == [total.vocabulary[i] for i in total.ids]
    for function in (curves.zipf, curves.heaps, lambda s: curves.taylor(s, 3)):
        a, b = (np.array(function(stream)) for stream in (whole, total))
        assert np.allclose(a[:, np.lexsort(a)], b[:, np.lexsort(b)])


def _part_of(texts):
    """Summarise texts in a process of their own."""
    return RunningText.of(Corpus.from_texts(texts).tokens(get_tokenizer("whitespace", lower=False)))


def test_seven_processes_give_what_one_does():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    texts = [" ".join(f"w{w}" for w in toy(i, n=3000, types=700).ids) for i in range(7)]
    with ProcessPoolExecutor(7, mp_context=get_context("fork")) as pool:
        parts = list(pool.map(_part_of, [[t] for t in texts]))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    whole = _part_of(texts)
    words = [[text.vocabulary[i] for i in text.ids] for text in (whole, total)]
    assert words[0] == words[1]
    for critic in (ZipfSlope(), Heaps(), Ebeling(), Taylor(segment=300), Productivity()):
        one, other = critic.line(whole), critic.line(total)
        assert one.slope == pytest.approx(other.slope, rel=1e-12)
        assert one.intercept == pytest.approx(other.intercept, rel=1e-12)


@pytest.mark.parametrize("batch", [None, 1, 3])
def test_a_text_in_batches_is_the_text_in_one_piece(batch):
    texts = [" ".join(f"w{w}" for w in toy(i, n=4000, types=900).ids) for i in range(7)]
    corpus = Corpus.from_texts(texts, name="x")
    critic = Heaps(tokens="whitespace", block=5000).fit(corpus)
    scores = critic.score(corpus, batch_size=batch)
    assert np.array_equal(scores.summary.ids, corpus.tokens(critic.tokenizer).ids)
    assert critic.line(scores.summary).slope == critic.exponent_


def test_blocks_share_tokens_and_keep_the_tail():
    corpus = Corpus.from_texts(["a b c d e", "f g"], name="x")
    cut = blocks(corpus, WORDS, 3)
    assert [d.text for d in cut] == ["a b c", "d e f g"]
    assert cut.tokens(WORDS).vocabulary is corpus.tokens(WORDS).vocabulary
    assert len(blocks(Corpus.from_texts([""], name="e"), WORDS, 3)) == 1


@pytest.mark.parametrize("critic", LAWS, ids=lambda c: c.name)
def test_short_texts_are_told_how_much_they_need(critic):
    needed = rf"needs {tokens_needed(critic._minimum):,} \({critic._minimum:,} without"
    with pytest.raises(FittingError, match=f"has 300 tokens.*{needed}"):
        clone(critic).fit(Corpus.from_texts(["w x y " * 100]))


def test_too_short_generated_text_is_not_tested():
    long = Corpus.from_texts([" ".join(f"w{i}" for i in toy(i, n=9000, types=3000).ids) for i in range(8)], name="real")
    short = Corpus.from_texts(["a few words only " * 20], name="g")
    found = momus.compare(long, {"g": short}, fit=long, critics=["zipf-slope"], permutations=99, resamples=99)
    headline = next(v for v in found.verdicts if v.headline)
    assert headline.p is None
    assert "20,000" in found.results[0].unscored[0].reason


@pytest.mark.slow
def test_critics_that_cannot_be_fitted_are_left_out_unless_named():
    texts = [f"some words {i} here" for i in range(40)]
    found = momus.compare(texts, {"g": texts}, permutations=99, resamples=99)
    assert {r.name for r in found.results} >= {"length", "unigram", "rank-frequency"}
    assert any(w.startswith("Left out: ") and "'taylor' (" in w for w in found.warnings)
    with pytest.raises(FittingError):
        momus.compare(texts, {"g": texts}, critics=["taylor"])


def test_jackknife_equals_the_textbook_for_a_mean():
    s = toy(5, n=1000)
    found = jackknife(lambda stream: float(stream.ids.mean()), s, 20)
    means = s.ids.reshape(20, 50).mean(axis=1)
    assert found.value == pytest.approx(s.ids.mean())
    assert found.error == pytest.approx(means.std(ddof=1) / np.sqrt(20))


@pytest.mark.slow
def test_bursty_text_is_told_from_its_shuffle_and_a_text_from_itself_is_not():
    rng = np.random.default_rng(0)

    def text(seed, shuffled=False):
        r = np.random.default_rng(seed)
        parts = [
            np.where(r.random(4000) < 0.3, r.choice(r.integers(0, 3000, 40), 4000), toy(seed * 99 + i, 4000, 3000).ids)
            for i in range(50)
        ]
        ids = np.concatenate(parts)
        return Corpus.from_texts([" ".join(f"w{i}" for i in (rng.permutation(ids) if shuffled else ids))], name="t")

    critic = Taylor(tokens="whitespace", block=28_100, segment=2810)
    found = momus.compare(text(1), {"same": text(2), "shuffled": text(3, shuffled=True)}, fit=text(4), critics=[critic])
    exponent = {v.generated: v for v in found.verdicts if v.headline}
    assert exponent["shuffled"].p < 0.001
    assert exponent["shuffled"].generated_value == pytest.approx(0.5, abs=0.02)
    assert exponent["same"].p > 0.01
    assert exponent["same"].low < 0 < exponent["same"].high
    assert fit_line(*curves.taylor(toy(0, 200_000, 3000), 2810)).slope == pytest.approx(0.5, abs=0.02)
