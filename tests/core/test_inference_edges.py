"""Edges of the tests: ties, small samples, wide rows, resamples without a value; and runs that a seed must repeat."""

import numpy as np
import pytest
from scipy import sparse, stats

from momus.critic import Statistic, kolmogorov_smirnov, mean, mean_gap, total_variation
from momus.inference import Design, compare_rows
from momus.inference.effects import effect_size
from momus.inference.intervals import centred, expanded, percentile, symmetric
from momus.inference.pooling import NARROW, Tables, pooled, total
from momus.inference.pvalues import FINE, TIE, Prepared, contrasts, p_value

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


def one(statistic, a, b, **options):
    (result,) = compare_rows([statistic], {"x": a}, {"x": b}, **options)
    return result


# p-values


def test_contrasts_that_are_equal_but_for_rounding_are_ties():
    null = np.array([0.1 + 0.2, -0.3, 0.0, 0.0])  # 0.1 + 0.2 > 0.3 by one unit in the last place
    assert p_value("value", 0.3, null, exact=True)[0] == 0.5
    assert p_value("value", 0.1 + 0.2, np.array([0.3, -0.3, 0.0, 0.0]), exact=True)[0] == 0.5
    assert p_value("distance", 0.1 + 0.2, np.array([0.3, 0.2]), exact=False)[0] == pytest.approx(2 / 3)
    assert p_value("distance", 1e-4, np.array([1e-4 - 1e-14, 0.0]), exact=True)[0] == 0.5


def test_contrasts_that_differ_by_more_are_none():
    step = 3 * TIE
    assert p_value("value", 1.0, np.array([1.0 - step, -1.0 + step, 0.0, 0.0]), exact=True)[0] == 0.0
    assert p_value("value", 100.0, np.array([100.0 - 50 * TIE, -100.0, 0.0, 0.0]), exact=True)[0] == 0.5
    assert p_value("distance", 1.0, np.array([1.0 - step, 0.0]), exact=True)[0] == 0.0


def test_the_centre_includes_the_observed_contrast_of_random_relabellings():
    null = np.array([0.0, 0.0, 0.0])
    p, centre, spread = p_value("value", 4.0, null, exact=False)
    assert (p, centre, spread) == (0.25, 0.0, 0.0), "|0 − 1| < |4 − 1|"
    p, centre, spread = p_value("value", 1.0, np.array([-1.0, 3.0]), exact=True)
    assert (p, centre, spread) == (1.0, 1.0, 2.0)


def test_relabellings_without_a_value_count_as_extreme():
    p, centre, _ = p_value("value", 1.0, np.array([0.0, np.nan, np.inf, 0.0]), exact=False)
    assert (p, centre) == (3 / 5, 0.0)
    assert p_value("distance", 1.0, np.array([np.nan, 0.0, 0.5]), exact=False)[0] == 2 / 4
    assert p_value("value", 1.0, np.array([np.nan]), exact=False) == (1.0, 0.0, 0.0)


def test_tied_distances_are_ordered_by_the_second_one():
    plain = Statistic("ks", "x", "distance", kolmogorov_smirnov)
    ordered = Statistic("ks", "x", "distance", kolmogorov_smirnov, ties=mean_gap)
    sums = Prepared(np.array([[2.0, 1.0, 1.0]]), np.array([[1.0, 1.0, 2.0]]))
    gap = mean_gap(*sums(None))[0]
    assert contrasts(ordered, sums)[0] - contrasts(plain, sums)[0] == pytest.approx(FINE * gap)
    assert gap > 0


# Intervals


@pytest.mark.parametrize(("n", "m"), [(5, 7), (4, 30)])
def test_intervals_of_small_samples_are_those_of_welch(n, m):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n), rng.normal(1, 2, size=m)
    result = one(MEAN, ones(a), ones(b), permutations=99, resamples=40_000)
    test = stats.ttest_ind(b, a, equal_var=False)
    interval = test.confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx(tuple(interval), rel=0.02, abs=0.02)
    assert result.standard_error == pytest.approx(np.sqrt(a.var() / n + b.var() / m), rel=0.02)
    assert result.mde == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * result.standard_error, rel=1e-3)


def test_paired_intervals_are_those_of_the_differences():
    rng = np.random.default_rng(0)
    a = rng.normal(size=6)
    b = a + rng.normal(0.5, 0.3, size=6)
    design = Design.pairs(np.column_stack([np.arange(6)] * 2))
    result = one(MEAN, ones(a), ones(b), design=design, resamples=40_000)
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx(tuple(expected), rel=0.03)
    assert (result.n_real, result.n_generated, result.n_pairs) == (6, 6, 6)


def test_the_reach_of_an_interval_undoes_the_variance_of_resamples():
    u, v = np.array([-1.0, 1.0, 0.0, 0.0]), np.array([-2.0, 2.0, 1.0, -1.0, 0.0])
    squares = [float((x**2).sum()) for x in (u, v)]
    unbiased = [s / (n * (n - 1)) for s, n in zip(squares, (4, 5), strict=True)]
    drawn = [s / n**2 for s, n in zip(squares, (4, 5), strict=True)]
    freedom = sum(unbiased) ** 2 / (unbiased[0] ** 2 / 3 + unbiased[1] ** 2 / 4)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(sum(unbiased) / sum(drawn))
    assert expanded([u, v], 0.95) == pytest.approx(reach)
    normal = stats.norm.ppf(0.95)
    assert expanded([np.array([1.0]), v], 0.90) == pytest.approx(normal), "one document has no spread"
    assert expanded([np.zeros(3), np.zeros(4)], 0.90) == pytest.approx(normal)
    replicates = np.array([1.0, 2.0, 4.0])
    low, high = symmetric(2.0, replicates, [u, v], 0.95)
    assert (low, high) == pytest.approx((2 - reach * replicates.std(ddof=1), 2 + reach * replicates.std(ddof=1)))


def test_percentiles_and_centred_intervals():
    replicates = np.arange(101.0)
    assert percentile(replicates, 0.9) == pytest.approx((5.0, 95.0))
    assert centred(7.0, replicates, 0.9) == pytest.approx((7 - 45, 7 + 45))


# Effects and pooling


def test_hedges_g_of_each_resample_is_that_of_its_documents():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=8), rng.normal(1, 2, size=6)
    tables = Tables.of(ones(a), ones(b))
    weights = [rng.integers(0, 3, (n, 4)).astype(np.float32) for n in (8, 6)]
    pooled_means = [mean(pooled(t, w)) for t, w in zip((tables.real, tables.generated), weights, strict=True)]
    effects = effect_size(MEAN, *pooled_means, tables, tuple(weights))
    for k in range(4):
        x, y = (np.repeat(v, w[:, k].astype(int)) for v, w in zip((a, b), weights, strict=True))
        df = len(x) + len(y) - 2
        spread = np.sqrt((((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()) / df)
        assert effects[k] == pytest.approx((y.mean() - x.mean()) / spread * (1 - 3 / (4 * df - 1)))


def test_effects_without_a_spread():
    flat = Tables.of(ones(np.full(3, 2.0)), ones(np.full(3, 2.0)))
    weights = np.ones((3, 1), np.float32), np.ones((3, 1), np.float32)
    assert effect_size(MEAN, np.array([2.0]), np.array([2.0]), flat, weights)[0] == 0.0
    single = Tables.of(ones(np.array([1.0])), ones(np.array([2.0])))
    alone = np.ones((1, 1), np.float32), np.ones((1, 1), np.float32)
    assert np.isnan(effect_size(MEAN, np.array([1.0]), np.array([2.0]), single, alone)[0])
    difference = Statistic("d", "x", "value", mean)
    assert effect_size(difference, np.array([1.0]), np.array([3.5]), single, alone)[0] == 2.5


def counts(rng, n, width, heavy):
    shares = np.full(width, 1 / width)
    shares[0] += heavy
    return sparse.csr_array(rng.multinomial(20, shares / shares.sum(), size=n).astype(float))


@pytest.mark.parametrize("width", [NARROW, NARROW + 1])
def test_wide_rows_get_fewer_resamples_and_sparse_ones_equal_dense_ones(width):
    rng = np.random.default_rng(2)
    a, b = counts(rng, 12, width, 0.0), counts(rng, 14, width, 0.3)
    tvd = Statistic("tvd", "x", "distance", total_variation)
    result = one(tvd, a, b, permutations=400, resamples=300, wide=(199, 99), seed=3)
    wide = width > NARROW
    assert (result.method.permutations, result.method.resamples) == ((199, 99) if wide else (400, 300))
    p, q = (np.asarray(m.sum(axis=0)).ravel() for m in (a, b))
    assert result.generated_value == pytest.approx(np.abs(p / p.sum() - q / q.sum()).sum() / 2)
    dense = one(tvd, a.toarray(), b.toarray(), permutations=400, resamples=300, wide=(199, 99), seed=3)
    assert (dense.p, dense.low, dense.high) == pytest.approx((result.p, result.low, result.high))
    assert 0 < result.real_value < result.generated_value
    assert result.difference == pytest.approx(result.generated_value - result.real_value)


def test_empty_columns_are_dropped_and_whole_counts_are_summed_exactly():
    a = sparse.csr_array(np.array([[0.0, 3.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]))
    b = sparse.csr_array(np.array([[0.0, 0.0, 0.0, 5.0]]))
    tables = Tables.of(a, b)
    assert tables.width == 2
    assert total(tables.real).tolist() == [[4.0, 0.0]]
    assert np.asarray(tables.both()).tolist() == [[3, 0], [1, 0], [0, 5]]
    columns = NARROW + 10
    whole = sparse.csr_array(np.ones((3, columns)))
    assert Tables.of(whole, whole).real.dtype == np.float32
    assert Tables.of(whole * 0.5, whole).real.dtype == np.float64
    assert Tables.of(whole * -1.0, whole).real.dtype == np.float64
    huge = whole * float(2**20)
    assert Tables.of(huge, huge).real.dtype == np.float64


def test_an_interval_needs_two_units_on_each_side():
    result = one(MEAN, ones(np.array([1.0, 2.0])), ones(np.array([5.0])), resamples=99)
    assert np.isnan([result.low, result.high, result.standard_error, result.mde]).all()
    assert result.method.resamples == 0
    assert result.effect == pytest.approx(3.5 / np.sqrt(0.5) * (1 - 3 / 3))


# Runs that a seed must repeat: values of version 0.1.0


DESIGNS = {
    "documents": Design.documents(12, 14),
    "pairs": Design.pairs(np.column_stack([np.arange(12), np.arange(12)[::-1]])),
    "prompts": Design.prompts(np.arange(12) % 5, np.arange(14) % 5),
    "clusters": Design.clusters(np.arange(12) // 2, np.arange(14) // 3),
}


def pinned(name):
    rng = np.random.default_rng(7)
    a, b = rng.gamma(2, size=12), rng.gamma(3, size=14)
    result = one(MEAN, ones(a), ones(b), design=DESIGNS[name], permutations=500, resamples=300, seed=11)
    return [result.p, result.low, result.high, result.effect_low, result.effect_high, result.equivalence_low]


PINNED = {
    "documents": [
        0.007984031936127744,
        0.3481607437823677,
        2.4220784935840807,
        0.5777440790854895,
        1.8692847846953238,
        0.6317431098084029,
    ],
    "pairs": [
        0.005988023952095809,
        0.3404084711683879,
        2.5215317446554497,
        0.6448282813103431,
        1.8218376948361252,
        0.701300247017097,
    ],
    "prompts": [
        0.003992015968063872,
        0.7340459946148332,
        2.036193242751615,
        0.742105058649125,
        1.6766889463571013,
        0.7805126847470574,
    ],
    "clusters": [
        0.0021645021645021645,
        0.5317265155447207,
        2.238512721821728,
        0.7437918641786958,
        1.5774663398328033,
        0.8119032819379104,
    ],
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_seed_repeats_the_run(name):
    assert pinned(name) == pytest.approx(PINNED[name], rel=1e-9)
