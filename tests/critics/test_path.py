"""Paths: the density against SciPy, moments against simulation, jumps, loops and halves that are planted."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import momus
from momus import Corpus
from momus.numeric.ragged import offsets_of
from momus_critics.path import Path, Paths, _drift, _neighbours, _sentences
from momus_critics.prose.reading import read_prose

from .measured import measured

TOPICS = {
    "sea": ["The ship left the harbour.", "Waves broke over the deck.", "The captain watched the waves."],
    "farm": ["The cow stood in the field.", "Hens ran across the yard.", "The farmer fed the hens."],
    "law": ["The judge read the verdict.", "A lawyer spoke to the court.", "The court heard the lawyer."],
}


def text(rng, kind="real"):
    """Sentences that stay with a topic for a while, then move to the next."""
    if kind == "halves":
        topics = [t for t in rng.permutation(list(TOPICS))[:2].tolist() for _ in range(8)]
    else:
        topics = [t for t in rng.permutation(list(TOPICS)).tolist() * 2 for _ in range(3)]
    sentences = [str(rng.choice(TOPICS[t])) for t in topics]
    if kind == "shuffled":
        sentences = rng.permutation(sentences).tolist()
    if kind == "loop":
        sentences = sentences[:2] * 8
    return sentences


def corpus(n, seed, kind="real"):
    rng = np.random.default_rng(seed)
    return Corpus.from_texts([" ".join(text(rng, kind)) + f" Number {i} of {seed}." for i in range(n)], name=f"t{seed}")


@pytest.fixture(scope="module")
def critic():
    return Path(n_dimensions=4).fit(corpus(120, 0))


def test_sentences_without_a_word_are_left_out():
    corpus = Corpus.from_texts(["It rained.\n\n…\n\nWe left!", "", "So."])
    texts, offsets = _sentences(read_prose(corpus.tokens(Path().tokenizer)))
    assert texts == ["It rained .", "We left !", "So ."]
    assert offsets.tolist() == [0, 2, 2, 3]


def test_the_density_is_that_of_the_autoregression(critic):
    z = critic.project(corpus(3, 1))
    nll = -critic.log_prior(z).values
    for i in range(3):
        x = z.points[z.offsets[i] : z.offsets[i + 1]]
        total = stats.norm.logpdf(x[0]).sum()
        for before, after in pairwise(x):
            total += stats.norm.logpdf(after, critic.correlations_ * before, np.sqrt(1 - critic.correlations_**2)).sum()
        assert nll[i] == pytest.approx(-total)


def test_real_points_are_centred_and_of_variance_one(critic):
    z = critic.project(corpus(120, 0))
    owners = z.documents
    sums = np.zeros((len(z), z.points.shape[1]))
    np.add.at(sums, owners, z.points)
    assert sums == pytest.approx(0, abs=1e-9)
    variance = (z.points**2).sum(axis=0) / (z.lengths - 1).sum()
    assert variance == pytest.approx(1)


@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_the_correlation_of_neighbours_is_recovered_from_short_paths(phi):
    rng = np.random.default_rng(0)
    n, m = 20_000, 6 if phi == 0 else 60
    x = np.zeros((n, m))
    x[:, 0] = rng.normal(size=n)
    for t in range(1, m):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1 - phi**2) * rng.normal(size=n)
    x -= x.mean(axis=1, keepdims=True)
    products, variances = _neighbours(x.reshape(-1, 1), offsets_of(np.full(n, m)))
    assert products.sum() / variances.sum() == pytest.approx(phi, abs=0.01 if phi == 0 else 0.04)


def test_halves_of_one_source_are_as_near_as_chance_and_shifted_ones_are_not():
    rng = np.random.default_rng(0)
    n, m, d = 5000, 9, 3
    x = rng.normal(size=(n, m, d))
    for shift, expected in ((0.0, 0.0), (0.8, 3 * 0.8**2)):
        y = x.copy()
        y[:, m // 2 :] += shift
        y -= y.mean(axis=1, keepdims=True)
        points = y.reshape(-1, d)
        z = Paths(points, offsets_of(np.full(n, m)), ("",) * (n * m), np.ones((n, 2)))
        squares = (points**2).reshape(n, m * d).sum(axis=1)
        rows = _drift(z, squares)
        assert rows[:, 0].mean() == pytest.approx(expected, abs=0.06)
        assert rows[:, 1].mean() == pytest.approx(d, rel=0.03)


def test_uncommon_words_of_the_second_half_that_the_first_has():
    critic = Path(n_dimensions=2)
    critic.fit(Corpus.from_texts(["It was late. It was warm. It was old. It was new."] * 12))
    texts = [
        "It was a fox. It ran. The fox was a cat. It was red.",
        "It was late. It was old. It was new. It was warm.",
    ]
    taken_up = critic.project(Corpus.from_texts(texts)).taken_up
    # of a, cat, fox and red behind the middle, "a" and "fox" stand before it
    assert taken_up == pytest.approx(np.array([[2, 4], [0, 0]]), abs=1e-5)


def test_statistics_have_the_signs_of_what_is_planted(critic):
    real = measured(critic, corpus(60, 1))
    assert measured(critic, corpus(60, 2, "shuffled"))["jumps"] == pytest.approx(1, abs=0.06)
    assert real["jumps"] < 0.8
    assert measured(critic, corpus(60, 3, "loop"))["spread"] < 0.8 * real["spread"]
    assert measured(critic, corpus(60, 4, "halves"))["drift"] > real["drift"] + 0.5


@pytest.mark.parametrize(("kind", "row"), [("shuffled", "jumps"), ("halves", "drift"), ("loop", "spread")])
def test_planted_paths_are_found(kind, row):
    texts = {"same": corpus(60, 2), "changed": corpus(60, 3, kind)}
    found = momus.compare(
        corpus(60, 1), texts, fit=corpus(120, 0), critics=[Path(n_dimensions=4)], permutations=499, resamples=99
    )
    rows = {(v.generated, v.statistic): v for v in found.verdicts}
    assert rows["changed", row].p <= 0.01
    assert rows["same", row].p > 0.01


def test_a_jump_is_marked(critic):
    sentences = ["The ship left the harbour.", "Waves broke over the deck.", "The captain watched the waves."] * 3
    sentences.insert(5, "The judge read the verdict.")
    marked = critic.explain(Corpus.from_texts([" ".join(sentences)]))
    assert [s.text for s in marked.steps if s.marked] == ["The judge read the verdict ."]
