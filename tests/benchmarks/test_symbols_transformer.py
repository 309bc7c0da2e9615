"""The transformer of the synthetic study: batches, caching, resuming and learning, on a process of a few segments."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

import symbols_transformer as grams  # noqa: E402

RECIPE = grams.Recipe(letters=5, width=8, layers=2, heads=2, longest_gram=4, slots=64, batch=4, epochs=2, rate=1e-2)
CYCLE = [[0, 1, 2, 3, 4] * 4 for _ in range(80)]


def test_each_epoch_reads_each_sequence_once() -> None:
    data = [[0] * n for n in (3, 9, 4, 8, 5, 7, 6, 2)]
    batches = list(grams.order_of(data, RECIPE, seed=0))
    assert len(batches) == 4  # two epochs of two batches
    assert Counter(i for b in batches for i in b) == dict.fromkeys(range(8), 2)
    assert sorted(batches[0]) in ([0, 2, 4, 7], [1, 3, 5, 6])  # the four shortest, or the four longest


def test_padding_does_not_change_the_probability_of_a_sequence() -> None:
    torch.manual_seed(0)
    net = grams.Network(RECIPE).eval()
    torch.nn.init.normal_(net.head.weight)
    together = grams.log_likelihood(net, [[0, 1], [2, 3, 4, 0, 1, 2]])
    assert together[0] == pytest.approx(grams.log_likelihood(net, [[0, 1]])[0], abs=1e-5)


def test_probabilities_of_all_sequences_sum_to_one() -> None:
    torch.manual_seed(0)
    net = grams.Network(RECIPE).eval()
    torch.nn.init.normal_(net.head.weight)
    every = [[a, b, c] for a in range(5) for b in range(5) for c in range(5)]
    assert np.exp(grams.log_likelihood(net, every)).sum() == pytest.approx(1, abs=1e-5)


def test_continuing_from_kept_keys_gives_the_logits_of_the_whole() -> None:
    torch.manual_seed(0)
    net = grams.Network(RECIPE).eval()
    for p in net.parameters():
        torch.nn.init.normal_(p, std=0.3)
    x = torch.tensor([[RECIPE.begin, 0, 3, 1, 4, 2, 2, 0, 1]])
    with torch.inference_mode():
        whole = net(x)
        past = net.cache(1, x.shape[1])
        for t in range(1, x.shape[1] + 1):
            assert torch.allclose(net(x[:, :t], past)[:, -1], whole[:, t - 1], atol=1e-5)


def test_a_resumed_training_is_that_without_a_break(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    for name, minutes in (("once", np.inf), ("broken", 0.0)):
        (tmp_path / name).mkdir()
        kept: list[tuple[int, float, Path]] = []
        while not kept or kept[-1][0] < 8:
            kept = grams.train(CYCLE[:16], RECIPE, tmp_path / name, seed=0, minutes=minutes, every=0.0)
    once, broken = (grams.loaded(tmp_path / name / "step-8.pt", RECIPE) for name in ("once", "broken"))
    assert grams.log_likelihood(once, CYCLE[:1])[0] == grams.log_likelihood(broken, CYCLE[:1])[0]
    assert [step for step, *_ in kept] == [1, 2, 4, 8]


def test_it_learns_a_cycle_and_samples_it(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    recipe = replace(RECIPE, epochs=8, rate=5e-2)
    kept = grams.train(CYCLE, recipe, tmp_path, seed=0)
    net = grams.loaded(kept[-1][2], recipe)
    assert grams.log_likelihood(net, CYCLE[:1])[0] > -1  # 20 symbols: uniform guesses have −32
    drawn = grams.sample(net, 20, lambda s: len(s) == 10, 50, seed=0)
    assert all(len(s) == 10 for s in drawn)
    assert Counter(map(tuple, drawn)).most_common(1)[0][0] == (0, 1, 2, 3, 4) * 2
