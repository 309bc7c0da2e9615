"""Texts in which all documents are alike to the critic of every fold get one Latent NLL."""

import numpy as np
import pytest

from momus.critic.scores import Scores
from momus.engine.crossfit import level_folds


def scores(nll, n=10, steps=3, row=(0.5, 3.0)):
    values = np.full(n, nll) if np.isscalar(nll) else np.asarray(nll)
    ids = [str(i) for i in range(len(values))]
    rows = {"disorder": np.tile(np.array(row), (len(values), 1)), "counts": np.arange(2.0 * len(values)).reshape(-1, 2)}
    return Scores("c", "x", ids, [None] * len(ids), values, np.full(len(ids), steps), [None] * len(ids), rows)


def test_constants_of_folds_become_one():
    old = {0: scores(2.1e-5, 10, row=(1e-5, 3)), 1: scores(2.2e-5, 30, row=(3e-5, 3))}
    new = {0: scores(2.1e-5, 30, row=(1e-5, 3)), 1: scores(2.2e-5, 10, row=(3e-5, 3))}
    levelled = level_folds([old, new])
    values = np.concatenate([s.nll for folds in levelled for s in folds.values()])
    assert values == pytest.approx(2.15e-5)
    assert np.ptp(values) == 0
    disorder = np.concatenate([s.rows["disorder"] for folds in levelled for s in folds.values()])
    assert disorder.tolist() == [pytest.approx([2e-5, 3])] * 80
    assert (levelled[0][0].rows["counts"] == old[0].rows["counts"]).all()


def test_texts_that_disagree_keep_their_difference():
    levelled = level_folds([{0: scores(0.1), 1: scores(0.2)}, {0: scores(5.0), 1: scores(6.0)}])
    assert [float(folds[1].nll[0]) for folds in levelled] == pytest.approx([0.15, 5.5])


def test_texts_that_vary_stay():
    varied = {0: scores(np.linspace(0.1, 0.2, 10)), 1: scores(0.2)}
    few = {0: scores(0.1, 3), 1: scores(0.2, 3)}
    for text in (varied, few):
        (levelled,) = level_folds([text])
        assert all(levelled[f] is text[f] for f in text)
