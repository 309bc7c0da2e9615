"""Equivalence, comparisons of generated corpora among each other, and the spread over refits."""

import numpy as np
import pytest

import momus
from momus import MomusError
from momus.comparison import read_comparison
from momus.critic import Statistic
from momus.critic.statistic import mean
from momus.inference import compare_rows, holm
from momus.report.page import render
from momus.report.terminal import comparison_text

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")


def wide(comparison):
    return comparison_text(comparison, 170, every=True)


def ones(x):
    return {"x": np.column_stack([x, np.ones(len(x))])}


@pytest.mark.slow
def test_equivalence_is_shown_at_its_level_at_the_border_and_with_power_inside():
    """At a true effect of δ it is shown in 5 % of 400 samples at most; at 0, with δ at 3.3 standard errors, mostly."""
    rng = np.random.default_rng(0)
    n, delta, shown = 100, 0.47, {0.0: 0, 0.47: 0}
    for k in range(400):
        for true in shown:
            a, b = rng.normal(size=n), rng.normal(true, 1, size=n)
            (r,) = compare_rows([MEAN], ones(a), ones(b), permutations=99, resamples=499, seed=k, threads=1)
            shown[true] += -delta < r.equivalence_low and r.equivalence_high < delta
            assert r.effect_low < r.equivalence_low < r.equivalence_high < r.effect_high
    assert 0.02 * 400 < shown[0.47] < 0.08 * 400
    assert shown[0.0] > 0.85 * 400


def texts(n, seed, longer=0):
    rng = np.random.default_rng(seed)
    return ["word " * (rng.poisson(20) + 1 + longer) for _ in range(n)]


def test_verdicts_say_what_is_shown():
    found = momus.compare(
        texts(400, 0), {"same": texts(400, 1), "longer": texts(400, 2, 9)}, fit=texts(100, 3), critics=["length"],
        equivalence=0.3, permutations=99, resamples=199,
    )  # fmt: skip
    rows = {(v.generated, v.statistic): v for v in found.verdicts}
    assert rows["same", "mean_length"].equivalent is True
    assert rows["longer", "mean_length"].equivalent is False
    assert rows["same", "mean_length"].delta == 0.3
    assert {"delta", "equivalent", "reference"} <= set(rows["same", "ks"].row())
    assert "±0.3" in wide(found), "a separate column"
    with pytest.raises(MomusError, match="above 0"):
        momus.compare(texts(9, 0), {"a": texts(9, 1)}, critics=["length"], equivalence=-1.0)


def test_generated_corpora_are_compared_with_each_other_and_adjusted(tmp_path):
    generated = {"a": texts(80, 1), "b": texts(80, 2), "c": texts(80, 4, 12)}
    found = momus.compare(
        texts(80, 0), generated, fit=texts(80, 3), critics=["length", "type-token"], pairwise=True, out=tmp_path / "r",
        permutations=999, resamples=99,
    )  # fmt: skip
    pairs = {(v.reference, v.generated): v for v in found.pairs if v.critic == "length"}
    assert list(pairs) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(v.headline for v in found.pairs)
    assert pairs["a", "c"].p_adjusted < 0.05 < pairs["a", "b"].p_adjusted
    tested = [v for v in found.pairs if v.p is not None]
    assert [v.p_adjusted for v in tested] == pytest.approx(holm([v.p for v in tested]))
    assert {v.critic for v in found.pairs if v.p is None} <= {"type-token"}, "texts of one word do not vary in it"
    without = momus.compare(
        texts(80, 0), generated, fit=texts(80, 3), critics=["length", "type-token"], permutations=999, resamples=99
    )
    assert [v.p_adjusted for v in without.verdicts] == [v.p_adjusted for v in found.verdicts], "a family by itself"
    again = read_comparison(tmp_path / "r")
    assert again.pairs == found.pairs
    assert "Generated corpora compared with each other" in render(again)
    assert "compared with each other" in wide(found)


def test_refits_show_how_much_hangs_on_the_fitted_text():
    small, large = (
        momus.compare(
            texts(100, 0), {"a": texts(100, 1, 3)}, fit=texts(n, 3), critics=["length"], refits=12, permutations=99,
            resamples=99,
        )
        for n in (30, 3000)
    )  # fmt: skip
    spread = [{v.statistic: v.refit_spread for v in c.verdicts} for c in (small, large)]
    assert spread[0]["latent_nll"] > 2 * spread[1]["latent_nll"] > 0
    assert spread[0]["mean_length"] == pytest.approx(0, abs=1e-12), "which does not ask the critic"
    assert "± over" in wide(small)
    assert "over refits" in render(small)
