"""Forward–backward against enumeration, of one chain and of many side by side, with and without an end."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import softmax

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


def log_marginals(log_emission, log_start, log_move):
    """P(z_m | x) of one sequence, (M, K), from messages in logarithms."""
    offsets = np.array([0, len(log_emission)])
    forward, backward, _ = forward_backward(log_emission, offsets, log_start, log_move, log=True)
    return softmax(forward + backward, axis=1)


def test_states_that_no_path_visits_do_not_swamp_the_others():
    """State 2 is likelier by e^2000 everywhere, and unreachable; state 0 may never follow state 1."""
    start, move = np.array([0.5, 0.5, 0.0]), np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    emission = np.array([[0.2, 0.4], [0.6, 0.1], [0.3, 0.3]])
    log_emission = np.column_stack([np.log(emission) - 1500.0, np.full(3, 500.0)])
    with np.errstate(divide="ignore"):
        z = log_marginals(log_emission, np.log(start), np.log(move))
    _, marginals, _ = enumerated(emission, start[:2], move[:2, :2], np.ones(2))
    assert z[:, :2] == pytest.approx(marginals)
    assert not z[:, 2].any()


def test_a_state_that_cannot_be_left_counts_only_at_the_end():
    start, move = np.array([1.0, 0.0]), np.array([[0.5, 0.5], [0.0, 0.0]])
    log_emission = np.array([[0.0, 0.0], [0.0, 900.0], [0.0, 0.0]])
    with np.errstate(divide="ignore"):
        z = log_marginals(log_emission, np.log(start), np.log(move))
    assert z == pytest.approx(np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]))


def test_emissions_that_differ_by_more_than_a_float_holds():
    """At the first step state 0 is unlikelier by e^800, but only from it can the second step be explained."""
    with np.errstate(divide="ignore"):
        log_start, log_move = np.log([0.5, 0.5]), np.log(np.array([[0.5, 0.5], [0.0, 1.0]]))
        z = log_marginals(np.array([[-800.0, 0.0], [0.0, -2000.0]]), log_start, log_move)
    assert z == pytest.approx(np.array([[1.0, 0.0], [1.0, 0.0]]))


@pytest.mark.parametrize("ends", [True, False])
def test_logarithms_give_the_same_messages(ends):
    emission, offsets, start, move, rng = process(9)
    end = rng.dirichlet(np.ones(3)) if ends else None
    plain = forward_backward(emission, offsets, start, move, end)
    logs = forward_backward(
        np.log(emission), offsets, np.log(start), np.log(move), None if end is None else np.log(end), log=True
    )
    assert np.exp(logs[0]) == pytest.approx(plain[0])
    assert np.exp(logs[1]) == pytest.approx(plain[1])
    assert logs[2] == pytest.approx(plain[2])
