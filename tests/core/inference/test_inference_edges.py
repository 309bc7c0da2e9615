"""Edges of the tests: ties, small samples, wide rows, resamples without a value; and runs that a seed must repeat."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from momus.critic import Statistic
from momus.critic.statistic import (
    entropy,
    jensen_shannon,
    kolmogorov_smirnov,
    mean,
    mean_gap,
    perplexity,
    total_variation,
)
from momus.inference import Design, compare_rows
from momus.inference.influence import standard_error
from momus.inference.intervals import (
    critical_value,
    detectable_difference,
    effective_n,
    hedges_factor,
    of_effect,
    of_log_ratio,
    symmetric,
)
from momus.inference.pvalues import FINE, TIE, Prepared, contrasts, p_value, tie_above
from momus.inference.samples import NARROW, Samples, Tables, total
from momus.inference.selection import effective_number

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


def one(statistic, a, b, **options):
    (result,) = compare_rows([statistic], {"x": a}, {"x": b}, **options)
    return result


# p-values


def test_contrasts_that_are_equal_but_for_rounding_are_ties():
    null = np.array([0.1 + 0.2, -0.3, 0.0, 0.0])  # 0.1 + 0.2 > 0.3 by one unit in the last place
    assert p_value("value", 0.3, null, exact=True) == 0.5
    assert p_value("value", 0.1 + 0.2, np.array([0.3, -0.3, 0.0, 0.0]), exact=True) == 0.5
    assert p_value("distance", 0.1 + 0.2, np.array([0.3, 0.2]), exact=False) == pytest.approx(2 / 3)
    assert p_value("distance", 1e-4, np.array([1e-4 - 1e-14, 0.0]), exact=True) == 0.5


def test_contrasts_that_differ_by_more_are_none():
    step = 3 * TIE
    assert p_value("value", 1.0, np.array([1.0 - step, -1.0 + step, 1.0, -1.0]), exact=True) == 0.5
    assert p_value("value", 100.0, np.array([100.0 - 50 * TIE, -100.0, 0.0, 0.0]), exact=True) == 0.5
    assert p_value("distance", 1.0, np.array([1.0 - step, 0.0]), exact=False) == 1 / 3


def test_the_observed_labelling_is_one_of_all():
    """Rounding may leave it out of those that reach the observed contrast; p is not 0."""
    assert p_value("distance", 1.0, np.array([0.999, 0.5, 0.0, 0.0]), exact=True) == 0.25


def test_the_critical_value_agrees_with_p():
    """Just above the value p ≤ level, and not at it: for random and for all relabellings, with ties."""
    rng = np.random.default_rng(0)
    for exact in (False, True):
        for size in (19, 20, 99, 137):
            null = np.round(np.abs(rng.normal(size=size)), 1)
            for level in (0.05, 0.1, 0.2):
                value = critical_value(null, level, exact)
                if math.isinf(value):
                    assert level * (size + (not exact)) < 1 + exact
                    continue
                at, above = tie_above(value), tie_above(value) * (1 + 1e-12) + 1e-15
                assert p_value("distance", at * (1 - 1e-12), null, exact) > level
                assert p_value("distance", above, null, exact) <= level


def test_two_sided_p_is_twice_the_smaller_tail():
    null = np.array([0.0, 0.0, 0.0])
    assert p_value("value", 4.0, null, exact=False) == 0.5, "2 · (0 + 1)/(3 + 1)"
    skewed = np.array([-1.0, 3.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0, 5.0, 5.0])
    assert p_value("value", -1.0, skewed, exact=True) == 0.2
    assert p_value("value", 5.0, skewed, exact=True) == 0.8
    assert p_value("value", 3.5, skewed, exact=True) == 0.8
    assert p_value("value", 1.0, np.array([-1.0, 3.0]), exact=True) == 1.0


def test_two_sided_p_of_counts_is_fishers():
    """Of 40 and 40 documents 4 and 11 are marked: the null is discrete and symmetric, and both tails count in full."""
    rng = np.random.default_rng(0)
    marked = rng.hypergeometric(15, 65, 40, size=200_000)
    null = (15 - 2.0 * marked) / 40
    p = p_value("value", 7 / 40, null, exact=False)
    assert p == pytest.approx(stats.fisher_exact([[4, 36], [11, 29]]).pvalue, rel=0.03)


def test_relabellings_without_a_value_count_as_extreme():
    p = p_value("value", 1.0, np.array([0.0, np.nan, np.inf, 0.0]), exact=False)
    assert p == 1.0, "two of four do not exist, on either side: 2 · (2 + 1)/5, at most 1"
    assert p_value("distance", 1.0, np.array([np.nan, 0.0, 0.5]), exact=False) == 2 / 4
    assert p_value("value", 1.0, np.array([np.nan]), exact=False) == 1.0


def test_tied_distances_are_ordered_by_the_second_one():
    plain = Statistic("ks", "x", "distance", kolmogorov_smirnov)
    ordered = Statistic("ks", "x", "distance", kolmogorov_smirnov, ties=mean_gap)
    sums = Prepared(np.array([[2.0, 1.0, 1.0]]), np.array([[1.0, 1.0, 2.0]]))
    gap = mean_gap(*sums(None))[0]
    assert contrasts(ordered, sums)[0] - contrasts(plain, sums)[0] == pytest.approx(FINE * gap)
    assert gap > 0


def test_log_ratios_beyond_the_range_of_floats_have_bounds():
    """Two constant texts whose few relabellings differ a thousandfold: the interval is wide, not an error."""
    low, high = of_log_ratio(1.0001, 1.0003, 1.0, 1e6, 1.0002)
    assert low < -1e300 < 1e300 < high


# Intervals


@pytest.mark.parametrize(("n", "m"), [(5, 6), (4, 8)])
def test_intervals_of_small_samples_reach_as_many_standard_errors_as_the_test(n, m):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n), rng.normal(1, 2, size=m)
    result = one(MEAN, ones(a), ones(b))
    welch = stats.ttest_ind(b, a, equal_var=False)
    error = np.sqrt(a.var(ddof=1) / n + b.var(ddof=1) / m)
    assert result.standard_error == pytest.approx(error)
    assert result.mde == pytest.approx(detectable_difference(error, welch.df, 0.05))
    # all labellings: p ≤ 0.05 above the value of rank ⌊0.05 B⌋ + 1
    both, every = np.concatenate([a, b]), np.arange(n + m)
    labelled = [np.isin(every, rows) for rows in combinations(every, n)]
    t = sorted(abs(stats.ttest_ind(both[~real], both[real], equal_var=False).statistic) for real in labelled)
    reach = t[-(math.floor(0.05 * len(t)) + 1)]
    assert (result.low, result.high) == pytest.approx(
        (result.difference - reach * error, result.difference + reach * error)
    )


def test_paired_intervals_are_those_of_the_differences():
    rng = np.random.default_rng(0)
    a = rng.normal(size=12)
    b = a + rng.normal(0.5, 0.3, size=12)
    design = Design.pairs(np.column_stack([np.arange(12)] * 2))
    result = one(MEAN, ones(a), ones(b), design=design)
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx(tuple(expected), rel=0.1)
    assert (result.n_real, result.n_generated, result.method.design) == (12, 12, "pairs")


def test_intervals_without_enough_relabellings_use_t_but_never_contradict_p():
    """Of 2 + 2 documents, p is 1/3 at least: the interval holds 0 however far apart they are."""
    near = one(MEAN, ones(np.array([0.0, 1.0])), ones(np.array([0.5, 2.0])))
    freedom, error = near.freedom, near.standard_error
    assert near.high - near.difference == pytest.approx(stats.t.ppf(0.975, freedom) * error)
    far = one(MEAN, ones(np.array([0.0, 1.0])), ones(np.array([100.5, 102.0])))
    assert far.p == pytest.approx(1 / 3)
    assert far.low <= 0 < far.high
    assert far.low == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("authors", [8, 64])
def test_intervals_of_texts_that_lie_far_apart_hold_the_truth(authors):
    """Authors of ten documents against 200 documents at 5.5 standard deviations of authors.

    Critical values of relabelled documents reached .99 at 8 authors and .91 at 64; the interval of a rate, which moved
    both texts alike, .88.
    """
    groups = np.repeat(np.arange(authors), 10)
    design, held = Design.clusters(groups, np.arange(200)), {"mean": 0, "rate": 0}
    rate = Statistic.relative("rate", "x", "rate")
    truth = {"mean": 5.5, "rate": math.exp(1.65 + 0.18) - math.exp(0.18)}
    for seed in range(60):
        rng = np.random.default_rng([authors, seed])
        real = rng.normal(size=authors)[groups] + rng.normal(size=10 * authors) * math.sqrt(3)
        x = real, 5.5 + rng.normal(size=200) * 2
        rows = {"mean": [ones(v) for v in x], "rate": [ones(np.exp(0.3 * v)) for v in x]}
        for name, statistic in (("mean", MEAN), ("rate", rate)):
            result = one(statistic, *rows[name], design=design, permutations=199)
            held[name] += result.low <= truth[name] <= result.high
            assert result.low > 0
    assert min(held.values()) >= 52, held  # .95 of 60, of which 51 or fewer are held in .005 of cases


def test_intervals_of_log_ratios_and_symmetric_ones():
    assert symmetric(1.0, 0.5, 2.0) == (0.0, 2.0)
    ends = [math.log(2) - 0.2, math.log(2) + 0.2]
    # the difference moves by its own error where the log ratio does: with all of it in the larger value, in the smaller
    # one, and in equal parts, where G·exp(±r/2) have the ratio exp(r) and the same geometric mean
    middle = math.sqrt(200.0)
    expected = {
        2.0: [20 * math.exp(r) / 2 - 10 for r in ends],
        1.0: [20 - 10 * math.exp(-r) * 2 for r in ends],
        1.5: [middle * (math.exp(r / 2) - math.exp(-r / 2)) for r in ends],
    }
    for plain, bounds in expected.items():
        assert of_log_ratio(10.0, 20.0, 0.1, 2.0, plain) == pytest.approx(tuple(bounds))
    assert of_log_ratio(10.0, 10.0, 0.1, 2.0, 1.0) == pytest.approx((-high_of(10, 0.2), high_of(10, 0.2)))


def high_of(value, log_ratio):
    return 2 * value * math.sinh(log_ratio / 2)


@pytest.mark.parametrize(("n", "share"), [(20, 0.06), (60, 0.025), (400, 0.01)])
@pytest.mark.parametrize("d", [0.0, 0.3, 1.0])
def test_intervals_of_an_effect_are_nearly_those_of_the_noncentral_t(n, share, d):
    """Two groups of n: the ends solve F(t; 2n − 2, δ√(n/2)) = 0.975 and 0.025; differences in shares of the width."""
    from scipy.optimize import brentq

    error, freedom = math.sqrt(2 / n), 2 * n - 2
    ends = d - 6 * error, d + 6 * error
    exact = [brentq(lambda x, q=q: stats.nct.cdf(d / error, freedom, x / error) - q, *ends) for q in (0.975, 0.025)]
    hedges = 1 - 3 / (4 * freedom - 1)
    found = of_effect(d * hedges, error * hedges, freedom, float(stats.t.ppf(0.975, freedom)))
    assert found == pytest.approx(tuple(exact), abs=share * (exact[1] - exact[0]))


@given(st.floats(-3, 3), st.floats(0.01, 2), st.integers(2, 500), st.floats(0.5, 5))
def test_the_interval_of_an_effect_excludes_0_where_the_test_does(effect, error, freedom, reach):
    low, high = of_effect(effect, error, freedom, reach)
    if math.isnan(low):
        assert reach**2 >= 2 * freedom, "too few documents to bound it"
        return
    assert low <= effect <= high
    if abs(abs(effect) - reach * error) > 1e-9:
        assert (not low <= 0 <= high) == (abs(effect) > reach * error)


# Effects and pooling


@pytest.mark.parametrize("design", [None, Design.prompts([0, 0, 1, 1, 2, 2, 2, 3], [0, 1, 1, 1, 2, 3])])
def test_hedges_g_is_that_of_the_weighted_documents(design):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=8), rng.normal(1, 2, size=6)
    result = one(MEAN, ones(a), ones(b), design=design, permutations=99)
    weights = (design or Design.documents(8, 6)).weights
    squares, count, means = 0.0, 0.0, []
    for x, w in zip((a, b), weights, strict=True):
        n, m = w.sum() ** 2 / (w**2).sum(), np.average(x, weights=w)
        squares, count = squares + n * np.average((x - m) ** 2, weights=w), count + n
        means.append(m)
    spread = np.sqrt(squares / (count - 2))
    assert result.effect == pytest.approx((means[1] - means[0]) / spread * (1 - 3 / (4 * (count - 2) - 1)))
    assert (result.effective_real, result.effective_generated) == pytest.approx(tuple(map(effective_n, weights)))


def factor(a, b):
    tables = Tables.of(ones(np.asarray(a)), ones(np.asarray(b)))
    return hedges_factor((tables.real, tables.generated), (np.ones(len(a)), np.ones(len(b))))[0]


def test_effects_without_a_spread():
    assert factor([2.0] * 3, [2.0] * 3) == 0.0
    assert factor([0.1] * 3, [0.1] * 7) == 0.0, "whose variance is rounding"
    assert factor([2.0] * 3, [2.5] * 3) == pytest.approx(math.sqrt(6) / 0.5 * (1 - 3 / 15)), "one on the other side"
    assert np.isnan(factor([1.0], [2.0]))
    assert factor([0.0, 2.0], [0.0, 2.0]) == pytest.approx((1 - 3 / 7) / math.sqrt(2))


def test_standard_errors_without_a_formula_are_those_of_many_samples():
    """The jackknife for narrow rows and the bootstrap for wide ones, beside the spread over 400 samples."""
    rng = np.random.default_rng(4)
    shares, other = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.3, 0.5])

    def draw():
        return [rng.multinomial(30, rng.dirichlet(20 * p, 40)).astype(float) for p in (shares, other)]

    s = Statistic("entropy", "x", "value", entropy)
    spread = np.std([float(np.diff([entropy(x.sum(axis=0)[None])[0] for x in draw()])[0]) for _ in range(400)])
    found = {"narrow": [], "wide": []}
    for _ in range(20):
        tables = Tables.of(*draw())
        samples = Samples(tables, Design.documents(40, 40))
        found["narrow"].append(standard_error(s, samples, 0, 0)[0])
        wide = Tables(*(np.pad(t, ((0, 0), (0, NARROW))) for t in (tables.real, tables.generated)))
        found["wide"].append(standard_error(s, Samples(wide, samples.design), 199, 0)[0])
    for errors in found.values():
        assert np.mean(errors) == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("function", [total_variation, jensen_shannon])
def test_perplexity_and_distances_have_errors_on_the_scale_of_the_value(function):
    rng = np.random.default_rng(5)
    steps = rng.integers(5, 40, 80)
    rows = np.column_stack([steps * rng.normal(2, 0.2, 80), steps])
    ppl = one(Statistic("ppl", "x", "value", perplexity, scale="log", effect="log_ratio"), rows[:40], rows[40:])
    replicates = []
    for _ in range(400):
        sides = [rows[:40][rng.integers(0, 40, 40)], rows[40:][rng.integers(0, 40, 40)]]
        replicates.append(float(np.diff([np.exp(x[:, 0].sum() / x[:, 1].sum()) for x in sides])[0]))
    assert ppl.standard_error == pytest.approx(np.std(replicates), rel=0.12)
    assert ppl.effect == pytest.approx(np.log(ppl.generated_value / ppl.real_value))
    assert ppl.method.resamples == 0
    distance = one(Statistic("d", "x", "distance", function), *(rng.poisson(m, (40, 3)) * 1.0 for m in (3, (2, 3, 5))))
    assert 0 < distance.low < distance.effect < distance.high


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
    assert (result.method.permutations, result.method.resamples) == (199 if wide else 400, 0)
    untabled = Statistic("gap", "x", "distance", mean_gap)  # a distance without a witness has a bootstrap error
    bootstrapped = one(untabled, a, b, permutations=400, resamples=300, wide=(199, 99), seed=3)
    assert bootstrapped.method.resamples == (99 if wide else 300)
    p, q = (np.asarray(m.sum(axis=0)).ravel() for m in (a, b))
    assert result.generated_value == pytest.approx(np.abs(p / p.sum() - q / q.sum()).sum() / 2)
    dense = one(tvd, a.toarray(), b.toarray(), permutations=400, resamples=300, wide=(199, 99), seed=3)
    assert (dense.p, dense.low, dense.high) == pytest.approx((result.p, result.low, result.high))
    assert 0 < result.real_value < result.generated_value
    assert result.difference == result.effect < result.generated_value
    assert result.low < result.difference < result.high


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
    assert result.difference == 3.5
    assert {result.low, result.high, result.standard_error, result.mde, result.effect_low} == {None}
    assert result.method.resamples == 0


# Runs that a seed must repeat


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
        0.3468435912496286,
        2.4233956461168193,
        0.24695021419794272,
        1.9554930279051879,
        0.371896875396978,
    ],
    "pairs": [
        0.003992015968063872,
        0.42637030118420993,
        2.4355699146396272,
        0.30067344438234384,
        1.9833979350816848,
        0.40216054382968297,
    ],
    "prompts": [
        0.00998003992015968,
        0.7106800444316574,
        2.112182761053601,
        0.46518672402352174,
        1.9039486375846777,
        0.5743590807162936,
    ],
    "clusters": [
        0.0021645021645021645,
        0.5459676153653817,
        2.2242716220010648,
        0.38149380660725024,
        1.8674446687122304,
        0.48841055253234367,
    ],
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_seed_repeats_the_run(name):
    assert pinned(name) == pytest.approx(PINNED[name], rel=1e-9)


@given(st.lists(st.sampled_from((-1.0, 0.0, 1.0)), min_size=40, max_size=40), st.booleans())
def test_statistics_without_a_spread_of_their_sizes_count_as_independent(signs, distance):
    varied = np.random.default_rng(0).normal(size=40)
    columns = np.column_stack([signs, varied, np.where(np.arange(40) % 2, 1.0, -1.0)])
    assert 1 <= effective_number(columns, np.array([False, distance, False])) <= 3


def test_the_effect_of_a_single_document_is_on_its_own_scale():
    """Without a standard error, a log ratio is a log ratio, and no difference of perplexities of 100,000."""
    real, generated = np.array([[12.0, 1.0]]), np.column_stack([np.linspace(11.0, 13.0, 12), np.ones(12)])
    ppl = Statistic("ppl", "x", "value", perplexity, scale="log", effect="log_ratio")
    (result,) = compare_rows([ppl], {"x": real}, {"x": generated + np.array([1.0, 0.0])})
    assert result.effect == pytest.approx(1.0)
    assert result.difference == pytest.approx(np.exp(13.0) - np.exp(12.0))


# values that do not exist, and differences that are rounding


def test_a_number_that_no_document_of_a_text_has_is_exactly_zero():
    rng = np.random.default_rng(0)
    a, b = ones(rng.gamma(0.3, 1 / 3, 200)), ones(np.zeros(150))
    assert one(MEAN, a, b).generated_value == 0.0
    assert one(MEAN, b, a).real_value == 0.0


def test_values_that_are_equal_but_for_rounding_do_not_differ():
    rng = np.random.default_rng(1)
    for statistic in (MEAN, Statistic("m", "x", "value", mean, scale="log", effect="log_ratio")):
        a = rng.gamma(2.0, 1.0, 40)
        for b in (a + 1e-13, np.append(a, a), np.append(a, [a.mean()] * 40)):
            result = one(statistic, ones(a), ones(b))
            assert (result.difference, result.effect, result.p) == (0.0, 0.0, 1.0), statistic
    counts = rng.poisson(3.0, (30, 4)).astype(float)
    distance = Statistic("d", "x", "distance", total_variation)
    assert [getattr(one(distance, counts, counts[::-1]), k) for k in ("difference", "p")] == [0.0, 1.0]


def test_what_a_text_lacks_is_not_tested():
    two = np.array([[2.0, 1.0], [3.0, 1.0], [0.0, 0.0]])
    none = np.zeros((4, 2))
    ratio = one(MEAN, none, two)
    assert (ratio.method.lacks, ratio.generated_value) == ("real", 2.5)
    logs = one(Statistic("r", "x", "value", mean, scale="log", effect="log_ratio"), two, none + np.array([0.0, 1.0]))
    assert (logs.method.lacks, logs.real_value, logs.generated_value) == ("generated", 2.5, 0.0)
    distance = one(Statistic("d", "x", "distance", total_variation), two, none)
    assert distance.method.lacks == "generated"
    varied = one(Statistic("h", "x", "value", entropy), none, none)
    assert varied.method.lacks == "both"
    assert {r.p for r in (ratio, logs, distance, varied)} == {None}
