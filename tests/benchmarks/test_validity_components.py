"""Variance components: recovery of known ones, statsmodels, reasons."""

import warnings

import numpy as np
import pytest
from components import Cells, prompt_components, reml_components
from scipy.stats import t

from momus.critic.statistic import Statistic, mean
from momus.joint.axes import AxisRows

MEAN = Statistic("mean", "x", "value", mean)


def simulated(prompts, repeats, sd=(1.0, 0.7, 1.0), shifts=(0.0, 0.5, -0.2), seed=0):
    rng = np.random.default_rng(seed)
    names = ["real", "a", "b"]
    level, cell = sd[0] * rng.normal(size=prompts), sd[1] * rng.normal(size=(prompts, 3))
    values, ids = {}, {}
    for k, name in enumerate(names):
        p = np.repeat(np.arange(prompts), repeats)
        values[name] = level[p] + cell[p, k] + sd[2] * rng.normal(size=len(p)) + shifts[k]
        ids[name] = [str(i) for i in p]
    return AxisRows("x", "x", MEAN, {}, {}, values), ids


def test_known_components_are_recovered():
    axis, ids = simulated(800, 2)
    found = prompt_components(axis, "real", ["a", "b"], ids)
    for share, truth in ((found.prompt, 1 / 2.49), (found.prompt_model, 0.49 / 2.49), (found.residual, 1 / 2.49)):
        assert share.low < truth < share.high
        assert share.share == pytest.approx(truth, abs=0.06)
    assert (found.prompt.levels, found.prompt_model.levels, found.residual.levels) == (800, 2400, 4800)
    for effect, truth in zip(found.effects, (0.5, -0.2), strict=True):
        assert effect.low < truth < effect.high
        assert effect.n == 1600


@pytest.mark.parametrize("repeats", [1, 2])
def test_reml_agrees_with_statsmodels(repeats):
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    axis, ids = simulated(30, repeats, seed=4)
    kept = np.sort(np.random.default_rng(0).choice(90 * repeats, 80 * repeats, replace=False))
    prompt = np.concatenate([[int(i) for i in ids[k]] for k in ids])[kept]
    corpus = np.repeat(np.arange(3), 30 * repeats)[kept]
    y = np.concatenate([axis.values[k] for k in ids])[kept]
    effects, shares = reml_components(Cells(y, prompt, corpus, 30, 3), ["a", "b"], 0.95)
    cells = None
    if repeats > 1:
        matrices = [np.eye(3)[corpus[prompt == p]][:, np.unique(corpus[prompt == p])] for p in range(30)]
        names = [[f"c{k}" for k in np.unique(corpus[prompt == p])] for p in range(30)]
        cells = VCSpec(["cell"], [names], [matrices])
    x = np.column_stack([np.ones(len(y)), corpus == 1, corpus == 2]).astype(float)
    order = np.argsort(prompt, kind="stable")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = MixedLM(y[order], x[order], prompt[order], np.ones((len(y), 1)), cells).fit(reml=True)
    variances = np.array([fitted.cov_re[0, 0], *(fitted.vcomp if repeats > 1 else [0.0]), fitted.scale])
    theirs = variances / variances.sum()
    assert shares[0].share == pytest.approx(theirs[0], abs=2e-3)
    assert shares[2].share == pytest.approx(theirs[2], abs=2e-3)
    reach = t.ppf(0.975, len(np.unique(3 * prompt + corpus)) - 30 - 3 + 1)
    for k, effect in enumerate(effects, 1):
        assert effect.difference == pytest.approx(fitted.fe_params[k], abs=1e-3)
        assert (effect.high - effect.low) / (2 * reach) == pytest.approx(fitted.bse_fe[k], rel=1e-2)


def test_one_document_per_cell_has_no_interaction_of_its_own():
    axis, ids = simulated(300, 1)
    found = prompt_components(axis, "real", ["a", "b"], ids)
    assert found.prompt_model is None
    assert found.prompt.share + found.residual.share == pytest.approx(1)
    # a paired t-test of model a against the real text uses two of the three columns: the same order of magnitude
    d = axis.values["a"] - axis.values["real"]
    assert found.effects[0].difference == pytest.approx(d.mean())
    assert (found.effects[0].high - found.effects[0].low) / 3.92 == pytest.approx(d.std() / np.sqrt(300), rel=0.15)


def test_unbalanced_data_are_fitted_without_warnings():
    axis, ids = simulated(60, 2)
    axis.values["a"][:9] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = prompt_components(axis, "real", ["a", "b"], ids)
    assert found.documents == 360 - 9
    assert found.prompt.share + found.prompt_model.share + found.residual.share == pytest.approx(1)
    assert found.effects[0].low < 0.5 < found.effects[0].high


@pytest.mark.slow
def test_intervals_of_effects_cover():
    hits = 0
    for seed in range(200):
        axis, ids = simulated(15, 2, seed=seed)
        effect = prompt_components(axis, "real", ["a", "b"], ids).effects[0]
        hits += effect.low < 0.5 < effect.high
    assert abs(hits / 200 - 0.95) < 3.3 * np.sqrt(0.05 * 0.95 / 200)


def test_reasons():
    axis, ids = simulated(20, 1)
    apart = prompt_components(axis, "real", ["a"], ids | {"a": [f"other {i}" for i in ids["a"]]})
    assert "'a' shares fewer than 3 prompts" in apart.reason
    assert not apart.effects
    assert "share" in prompt_components(axis, "real", ["a"], {k: [None] * 20 for k in ids}).reason
    flat = AxisRows("x", "x", MEAN, {}, {}, {k: np.ones(20) for k in ids})
    assert prompt_components(flat, "real", ["a"], ids).reason == "all documents have the same value"
    gone = AxisRows("x", "x", MEAN, {}, {}, axis.values | {"a": np.full(20, np.nan)})
    assert "no scored documents of 'a'" in prompt_components(gone, "real", ["a"], ids).reason
