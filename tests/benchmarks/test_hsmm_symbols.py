"""Segments, states and a language model found in symbols alone, against the process they come from."""

import sys
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import torch

from momus_critics.hsmm import Parameters

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))
from hsmm_symbols.lexicon import cut, find_lexicon
from hsmm_symbols.states import find_states
from hsmm_symbols.symbols import learn_symbols
from hsmm_symbols.table import NGramTable, SymbolHSMM
from segment_process import DELIMITER, SegmentProcess, latent_perplexity


@pytest.fixture(scope="module")
def process():
    return SegmentProcess.make(states=20, segments=300, seed=3)


@pytest.fixture(scope="module")
def learned(process):
    train = [process.spell(x) for x in process.sample(3000, 20, seed=1)]
    held_out = [process.spell(x) for x in process.sample(600, 20, seed=2)]
    return learn_symbols(train, held_out, DELIMITER + 1, most=60)


def test_the_process_is_what_it_says():
    p = SegmentProcess.make(states=8, segments=100, seed=0)
    assert np.allclose(p.transitions.sum(axis=1), 1)
    assert np.allclose(np.bincount(p.owners, p.emissions), 1)
    assert all(s[-1] == DELIMITER and DELIMITER not in s[:-1] and 4 <= len(s) <= 11 for s in p.symbols)
    x = p.sample(2000, 50, seed=5)
    z = p.owners[x]
    first = np.bincount(z[:, 0], minlength=8) / 2000
    assert np.abs(first - p.transitions[0]).max() < 4 * np.sqrt(0.25 / 2000)
    # Monte-Carlo Latent PPL against the entropy rate of the chain
    stationary = np.linalg.matrix_power(p.transitions, 200)[0]
    rate = -(stationary[:, None] * p.transitions * np.log(p.transitions)).sum()
    value, error, invalid = latent_perplexity(p, x.tolist())
    assert abs(np.log(value) - rate) < 5 * error / value
    assert invalid == 0
    prior, _ = p.log_likelihood(x)
    assert np.exp(-prior.sum() / x.size) == pytest.approx(value)


def test_invalid_sub_sequences_are_counted_not_dropped(process):
    x = process.sample(3, 10, seed=0).tolist()
    x[1][4] = -1
    value, _, invalid = latent_perplexity(process, x)
    assert invalid == pytest.approx(1 / 30)
    assert np.isfinite(value)


def test_segments_and_states_are_found(process, learned):
    assert learned.lexicon.delimiter == DELIMITER
    assert set(learned.lexicon.segments) <= set(process.symbols)
    assert learned.states.count == process.states
    true = np.array([process.owners[process.numbers[s]] for s in learned.lexicon.segments])
    counts = np.bincount(np.concatenate(learned.lexicon.sequences))
    joint = np.zeros((process.states, process.states))
    np.add.at(joint, (learned.states.owners, true), counts)
    assert joint.max(axis=1).sum() / joint.sum() > 0.99


def test_the_model_is_near_the_process(process, learned):
    x = process.sample(200, 20, seed=9)
    test = [process.spell(s) for s in x]
    prior, emission = process.log_likelihood(x)
    symbols = sum(map(len, test))
    excess = ((prior + emission).sum() - learned.log_likelihood(test).sum()) / symbols
    assert 0 < excess < 0.02
    drawn = learned.sample(1000, 20, seed=4)
    assert all(s.count(DELIMITER) == 20 for s in drawn)
    value, error, invalid = latent_perplexity(process, [process.read(s) for s in drawn])
    truth, spread, _ = latent_perplexity(process, process.sample(1000, 20, seed=5).tolist())
    assert abs(value - truth) < 4 * np.hypot(error, spread) + 0.02 * truth
    assert invalid < 0.005
    ends = learned.segmentations(test[:20])
    true = [list(np.flatnonzero(np.array(s) == DELIMITER) + 1) for s in test[:20]]
    assert np.mean([a == b for a, b in zip(ends, true, strict=True)]) > 0.9


def test_every_sequence_has_a_probability_and_they_sum_to_one():
    """All strings of a given length over three symbols: what the model gives them and their continuations is 1."""
    rng = np.random.default_rng(0)
    words = [(0, 2), (1, 2), (0, 0, 2), (1, 0, 2), (0, 1, 2)]
    train = [[c for w in rng.integers(0, 5, 12) for c in words[w]] for _ in range(200)]
    model = learn_symbols(train, train[:50], alphabet=3, most=3, steps=1)
    assert torch.allclose(model.parameters.transition.exp().sum(dim=1), torch.ones(len(model.parameters.initial)))
    each = model.emission.log_probabilities.exp()
    for length in (1, 2, 3):
        sums = each[model.emission.lengths == length].sum(dim=0)
        used = model.parameters.duration[:, length - 1] > -torch.inf
        assert torch.allclose(sums[used], torch.ones(int(used.sum())), atol=1e-5)
    # renewal equation: u(n), the probability that a boundary falls after n symbols, from the strings ...
    strings = [list(s) for s in product(range(3), repeat=4)]
    by_strings = np.exp(model.log_likelihood(strings)).sum()
    # ... and from the durations alone
    p = model.parameters
    reach = torch.zeros(5, p.states)
    enter = torch.zeros(5, p.states)
    enter[0] = p.initial.exp()
    for t in range(1, 5):
        for d in range(1, min(t, p.longest) + 1):
            reach[t] += enter[t - d] * p.duration.exp()[:, d - 1]
        enter[t] = reach[t] @ p.transition.exp()
    assert by_strings == pytest.approx(float(reach[4].sum()), rel=1e-4)


def test_a_lexicon_wants_segments():
    with pytest.raises(ValueError, match="segments found"):
        learn_symbols([[0, 0, 0]], [[0]], alphabet=1)
    assert cut([], 0) == []


def test_the_same_seed_finds_the_same_states(process):
    train = [process.spell(x) for x in process.sample(200, 20, seed=1)]
    lexicon = find_lexicon(train, DELIMITER + 1)
    a, b = (find_states(lexicon, 20, lexicon.sequences[:50], seed=7).owners for _ in range(2))
    assert np.array_equal(a, b)


def test_em_of_a_table_never_falls():
    rng = np.random.default_rng(0)
    states, longest = 3, 3
    x = torch.tensor(rng.integers(-1, 6, (8, 7, longest)))
    x[:, :, 0] = torch.tensor(rng.integers(0, 6, (8, 7)))
    table = torch.tensor(rng.dirichlet(np.ones(6), size=states).T).log()
    leaving = torch.tensor(rng.dirichlet(np.ones(states), size=states)).log()
    initial, duration = (torch.tensor(rng.dirichlet(np.ones(n), size=m)).log() for n, m in ((3, 1), (longest, states)))
    parameters = Parameters(initial[0], leaving, duration, torch.zeros(states, dtype=torch.float64))
    model = SymbolHSMM(parameters, NGramTable(table))
    curve = model.fit([(x, torch.tensor([7, 5, 7, 3, 6, 1, 2, 7]))], steps=15, tolerance=-1.0)
    assert len(curve) == 15
    assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(curve))
    assert torch.allclose(model.emission.log_probabilities.exp().sum(dim=0), torch.ones(states, dtype=torch.float64))
