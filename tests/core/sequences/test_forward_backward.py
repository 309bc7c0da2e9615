"""Forward–backward against enumeration, of one chain and of many side by side, with and without an end."""

from itertools import pairwise, product

import numpy as np
import pytest

from momus.sequences.forward_backward import forward_backward


def enumerated(emission, start, move, end):
    """log Σ_z, marginals (M, K) and pairs (K, K) of one sequence."""
    m, k = emission.shape
    total, marginals, pairs = 0.0, np.zeros((m, k)), np.zeros((k, k))
    for path in product(range(k), repeat=m):
        weight = start[path[0]] * end[path[-1]] * np.prod([emission[t, s] for t, s in enumerate(path)])
        weight *= np.prod([move[a, b] for a, b in pairwise(path)])
        total += weight
        marginals[np.arange(m), path] += weight
        for a, b in pairwise(path):
            pairs[a, b] += weight
    return np.log(total), marginals / total, pairs / total


def process(seed, k=3):
    rng = np.random.default_rng(seed)
    lengths = [3, 1, 4, 2, 4]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return rng.gamma(1.0, size=(offsets[-1], k)), offsets, rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), k), rng


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ends", [True, False])
def test_messages_equal_enumeration(seed, ends):
    emission, offsets, start, move, rng = process(seed)
    end = rng.dirichlet(np.ones(3)) if ends else None
    forward, backward, log_z = forward_backward(emission, offsets, start, move, end)
    assert forward.sum(axis=1) == pytest.approx(np.ones(len(emission)))
    assert backward.sum(axis=1) == pytest.approx(np.ones(len(emission)))
    posterior = forward * backward / (forward * backward).sum(axis=1, keepdims=True)
    for i, (a, b) in enumerate(pairwise(offsets)):
        expected = enumerated(emission[a:b], start, move, np.ones(3) if end is None else end)
        assert log_z[i] == pytest.approx(expected[0])
        assert posterior[a:b] == pytest.approx(expected[1])
