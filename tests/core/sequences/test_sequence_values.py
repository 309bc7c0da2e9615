"""Sequences and smoothing: plain values against plain loops."""

import numpy as np
import pytest

from momus.sequences import Sequences, SequenceScores
from momus.sequences.ngram import NGramModel, discount, interpolated

ROWS = [[3, 1], [], [2], [5, 5, 5]]


def test_sequences_are_ragged_lists():
    some = Sequences.of(ROWS)
    assert [some[i].tolist() for i in range(4)] == ROWS
    assert some.documents.tolist() == [0, 0, 2, 3, 3, 3]
    assert some.take(np.array([3, 1, 0])).padded(-1).tolist() == [[5, 5, 5], [-1] * 3, [3, 1, -1]]
    assert some.padded(0, left=True).tolist() == [[0, 3, 1], [0, 0, 0], [0, 0, 2], [5, 5, 5]]
    both = Sequences.of([*ROWS, some[2]])
    assert [both[i].tolist() for i in range(5)] == [*ROWS, [2]]
    assert Sequences.of([]).padded(0).shape == (0, 0)


def test_scores_of_sequences_add_up():
    scores = SequenceScores(np.log([0.5, 0.25, 0.5]), np.array([0, 2, 2, 3]))
    assert np.exp(scores.totals).tolist() == pytest.approx([0.125, 1.0, 0.5])
    assert scores.lengths.tolist() == [2, 0, 1]
    assert scores[0] == pytest.approx(np.log([0.5, 0.25]))


def test_discounts_and_weights_of_one_order():
    counts, context = np.array([1.0, 1.0, 2.0, 3.0, 0.0]), np.array([0, 0, 0, 2, 2])
    assert discount(counts) == 2 / (2 + 2 * 1)
    assert discount(np.array([1.0, 3.0])) == discount(np.array([2.0, 3.0])) == 0.5
    mass, weight = interpolated(counts, context, 3, 0.5)
    assert mass == pytest.approx([0.5 / 4, 0.5 / 4, 1.5 / 4, 2.5 / 3, 0.0])
    assert weight == pytest.approx([0.5 * 3 / 4, 1.0, 0.5 * 1 / 3])
    assert [mass[context == c].sum() + weight[c] for c in (0, 2)] == pytest.approx([1.0, 1.0])


def test_a_bigram_model_by_hand():
    """a b | a c | a b: continuation counts a 1, b 1, c 1, end 2; D₂ = 2 / (2 + 2 · 2), D₁ = 3 / (3 + 2 · 1)."""
    model = NGramModel(2).fit(Sequences.of([[0, 1], [0, 2], [0, 1]]), symbols=3)
    d2, d1 = 2 / (2 + 2 * 2), 3 / (3 + 2 * 1)
    lower = np.maximum(np.array([1, 1, 1, 2]) - d1, 0) / 5 + d1 * 4 / 5 / 4
    after_a = np.maximum(np.array([0, 2, 1, 0]) - d2, 0) / 3 + d2 * 2 / 3 * lower
    assert model.distributions(np.array([[0]]))[0] == pytest.approx(after_a)
    assert model.distributions(np.array([[3]]))[0] == pytest.approx(lower), "nothing follows an unseen context"
    scores = model.score(Sequences.of([[0, 2]]))
    assert scores.log_probabilities[1] == pytest.approx(np.log(after_a[2]))
    assert len(scores.log_probabilities) == 3
