"""Fresh samples in bulk against the exact language, and training on them that resumes to the same result."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))

import distortion_online as online  # noqa: E402
import distortion_online_page as page  # noqa: E402
from distortion_stream import Stream  # noqa: E402

from momus.errors import UsageError  # noqa: E402
from momus.sequences import Sequences  # noqa: E402
from momus.sequences.ngram import NGramModel  # noqa: E402

RNG = np.random.default_rng(0)
TEXT = Sequences.of([RNG.choice(4, RNG.integers(1, 6), p=[0.4, 0.3, 0.2, 0.1]) for _ in range(40)])
RECIPE = online.Recipe("lstm", 8, 1, 1e-2)
PLAN = online.Plan(points=(40, 80, 160), chunk=40, batch=10)


@pytest.fixture(scope="module")
def language() -> NGramModel:
    return NGramModel(3).fit(TEXT, 4)


@pytest.fixture(scope="module")
def data(language: NGramModel) -> online.Data:
    stream = Stream(language, temperature=0.85)
    test = stream.seeded(1).chunk(0, 300)
    return online.Data(language, stream, test, language.score(test, temperature=0.85).totals)


@pytest.mark.parametrize("temperature", [0.7, 1.0, 1.3])
def test_samples_have_the_probabilities_of_the_language(language: NGramModel, temperature: float) -> None:
    """Each common sequence is as frequent as its exact probability: within 4.5 standard errors, of 40,000 samples."""
    n = 40_000
    drawn = Stream(language, temperature=temperature, seed=5).chunk(0, n)
    rows, counts = np.unique(drawn.padded(-1), axis=0, return_counts=True)
    p = np.exp(language.score(Sequences.of([r[r >= 0] for r in rows]), temperature=temperature).totals)
    common = p > 0.002
    p = p[common]
    assert len(p) >= 20
    assert np.abs((counts[common] / n - p) / np.sqrt(p * (1 - p) / n)).max() < 4.5


def test_an_end_too_far_is_drawn_again(language: NGramModel) -> None:
    drawn = Stream(language, seed=2, longest=3).chunk(4, 500)
    assert len(drawn) == 500
    assert 0 < drawn.lengths.max() <= 3


def test_chunks_are_fresh_and_depend_on_their_number_alone(language: NGramModel) -> None:
    """Of pairs at equal places in independent chunks, a share of Σ p² is equal: .03 here, and 1 of repeated chunks."""
    stream = Stream(language, seed=3)
    chunks = [stream.chunk(i, 400).padded(-1) for i in (0, 1, 2)]
    again = Stream(language, seed=3).chunk(1, 400).padded(-1)
    assert np.array_equal(chunks[1], again)
    other = stream.seeded(4).chunk(1, 400).padded(-1)
    _, counts = np.unique(stream.chunk(9, 40_000).padded(-1), axis=0, return_counts=True)
    equal = ((counts / 40_000) ** 2).sum()
    for a, b in ((chunks[0], chunks[1]), (chunks[1], chunks[2]), (chunks[1], other)):
        width = min(a.shape[1], b.shape[1])
        assert (a[:, :width] == b[:, :width]).all(axis=1).mean() == pytest.approx(equal, abs=0.035)


def test_a_language_without_smoothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no smoothing"):
        Stream(NGramModel(2, "none").fit(TEXT, 4))


def test_resumed_training_gives_what_uninterrupted_training_gives(data: online.Data, tmp_path: Path) -> None:
    arguments = (data.stream, data.test)
    whole = online.train("whole", RECIPE, PLAN, *arguments, tmp_path / "whole.pt")
    online.train("part", RECIPE, replace(PLAN, points=(40, 80)), *arguments, tmp_path / "part.pt")
    part = online.train("part", RECIPE, PLAN, *arguments, tmp_path / "part.pt")
    assert list(part.scores) == list(whole.scores) == [40, 80, 160]
    for n, scores in whole.scores.items():
        np.testing.assert_array_equal(part.scores[n], scores)
    assert whole.scores[160].mean() > whole.scores[40].mean()  # it learns
    # another run goes on from no such checkpoint
    with pytest.raises(SystemExit, match="other settings"):
        online.train("part", RECIPE, replace(PLAN, seed=1), *arguments, tmp_path / "part.pt")


def test_the_page_shows_the_curve_of_the_study(data: online.Data, tmp_path: Path) -> None:
    run = online.train("LSTM 8", RECIPE, PLAN, data.stream, data.test, tmp_path / "run.pt")
    study = data.study("LSTM 8", run, 160)
    assert study.checkpoints[-1][0] == 160
    np.testing.assert_allclose(study.checkpoints[-1][1].errors, study.fresh.errors)  # the network and its last point
    errors = run.scores[80] - data.truth
    path = tmp_path / "page.md"
    path.write_text("".join(f"<!-- {name} -->\nold\n<!-- end -->\n" for name in page.TABLES), encoding="utf-8")
    page.write(path, [study])
    page.write(path, [study])  # again gives the same
    text = path.read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| 80 |"))
    assert float(row.split("|")[2].split("[")[0].replace("−", "-")) == pytest.approx(errors.mean(), abs=0.006)
    assert "old" not in text
    assert text.count("<!-- end -->") == len(page.TABLES)
