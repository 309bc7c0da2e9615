"""Spreads between groups: simulations with known variance, closed forms of balanced designs, and noise alone."""

import numpy as np
import pytest
from scipy import stats

from momus.critic.statistic import kolmogorov_smirnov, total_variation
from momus.inference.intervals import ratio_interval
from momus.inference.spread import (
    PAIR,
    Halves,
    between,
    circulant,
    of_distances,
    of_ratios,
    of_values,
)


def documents(rng, groups, each, tau, within=1.0, middle=0.0):
    values = middle + np.repeat(rng.normal(0, tau, groups), each) + rng.normal(0, within, groups * each)
    return np.column_stack([values, np.ones(len(values))]), np.repeat(np.arange(groups), each)


def test_without_errors_the_interval_is_that_of_a_variance():
    """Values known exactly: τ² has the interval of the variance of a normal sample (less tails than normal here)."""
    x = np.random.default_rng(0).uniform(-1, 1, 40)
    spread = between(x, np.zeros(40), 1e9)
    variance = x.var(ddof=1)
    low, high = (PAIR * np.sqrt(39 * variance / stats.chi2.ppf(q, 39)) for q in (0.975, 0.025))
    assert (spread.low, spread.high) == pytest.approx((low, high), rel=1e-5)
    assert spread.value == pytest.approx(PAIR * np.sqrt(39 * variance / stats.chi2.median(39)), rel=1e-6)


def test_balanced_groups_give_the_variance_component_of_an_analysis_of_variance():
    rows, numbers = documents(np.random.default_rng(1), 30, 8, 1.0)
    y = rows[:, 0].reshape(30, 8)
    within = y.var(axis=1, ddof=1).mean()
    tau2 = y.mean(axis=1).var(ddof=1) * 29 / stats.chi2.median(29) - within / 8
    assert of_ratios(rows, numbers).value == pytest.approx(PAIR * np.sqrt(tau2), rel=1e-6)


@pytest.mark.parametrize("groups", [8, 32, 128])
@pytest.mark.parametrize("each", [4, 40])
def test_the_median_spread_depends_neither_on_groups_nor_on_documents(groups, each):
    rng = np.random.default_rng(groups + each)
    spreads = [of_ratios(*documents(rng, groups, each, 0.8)) for _ in range(200)]
    assert np.median([s.value for s in spreads]) == pytest.approx(0.8 * PAIR, rel=0.08)
    held = np.mean([s.low <= 0.8 * PAIR <= s.high for s in spreads])
    assert held >= 0.91


def test_the_spread_of_pairs_is_their_quantile():
    """95 % of differences between two groups are smaller."""
    rng = np.random.default_rng(3)
    spread = of_ratios(*documents(rng, 400, 20, 1.5))
    assert np.mean(np.abs(rng.normal(0, 1.5, (20_000, 2)) @ [1, -1]) <= spread.value) == pytest.approx(0.95, abs=0.02)


def test_unequal_groups_and_lengths():
    """Rates of documents of any length, in groups of 1 to 30 documents."""
    rng, found = np.random.default_rng(4), []
    for _ in range(100):
        sizes = rng.integers(1, 31, 60)
        numbers = np.repeat(np.arange(60), sizes)
        w = rng.integers(50, 400, len(numbers)).astype(float)
        rate = 3 + rng.normal(0, 0.5, 60)[numbers] + rng.normal(0, 1, len(numbers))
        found.append(of_ratios(np.column_stack([rate * w, w]), numbers))
    assert np.median([s.value for s in found]) == pytest.approx(0.5 * PAIR, rel=0.05)
    assert np.mean([s.low <= 0.5 * PAIR <= s.high for s in found]) >= 0.91


def test_logarithms_of_ratios():
    rng, found = np.random.default_rng(5), []
    for _ in range(60):
        numbers = np.repeat(np.arange(80), 20)
        x = np.exp(rng.normal(0, 0.4, 80))[numbers] * rng.gamma(4, 0.25, 1600)
        found.append(of_ratios(np.column_stack([x, np.ones(1600)]), numbers, log=True).value)
    assert np.median(found) == pytest.approx(0.4 * PAIR, rel=0.07)


@pytest.mark.parametrize("groups", [8, 64])
def test_few_skewed_groups_have_the_spread_of_many(groups):
    """Logarithms of rates with exponential effects, whose rates have a heavy tail."""
    rng, found = np.random.default_rng(groups), []
    for _ in range(200):
        numbers = np.repeat(np.arange(groups), 10)
        x = rng.poisson(12 * np.exp(0.3 * rng.exponential(size=groups)[numbers] + rng.normal(0, 0.3, 10 * groups)))
        found.append(of_ratios(np.column_stack([x, np.full(10 * groups, 100.0)]), numbers, log=True).value)
    # the median is low by an eighth for eight groups
    assert 0.84 < np.median(found) / (0.3 * PAIR) < 1.06


def test_one_group_with_little_to_count_leaves_all_on_the_scale_of_rates():
    rng = np.random.default_rng(8)
    numbers = np.repeat(np.arange(20), 10)
    rows = np.column_stack([rng.poisson(20 * np.exp(rng.normal(0, 0.3, 20))[numbers]), np.full(200, 100.0)])
    logs = of_ratios(rows, numbers, log=True)
    rare = rows.copy()
    rare[numbers == 0, 0] = 0
    rare[0, 0] = 1  # its logarithm is known to within its whole size
    assert abs(logs.value / (0.3 * PAIR) - 1) < 0.5
    assert of_ratios(rare, numbers, log=True).value < 1.5 * logs.value


def test_groups_that_do_not_differ_have_no_spread():
    rng = np.random.default_rng(6)
    found = [of_ratios(*documents(rng, 20, 10, 0.0)) for _ in range(200)]
    zero = np.mean([s.value == 0 for s in found])
    assert zero == pytest.approx(0.5, abs=0.1)  # the estimate of τ² is 0 or below in half of all cases
    assert np.mean([s.high < 0.45 * PAIR for s in found]) > 0.5


def test_groups_of_one_document_say_nothing():
    rows, _ = documents(np.random.default_rng(7), 20, 1, 1.0)
    assert of_ratios(rows, np.arange(20)) is None


def halves_of(rows, numbers, seed):
    halves = Halves.of(numbers, 8, [seed])

    def sums(split):
        kept = halves.parts[split] >= 0
        total = np.zeros((2 * len(halves.groups), rows.shape[1]))
        np.add.at(total, halves.parts[split][kept], rows[kept])
        return total

    return halves, sums


def test_halves_are_of_equal_size_and_disjoint():
    numbers = np.repeat(np.arange(20), np.arange(1, 21))
    halves, sums = halves_of(np.ones((len(numbers), 1)), numbers, 0)
    assert halves.documents == 5  # half of 20 groups have ten documents or more
    assert len(halves.groups) == 11
    for split in range(len(halves.parts)):
        assert (sums(split) == 5).all()
        kept = halves.parts[split] >= 0
        assert set(halves.groups[halves.parts[split][kept] // 2]) == set(numbers[kept]) == set(halves.groups)
        assert (halves.groups[halves.parts[split][kept] // 2] == numbers[kept]).all()
    assert Halves.of(np.repeat(np.arange(7), 9), 8, [0]) is None
    assert Halves.of(np.arange(30), 8, [0]) is None


@pytest.mark.parametrize(
    ("function", "each"), [(kolmogorov_smirnov, 20), (kolmogorov_smirnov, 60), (total_variation, 12)]
)
def test_distances_between_groups_without_chance(function, each):
    """The 95 % quantile of distances of groups with whole shares, from samples of a few documents."""
    columns, concentration = (30, 40) if function is kolmogorov_smirnov else (400, 400)
    words = 1 if function is kolmogorov_smirnov else 200
    middle = np.full(columns, 1 / columns)
    rng, found = np.random.default_rng(9), []
    truth = np.quantile(function(*(rng.dirichlet(concentration * middle, 4000) for _ in range(2))), 0.95)
    for seed in range(12):
        numbers = np.repeat(np.arange(32), each)
        rows = rng.multinomial(words, rng.dirichlet(concentration * middle, 32)[numbers]).astype(float)
        halves, sums = halves_of(rows, numbers, seed)
        tables = [sums(i) for i in range(len(halves.parts))]
        spread = of_distances(
            lambda i, a, b, t=tables: function(t[i][a], t[i][b]), len(halves.groups), "linear", [seed]
        )
        found.append(spread)
        assert spread.low < spread.value < spread.high
    assert np.median([s.value for s in found]) == pytest.approx(truth, rel=0.12)
    assert sum(s.low <= truth <= s.high for s in found) >= 10


def test_values_of_halves():
    rng, found = np.random.default_rng(10), []
    for _ in range(100):
        groups = rng.normal(0, 1.0, 40)
        found.append(of_values(groups[None, :, None] + rng.normal(0, 0.8, (1, 40, 2))).value)
    assert np.median(found) == pytest.approx(PAIR, rel=0.06)


def test_every_group_is_compared_as_often():
    for k in (8, 28, 29, 100, 257):
        one, other = circulant(k)
        times = np.bincount(np.concatenate([one, other]), minlength=k)
        assert (times == times[0]).all()
        assert (one != other).all()
        assert len(set(map(frozenset, zip(one.tolist(), other.tolist(), strict=True)))) == len(one)


@pytest.mark.parametrize("gap", [-1.0, 1.0])
@pytest.mark.parametrize("groups", [8, 30])
def test_the_interval_of_a_ratio_holds_at_its_end_of_the_band(gap, groups):
    """|δ|/band, where the same groups give the mean that δ is counted from and the band."""
    rng, wrong = np.random.default_rng(groups), []
    for _ in range(600):
        x = rng.normal(size=groups)
        spread = between(x, np.zeros(groups), 1e9)
        effect, error = gap * PAIR - x.mean(), x.std(ddof=1) / np.sqrt(groups)
        reach = stats.t.ppf(0.975, groups - 1) * error
        size = abs(effect), max(abs(effect) - reach, 0.0), abs(effect) + reach
        correlation = -spread.correlation * np.sign(effect)
        low, high = ratio_interval(size, (spread.value, spread.low, spread.high), correlation)
        wrong.append((low > 1, high <= 1))
    assert (np.mean(wrong, axis=0) <= 0.04).all()


def test_an_interval_of_a_ratio_is_that_of_the_size_where_the_band_is_known():
    assert ratio_interval((0.6, 0.2, 1.0), (2.0, 2.0, 2.0)) == pytest.approx((0.1, 0.5))
    assert ratio_interval((0.1, 0.0, 0.4), (2.0, 1.0, 3.0))[0] == 0
    wide = ratio_interval((0.6, 0.2, 1.0), (2.0, 1.0, 4.0))
    assert wide[0] < 0.1 < 0.5 < wide[1]
    assert ratio_interval((0.6, 0.2, 1.0), (2.0, 1.0, 4.0), -0.5)[0] < wide[0]
    assert ratio_interval((0.6, 0.2, 1.0), (2.0, 1.0, 4.0), 0.5) == wide, "an agreement of errors is not relied on"
