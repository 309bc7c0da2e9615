"""Equivalence, and comparisons of generated corpora among each other."""

import numpy as np
import pytest

import momus
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
