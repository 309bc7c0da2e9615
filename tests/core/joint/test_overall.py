"""The global test over axes: its level and exclusions, and agreement with the test of one axis."""

import numpy as np
import pytest
from scipy import sparse

from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, total_variation
from momus.inference.design import Design
from momus.inference.testing import compare_rows
from momus.joint.axes import Axis
from momus.joint.global_test import global_test

MEAN = Statistic("mean", "x", "value", mean)
KS = Statistic("ks", "x", "distance", kolmogorov_smirnov)


def axis(name, real, generated, statistic=MEAN, scored=None):
    values = {"real": np.asarray(real, float), "g": np.asarray(generated, float)}
    scored = scored or {k: np.isfinite(v) for k, v in values.items()}
    rows = {}
    for k, v in values.items():
        filled = np.where(scored[k], v, 0.0)
        if statistic.kind == "value":
            rows[k] = np.column_stack([filled, scored[k]])
        else:
            bins = np.clip(np.round(filled * 2).astype(int) + 10, 0, 20)
            rows[k] = np.eye(21)[bins] * scored[k][:, None]
    return Axis(name, name, statistic, rows, scored, values)


@pytest.mark.parametrize("statistic", [MEAN, KS])
@pytest.mark.parametrize("missing", [0, 4])
def test_one_axis_has_the_p_of_its_own_test(statistic, missing):
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=40), rng.normal(0.4, 1, 40)
    generated[:missing] = np.nan
    one = axis("a", real, generated, statistic)
    found = global_test([one], "real", "g", Design.documents(40, 40), 3999)
    scored = one.scored["g"]
    (alone,) = compare_rows([statistic], {"x": one.rows["real"]}, {"x": one.rows["g"][scored]}, permutations=3999)
    assert found.p == found.single["a"] == found.adjusted["a"]
    assert found.p == pytest.approx(alone.p, abs=5 * np.sqrt(alone.p * (1 - alone.p) / 3999) + 2e-3)
    assert found.documents["a"] == (40, 40 - missing)


def test_pairs_with_an_unscored_partner_are_dropped():
    rng = np.random.default_rng(0)
    real = rng.normal(size=30)
    generated = real + rng.normal(0.1, 0.1, 30)
    generated[:3] = np.nan
    pairs = Design.pairs(np.column_stack([np.arange(30), np.arange(30)]))
    found = global_test([axis("a", real, generated)], "real", "g", pairs, 999)
    assert found.documents["a"] == (27, 27)
    assert found.p == pytest.approx(0.001)


def test_axes_that_cannot_be_tested_are_named_with_a_reason():
    real, generated = np.arange(10.0), np.arange(10.0) + 8
    unscored = axis("none", real, np.full(10, np.nan))
    other = Axis("other", "other", MEAN, {}, {}, {})
    single = axis("single", real, np.r_[1.0, np.full(9, np.nan)])
    found = global_test([axis("a", real, generated), unscored, other, single], "real", "g", Design.documents(10, 10))
    assert found.axes == ("a",)
    assert set(found.excluded) == {"none", "other", "single"}
    assert "no scored documents" in found.excluded["none"]
    assert "no rows of 'real'" in found.excluded["other"]
    empty = global_test([unscored], "real", "g", Design.documents(10, 10))
    assert empty.p is None
    assert not empty.axes


def test_wide_sparse_rows_and_values_together():
    rng = np.random.default_rng(2)
    words = {k: sparse.csr_array(rng.multinomial(40, p, size=30).astype(float)) for k, p in
             (("real", np.full(100, 0.01)), ("g", np.r_[np.full(50, 0.014), np.full(50, 0.006)]))}  # fmt: skip
    ones = {k: np.ones(30, bool) for k in words}
    tvd = Axis("w", "w", Statistic("tvd", "x", "distance", total_variation), words, ones, {})
    same = axis("a", rng.normal(size=30), rng.normal(size=30))
    found = global_test([same, tvd], "real", "g", Design.documents(30, 30), 499)
    assert found.adjusted["w"] == found.p == found.floor == 1 / 500
    assert found.adjusted["a"] > 0.05


def test_few_documents_are_enumerated():
    found = global_test([axis("a", [1, 2, 3], [4, 5, 6])], "real", "g", Design.documents(3, 3), 100)
    assert found.exact
    assert found.p == pytest.approx(2 / 20)


def test_level_with_correlated_axes_of_both_kinds_and_unscored_documents():
    rng = np.random.default_rng(5)
    hits, r = 0, 300
    for i in range(r):
        common = rng.normal(size=(2, 24))
        axes = []
        for a in range(4):
            real, generated = 0.8 * common + 0.6 * rng.normal(size=(2, 24))
            generated[rng.random(24) < 0.15] = np.nan
            axes.append(axis(str(a), real, generated, KS if a % 2 else MEAN))
        hits += global_test(axes, "real", "g", Design.documents(24, 24), 199, seed=i).p <= 0.05
    assert abs(hits / r - 0.05) <= 3.3 * np.sqrt(0.05 * 0.95 / r)
