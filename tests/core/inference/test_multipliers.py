"""Distances of groups of unequal size: levels, power, and what must not matter."""

import itertools

import numpy as np
import pytest
from scipy import sparse, stats

from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, mean_gap, supremum, total_variation
from momus.inference import Design, compare_rows
from momus.inference.contrast import contrast_of
from momus.inference.matching import in_blocks, of_units
from momus.inference.multipliers import Influences, chance_distance
from momus.inference.samples import Samples, Tables
from momus.inference.weights import random_labels, random_signs

KS = Statistic("ks", "values", "distance", kolmogorov_smirnov, ties=mean_gap)
TVD = Statistic("tvd", "words", "distance", total_variation)
SUP = Statistic("sup", "words", "distance", supremum)
MEAN = Statistic("mean", "value", "value", mean)
QUICK = {"permutations": 199, "wide": (199, 9), "resamples": 9, "early": (), "noise": 1, "threads": 1}


def text(rng, sizes, icc=0.1, shift=0.0, words=150):
    """Values in 40 bins, words, and groups of documents whose values and words are correlated."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    n = len(groups)
    x = np.sqrt(icc) * rng.normal(size=len(sizes))[groups] + np.sqrt(1 - icc) * rng.normal(size=n) + shift
    values = np.eye(40)[np.clip(((x + 4) * 5).astype(int), 0, 39)]
    p = 1 / (np.arange(words) + 5.0)
    topic = np.where(rng.random((n, words)) < icc, rng.gamma(1, size=(len(sizes), words))[groups], 1.0)
    chances = p * topic * rng.gamma(1, size=(n, words)) * np.exp(shift * np.where(np.arange(words) % 2, 1, -1) / 2)
    counts = rng.multinomial(40, chances / chances.sum(axis=1, keepdims=True)).astype(float)
    rows = {"values": sparse.csr_array(values), "words": sparse.csr_array(counts)}
    return rows | {"value": np.column_stack([x, np.ones(n)])}, groups


def pair(seed, sizes, icc=0.1, shift=0.0):
    rng = np.random.default_rng(seed)
    (real, one), (generated, other) = text(rng, sizes[0], icc), text(rng, sizes[1], icc, shift)
    return real, generated, Design.clusters(one, other)


def draw(statistic, real, generated, design, seed=0):
    """p by random signs, and by relabelling whole groups as before."""
    samples = Samples(Tables.of(real[statistic.rows], generated[statistic.rows]), design)
    contrast = contrast_of(statistic, samples)
    p = (1 + contrast.extreme(contrast.under(random_signs(design, seed, 0, 199), None))) / 200
    sums = samples.pooled(random_labels(design, seed, 0, 199))
    return p, (1 + (statistic.function(*sums) >= contrast.values[1] - 1e-12).sum()) / 200


@pytest.mark.slow
@pytest.mark.parametrize("runs", [80, pytest.param(240, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sizes", [(np.ones(60, int), np.full(60, 5)), (np.full(20, 10), np.ones(100, int))])
def test_levels_hold_where_those_of_relabelled_groups_do_not(sizes, runs):
    p = np.array([[draw(s, *pair(seed, sizes)) for s in (KS, TVD, SUP)] for seed in range(runs)])
    level, before = (p <= 0.05).sum(axis=0).T
    assert all(stats.binomtest(int(k), runs, 0.05).pvalue > 0.003 for k in level)
    assert before[0] >= 0.12 * runs or before[0] <= 2 / 120 * runs, "relabelling is wrong one way or the other"
    assert before[1] >= 0.5 * runs or before[1] <= 2 / 120 * runs


@pytest.mark.slow
def test_power_is_near_that_of_the_mean():
    sizes = np.full(20, 10), np.ones(200, int)
    hits = np.zeros(3)
    for seed in range(60):
        real, generated, design = pair(seed, sizes, shift=0.45)
        found = compare_rows([KS, TVD, MEAN], real, generated, design=design, seed=seed, **QUICK)
        hits += [r.p <= 0.05 for r in found]
    assert hits[2] >= 48
    assert hits[0] >= 0.8 * hits[2]
    assert hits[1] >= 0.8 * hits[2]


def test_groups_of_one_size_are_relabelled_as_before():
    real, generated, design = pair(0, (np.full(12, 3), np.full(9, 3)))
    assert design.exchangeable
    assert [r.method.test for r in compare_rows([KS, TVD], real, generated, design=design, **QUICK)] == [
        "permutation"
    ] * 2
    assert Design.documents(5, 9).exchangeable
    assert in_blocks(Design.documents(601, 90), 0, above=100, most=64).exchangeable
    uneven = Design.clusters(np.arange(600) // 2, np.arange(90))
    assert not uneven.exchangeable
    assert not in_blocks(uneven, 0, above=100, most=32).exchangeable
    assert not of_units(uneven).exchangeable


def test_values_and_the_tests_of_means_do_not_move():
    real, generated, design = pair(3, (np.ones(40, int), np.full(20, 4)))
    apart = Design.documents(40, 80)
    for s in (KS, TVD, SUP):
        (uneven,), (plain,) = (compare_rows([s], real, generated, design=d, **QUICK) for d in (design, apart))
        assert uneven.generated_value == pytest.approx(plain.generated_value, rel=1e-6)
        assert uneven.method.test == ("squares" if s is TVD else "multipliers")
    (found,) = compare_rows([MEAN], real, generated, design=design, **QUICK)
    assert found.method.test == "permutation"


def test_the_order_of_documents_and_the_numbers_of_groups_do_not_matter():
    real, generated, design = pair(5, (np.array([1, 4, 2, 8, 1, 1, 3, 2]), np.array([5, 1, 1, 2, 6, 1])))
    rng = np.random.default_rng(0)
    order = rng.permutation(design.n_real)
    one, other = design.numbers
    moved = Design.clusters(one[order], other)
    for s in (KS, TVD, SUP):
        tables = Samples(Tables.of(real[s.rows], generated[s.rows]), design)
        again = Samples(Tables.of(real[s.rows][order], generated[s.rows]), moved)
        signs = random_signs(design, 0, 0, 50)
        first, second = contrast_of(s, tables), contrast_of(s, again)
        assert second.here == pytest.approx(first.here, rel=1e-5)
        np.testing.assert_allclose(second.under(signs, None), first.under(signs, None), rtol=1e-4, atol=1e-7)
        # groups in another order: their signs move with them
        turned = Samples(Tables.of(real[s.rows], generated[s.rows]), Design.clusters(7 - one, other))
        signs_of = np.concatenate([signs[:8][::-1], signs[8:]])
        np.testing.assert_allclose(
            contrast_of(s, turned).under(signs_of, None), first.under(signs, None), rtol=1e-4, atol=1e-7
        )


def test_squares_are_products_of_different_units():
    """Against a plain double sum over units, and unbiased: 0 on average over all ways to sign the influences."""
    real, generated, design = pair(1, (np.array([1, 3, 2]), np.array([4, 1, 1])))
    samples = Samples(Tables.of(real["words"], generated["words"]), design)
    influences = Influences(TVD, samples)
    counts = [np.asarray(r.toarray() if sparse.issparse(r) else r, dtype=float) for r in samples.unit_rows]
    totals = [c.sum() for c in counts]
    centre = sum(c.sum(axis=0) for c in counts) / sum(totals)
    weight = 1 / np.sqrt(centre + 5 / min(totals))
    c = [(x - x.sum(axis=1, keepdims=True) * centre) / t for x, t in zip(counts, totals, strict=True)]
    shares = [x.sum(axis=1) / t for x, t in zip(counts, totals, strict=True)]

    def expected(signs):
        a, b = signs[:3, None] * c[0], signs[3:, None] * c[1]
        inside = [
            sum(x[i] * x[j] @ weight for i, j in itertools.permutations(range(3), 2)) / (1 - (s**2).sum())
            for x, s in zip((a, b), shares, strict=True)
        ]
        return sum(inside) - 2 * (a.sum(axis=0) * b.sum(axis=0)) @ weight

    every = np.array(list(itertools.product((-1.0, 1.0), repeat=6))).T
    found = influences.squares(every) * influences._chance
    assert found == pytest.approx([expected(column) for column in every.T], rel=1e-4, abs=1e-9)
    assert found.mean() == pytest.approx(0, abs=1e-9)
    assert influences.observed * influences._chance == pytest.approx(expected(np.ones(6)), rel=1e-4)


@pytest.mark.parametrize("statistic", [KS, TVD, SUP], ids=lambda s: s.name)
def test_p_and_interval_agree(statistic):
    for seed in range(40):
        shift = 0.5 * (seed % 3)
        real, generated, design = pair(seed, (np.ones(25, int), np.full(15, 4)), shift=shift)
        (r,) = compare_rows([statistic], real, generated, design=design, seed=seed, **QUICK)
        assert (r.p <= 0.05) == (r.low > 0), seed
        assert r.low <= r.high
        assert (r.p <= 0.10) == (r.equivalence_low > 0)


def test_chance_is_that_of_texts_of_one_source():
    sizes = np.ones(60, int), np.full(60, 5)
    for s in (KS, TVD):
        found = []
        for seed in range(40):
            real, generated, design = pair(seed, sizes)
            samples = Samples(Tables.of(real[s.rows], generated[s.rows]), design)
            found.append((contrast_of(s, samples).values[1], chance_distance(s, samples, 0, 64)))
        here, chance = np.mean(found, axis=0)
        assert chance == pytest.approx(here, rel=0.06)


def test_what_cannot_be_tested_says_why():
    real, generated, design = pair(0, (np.array([7]), np.array([1, 2, 3])))
    (alone,) = compare_rows([TVD], real, generated, design=design, **QUICK)
    assert alone.method.test == "none"
    assert "one group" in alone.method.reason
    assert alone.p is None
    assert alone.generated_value > 0
    real, generated, design = pair(0, (np.ones(9, int), np.full(9, 3)))
    ranked = Statistic("ranks", "words", "distance", kolmogorov_smirnov, prepare=lambda x: -np.sort(-x, axis=1))
    (found,) = compare_rows([ranked], real, generated, design=design, **QUICK)
    assert "unequal size" in found.method.reason


def test_equal_rows_have_nothing_to_compare():
    same = {"words": sparse.csr_array(np.tile([3.0, *[1.0] * 99], (12, 1)))}
    design = Design.clusters(np.arange(12) // 2, np.arange(12))
    (found,) = compare_rows([TVD], same, same, design=design, **QUICK)
    assert "nothing to compare" in found.method.reason


def test_sums_by_unit_give_the_same_test():
    real, generated, design = pair(2, (np.array([1, 4, 2, 8, 1]), np.array([5, 1, 1, 2, 6])))
    both = [compare_rows([TVD, KS], real, generated, design=design, **QUICK)]
    samples = {k: Samples(Tables(real[k], generated[k]), design).unit_rows for k in ("words", "values")}
    summed = [{k: v[side] for k, v in samples.items()} for side in (0, 1)]
    both.append(compare_rows([TVD, KS], *summed, design=of_units(design), **QUICK))
    for a, b in zip(*both, strict=True):
        assert (a.p, a.method.test) == (b.p, b.method.test)
        assert a.low == pytest.approx(b.low, rel=1e-4, abs=1e-9)


def test_groups_of_both_texts_that_change_sides():
    """Ten real and one generated document of each of 25 authors."""
    rng = np.random.default_rng(0)
    hits = 0
    for seed in range(120):
        real, _ = text(rng, np.full(25, 10))
        generated, _ = text(rng, np.ones(25, int))
        groups = np.repeat(np.arange(25), 10), np.arange(25)
        design = Design.prompts(*groups).grouped(*groups)
        assert not design.exchangeable
        hits += compare_rows([TVD], real, generated, design=design, seed=seed, **QUICK)[0].p <= 0.05
    assert hits <= 15, "0.05 · 120 = 6; flips of whole sides reject more than half"
