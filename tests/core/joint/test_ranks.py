"""Ranks over axes: known orders, shared prompts, unscored documents, distances, exclusions."""

import numpy as np
import pytest
from scipy import sparse

from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, perplexity, total_variation
from momus.joint.axes import AxisRows
from momus.joint.ranks import ALL_AXES, ranks

G = Statistic("mean", "x", "value", mean, effect="hedges_g")
PPL = Statistic("ppl", "x", "value", perplexity, scale="log", effect="log_ratio")
KS = Statistic("ks", "x", "distance", kolmogorov_smirnov)
TVD = Statistic("tvd", "x", "distance", total_variation)
SHIFTS = {"real": 0.0, "near": 0.05, "far": -1.6, "middle": 0.5}
MODELS = ("far", "middle", "near")


def axis(name, statistic, values):
    scored = {k: np.isfinite(v) for k, v in values.items()}
    rows = {}
    for k, v in values.items():
        x = np.where(scored[k], v, 0.0)
        if statistic.kind == "value":
            rows[k] = np.column_stack([x, scored[k]])
        else:
            rows[k] = np.eye(17)[np.clip(np.round(x * 3).astype(int) + 8, 0, 16)] * scored[k][:, None]
    return AxisRows(name, name, statistic, rows, scored, values)


def values(n=150, seed=0, shared=False):
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n) * 2 * shared
    return {k: level + rng.normal(size=n) + d for k, d in SHIFTS.items()}


def prompts(n=150, shared=False):
    return {k: [str(i) if shared else None for i in range(n)] for k in SHIFTS}


@pytest.mark.parametrize("statistic", [G, PPL, KS])
@pytest.mark.parametrize("shared", [False, True])
def test_known_order_is_found(statistic, shared):
    found = ranks([axis("a", statistic, values(shared=shared))], "real", MODELS, prompts(shared=shared), bands={"a": 1})
    assert found.matched is shared
    for name in ("a", ALL_AXES):
        rows = found.of(name)
        assert [r.model for r in rows] == ["near", "middle", "far"]
        assert rows[2].rank_low == 3
        assert sum(r.p_nearest for r in rows) == pytest.approx(1)
        assert all(r.low <= r.distance <= r.high for r in rows)
        assert all(r.rank_low <= i <= r.rank_high for i, r in enumerate(rows, 1))


def test_effects_agree_with_the_verdicts():
    from momus.inference.testing import compare_rows

    x = values()
    one = axis("a", G, x)
    found = {r.model: r.distance for r in ranks([one], "real", MODELS, prompts(), resamples=99).rows}
    for model in MODELS:
        (result,) = compare_rows([G], {"x": one.rows["real"]}, {"x": one.rows[model]}, permutations=99, resamples=0)
        assert found[model] == pytest.approx(abs(result.effect))


def test_shared_prompts_tell_models_apart_that_independent_ones_do_not():
    x = values(shared=True)
    apart = ranks([axis("a", G, x)], "real", MODELS, prompts(shared=True)).of("a")
    mixed = ranks([axis("a", G, x)], "real", MODELS, prompts(shared=False)).of("a")
    assert not apart[0].tied
    assert mixed[0].tied == ("middle",)


def test_models_are_compared_on_prompts_that_all_answer():
    x = values(shared=True)
    x["far"][:10] = np.nan
    found = ranks([axis("a", G, x)], "real", MODELS, prompts(shared=True))
    assert {r.n for r in found.rows} == {140}
    assert {r.n_real for r in found.rows} == {140}


def test_repeated_prompts_weigh_as_much_as_others():
    x = values(shared=True)
    ids = prompts(shared=True)
    x["near"], ids["near"] = np.r_[x["near"], np.full(500, x["near"][0])], [*ids["near"], *["0"] * 500]
    found = {r.model: r for r in ranks([axis("a", G, x)], "real", MODELS, ids).rows}
    plain = {r.model: r for r in ranks([axis("a", G, values(shared=True))], "real", MODELS, prompts(shared=True)).rows}
    assert found["near"].distance == pytest.approx(plain["near"].distance, rel=0.02)


def test_the_same_text_twice_is_tied():
    x = values()
    x["middle"] = x["near"].copy()
    ids = prompts(shared=True)
    for statistic in (G, KS):
        rows = {r.model: r for r in ranks([axis("a", statistic, x)], "real", MODELS, ids).rows}
        assert rows["middle"].tied == ("near",)
        assert rows["middle"].p_nearest == pytest.approx(rows["near"].p_nearest)


def test_excess_over_chance_does_not_favour_larger_texts():
    rng = np.random.default_rng(0)
    p = np.full(200, 1 / 200)
    sizes = {"real": 100, "small": 25, "large": 400}
    wins = []
    for _ in range(20):
        rows = {k: sparse.csr_array(rng.multinomial(20, p, size=n).astype(float)) for k, n in sizes.items()}
        one = AxisRows("w", "w", TVD, rows, {k: np.ones(n, bool) for k, n in sizes.items()}, {})
        found = ranks([one], "real", ("small", "large"), {k: [None] * n for k, n in sizes.items()}, resamples=99)
        assert [r.rank_high for r in found.rows] == [2, 2]
        assert all(r.distance < 0.15 for r in found.rows)  # as sampled, the small text lies .25 away
        wins.append(found.of("w")[0].model == "small")
    assert 2 <= sum(wins) <= 18  # distances of 0 are equal, and the first of them is taken


@pytest.mark.parametrize("statistic", [TVD, KS])
def test_texts_without_anything_to_count_are_not_apart(statistic):
    x = values()
    nothing = AxisRows("b", "b", statistic, {k: np.zeros((150, 3)) for k in x}, axis("b", G, x).scored, {})
    found = ranks([axis("a", KS, x), nothing], "real", MODELS, prompts(), bands={"a": 1.0, "b": 1.0})
    assert all(np.isfinite([r.distance, r.low, r.high, r.p_nearest]).all() for r in found.rows)
    assert {r.distance for r in found.of("b")} == {0.0}
    assert found.of(ALL_AXES)[0].model == "near"


def test_reasons_of_axes_that_do_not_count():
    x = values()
    empty = axis("b", G, x | {"far": np.full(150, np.nan)})
    found = ranks([axis("a", G, x), empty], "real", MODELS, prompts(), bands={"b": 1.0})
    assert "'far'" in found.excluded["b"]
    assert "no band" in found.excluded["a"]
    assert {r.axis for r in found.rows} == {"a"}


@pytest.mark.parametrize("function", [total_variation, kolmogorov_smirnov])
def test_intervals_of_distances_hold_those_of_the_populations(function):
    """Chance makes distances of samples too large: an interval around those less chance held one in a hundred."""
    zipf = 1 / np.arange(1, 201)
    shares = [zipf / zipf.sum(), zipf**1.2 / (zipf**1.2).sum()]
    truth = float(function(np.array([shares[0]]), np.array([shares[1]]))[0])
    held = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        drawn = {k: rng.multinomial(60, shares[k != "real"], 80).astype(float) for k in ("real", "a", "b")}
        scored, keys = {k: np.ones(80, dtype=bool) for k in drawn}, {k: [f"{k} {i}" for i in range(80)] for k in drawn}
        one = AxisRows(
            "x", "x", Statistic("d", "x", "distance", function), drawn, scored, {k: np.zeros(80) for k in drawn}
        )
        ranking = ranks([one], "real", ["a", "b"], keys, bands={"x": 0.1}, resamples=99, seed=seed)
        held += [r.low <= truth <= r.high for r in ranking.of("x")]
        held += [r.low <= truth / 0.1 <= r.high for r in ranking.of(ALL_AXES)]
        assert all(r.low <= r.distance <= r.high for r in ranking.rows)
    assert np.mean(held) > 0.85
