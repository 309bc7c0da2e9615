"""Running texts of n-gram models have the distributions of the models."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

from hierarchical_pitman_yor import PitmanYorModel
from katz import Katz
from running_text import running_text

V = 12


def zipfian(sequences=60, length=30, seed=0):
    """Sequences in which each id depends on the one before it."""
    rng = np.random.default_rng(seed)
    steps = np.minimum(rng.zipf(1.6, (sequences, length)) - 1, V - 2)
    return Sequences.of([np.cumsum(row) % V for row in steps])


@pytest.mark.parametrize(
    "unfitted",
    [NGramModel(3), Katz(3), PitmanYorModel(3), NGramModel(3, "none")],
    ids=["kneser-ney", "katz", "pitman-yor", "none"],
)
def test_running_text_has_the_models_distribution(unfitted):
    model = unfitted.fit(zipfian(1, 2000, seed=7), V)  # one sequence: it hardly ever ends
    ids = running_text(model, 60_000, seed=1)
    for context in [c for c, _ in Counter(zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True)).most_common(5)]:
        after = ids[2:][(ids[:-2] == context[0]) & (ids[1:-1] == context[1])]
        p = model.distributions(np.array([context]))[0, :V]
        observed, expected = np.bincount(after, minlength=V), len(after) * p / p.sum()
        enough = expected > 5
        distance = ((observed - expected)[enough] ** 2 / expected[enough]).sum()
        assert distance < enough.sum() + 4 * np.sqrt(2 * enough.sum())
        assert not observed[p == 0].any()


def test_running_text_depends_on_its_seed_alone():
    model = Katz(3).fit(zipfian(), V)
    a, b, c = (running_text(model, 500, seed) for seed in (1, 1, 2))
    assert a.tolist() == b.tolist() != c.tolist()


def test_a_context_after_which_every_word_was_seen():
    model = Katz(2).fit(Sequences.of([[0, 0, 1, 0, 1, 1], [0], [0, 1]]), 2)
    assert set(running_text(model, 200, 0).tolist()) == {0, 1}
