"""The HSMM against enumeration of all segmentations, and EM on simulated data."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch

from momus_critics.hsmm import (
    HSMM,
    DiagonalGaussian,
    Parameters,
    forward,
    posterior,
    viterbi,
)

K, D = 3, 3


def random_parameters(seed, impossible=False):
    rng = np.random.default_rng(seed)
    leaving = rng.dirichlet(np.ones(K + 1), size=K)
    initial = rng.dirichlet(np.ones(K))
    if impossible:
        leaving[0, 0] = 0
        leaving[1, 2] = 0
        initial[2] = 0
        leaving /= leaving.sum(axis=1, keepdims=True)
        initial /= initial.sum()
    duration = rng.dirichlet(np.ones(D), size=K)
    with np.errstate(divide="ignore"):
        parts = (np.log(initial), np.log(leaving[:, :K]), np.log(duration), np.log(leaving[:, K]))
    return Parameters(*(torch.tensor(p, dtype=torch.float64) for p in parts))


def compositions(t):
    """All ways to cut t observations into segments of at most D."""
    if t == 0:
        yield ()
    for d in range(1, min(t, D) + 1):
        for rest in compositions(t - d):
            yield (d, *rest)


def every_path(p, each, t):
    """(probability with x, states, durations) of all segmentations of the first t observations."""
    q = Parameters(*(x.exp() for x in (p.initial, p.transition, p.duration, p.final)))
    for durations in compositions(t):
        for states in product(range(K), repeat=len(durations)):
            value, start = float(q.initial[states[0]]), 0
            for m, (k, d) in enumerate(zip(states, durations, strict=True)):
                value *= float(q.duration[k, d - 1] * each[start : start + d, k].sum().exp())
                value *= float(q.transition[k, states[m + 1]]) if m + 1 < len(states) else float(q.final[k])
                start += d
            yield value, states, durations


def batch(seed, lengths):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(len(lengths), max(lengths), K, generator=generator, dtype=torch.float64)


class Given(DiagonalGaussian):
    """Observations that are their own log densities."""

    def __init__(self):
        super().__init__(torch.zeros(K, K, dtype=torch.float64), torch.ones(K, K, dtype=torch.float64))

    def log_density(self, x):
        return x


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("impossible", [False, True])
def test_passes_equal_enumeration(seed, impossible):
    lengths = [5, 1, 4, 2]
    p, x = random_parameters(seed, impossible), batch(seed, lengths)
    scores, n = Given().scorer(x), torch.tensor(lengths)
    found, best = posterior(p, scores, n), viterbi(p, scores, n)
    transitions, durations = torch.zeros(K, K, dtype=torch.float64), torch.zeros(K, D, dtype=torch.float64)
    for i, length in enumerate(lengths):
        paths = list(every_path(p, x[i], length))
        total = sum(v for v, _, _ in paths)
        assert float(found.log_likelihood[i]) == pytest.approx(np.log(total))
        value, states, lasted = max(paths)
        assert best[i].score == pytest.approx(np.log(value))
        assert (tuple(best[i].states), tuple(best[i].durations)) == (states, lasted)
        occupancy = torch.zeros(length, K, dtype=torch.float64)
        for v, path, cut in paths:
            weight, start = v / total, 0
            for k, d in zip(path, cut, strict=True):
                occupancy[start : start + d, k] += weight
                durations[k, d - 1] += weight
                start += d
            for a, b in pairwise(path):
                transitions[a, b] += weight
        assert torch.allclose(found.occupancy[i, :length], occupancy)
        assert float(found.occupancy[i, length:].abs().sum()) < 1e-9
        assert torch.allclose(found.occupancy[i, :length].sum(dim=1), torch.ones(length, dtype=torch.float64))
    assert torch.allclose(found.transitions, transitions)
    assert torch.allclose(found.durations, durations)


def test_padding_and_company_change_nothing():
    p, x = random_parameters(0), batch(1, [6, 3])
    together = forward(p, Given().scorer(x), torch.tensor([6, 3])).log_likelihood
    alone = forward(p, Given().scorer(x[1:, :3]), torch.tensor([3])).log_likelihood
    assert torch.allclose(together[1], alone[0])
    noisy = x.clone()
    noisy[1, 3:] = 50.0
    assert torch.allclose(forward(p, Given().scorer(noisy), torch.tensor([6, 3])).log_likelihood, together)


def simulate(p, means, sequences, seed):
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(sequences):
        k, x = rng.choice(K, p=p.initial.exp().numpy()), []
        while True:
            d = rng.choice(D, p=p.duration[k].exp().numpy()) + 1
            x += [means[k] + rng.normal(size=2) for _ in range(d)]
            leaving = np.append(p.transition[k].exp().numpy(), float(p.final[k].exp()))
            k = rng.choice(K + 1, p=leaving / leaving.sum())
            if k == K:
                break
        out.append(np.array(x))
    return out


def padded(sequences, size=64):
    batches = []
    for i in range(0, len(sequences), size):
        part = sequences[i : i + size]
        lengths = torch.tensor([len(s) for s in part])
        x = torch.zeros(len(part), int(lengths.max()), part[0].shape[1], dtype=torch.float64)
        for j, s in enumerate(part):
            x[j, : len(s)] = torch.tensor(s)
        batches.append((x, lengths))
    return batches


@pytest.fixture(scope="module")
def truth():
    leaving = torch.tensor(
        [[0.05, 0.6, 0.25, 0.1], [0.2, 0.05, 0.65, 0.1], [0.65, 0.15, 0.05, 0.15]], dtype=torch.float64
    )
    duration = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.6, 0.2]], dtype=torch.float64)
    initial = torch.tensor([0.8, 0.1, 0.1], dtype=torch.float64)
    return Parameters(initial.log(), leaving[:, :3].log(), duration.log(), leaving[:, 3].log())


@pytest.mark.slow
def test_em_never_falls_and_recovers_the_process(truth):
    means = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    sequences = simulate(truth, means, 400, seed=0)
    flat = torch.full((K,), -np.log(K), dtype=torch.float64)
    rows = torch.full((K, K + 1), -np.log(K + 1), dtype=torch.float64)
    start = Parameters(
        flat, rows[:, :K].clone(), torch.full((K, D), -np.log(D), dtype=torch.float64), rows[:, K].clone()
    )
    emission = DiagonalGaussian(torch.tensor(means + [[1.0, 0.5]] * 3), torch.full((K, 2), 2.0, dtype=torch.float64))
    model = HSMM(start, emission)
    curve = model.fit(padded(sequences), steps=60, tolerance=1e-6)
    assert all(b >= a - 1e-7 * abs(a) for a, b in pairwise(curve))
    assert torch.allclose(model.emission.mean, torch.tensor(means), atol=0.15)
    assert torch.allclose(model.parameters.duration.exp(), truth.duration.exp(), atol=0.08)
    assert torch.allclose(model.parameters.transition.exp(), truth.transition.exp(), atol=0.08)


def test_impossible_sequences_are_an_error():
    p = random_parameters(0)

    def impossible(t, n):
        return torch.full((1, n, K), -torch.inf, dtype=torch.float64)

    with pytest.raises(ValueError, match="probability zero"):
        posterior(p, impossible, torch.tensor([2]))
