"""Evaluation of generated texts by a network: streaming, intervals and vocabularies, against known answers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

import long_memory_evaluation as evaluation  # noqa: E402
import long_memory_networks as networks  # noqa: E402

RECIPE = networks.Recipe("lstm", width=8, layers=1, chunk=5, rows=2, epochs=1, rate=1e-2)


def test_log_probabilities_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    net = networks.build(RECIPE, 12_000).eval()
    stream = np.random.default_rng(0).integers(0, 12_000, 40)
    whole = evaluation.log_probabilities(net, stream)
    assert whole == pytest.approx(networks.scored(net, stream)[0], abs=1e-5)
    monkeypatch.setattr(evaluation, "CHUNK", 7)
    assert evaluation.log_probabilities(net, stream) == pytest.approx(whole, abs=1e-5)


def test_the_interval_has_the_mean_of_blocks_and_their_spread() -> None:
    values = -np.repeat([1.0, 2.0, 3.0], 10)
    value, low, high = evaluation.perplexity(values, 3)
    # means 1, 2, 3: standard error 1/√3, t of 2 degrees of freedom 4.3027
    assert (value, low, high) == pytest.approx((np.exp(2), *np.exp(2 + np.array([-1, 1]) * 4.302653 / np.sqrt(3))))


def test_unknown_words_are_counted_and_read_as_unk() -> None:
    stream, unknown = evaluation.in_vocabulary(np.array([0, 1, 1, 2]), ["b", "x", "a"], {"a": 0, "b": 1, "<unk>": 2})
    assert stream.tolist() == [1, 2, 2, 0]
    assert unknown == 2
