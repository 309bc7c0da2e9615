"""Shared computations of the benchmarks of validity, against other ways to compute the same."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

FOLDER = Path(__file__).parents[2] / "benchmarks" / "validity"


def module(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


yardsticks = module("yardsticks")


def correlated(seed, n=60, k=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, k)) + 0.5 * rng.normal(size=(n, k))


@pytest.mark.parametrize("seed", range(5))
def test_partial_correlation_is_that_of_the_inverse_matrix(seed):
    table = correlated(seed)
    inverse = np.linalg.inv(np.corrcoef(stats.rankdata(table, axis=0).T))
    expected = -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
    assert yardsticks.partial_spearman(table[:, 0], table[:, 1], table[:, 2:]) == pytest.approx(expected, abs=1e-9)


def test_partial_correlation_does_not_change_under_monotone_maps():
    table = correlated(7)
    changed = np.column_stack([np.exp(table[:, 0]), table[:, 1] ** 3, np.arctan(table[:, 2]), 2 * table[:, 3] - 1])
    one, other = (yardsticks.partial_spearman(t[:, 0], t[:, 1], t[:, 2:]) for t in (table, changed))
    assert one == pytest.approx(other, abs=1e-12)


def test_a_copy_of_a_yardstick_has_nothing_left():
    table = correlated(3)
    assert not abs(yardsticks.partial_spearman(table[:, 2], table[:, 1], table[:, 2:])) > 1e-6


def test_p_of_partial_correlation_is_uniform_under_the_null():
    rng = np.random.default_rng(0)
    p = []
    for _ in range(600):
        z = rng.normal(size=(40, 3))
        x, y = z @ rng.normal(size=3) + rng.normal(size=40), z @ rng.normal(size=3) + rng.normal(size=40)
        p.append(yardsticks.partial_p(yardsticks.partial_spearman(x, y, z), 40, 3))
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.03)
    assert stats.kstest(p, "uniform").statistic < 0.08


def test_spearman_and_wilson_are_scipys():
    table = correlated(1).round(0)
    assert yardsticks.spearman(table[:, 0], table[:, 1]) == pytest.approx(stats.spearmanr(table[:, 0], table[:, 1])[0])
    found = stats.binomtest(61, 113).proportion_ci(method="wilson")
    assert yardsticks.wilson(61, 113) == pytest.approx((found.low, found.high), abs=1e-6)


@pytest.mark.slow
def test_intervals_over_models_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(5)
    truth, held = 6 / np.pi * np.arcsin(0.6 / 2), 0  # Spearman's ρ of two normals with correlation 0.6
    for k in range(120):
        x = rng.normal(size=50)
        y = 0.6 * x + 0.8 * rng.normal(size=50)
        low, high = yardsticks.over_models(yardsticks.spearman, x, y, resamples=200, seed=k)
        held += low <= truth <= high
    assert 0.86 <= held / 120 <= 1.0


def test_intervals_over_stories_are_wider_than_over_models_alone():
    rng = np.random.default_rng(2)
    quality = np.repeat(rng.normal(size=40), 5)
    x, y = quality + 2 * rng.normal(size=200), quality + 2 * rng.normal(size=200)
    names = [f"m{i // 5}" for i in range(200)]
    means = [v.reshape(40, 5).mean(axis=1) for v in (x, y)]
    low, high = yardsticks.over_stories(x, y, names, resamples=400)
    alone = yardsticks.over_models(yardsticks.spearman, *means, resamples=400)
    assert high - low > 0.9 * (alone[1] - alone[0])
    assert low < yardsticks.spearman(*means)


def test_yardsticks_tell_a_loop_from_a_text_without_repetition():
    loop = yardsticks.yardsticks("the cat sat on the mat. " * 300)
    rng = np.random.default_rng(0)
    free = yardsticks.yardsticks(" ".join("".join(chr(97 + c) for c in rng.integers(26, size=6)) for _ in range(1800)))
    assert loop["length"] == free["length"] == 1800
    assert loop["repetition"] > 0.99 > 0.01 > free["repetition"]
    assert loop["compression"] < 0.1 < free["compression"]
    assert loop["type–token ratio"] < 0.01 < free["type–token ratio"]
    assert loop["entropy"] < 3 < free["entropy"]


def test_votes_of_people_who_always_agree_and_who_guess():
    pairs = module("pairs")
    same = np.repeat(np.random.default_rng(0).choice([-1, 1], size=(50, 1)), 4, axis=1)
    guesses = np.random.default_rng(1).choice([-1, 1], size=(800, 4))
    assert pairs.nominal_alpha(same) == pytest.approx(1.0)
    assert abs(pairs.nominal_alpha(guesses)) < 0.05
    cost = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [np.nan, 1.0], [0.0, 5.0]])
    assert pairs.hits(cost, np.array([-1.0, -1.0, 1.0, 1.0, 0.0])) == (2.0, 2, 4)


def test_intervals_over_families_are_wider_where_families_agree():
    rng = np.random.default_rng(0)
    house = np.repeat(rng.normal(size=(8, 2)), 6, axis=0)
    x, y = (house + 0.2 * rng.normal(size=(48, 2))).T
    families = [f"house {i // 6}" for i in range(48)]
    over = yardsticks.over_groups(yardsticks.spearman, families, x, y, resamples=400)
    alone = yardsticks.over_models(yardsticks.spearman, x, y, resamples=400)
    assert over[1] - over[0] > 1.3 * (alone[1] - alone[0])


def judged(seed, models=24, prompts=3, noise=0.5):
    """Scores follow a model's skill, and so does ``told``; a ``mark`` only knows the model, ``noise`` nothing."""
    rng = np.random.default_rng(seed)
    skill = np.repeat(rng.normal(size=models), prompts)
    n = len(skill)
    return pd.DataFrame(
        {
            "model": np.repeat([f"m{i:02}" for i in range(models)], prompts),
            "prompt": np.tile([f"p{j}" for j in range(prompts)], models),
            "judge": skill + noise * rng.normal(size=n) + np.tile(rng.normal(size=prompts), models),
            "told": skill + noise * rng.normal(size=n),
            "noise": rng.normal(size=n),
            **{f"mark {k}": np.repeat(rng.normal(size=models), prompts) for k in range(12)},
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [False, True])
def test_held_out_predictions_find_what_is_told_and_nothing_in_noise(ranks):
    table = judged(1)
    told, noise = (yardsticks.held_out(table, [name], ranks, ("prompts", "models")) for name in ("told", "noise"))
    for kind in ("prompts", "models"):
        assert yardsticks.agreement(table, told[kind])[0] > 0.8
        assert abs(yardsticks.agreement(table, noise[kind])[0]) < 0.5


@pytest.mark.slow
def test_only_held_out_models_show_that_numbers_merely_know_models():
    gap = []
    for seed in range(2):
        table = judged(seed)
        marks = [name for name in table if name.startswith("mark")]
        found = yardsticks.held_out(table, marks, False, ("prompts", "models"))
        gap.append([yardsticks.agreement(table, found[k])[0] for k in ("prompts", "models")])
    prompts, models = np.mean(gap, axis=0)
    assert prompts > 0.3 > models


def test_reliability_of_parallel_scores():
    found = yardsticks.reliability(judged(5, models=400, noise=0.5))
    assert found["one prompt with another"] == pytest.approx(0.8, abs=0.05)  # 1 / (1 + 0.25)
    assert found["all prompts (Spearman–Brown)"] == pytest.approx(3 * 0.8 / (1 + 2 * 0.8), abs=0.03)


def test_the_judges_words_are_cut_off():
    ranking = module("ranking")
    chapter = "The end.\n            \n      + Judge Evaluation (Chapter 3)\n\nJudge Response:\n[Scores]\nCoherent: 3"
    assert ranking.JUDGED.split(chapter)[0] == "The end."
    assert ranking.JUDGED.split("A judge's evaluation (chapter 3).")[0] == "A judge's evaluation (chapter 3)."


def test_strength_of_preference_and_single_votes():
    pairs = module("pairs")
    votes = np.array([[1, 1, 1, 1], [1, 1, -1, 1], [-1, -1, 1, 1], [1, -1, -1, -1]])
    search = np.array([True, True, False, True])
    cost = np.array([[4.0, 0.0], [2.0, 0.0], [3.0, 3.0], [0.0, 2.0]])
    assert pairs.strength(cost, votes, search)[0] == pytest.approx(1.0)
    assert pairs.single_votes(cost, votes)[0] == pytest.approx((4 + 3 + 2 + 3) / 16)


@pytest.fixture(scope="module")
def gaussian():
    for name in ("ranking", "latents"):
        module(name)
    return module("gaussian")


def made_stories(seed=0, models=30, prompts=5):
    """Two numbers and a block of five columns; the score follows a curve of the first number, and noise."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "model": np.repeat([f"m{i}" for i in range(models)], prompts),
            "prompt": np.tile([f"p{i}" for i in range(prompts)], models),
            "a": rng.normal(size=models * prompts),
            "b": rng.normal(size=models * prompts),
        }
    )
    wide = pd.DataFrame(rng.normal(size=(len(table), 5)), columns=[f"w{i}" for i in range(5)])
    judge = 10 * np.cos(2 * table["a"]) + rng.normal(size=len(table)) + 3 * table["prompt"].str[1].astype(int)
    blocks = {"a": ("plain", ""), "b": ("plain", ""), **{f"w{i}": ("wide", "words") for i in range(5)}}
    return pd.concat([table.assign(judge=judge), wide], axis=1), list(blocks), blocks


def test_the_posterior_mean_is_scikit_learns_at_the_same_parameters(gaussian):
    import torch
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    rng = np.random.default_rng(0)
    x, y, new = rng.normal(size=(40, 3)), rng.normal(size=40), rng.normal(size=(7, 3))
    s, c, length, sigma = 0.7, 1.3, 0.9, 0.4
    kernel = ConstantKernel(s**2) * DotProduct(0.0) + ConstantKernel(c**2) * RBF(length) + WhiteKernel(sigma**2)
    expected = GaussianProcessRegressor(kernel, optimizer=None, alpha=0.0).fit(x, y).predict(new)
    parameters = torch.tensor(np.log([[s], [c], [length]]))
    inside = gaussian.covariance(parameters, *gaussian.between([x], [x])) + sigma**2 * torch.eye(40)
    across = gaussian.covariance(parameters, *gaussian.between([new], [x]))
    found = across @ torch.linalg.solve(inside, torch.from_numpy(y))
    assert found.numpy() == pytest.approx(expected, abs=1e-8)


def test_a_curve_is_found_and_its_block_gets_the_variance(gaussian):
    table, names, blocks = made_stories()
    train, test = table[table["prompt"] != "p0"], table[table["prompt"] == "p0"]
    shares = []
    found = gaussian.process(train, test, names, True, blocks=blocks, shares=shares)
    straight = yardsticks.predicted(train, test, ["a", "b"], True)
    assert np.corrcoef(found, test["judge"])[0, 1] > 0.9
    assert abs(np.corrcoef(straight, test["judge"])[0, 1]) < 0.5
    assert shares[0].sum() <= 1
    assert shares[0][0] > 5 * shares[0][1]
