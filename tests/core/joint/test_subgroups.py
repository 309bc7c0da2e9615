"""Differences by subgroup, and the test of equal differences: recovery, level, and agreement with formulas."""

import numpy as np
import pytest
from scipy import sparse

from momus import Corpus, MomusError
from momus.critic import Statistic
from momus.critic.statistic import kolmogorov_smirnov, mean, total_variation
from momus.joint.axes import AxisRows
from momus.joint.heterogeneity import heterogeneity
from momus.joint.subgroups import subgroup_effects
from momus.text.documents import Document
from momus.verdicts.settings import Settings

QUICK = Settings(permutations=199)
MEAN = Statistic("mean", "x", "value", mean)


def ones(values):
    return np.column_stack([values, np.ones(len(values))])


def axis(name, real, generated, statistic=MEAN):
    values = {"real": np.asarray(real, float), "g": np.asarray(generated, float)}
    scored = {k: np.ones(len(v), dtype=bool) for k, v in values.items()}
    return AxisRows(name, name, statistic, {k: ones(v) for k, v in values.items()}, scored, values)


def corpora(kinds, groups=(None, None), prompts=(None, None)):
    return [
        Corpus.from_documents(
            [
                Document(
                    f"{name}:{i}",
                    (),
                    fields={} if kind is None else {"kind": kind},
                    group=None if g is None else g[i],
                    prompt=None if p is None else p[i],
                )
                for i, kind in enumerate(side)
            ],
            name,
        )
        for name, side, g, p in zip(("real", "g"), kinds, groups, prompts, strict=True)
    ]


def sample(seed, n=120, m=90, shift=0.0, ratio=1.0):
    """Values of both texts, whose subgroups differ within each text; generated − real differs in subgroup 0 only."""
    rng = np.random.default_rng(seed)
    numbers = [rng.permutation(k) % 4 for k in (n, m)]
    real, generated = (rng.gamma(2.0, size=k) for k in (n, m))
    generated = (generated - 2) * ratio + 5 + shift * (numbers[1] == 0)
    return (ones(real + numbers[0]), ones(generated + numbers[1])), tuple(numbers)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1.0, 2.5], ids=["equal variances", "unequal variances"])
def test_equal_differences_are_rejected_at_the_level(ratio):
    p = np.array([heterogeneity(*sample(i, ratio=ratio), None, 99, i).p for i in range(400)])
    # P(Binomial(400, 0.05) outside 8 … 34) < 0.005
    assert 0.02 <= np.mean(p <= 0.05) <= 0.085


def test_the_level_holds_for_groups():
    p = []
    for i in range(400):
        rng = np.random.default_rng([i, 1])
        rows, numbers = sample(i, 120, 100)
        units = tuple(np.arange(k) // 5 for k in (120, 100))
        for side, unit in zip(rows, units, strict=True):
            side[:, 0] += 2 * rng.normal(size=30)[unit]
        p.append(heterogeneity(rows, numbers, units, 99, i).p)
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.085


def test_q_is_that_of_the_formula():
    (real, generated), (one, other) = sample(0)
    found = heterogeneity((real, generated), (one, other), None, 99)
    d, v = [], []
    for k in range(4):
        a, b = real[one == k, 0], generated[other == k, 0]
        d.append(b.mean() - a.mean())
        v.append(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    d, w = np.array(d), 1 / np.array(v)
    centre = (w * d).sum() / w.sum()
    common = found.q
    # variances are those around each subgroup's own mean, before and after the common difference is removed
    assert common == pytest.approx((w * (d - centre) ** 2).sum(), rel=1e-9)
    assert (found.freedom, found.permutations) == (3, 99)


def test_a_difference_in_one_subgroup_is_found():
    assert np.median([heterogeneity(*sample(i, shift=2.0), None, 199, i).p for i in range(20)]) < 0.02


def test_a_subgroup_without_variance_is_not_tested():
    rows, numbers = sample(0)
    rows[0][numbers[0] == 1, 0] = 1.0
    rows[1][numbers[1] == 1, 0] = 2.0
    assert heterogeneity(rows, numbers).reason == "a subgroup has no variance"


def test_effects_of_a_field_are_recovered():
    rng = np.random.default_rng(0)
    kinds = [["news", "story"] * 40 + [None] * 5, ["news", "story"] * 30]
    values = [rng.normal(size=85), rng.normal(size=60) + 2.0 * (np.array(kinds[1]) == "story")]
    (found,) = subgroup_effects([axis("A", *values)], "kind", *corpora(kinds), QUICK)
    assert [(s.name, s.n_real, s.n_generated) for s in found.subgroups] == [("news", 40, 30), ("story", 40, 30)]
    news, story = (s.result for s in found.subgroups)
    assert news.low < 0 < news.high
    assert story.low < 2 < story.high
    assert story.p < 0.02
    assert (found.tested, found.reason) == ("mean", "")
    assert found.test.p < 0.02


def test_quarters_of_another_axis():
    rng = np.random.default_rng(0)
    b = rng.normal(size=100), rng.normal(size=100)
    axes = [axis("A", rng.normal(size=100), rng.normal(size=100) + 3 * (b[1] > 0.7)), axis("B", *b)]
    (found,) = subgroup_effects(axes, "B", *corpora([[None] * 100] * 2), QUICK)
    assert (found.critic, found.by, len(found.subgroups)) == ("A", "B", 4)
    bounds = [x for s in found.subgroups for x in (s.low, s.high)]
    assert bounds == sorted(bounds)
    assert sum(s.n_real + s.n_generated for s in found.subgroups) == 200
    assert found.subgroups[-1].result.difference > 1.5 > found.subgroups[0].result.difference
    assert found.test.p < 0.02


def one_hot(values, labels):
    return sparse.csr_array((np.ones(len(values)), (np.arange(len(values)), values)), (len(values), labels))


def test_distances_of_one_value_per_document_are_tested_by_its_mean():
    rng = np.random.default_rng(0)
    values = {"real": rng.integers(0, 90, 80), "g": rng.integers(0, 90, 80)}
    scored = {k: np.ones(80, dtype=bool) for k in values}
    ks = Statistic("ks", "x", "distance", kolmogorov_smirnov)
    single = AxisRows("A", "A", ks, {k: one_hot(v, 90) for k, v in values.items()}, scored, values)
    tvd = Statistic("tvd", "x", "distance", total_variation)
    counts = {k: sparse.csr_array(rng.poisson(0.5, (80, 90)).astype(float)) for k in values}
    words = AxisRows("W", "W", tvd, counts, scored, values)
    found = subgroup_effects([single, words], "kind", *corpora([["a", "b"] * 40] * 2), QUICK)
    assert found[0].tested == "mean of values"
    assert 0 < found[0].test.p <= 1
    assert (found[1].tested, found[1].reason) == ("", "no value per document")
    assert all(s.result.effect_kind == "distance" for f in found for s in f.subgroups)


def test_small_subgroups_have_no_result():
    rng = np.random.default_rng(0)
    kinds = [["a"] * 30 + ["b"] * 3, ["a"] * 30 + ["b"] * 3]
    (found,) = subgroup_effects([axis("A", rng.normal(size=33), rng.normal(size=33))], "kind", *corpora(kinds), QUICK)
    assert found.subgroups[1].result is None
    assert found.reason == "fewer than two subgroups"


def test_the_design_of_a_subgroup_is_chosen_from_its_documents():
    rng = np.random.default_rng(0)
    kinds = [["a"] * 30 + ["b"] * 30] * 2
    prompts = [f"p{i}" for i in range(60)]
    given = axis("A", rng.normal(size=60), rng.normal(size=60))
    (found,) = subgroup_effects([given], "kind", *corpora(kinds, prompts=(prompts, prompts)), QUICK)
    assert [s.result.method.design for s in found.subgroups] == ["pairs", "pairs"]
    groups = [str(i // 3) for i in range(60)], [f"g{i // 3}" for i in range(60)]
    (found,) = subgroup_effects([given], "kind", *corpora(kinds, groups=groups), QUICK)
    assert [s.result.method.design for s in found.subgroups] == ["clusters", "clusters"]
    assert (found.test.permutations, found.test.units_real) == (0, 20)


def test_a_field_with_too_many_values_is_refused():
    kinds = [[str(i) for i in range(30)] + ["x"]] * 2
    kinds = [[f"k{k}" for k in side] for side in kinds]
    with pytest.raises(MomusError, match="31 values"):
        subgroup_effects([axis("A", np.zeros(31), np.ones(31))], "kind", *corpora(kinds), QUICK)
