"""Scores of sequences: all at once, step by step, and one by one."""

from __future__ import annotations

import numpy as np
import pytest

from momus.errors import MomusError
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel

from .stepping import score_by_steps

pytest.importorskip("torch", reason="pip install -e .[torch]")
DATA = Sequences.of([[0, 1, 0, 2], [1, 0], [2, 0, 1, 0, 1], [0], [], [2, 2, 1]])


@pytest.fixture(scope="module", params=[("kneser-ney", 2), ("none", 2), ("kneser-ney", 3)], ids=str)
def model(request):
    smoothing, order = request.param
    return NGramModel(order, smoothing).fit(DATA, symbols=3)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_stepping_equals_counting(model, temperature):
    """The vectorised score, and the one by steps, and that of sequences one by one, in another order."""
    one = model.score(DATA, temperature=temperature)
    np.testing.assert_allclose(score_by_steps(model, DATA, temperature), one.log_probabilities, atol=1e-12)
    order = np.random.default_rng(0).permutation(len(DATA))
    for i in order:
        np.testing.assert_allclose(model.score(DATA.take(np.array([i])), temperature=temperature)[0], one[i])


def test_symbols_must_fit():
    with pytest.raises(MomusError, match="below the number"):
        NGramModel(2).fit(DATA, symbols=2)
    with pytest.raises(MomusError, match="order"):
        NGramModel(9).fit(Sequences.of([[1]]), symbols=1000)
