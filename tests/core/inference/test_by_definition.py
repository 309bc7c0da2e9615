"""Small parts of the tests, each against its definition: roots, sums over groups one by one, and limits."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from momus.critic import Statistic
from momus.critic.statistic import kolmogorov_smirnov, mean, total_variation
from momus.inference import Design, Method, compare_rows
from momus.inference.contrast import contrast_of
from momus.inference.influence import Errors, _deviation, cross_fitted, distance_error, tvd_witness
from momus.inference.intervals import NONE, detectable_difference, hedges_factor, of_effect, ratio_interval
from momus.inference.matching import in_blocks
from momus.inference.multiplicity import HEADLINE, TAIL, _scores, _shares, strength_of_contrasts
from momus.inference.multipliers import Influences
from momus.inference.pvalues import Prepared
from momus.inference.relabelling import EXCEEDED, FIRST, MARGIN, REACHED, Budget
from momus.inference.samples import Samples, Tables
from momus.inference.spread import (
    PAIR,
    Halves,
    _positive,
    _tails,
    between,
    of_distances,
    of_ratios,
    of_values,
)
from momus.inference.studentised import Difference, Ratio
from momus.inference.weights import all_labels, multiplicities, random_labels
from momus.inference.without_variance import share_units
from momus.joint.adjusted import binned

TVD = Statistic("tvd", "x", "distance", total_variation)
MEAN = Statistic("mean", "x", "value", mean)
LOG = Statistic("log", "x", "value", mean, scale="log", effect="log_ratio")


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


# Spreads


def tau2_of(values, variances, target):
    def excess(tau2):
        w = 1 / (tau2 + variances)
        return (w * (values - (w * values).sum() / w.sum()) ** 2).sum() - target

    return 0.0 if excess(1e-12) <= 0 else optimize.brentq(excess, 1e-12, 1e6)


@pytest.mark.parametrize("seed", range(4))
def test_a_spread_solves_the_equations_of_paule_and_mandel(seed):
    rng = np.random.default_rng(seed)
    k, freedom = 15, 40.0
    variances = rng.gamma(2, 0.3, k)
    values = 3 + rng.normal(0, 1.2, k) + rng.normal(0, np.sqrt(variances))
    found = between(values, variances, freedom)
    tau2 = tau2_of(values, variances, stats.chi2.median(k - 1))
    assert found.value == pytest.approx(PAIR * tau2**0.5, rel=1e-6)
    w = 1 / (tau2 + variances)
    assert found.error == pytest.approx(w.sum() ** -0.5)
    z = (values - (w * values).sum() / w.sum()) * np.sqrt(w)
    m2, m3, m4 = ((z**p).mean() for p in (2, 3, 4))
    skewness = m3 / m2**1.5 * (k * (k - 1)) ** 0.5 / (k - 2)
    kurtosis = m4 / m2**2 * (k + 1) / (k - 1) - 3
    # the variance of the squared skewness of normal samples (Fisher 1930)
    expected = 6 * k * (k - 1) / ((k - 2) * (k + 1) * (k + 3))
    kurtosis = max(kurtosis, 1.5 * (skewness**2 - expected), 0.0)
    nu = (k - 1) / (1 + kurtosis / 2 * (k - 1) / k)
    assert _tails(z) == pytest.approx((nu, skewness / max(kurtosis + 2, skewness**2) ** 0.5))
    assert found.correlation == pytest.approx(_tails(z)[1])
    ends = [tau2_of(values, variances, (k - 1) * stats.chi2.ppf(q, nu) / nu) for q in (0.975, 0.025)]
    error = k / w.sum() - tau2
    least, most = (error * freedom / stats.chi2.ppf(q, freedom) for q in (0.975, 0.025))
    low = max(tau2 - math.hypot(tau2 - ends[0], most - error), 0.0)
    high = tau2 + math.hypot(ends[1] - tau2, error - least)
    assert found.low == pytest.approx(max(PAIR * low**0.5, 0.1 * found.value), rel=1e-5)
    assert found.high == pytest.approx(PAIR * high**0.5, rel=1e-5)
    assert found.groups == k


def test_few_or_equal_values_have_no_tails():
    assert _tails(np.array([-1.0, 0.0, 1.0])) == (2.0, 0.0)
    assert _tails(np.zeros(9)) == (8.0, 0.0)
    assert _tails(np.array([-1.0, 0.5, 0.5, 3.0]))[1] > 0.3
    assert between(np.full(6, 7.0), np.zeros(6), 9.0).value == 0


@pytest.mark.parametrize("how", ["plain", "logs", "log-normal"])
def test_groups_of_ratios_have_the_variance_of_the_rate_over_their_effective_documents(how):
    rng = np.random.default_rng(5)
    numbers = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 2, 2, 3, 7, 4, 5])
    w = rng.integers(1, 9, len(numbers)).astype(float)
    x = w * (4 + rng.normal(0, 1, 12)[numbers] + rng.normal(0, 0.5, len(numbers)))
    log = how != "plain"
    if how == "log-normal":
        x[numbers == 3] = 0.0  # one group has no logarithm
    values, sizes, residuals, relative, expected, freedom = [], [], 0.0, 0.0, 0.0, 0
    for g in range(12):
        mine, v = x[numbers == g], w[numbers == g]
        ratio = mine.sum() / v.sum()
        values.append(ratio)
        sizes.append(v.sum() ** 2 / (v**2).sum())
        if len(mine) > 1:
            residuals += ((mine - ratio * v) ** 2).sum()
            relative += ((mine / ratio - v) ** 2).sum() if ratio else 0.0
            # Var(x_i − w_i Σx/Σw) for independent x_i of variance w_i²
            expected += sum(u**2 * (1 - u / v.sum()) ** 2 + (u / v.sum()) ** 2 * ((v**2).sum() - u**2) for u in v)
            freedom += len(mine) - 1
    plain = between(np.array(values), residuals / expected / np.array(sizes), freedom)
    found = of_ratios(np.column_stack([x, w]), numbers, log)
    if how == "logs":
        plain = between(np.log(values), relative / expected / np.array(sizes), freedom)
    if how == "log-normal":
        middle = x.sum() / w.sum()
        scaled = [PAIR * math.log1p((v / PAIR / middle) ** 2) ** 0.5 for v in (plain.value, plain.low, plain.high)]
        assert (found.value, found.low, found.high, found.error) == pytest.approx((*scaled, plain.error / middle))
    else:
        fields = ("value", "low", "high", "error", "correlation")
        assert [getattr(found, f) for f in fields] == pytest.approx([getattr(plain, f) for f in fields])
    assert found.groups == 12
    assert of_ratios(np.column_stack([-x, w]), numbers, True) is None, "no logarithm"
    even = np.where(np.arange(len(x)) % 2, 1.0, -1.0)
    assert even.sum() == 0
    assert of_ratios(ones(even), numbers, True) is None, "nor of 0"


@pytest.mark.parametrize(
    ("sizes", "known"), [([5, 1, 1], False), ([3, 3, 1], True), ([2, 2, 2], False), ([2, 3, 2], True)]
)
def test_ratios_need_two_groups_of_documents_and_four_degrees_of_freedom(sizes, known):
    rng = np.random.default_rng(0)
    numbers = np.repeat(np.arange(3), sizes)
    assert (of_ratios(ones(rng.normal(size=len(numbers))), numbers) is not None) == known


def test_halves_of_values_have_a_quarter_of_the_squared_gap():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(4, 9, 2)) + rng.normal(0, 2, 9)[None, :, None]
    values[1, 3, 0] = np.nan  # a group without a value in one half takes no part
    rest = np.delete(values, 3, axis=1)
    plain = between(rest.mean(axis=(0, 2)), np.full(8, ((rest[..., 0] - rest[..., 1]) ** 2).mean() / 4), 8.0)
    found = of_values(values)
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert found.groups == 8
    assert of_values(values[:, 4:]) is not None
    assert of_values(values[:, 6:]) is None


def test_the_spread_of_distances_by_hand():
    """All pairs of five groups, four splits; what chance adds is taken off in squares; χ² with fewer degrees."""
    rng = np.random.default_rng(2)
    k = 5
    table = rng.uniform(0.2, 1.0, (4, 2 * k, 2 * k))

    def distance(split, one, other):
        return table[split][one, other]

    for form, power in (("linear", 2), ("square", 1)):
        pairs = list(itertools.combinations(range(k), 2))
        across = np.array([[table[s][2 * a, 2 * b + s % 2] for s in range(4)] for a, b in pairs]) ** power
        within = 0.2 * np.array([[table[s][2 * g, 2 * g + 1] for s in range(4)] for g in range(k)]) ** power

        def halves(split, one, other, form=form):
            scale = 0.2 ** (0.5 if form == "linear" else 1)
            return np.where(one // 2 == other // 2, scale, 1.0) * distance(split, one, other)

        def spread(weights):
            of_pairs = np.array([weights[a] * weights[b] for a, b in pairs], dtype=float)  # noqa: B023
            if not of_pairs.sum():
                return np.nan
            spots = np.sort(across.ravel())  # noqa: B023
            steps = [(of_pairs[:, None] * (across <= v)).sum() for v in spots]  # noqa: B023
            quantile = next(v for v, s in zip(spots, steps, strict=True) if s >= 0.95 * 4 * of_pairs.sum() - 1e-9)
            mean_across = (across.mean(axis=1) * of_pairs).sum() / of_pairs.sum()  # noqa: B023
            mean_within = (within.mean(axis=1) * weights).sum() / weights.sum()  # noqa: B023
            return quantile * (1 - mean_within / mean_across)

        found = of_distances(halves, k, form, [3])
        here = spread(np.ones(k))
        drawn = np.random.default_rng([3, 1]).multinomial(k, np.full(k, 1 / k), 199)
        error = np.nanstd([spread(w) for w in drawn], ddof=1) * math.sqrt(k / (k - 1))
        value, low, high = (v ** (1 / power) for v in _positive(here, error, k))
        assert found.value == pytest.approx(value)
        assert (found.low, found.high) == pytest.approx((max(low, 0.1 * value), high))
        assert found.groups == k


def test_an_estimate_of_a_variance_has_the_interval_of_chi_square():
    for here, error, k in ((2.0, 0.8, 12), (2.0, 0.2, 12), (2.0, 5.0, 12), (2.0, 0.0, 7)):
        nu = k - 1 if not error else min(max(2 * (here / error) ** 2, 1), k - 1)
        low, high = (here * nu / stats.chi2.ppf(q, nu) for q in (0.975, 0.025))
        low = max(min(low, here - stats.t.ppf(0.975, k - 1) * error), 0)
        assert _positive(here, error, k) == pytest.approx((here, low, high))


@pytest.mark.parametrize("seed", range(12))
def test_an_interval_of_a_ratio_ends_where_that_of_the_difference_ends_at_zero(seed):
    rng = np.random.default_rng(seed)
    size, value = rng.uniform(0.5, 3), rng.uniform(0.5, 2)
    low, high = size - rng.uniform(0.05, 0.45), size + rng.uniform(0.1, 1)
    least, most = value * rng.uniform(0.3, 0.9), value * rng.uniform(1.1, 1.6)
    correlation = rng.uniform(-0.9, 0.9)
    found = ratio_interval((size, low, high), (value, least, most), correlation)
    r = min(correlation, 0)

    def lower(ratio):  # the lower end of size − ratio · band
        a, b = size - low, ratio * (most - value)
        return size - ratio * value - math.sqrt(a * a + b * b - 2 * r * a * b)

    def upper(ratio):
        a, b = high - size, ratio * (value - least)
        return size - ratio * value + math.sqrt(a * a + b * b - 2 * r * a * b)

    assert lower(found[0]) == pytest.approx(0, abs=1e-9)
    assert upper(found[1]) == pytest.approx(0, abs=1e-9)
    assert 0 < found[0] < size / value < found[1]


def test_a_band_that_may_be_nothing_bounds_no_ratio_above():
    assert ratio_interval((1.0, 0.5, 1.5), (1.0, 0.0, 2.0))[1] == math.inf
    assert ratio_interval((0.0, 0.0, 0.5), (1.0, 0.5, 2.0))[0] == 0
    assert ratio_interval((5.0, 0.5, 1.5), (1.0, 1.0, 1.0)) == (0.5, 1.5)
    inside = ratio_interval((1.5, 0.5, 1.5), (1.0, 0.5, 2.0))
    assert ratio_interval((5.0, 0.5, 1.5), (1.0, 0.5, 2.0)) == inside, "an estimate beyond its interval is its end"


def test_halves_are_those_that_enough_groups_can_give():
    numbers = np.repeat(np.arange(10), [2, 3, 4, 5, 6, 7, 8, 9, 10, 1])
    found = Halves.of(numbers, 3, [0])
    assert found.documents == 3  # five of nine groups of two or more have six documents
    assert sorted(found.groups.tolist()) == [4, 5, 6, 7, 8]
    assert Halves.of(numbers, 7, [0]).documents == 2
    assert Halves.of(numbers, 9, [0]).documents == 1
    assert Halves.of(numbers, 10, [0]) is None
    assert len({p.tobytes() for p in found.parts}) == 4
    many = Halves.of(np.repeat(np.arange(300), 2), 8, [0])
    assert len(set(many.groups.tolist())) == 256


# Intervals and effects


@pytest.mark.parametrize(
    ("effect", "error", "freedom", "reach"), [(0.5, 0.2, 48, 2.0), (-1.3, 0.4, 9, 2.3), (0.0, 0.3, 20, 2.1)]
)
def test_the_ends_of_an_effect_are_at_its_reach(effect, error, freedom, reach):
    for end in of_effect(effect, error, freedom, reach):
        assert abs(effect - end) == pytest.approx(reach * math.sqrt(error**2 + end**2 / (2 * freedom)))
    assert of_effect(effect, error, freedom, reach)[0] < effect < of_effect(effect, error, freedom, reach)[1]


def test_an_effect_of_too_few_documents_has_no_bounds():
    assert of_effect(0.5, 0.2, 2, 2.0) is NONE, "it is 0/0 there"
    assert of_effect(0.5, 0.2, 2, 2.1) is NONE
    assert of_effect(0.5, 0.2, 2.1, 2.0) is not NONE


def test_a_difference_that_little_data_detects_has_none():
    assert math.isnan(detectable_difference(1.0, 0.5, 0.05))
    z = stats.norm.ppf(0.8)
    for freedom in (3.0, 20.0):
        t, c = stats.t.ppf(0.975, freedom), 1 - 1 / (4 * freedom)
        f = detectable_difference(2.0, freedom, 0.05) / 2
        assert (f - t) * c == pytest.approx(z * math.sqrt(1 + (f * f + t * t) / (2 * freedom)))


def test_hedges_factor_by_hand():
    rng = np.random.default_rng(3)
    a, b, w = rng.gamma(4, size=7), rng.gamma(5, size=5), rng.integers(1, 4, 7).astype(float)
    pooled = math.sqrt((6 * a.var(ddof=1) + 4 * b.var(ddof=1)) / 10)
    factor, freedom = hedges_factor((ones(a), ones(b)), (np.ones(7), np.ones(5)))
    assert (factor, freedom) == (pytest.approx((1 - 3 / 39) / pooled), 10)
    # ratios of totals: residuals over the mean of w
    deviations = (a - a.sum() / w.sum() * w) / w.mean()
    pooled = math.sqrt(((deviations**2).sum() + 4 * b.var(ddof=1)) / 10)
    assert hedges_factor((np.column_stack([a, w]), ones(b)), (np.ones(7), np.ones(5)))[0] == pytest.approx(
        (1 - 3 / 39) / pooled
    )
    # weights count as so many documents, in effective numbers
    weights = np.array([1.0, 1, 1, 1, 2, 2, 4])
    m = (weights @ a) / weights.sum()
    n = weights.sum() ** 2 / (weights**2).sum()
    squares = (weights @ (a - m) ** 2) / weights.sum() * n + 4 * b.var(ddof=1)
    found = hedges_factor((ones(a), ones(b)), (weights, np.ones(5)))
    assert found == pytest.approx(((1 - 3 / (4 * (n + 3) - 1)) / math.sqrt(squares / (n + 3)), n + 3))
    # equal within each text: one document lies on the other side
    assert hedges_factor((ones(np.full(3, 2.0)), ones(np.full(6, 5.0))), (np.ones(3), np.ones(6)))[0] == pytest.approx(
        (1 - 3 / 27) / (3 / 3)
    )
    assert hedges_factor((ones(np.full(3, 2.0)), ones(np.full(6, 2.0))), (np.ones(3), np.ones(6))) == (0.0, 7)
    assert math.isnan(hedges_factor((ones(a[:1]), ones(b[:1])), (np.ones(1), np.ones(1)))[0])
    assert math.isfinite(hedges_factor((ones(a[:2]), ones(b[:1])), (np.ones(2), np.ones(1)))[0])


# Standard errors


def test_deviations_of_resamples_are_corrected_for_the_variance_that_they_lack():
    values = [np.array([1.0, 3.0]), np.array([8.0])]
    assert _deviation(values, 5) == pytest.approx(np.std([1, 3, 8], ddof=1) * math.sqrt(5 / 4))
    assert _deviation([np.array([1.0, 3.0])], 2) == pytest.approx(math.sqrt(2) * math.sqrt(2))
    assert math.isnan(_deviation([np.array([1.0])], 5))
    assert math.isnan(_deviation([], 5))
    assert math.isnan(_deviation([np.array([1.0, np.inf, 2.0])], 5))


def test_the_jackknife_leaves_out_one_unit_at_a_time():
    rng = np.random.default_rng(4)
    a, b = np.exp(rng.normal(size=6)), np.exp(rng.normal(0.3, 1, 9))
    w, v = rng.integers(1, 5, 6).astype(float), rng.integers(1, 5, 9).astype(float)
    tables = Tables.of(np.column_stack([a, w]), np.column_stack([b, v]))
    variances = []
    for x, n in ((a, w), (b, v)):
        left = np.log([np.delete(x, i).sum() / np.delete(n, i).sum() for i in range(len(x))])
        variances.append((len(x) - 1) / len(x) * ((left - left.mean()) ** 2).sum())
    error, freedom = Errors(Samples(tables, Design.documents(6, 9)), [LOG], 0, 0).of(LOG)
    assert error == pytest.approx(sum(variances) ** 0.5)
    assert freedom == pytest.approx(sum(variances) ** 2 / (variances[0] ** 2 / 5 + variances[1] ** 2 / 8))
    flat = Tables.of(ones(np.full(6, 2.0)), ones(np.full(9, 3.0)))
    assert Errors(Samples(flat, Design.documents(6, 9)), [LOG], 0, 0).of(LOG) == (0.0, 14)
    pairs = Design.pairs(np.column_stack([np.arange(6)] * 2))
    both = Tables.of(np.column_stack([a, w]), np.column_stack([b[:6], v[:6]]))
    left = [
        np.log(np.delete(b[:6], i).sum() / np.delete(v[:6], i).sum())
        - np.log(np.delete(a, i).sum() / np.delete(w, i).sum())
        for i in range(6)
    ]
    error, freedom = Errors(Samples(both, pairs), [LOG], 0, 0).of(LOG)
    assert (error, freedom) == pytest.approx((math.sqrt(5 / 6 * ((left - np.mean(left)) ** 2).sum()), 5))


def test_errors_of_distances_are_those_of_influences():
    rng = np.random.default_rng(6)
    one, other = rng.integers(0, 6, (5, 4)).astype(float), rng.integers(0, 6, (7, 4)).astype(float)
    error, freedom = distance_error(Samples(Tables.of(one, other), Design.documents(5, 7)), tvd_witness)
    sign = np.sign(one.sum(axis=0) / one.sum() - other.sum(axis=0) / other.sum()) / 2
    variances = []
    for rows, h in ((one, sign), (other, -sign)):
        values, tokens = rows @ h, rows.sum(axis=1)
        u = (values - values.sum() / tokens.sum() * tokens) / tokens.sum()
        variances.append((u**2).sum() * len(rows) / (len(rows) - 1))
    assert error == pytest.approx(sum(variances) ** 0.5)
    assert freedom == pytest.approx(sum(variances) ** 2 / (variances[0] ** 2 / 4 + variances[1] ** 2 / 6))
    two = distance_error(Samples(Tables.of(one[:2], other), Design.documents(2, 7)), tvd_witness)
    assert math.isfinite(two[0]), "two units suffice"
    assert math.isnan(distance_error(Samples(Tables.of(one[:1], other), Design.documents(1, 7)), tvd_witness)[0])
    same = np.tile([1.0, 2.0, 0.0, 3.0], (5, 1))
    assert distance_error(Samples(Tables.of(same, same), Design.documents(5, 5)), tvd_witness) == (0.0, 9.0)


def test_resamples_of_fractional_weights_are_weighted_sums():
    """Bins with unequal numbers of documents weigh these: the error is that of resampled weighted sums."""
    rng = np.random.default_rng(7)
    design = Design.bins(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 1, 1, 1, 1]))
    wide = rng.integers(0, 4, (11, 80)).astype(float) + 1
    errors = Errors(Samples(Tables.of(wide[:5], wide[5:]), design), [TVD], 4, 0)
    real, generated = errors._resampled(0, 4)
    drawn = multiplicities(design, 0, 0, 4)
    for side, rows, times, w in zip((real, generated), (wide[:5], wide[5:]), drawn, design.weights, strict=True):
        assert not (w == 1).all()
        assert side == pytest.approx(
            np.array([sum(times[i, b] * w[i] * rows[i] for i in range(len(rows))) for b in range(4)])
        )


def test_means_on_the_log_scale_have_errors_and_detectable_differences_on_that_of_the_value():
    rng = np.random.default_rng(10)
    a, b = np.exp(rng.normal(size=20)), np.exp(rng.normal(0.5, 1, 30))
    (found,) = compare_rows([LOG], {"x": ones(a)}, {"x": ones(b)}, permutations=99, threads=1)
    error, freedom = Errors(Samples(Tables.of(ones(a), ones(b)), Design.documents(20, 30)), [LOG], 0, 0).of(LOG)
    ratio, middle = math.log(b.mean() / a.mean()), math.sqrt(a.mean() * b.mean())
    assert found.difference == pytest.approx(b.mean() - a.mean())
    plain = math.sqrt(a.var(ddof=1) / 20 + b.var(ddof=1) / 30)
    assert found.standard_error == pytest.approx(plain)
    assert found.mde == pytest.approx(2 * middle * math.sinh(detectable_difference(error, freedom, 0.05) / 2))
    # generated · exp(wδ) − real · exp(−(1 − w)δ), which moves by its own error where the log ratio does
    w = (plain / error - a.mean()) / (b.mean() - a.mean())
    assert 0 < w < 1
    reach = max(stats.t.ppf(0.975, freedom), abs(ratio) / error) if found.p > 0.05 else stats.t.ppf(0.975, freedom)
    ends = [b.mean() * math.exp(w * d) - a.mean() * math.exp((w - 1) * d) for d in (-reach * error, reach * error)]
    assert (found.low, found.high) == pytest.approx(ends)


def test_the_lower_end_of_a_distance_is_one_that_the_test_rejects():
    """Five documents a side, all relabellings: the cross-fitted estimate less its margin, or what the test leaves."""
    design, seen = Design.documents(5, 5), set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        near = [0.4, 0.3, 0.2, 0.1], [0.15, 0.2, 0.3, 0.35]
        shares = near if seed % 4 else ([0.6, 0.35, 0.05, 0.0], [0.0, 0.05, 0.35, 0.6])
        one, other = (rng.multinomial(12, p, 5).astype(float) for p in shares)
        (found,) = compare_rows([TVD], {"x": one}, {"x": other}, threads=1)
        samples = Samples(Tables.of(one, other), design)
        null = contrast_of(TVD, samples).under(None, Prepared(*samples.pooled(all_labels(design))))
        error, freedom = distance_error(samples, tvd_witness)
        margin, estimate = stats.t.ppf(0.975, freedom) * error, max(cross_fitted(samples, tvd_witness, 0), 0.0)
        distance = found.generated_value
        assert found.high == pytest.approx(min(max(distance, estimate) + margin, 1))
        seen.add("whole" if max(distance, estimate) + margin > 1 else "less")
        if found.p > 0.05:
            assert found.low == 0
            seen.add("alike")
        elif estimate:
            least = distance - np.sort(null)[-(math.floor(0.05 * len(null) + 1e-9) + 1)]
            below = min(max(least, distance * 1e-3), estimate / 2)
            seen.add("estimate" if estimate - margin > below else "half" if estimate / 2 < least else "test")
            if least > distance * 1e-3:
                assert found.low == pytest.approx(max(estimate - margin, below))
            assert 0 < found.low < estimate
    assert seen >= {"alike", "test", "whole", "less"}, seen


# Families, stages, blocks


def test_shares_of_a_family_add_up_to_one():
    others = [(1 - HEADLINE) / 5] * 4
    assert _shares(list("abcdef"), "b") == pytest.approx([others[0], HEADLINE, *others])
    assert _shares(list("abcdef"), "z") == pytest.approx([1 / 6] * 6)
    assert _shares(list("abc"), "b") == pytest.approx([1 / 3] * 3)  # more than a headline has of many
    assert _shares(["a"], "a") == [1]


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("draws", [9, 60, 199])
def test_scores_are_ranks_and_of_the_ten_most_extreme_their_nominal_p(two_sided, draws):
    rng = np.random.default_rng(draws)
    statistic = LOG if two_sided else TVD
    sides = [rng.multinomial(9, [0.5, 0.3, 0.2], n).astype(float) for n in (7, 9)]
    if two_sided:
        sides = [ones(rng.gamma(3, size=n)) for n in (7, 9)]
    design = Design.documents(7, 9)
    contrast = contrast_of(statistic, Samples(Tables.of(*sides), design))
    labels = random_labels(design, 0, 0, draws)
    null = contrast.under(labels, Prepared(*contrast.samples.pooled(labels)))
    here, others = _scores(contrast, null, False, 0.3)
    strength, of_null = strength_of_contrasts(contrast.here, null, two_sided=two_sided, exact=False)
    values, strengths = np.append(null, contrast.here), np.append(of_null, strength)
    counts = []
    for v in values:
        slack = contrast.tie * max(1.0 if two_sided else 1e-3, abs(v))
        above, below = (values >= v - slack).sum(), (values <= v + slack).sum()
        counts.append(min(2 * min(above, below), len(values)) if two_sided else above)
    counts = np.array(counts)
    rank = min(TAIL, max(len(values) // TAIL, 1))
    expected = counts - strengths / (2 + 2 * strengths)
    tail = counts <= rank
    if tail.any():
        expected[tail] = rank * 10 ** (strengths[tail].min() - strengths[tail])
    assert np.append(others, here) == pytest.approx(np.log10(0.3 / expected))
    assert tail.any() == (draws > 9 or not two_sided)


def test_shares_of_units_of_unequal_weight_have_no_interval():
    share = Statistic.value("s", "x", mean, "", format="share")

    def units(*weights, columns=2, statistic=share):
        rows = np.column_stack([np.zeros(len(weights)), weights, *[np.ones(len(weights))] * (columns - 2)])
        other = np.ones((5, columns))
        return share_units(statistic, Samples(Tables.of(rows, other), Design.documents(len(rows), 5)))

    assert units(2, 2, 2) == (3, 5)
    assert units(7) == (1, 5)
    assert units(2, 2, 2.5) is None
    assert units(1, 1, 1 + 1e-6) is None
    assert units(1, 1, 1, columns=3) is None
    assert units(1, 1, 1, statistic=MEAN) is None


@pytest.mark.parametrize("family", range(1, 60, 2))
@pytest.mark.parametrize("usual", [99, 999])
def test_a_stage_ends_by_the_three_rules(family, usual):
    budget = Budget(usual, family, 0.05, early=(64, 448))
    last = FIRST[-1]
    for drawn in (64, 99, 448, 999, 3999, budget.needed):
        for extreme in range(0, 110):
            p = (extreme + 1) / (drawn + 1)
            futile = p >= MARGIN * 0.05
            if drawn < usual:
                expected = futile and extreme >= (EXCEEDED if drawn > last else REACHED)
            else:
                clear = extreme + 2 * math.sqrt(extreme + 1) + 2 <= 0.05 * (drawn + 1) / family
                expected = drawn >= budget.needed or extreme >= budget.fine or clear or (futile and extreme >= REACHED)
            assert budget.stops(drawn, extreme) == expected, (drawn, extreme)


def test_the_smaller_text_keeps_64_blocks():
    for documents, blocks in ((1_000, 125), (128, 64), (127, 127), (50, 50)):
        assert in_blocks(Design.documents(6_000, documents), seed=0).units[1] == blocks


# Studentised differences


def test_an_error_of_nothing_has_no_rounding_and_no_skewness():
    zero = Difference(np.zeros(1), np.ones(1), np.zeros(1), np.zeros(1), flat=1e-9)
    assert zero.rounding.tolist() == [0.0]
    some = Difference(np.zeros(1), np.ones(1), np.full(1, 4e-4), np.full(1, 5e-4), flat=3e-3)
    assert some.rounding == pytest.approx([0.1 * (3e-3 / 3e-2) ** 2])
    table = Tables.of(ones(np.full(9, 3.3)), ones(np.full(20, 7.1)))
    flat = Ratio(Samples(table, Design.documents(9, 20)))
    assert flat.transforms
    assert flat.observed.skewness.tolist() == [0.0]


@pytest.mark.parametrize(
    ("n", "m", "transformed"), [(10, 15, True), (10, 14, False), (15, 10, True), (5, 8, True), (4, 8, False)]
)
def test_half_as_many_units_again_are_unequal(n, m, transformed):
    rng = np.random.default_rng(0)
    ratio = Ratio(Samples(Tables.of(ones(rng.gamma(2, size=n)), ones(rng.gamma(2, size=m))), Design.documents(n, m)))
    assert ratio.transforms == transformed


def test_a_method_that_says_nothing_of_skewness_has_none():
    a, b = np.random.default_rng(2).gamma(2, size=(2, 10))
    (found,) = compare_rows([MEAN], {"x": ones(a)}, {"x": ones(b)}, permutations=99, threads=1)
    assert found.method.skewness == Method().skewness == 0


def test_degrees_of_freedom():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=6), rng.normal(0, 3, 11)
    ratio = Ratio(Samples(Tables.of(ones(a), ones(b)), Design.documents(6, 11)))
    one, other = a.var(ddof=1) / 6, b.var(ddof=1) / 11
    assert ratio.freedom(ratio.observed) == pytest.approx((one + other) ** 2 / (one**2 / 5 + other**2 / 10))
    two = Ratio(Samples(Tables.of(ones(a[:2]), ones(b)), Design.documents(2, 11)))
    one = a[:2].var(ddof=1) / 2
    assert two.freedom(two.observed) == pytest.approx((one + other) ** 2 / (one**2 + other**2 / 10))
    flat = Ratio(Samples(Tables.of(ones(np.ones(6)), ones(np.ones(11))), Design.documents(6, 11)))
    assert flat.freedom(flat.observed) == 15
    pairs = Ratio(Samples(Tables.of(ones(a), ones(b[:6])), Design.pairs(np.column_stack([np.arange(6)] * 2))))
    assert pairs.freedom(pairs.observed) == 5


# Random signs


@pytest.mark.parametrize("together", [True, False])
def test_squares_are_sums_of_products_of_different_units(together):
    """Σ_v w_v Σ_{u ≠ u'} of products of influences, over what is left out; by loops over all pairs of units."""
    rng = np.random.default_rng(8)
    one = rng.integers(0, 5, (6, 3)).astype(float)
    other = rng.integers(0, 5, (6 if together else 9, 3)).astype(float)
    groups = (
        np.repeat(np.arange(3), 2),
        np.array([0, 1, 1, 2, 2, 2]) if together else np.repeat(np.arange(3), [1, 3, 5]),
    )
    prompts = np.arange(6), np.arange(len(other)) % 6
    if together:
        design = Design.prompts(*prompts).grouped(groups[0], groups[0])
        tables = Tables.of(one, other)
    else:
        design, tables = Design.clusters(*groups), Tables.of(one, other)
    samples = Samples(tables, design)
    found = Influences(TVD, samples)
    units = samples.unit_rows
    totals = [u.sum() for u in units]
    centre = (units[0].sum(axis=0) + units[1].sum(axis=0)) / sum(totals)
    weight = (centre + 5 / min(totals)) ** -0.5
    parts = [(u - u.sum(axis=1, keepdims=True) * centre) / n for u, n in zip(units, totals, strict=True)]
    signs = rng.choice([-1.0, 1.0], size=(len(parts[0]) if together else len(parts[0]) + len(parts[1]), 7))
    for column in signs.T:
        if together:
            e = (parts[0] - parts[1]) * column[:, None]
            products = sum(weight @ (e[u] * e[v]) for u in range(len(e)) for v in range(len(e)) if u != v)
            chance = sum(weight @ (x * x) for x in e)
        else:
            sides = parts[0] * column[: len(parts[0]), None], parts[1] * column[len(parts[0]) :, None]
            products = chance = 0.0
            for e, rows, n in zip(sides, units, totals, strict=True):
                factor = 1 / (1 - ((rows.sum(axis=1) / n) ** 2).sum())
                products += factor * sum(weight @ (e[u] * e[v]) for u in range(len(e)) for v in range(len(e)) if u != v)
                chance += factor * sum(weight @ (x * x) for x in e)
            products -= 2 * weight @ (sides[0].sum(axis=0) * sides[1].sum(axis=0))
        assert found.squares(column[:, None].astype(np.float64))[0] == pytest.approx(products / chance)
    # a bound of the total variation distance from squares, by one choice of h
    gap = units[0].sum(axis=0) / totals[0] - units[1].sum(axis=0) / totals[1]
    h = 0.5 * weight * gap / np.abs(weight * gap).max()
    assert h @ gap <= 0.5 * np.abs(gap).sum()
    assert found.least_distance(1e9) == 0


@pytest.mark.parametrize("statistic", [Statistic("ks", "x", "distance", kolmogorov_smirnov), TVD])
def test_rows_of_chance_are_the_shares_of_both_texts_with_signed_influences(statistic):
    rng = np.random.default_rng(9)
    tables = Tables.of(*(rng.integers(0, 5, (n, 4)).astype(float) for n in (7, 12)))
    samples = Samples(tables, Design.clusters(np.repeat(np.arange(3), [1, 2, 4]), np.repeat(np.arange(4), 3)))
    found = Influences(statistic, samples)
    signs = rng.choice([-1.0, 1.0], size=(7, 5))
    units = samples.unit_rows
    totals = [u.sum() for u in units]
    centre = (units[0].sum(axis=0) + units[1].sum(axis=0)) / sum(totals)
    for k, rows in enumerate(found.null_rows(signs)):
        e = (units[k] - units[k].sum(axis=1, keepdims=True) * centre) / totals[k]
        # for a distance, a unit moves the shares that its influence is counted from
        inflation = 1.0 if found.squared else 1 / np.sqrt(1 - units[k].sum(axis=1) / sum(totals))
        mine = signs[:3] if k == 0 else signs[3:]
        expected = centre + (mine * (inflation if np.isscalar(inflation) else inflation[:, None])).T @ e
        if statistic.function is total_variation:
            expected = np.maximum(expected, 0)
        assert rows == pytest.approx(expected)


# Comparisons within bins


def test_comparisons_within_bins_are_refused_at_their_limits():
    def refusal(real, generated):
        return binned((np.asarray(real), np.asarray(generated)))[1].refusal

    assert refusal([0] * 10 + [1] * 10, [0] * 10 + [1] * 10) == "", "20 documents"
    assert refusal([0] * 10 + [1] * 9, [0] * 10 + [1] * 10) == "few documents"
    assert refusal([0] * 40, [0] * 40) == "constant"
    assert refusal([-1] * 30, [0] * 30) == "no values"
    assert refusal([0] * 30, [1] * 30) == "no overlap"
    for shared, said in ((25, ""), (24, "little overlap")):
        assert refusal([0] * shared + [1] * (100 - shared), [0] * shared + [2] * (100 - shared)) == said
    _, overlap = binned((np.array([-1, 0, 0, 1] * 10), np.array([0, 1, 1, -1, 2] * 10)))
    # Σ 2rg/(r+g) over bins of what all documents in one bin would give
    expected = (2 * 20 * 10 / 30 + 2 * 10 * 20 / 30) / (2 * 30 * 40 / 70)
    assert overlap.share == pytest.approx(expected)
