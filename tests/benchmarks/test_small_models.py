"""Small models trained from scratch: they learn a known process, and their draws follow their scores."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus_generating import Decoding, sample

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))
from small_models import similar_lengths, small_lm, train

from ..core.sequences.stepping import score_by_steps

SYMBOLS = 6


@pytest.fixture(scope="module")
def language():
    rng = np.random.default_rng(0)
    seeds = Sequences.of([rng.integers(0, SYMBOLS, rng.integers(2, 8)) for _ in range(40)])
    return NGramModel(2).fit(seeds, SYMBOLS)


@pytest.mark.parametrize("kind", ["transformer", "lstm"])
def test_it_learns_a_language_and_draws_what_it_scores(kind, language):
    drawn = [sample(language, None, Decoding(longest=60), range(a, b)).sequences for a, b in ((0, 2000), (2000, 2400))]
    model = small_lm(kind, SYMBOLS, width=32, layers=1)
    seen = []
    losses = train(model, *drawn, epochs=4, rate=1e-2, after_epoch=seen.append)
    truth = -language.score(drawn[1]).log_probabilities.mean()
    assert seen == list(range(4))
    assert truth - 0.02 < min(losses) < truth + 0.09
    assert -model.score(drawn[1]).log_probabilities.mean() == pytest.approx(min(losses), abs=1e-6)
    for temperature in (1.0, 0.7):
        np.testing.assert_allclose(
            score_by_steps(model, drawn[1], temperature),
            model.score(drawn[1], temperature=temperature).log_probabilities,
            atol=1e-4,
        )
    mine = sample(model, None, Decoding(longest=60), range(200))
    scored = model.score(mine.sequences).totals
    np.testing.assert_allclose(scored[mine.finished], mine.log_probabilities[mine.finished], atol=1e-3)


@pytest.mark.parametrize("kind", ["transformer", "lstm"])
def test_prompts_of_several_lengths_are_continued_as_alone(kind):
    model = small_lm(kind, SYMBOLS, width=16, layers=2, seed=1)
    prompts = Sequences.of([[1, 2, 3], [], [4], [5, 5, 5, 5, 0]])
    for decoding in (Decoding(longest=8), Decoding("beam-sampling", beams=2, longest=8)):
        whole = sample(model, prompts, decoding, [7, 8, 9, 10])
        for i in range(4):
            alone = sample(model, prompts.take(np.array([i])), decoding, [7 + i])
            assert alone.sequences[0].tolist() == whole.sequences[i].tolist()


def test_batches_have_similar_lengths():
    rows = similar_lengths(np.array([9, 1, 8, 2]), 2, np.random.default_rng(0))
    assert sorted(sorted(r.tolist()) for r in rows) == [[0, 2], [1, 3]]
    # with ``even``, batches have about equally many tokens
    rows = similar_lengths(np.array([1, 1, 1, 1, 4, 4]), 3, np.random.default_rng(0), even=True)
    assert sorted(map(len, rows)) == [2, 4]
