"""Forward–backward against enumeration, of one chain and of many side by side, with and without an end."""

from itertools import pairwise, product

import numpy as np
import pytest

from momus.sequences.forward_backward import forward_backward
from momus_adapters.chains.paired import PairedStates


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


@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_a_hidden_markov_model_equal_enumeration(seed):
    emission, offsets, start, move, _ = process(seed)
    offsets = np.insert(offsets, 2, offsets[2])  # a document without a step
    z = PairedStates.smoothed(np.log(start), np.log(move), np.log(emission), offsets)
    for i, (a, b) in enumerate(pairwise(offsets)):
        if a == b:
            assert not z.pairs[i].any()
            assert not z.first[i].any()
            continue
        _, marginals, pairs = enumerated(emission[a:b], start, move, np.ones(3))
        assert z.marginals[a:b] == pytest.approx(marginals)
        assert z.pairs[i] == pytest.approx(pairs)
        assert z.first[i] == pytest.approx(marginals[0])
    assert z.states.tolist() == z.marginals.argmax(axis=1).tolist()


def test_states_that_no_path_visits_do_not_swamp_the_others():
    """State 2 is likelier by e^2000 everywhere, and unreachable; state 0 may never follow state 1."""
    start, move = np.array([0.5, 0.5, 0.0]), np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    emission = np.array([[0.2, 0.4], [0.6, 0.1], [0.3, 0.3]])
    log_emission = np.column_stack([np.log(emission) - 1500.0, np.full(3, 500.0)])
    with np.errstate(divide="ignore"):
        z = PairedStates.smoothed(np.log(start), np.log(move), log_emission, np.array([0, 3]))
    _, marginals, pairs = enumerated(emission, start[:2], move[:2, :2], np.ones(2))
    assert z.marginals[:, :2] == pytest.approx(marginals)
    assert not z.marginals[:, 2].any()
    assert z.pairs[0, :2, :2] == pytest.approx(pairs)


def test_a_state_that_cannot_be_left_counts_only_at_the_end():
    start, move = np.array([1.0, 0.0]), np.array([[0.5, 0.5], [0.0, 0.0]])
    log_emission = np.array([[0.0, 0.0], [0.0, 900.0], [0.0, 0.0]])
    with np.errstate(divide="ignore"):
        z = PairedStates.smoothed(np.log(start), np.log(move), log_emission, np.array([0, 3]))
    assert z.marginals == pytest.approx(np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]))


def test_no_documents_have_no_messages():
    z = PairedStates.smoothed(np.zeros(2), np.zeros((2, 2)), np.zeros((0, 2)), np.array([0, 0]))
    assert (len(z), z.pairs.shape, z.marginals.shape) == (1, (1, 2, 2), (0, 2))


def test_emissions_that_differ_by_more_than_a_float_holds():
    """At the first step state 0 is unlikelier by e^800, but only from it can the second step be explained."""
    with np.errstate(divide="ignore"):
        z = PairedStates.smoothed(
            np.log([0.5, 0.5]),
            np.log(np.array([[0.5, 0.5], [0.0, 1.0]])),
            np.array([[-800.0, 0.0], [0.0, -2000.0]]),
            np.array([0, 2]),
        )
    assert z.marginals == pytest.approx(np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert z.pairs[0] == pytest.approx(np.array([[1.0, 0.0], [0.0, 0.0]]))


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
