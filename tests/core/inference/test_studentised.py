"""Studentised differences against sums over single documents, for every design; agreement of p and interval; level."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from momus.critic import Statistic
from momus.critic.statistic import mean, perplexity
from momus.inference import Design, compare_rows
from momus.inference.samples import Samples, Tables
from momus.inference.studentised import Difference, Ratio, restored, transformed
from momus.inference.weights import all_labels, random_labels

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
PPL = Statistic("ppl", "x", "value", perplexity, scale="log", effect="log_ratio")


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


def one(statistic, a, b, **options):
    (result,) = compare_rows([statistic], {"x": a}, {"x": b}, threads=1, **options)
    return result


# Brute force: lists of documents (x, w, unit, stratum), each with the side that a labelling gives it


def sides_of(design, labels, strata, units):
    """Label, unit and stratum of each document under one labelling of the rows of a design."""
    n = design.n_real
    side, unit = [], []
    for i in range(n + design.n_generated):
        was_real = i < n
        number = int(units[0][i] if was_real else units[1][i - n])
        of_units = design.flips or design.kind == "clusters"
        row = i if not of_units else number if was_real else design.units[0] + number
        side.append(bool(labels[row]))
        unit.append(number if design.together or was_real else design.units[0] + number)
    return side, unit, [int(s) for s in np.concatenate(strata)]


def weighted(side, stratum, stratified):
    """Mantel–Haenszel weight of each document, from counts of the sides in its stratum."""
    if not stratified:
        return [1.0] * len(side)
    weights = []
    for s, k in zip(side, stratum, strict=True):
        r = sum(a and b == k for a, b in zip(side, stratum, strict=True))
        g = sum(not a and b == k for a, b in zip(side, stratum, strict=True))
        weights.append(2 * r * g / (r + g) / (r if s else g))
    return weights


def brute(design, labels, x, w):
    """Values of both sides, and the variance of their difference."""
    strata = design.numbers if design.strata is not None else (np.zeros(design.n_real), np.zeros(design.n_generated))
    side, unit, stratum = sides_of(design, labels, strata, design.unit_numbers)
    weights = weighted(side, stratum, design.strata is not None)
    documents = list(zip(side, unit, stratum, weights, x, w, strict=True))
    values, influences = {}, []
    for label in (True, False):
        mine = [d for d in documents if d[0] is label]
        total = sum(d[3] * d[5] for d in mine)
        values[label] = sum(d[3] * d[4] for d in mine) / total
        influences += [(*d, (d[4] - values[label] * d[5]) * d[3] / total) for d in mine]
    if design.kind == "bins" and design.groups is None:
        variance = 0.0
        for label in (True, False):
            for k in set(stratum):
                e = [d[-1] for d in influences if d[0] is label and d[2] == k]
                centre = sum(e) / len(e) if len(e) > 1 else 0.0
                variance += sum((v - centre) ** 2 for v in e) * len(e) / max(len(e) - 1, 1)
        return values, variance
    if design.together:
        by_unit = dict.fromkeys(unit, 0.0)
        for label, u, *_, e in influences:
            by_unit[u] += -e if label else e
        n = len(by_unit)
        return values, sum(e**2 for e in by_unit.values()) * n / (n - 1)
    variance = 0.0
    for label, n in ((True, design.units[0]), (False, design.units[1])):
        by_unit = {d[1]: [0.0, 0.0] for d in influences if d[0] is label}  # influence and weight
        for d in influences:
            if d[0] is label:
                by_unit[d[1]][0] += d[-1]
                by_unit[d[1]][1] += d[5]
        total = sum(weight for _, weight in by_unit.values())
        factors = [of_leverage(weight / total, n) if design.strata is None else 1 for _, weight in by_unit.values()]
        variance += sum(e**2 * c for (e, _), c in zip(by_unit.values(), factors, strict=True)) * n / (n - 1)
    return values, variance


def of_leverage(h, n):
    """(1 − 1/n)⁴/(1 − h)⁴ to second order around h = 1/n: 1 + 4d + 10d²."""
    d = (h - 1 / n) / (1 - 1 / n)
    return 1 + 4 * d + 10 * d**2


PROMPTS = np.array([0, 0, 1, 2, 2, 3, 4]), np.array([0, 1, 1, 1, 2, 3, 3, 4])
GROUPS = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 1, 2, 2, 2])
DESIGNS = {
    "documents": Design.documents(7, 8),
    "clusters": Design.clusters([0, 0, 1, 2, 2, 2, 3], [0, 0, 1, 1, 2, 2, 3, 4]),
    "pairs": Design.pairs(np.array([[0, 3], [1, 0], [2, 1], [4, 4], [5, 7], [6, 2]])),
    "prompts": Design.prompts(*PROMPTS),
    "prompts in groups": Design.prompts(*PROMPTS).grouped(*GROUPS),
    "bins": Design.bins(*PROMPTS),
    "bins with groups": Design.bins(np.arange(7) % 2, np.arange(8) % 2).grouped(
        np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 0, 0, 1, 1, 2, 2, 2])
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("ratio", [False, True], ids=["mean", "ratio of totals"])
def test_values_and_variances_are_those_of_single_documents(name, ratio):
    rng = np.random.default_rng(len(name))
    design = DESIGNS[name]
    tables = [np.column_stack([rng.normal(3, 1, n), rng.integers(1, 6, n) if ratio else np.ones(n)]) for n in (7, 8)]
    if design.rows is not None:
        tables = [t[rows] for t, rows in zip(tables, design.rows, strict=True)]
    difference = Ratio(Samples(Tables.of(*tables), design))
    x, w = np.concatenate(tables).T
    labels = random_labels(design, 5, 0, 24)
    if design.enumerable:
        labels = np.concatenate([all_labels(design)[:, :1], labels], axis=1)
    found = difference.under(labels)
    for k, column in enumerate(labels.T):
        values, variance = brute(design, column, x, w)
        assert found.real[k] == pytest.approx(values[True])
        assert found.generated[k] == pytest.approx(values[False])
        assert found.error[k] ** 2 == pytest.approx(variance)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_observed_difference_is_that_of_the_texts(name):
    rng = np.random.default_rng(3)
    design, a, b = DESIGNS[name], rng.normal(size=7), rng.normal(1, 2, size=8)
    result = one(MEAN, ones(a), ones(b), design=design, permutations=99)
    rows = design.rows or (np.arange(7), np.arange(8))
    means = [np.average(v[r], weights=w) for v, r, w in zip((a, b), rows, design.weights, strict=True)]
    assert (result.real_value, result.generated_value) == pytest.approx(tuple(means))
    assert result.difference == pytest.approx(means[1] - means[0])
    assert (result.n_real, result.n_generated) == (design.n_real, design.n_generated)
    assert (result.method.units_real, result.method.units_generated) == design.units


def test_the_error_of_means_is_that_of_welch_and_its_freedom_too():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=9), rng.normal(2, 3, size=14)
    result = one(MEAN, ones(a), ones(b), permutations=99)
    welch = stats.ttest_ind(b, a, equal_var=False)
    assert result.difference / result.standard_error == pytest.approx(welch.statistic)
    assert result.freedom == pytest.approx(welch.df)
    paired = one(MEAN, ones(a), ones(b[:9]), design=Design.pairs(np.column_stack([np.arange(9)] * 2)))
    test = stats.ttest_rel(b[:9], a)
    assert paired.difference / paired.standard_error == pytest.approx(test.statistic)
    assert paired.freedom == test.df


# Mantel–Haenszel


def test_prompts_with_more_documents_do_not_bias_the_difference():
    """Prompts of high value have five generations and the others one: the plain difference of means is 1, not 0."""
    value = np.array([3.0, 3, 3, 0, 0, 0])
    owners = np.repeat(np.arange(6), np.where(value > 0, 5, 1))
    a, b = value, value[owners]
    assert b.mean() - a.mean() == pytest.approx(1.0)
    result = one(MEAN, ones(a), ones(b), design=Design.prompts(np.arange(6), owners), permutations=99)
    assert result.difference == pytest.approx(0.0, abs=1e-12)
    assert result.p == 1.0


def test_a_difference_within_prompts_by_hand():
    """Weights 2rg/(r + g): prompt 0 has 1 + 3 documents, 3/2; prompt 1 has 2 + 1, 4/3."""
    real, generated = np.array([1.0, 4.0, 6.0]), np.array([2.0, 3.0, 7.0, 6.5])
    design = Design.prompts([0, 1, 1], [0, 0, 0, 1])
    result = one(MEAN, ones(real), ones(generated), design=design, permutations=99)
    by_prompt, weights = np.array([4.0 - 1.0, 6.5 - 5.0]), np.array([3 / 2, 4 / 3])
    assert result.difference == pytest.approx(weights @ by_prompt / weights.sum())


# p and interval


@st.composite
def samples(draw):
    """Two samples with ties, constants or normal values, and a design."""
    n, m = draw(st.integers(2, 40)), draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["normal", "few values", "constant", "two constants", "offset"]))
    shift, scale = draw(st.sampled_from([0.0, 0.4, 1.0, 3.0])), draw(st.sampled_from([1e-3, 1.0, 1e4]))
    a, b = rng.normal(size=n), rng.normal(shift, draw(st.sampled_from([0.3, 1.0, 3.0])), size=m)
    if kind == "few values":
        a, b = np.round(a), np.round(b)
    elif kind.endswith("constant") or kind == "two constants":
        a, b = np.full(n, 0.1), np.full(m, 0.3 if kind == "two constants" else 0.1)
    elif kind == "offset":
        a, b = a + 1e4, b + 1e4
    design = draw(st.sampled_from(["documents", "clusters", "pairs", "prompts", "grouped prompts", "bins"]))
    if design == "documents":
        return a * scale, b * scale, Design.documents(n, m)
    if design == "clusters":
        return a * scale, b * scale, Design.clusters(rng.integers(0, 1 + n // 2, n), rng.integers(0, 1 + m // 2, m))
    if design == "pairs":
        k = min(n, m)
        return a * scale, b * scale, Design.pairs(np.column_stack([np.arange(k), rng.permutation(k)]))
    codes = [np.concatenate([[0, 1], rng.integers(0, 2 + k // 2, k - 2)]) for k in (n, m)]
    if design == "bins":
        return a * scale, b * scale, Design.bins(*codes)
    prompts = Design.prompts(*codes)
    return a * scale, b * scale, prompts if design == "prompts" else prompts.grouped(*(c // 2 for c in codes))


def test_an_interval_without_one_of_its_bounds_has_none():
    """Skewed values reach farther on one side, where a few documents say too little of the standard deviation."""
    a = [1.26, -1.32, 6.4, 1.05, -5.36, 3.62, 13.0, 9.47, -7.04, -12.7, -6.23, 0.41, -23.3, -2.19]
    b = [-3.74, -2.2, -1.63, -0.95, 1.23]
    result = one(MEAN, ones(np.array(a)), ones(np.array(b)), permutations=99)
    assert None not in (result.low, result.high)
    assert {result.effect_low, result.effect_high} == {None}


@settings(max_examples=150)
@given(samples(), st.sampled_from([99, 199, 999]), st.booleans())
def test_p_and_interval_never_disagree(drawn, permutations, ratio):
    a, b, design = drawn
    statistic = MEAN
    if ratio:  # totals over 1 to 3 steps, on the log scale
        statistic = PPL
        a, b = (np.column_stack([v / (1e-9 + np.abs(v).max()), 1.0 + np.arange(len(v)) % 3]) for v in (a, b))
    else:
        a, b = ones(a), ones(b)
    result = one(statistic, a, b, design=design, permutations=permutations)
    for low, high, level in (
        (result.low, result.high, 0.05),
        (result.effect_low, result.effect_high, 0.05),
        (result.equivalence_low, result.equivalence_high, 0.10),
    ):
        if low is None:
            continue
        assert (result.p <= level) == (not low <= 0 <= high), (low, high)
        assert low <= high
    if result.effect_low is not None:
        slack = 1e-12 * (abs(result.effect_low) + abs(result.effect_high))  # where both reach equally far
        assert result.effect_low - slack <= result.equivalence_low
        assert result.equivalence_low <= result.equivalence_high <= result.effect_high + slack
    assert result.p is None or result.p >= result.method.floor * (1 - 1e-12)


def test_a_relabelling_and_its_opposite_are_as_extreme():
    """Pairs of 10,000 that differ by 1e-4: sums of squares leave 7 digits of the standard error, or fewer."""
    for seed in (366, 871, 2619, 762, 720, 995):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 6))
        scale, spread = rng.choice([1e-3, 1.0, 1e4]), (0.3, 1e-3)
        a = rng.normal(size=k) * rng.choice(spread) + 1e4
        b = rng.normal(rng.choice([0, 0.4, 1, 3.0]), rng.choice([0.3, 1, 3]), size=k) + 1e4
        a, b = (np.column_stack([v / (1e-9 + np.abs(v).max()), 1.0 + np.arange(k) % 3]) for v in (a * scale, b * scale))
        result = one(PPL, a, b, design=Design.pairs(np.column_stack([np.arange(k)] * 2)), permutations=99)
        assert result.method.exact
        assert result.p >= result.method.floor, seed
        opposites = result.p * result.method.permutations / 2
        assert opposites == round(opposites), "relabellings come in pairs that are as extreme"


def test_equal_constants_do_not_differ_and_unequal_ones_do():
    """0.1 and 0.3 have no exact binary value: their variances are rounding."""
    for n, m in ((5, 5), (6, 9), (30, 40)):
        same, apart = (one(MEAN, ones(np.full(n, 0.1)), ones(np.full(m, v)), permutations=999) for v in (0.1, 0.3))
        assert (same.method.test, same.difference) == ("none", 0.0)
        assert same.p is None, "there is nothing to test"
        assert apart.p == pytest.approx(max(0.8 ** min(n, m), apart.method.floor)), "so many miss what 1 in 5 has"
        assert apart.low is None, "nothing bounds values that were not seen"
        assert (apart.method.zero_variance, apart.difference) == ("none", pytest.approx(0.2))
        bound = math.sqrt(n + m) * (1 - 3 / (4 * (n + m - 2) - 1))
        assert apart.effect == pytest.approx(bound), "as if one document lay on the other side"
    two = one(MEAN, ones(np.full(2, 0.1)), ones(np.full(2, 0.3)))
    assert two.p == pytest.approx(0.8**2), "of six labellings 1 in 3, but 2 documents miss what 1 in 5 has"
    assert two.low is None, "nothing is known of the spread"


def test_equal_pairs_do_not_differ():
    x = 100 * np.random.default_rng(0).normal(size=6)
    result = one(MEAN, ones(x), ones(x), design=Design.pairs(np.column_stack([np.arange(6)] * 2)))
    assert (result.p, result.low, result.high, result.effect) == (1.0, 0.0, 0.0, 0.0)


def test_t_without_a_spread():
    zero = np.zeros(3)
    difference = Difference(zero, np.array([0.0, 1.0, -1.0]), zero, zero)
    assert difference.t.tolist() == [0.0, math.inf, -math.inf]


# Level


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(50, 200), (20, 20)])
def test_equal_means_of_unequal_variance_are_rejected_at_the_level(sizes):
    """400 samples, the smaller with twice the spread; without studentising, 17 % of 50 and 200 were rejected."""
    rng = np.random.default_rng(0)
    p = [
        one(MEAN, ones(rng.normal(0, 2, sizes[0])), ones(rng.normal(0, 1, sizes[1])), permutations=199, seed=k).p
        for k in range(400)
    ]
    assert 0.03 <= np.mean(np.array(p) <= 0.05) <= 0.08


@pytest.mark.parametrize("sizes", [(200, 50), (50, 50)])
def test_equal_ratios_of_unequal_lengths_are_rejected_at_the_level(sizes):
    """The lengths of one side are log-normal with σ = 1.5; by plain residuals, 10 % of 200 and 50 were rejected.

    Plain standard errors of 50 and 50 are 0.86 of the true one.
    """
    rng = np.random.default_rng(0)
    p, differences, errors = [], [], []
    for k in range(300):
        sides = []
        for n, sigma in zip(sizes, (0.3, 1.5), strict=True):
            lengths = np.round(100 * np.exp(sigma * rng.normal(size=n))) + 1
            sides.append(np.column_stack([lengths * (3 + 0.3 * rng.normal(size=n)), lengths]))
        p.append(one(PPL, *sides, permutations=199, seed=k).p)
        observed = Ratio(Samples(Tables.of(*sides), Design.documents(*sizes))).observed
        differences.append(observed.value[0])
        errors.append(observed.error[0])
    assert 0.025 <= np.mean(np.array(p) <= 0.05) <= 0.085
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(differences), rel=0.25)
    assert np.sqrt(np.mean(np.square(errors))) > 0.95 * np.std(differences)


def test_equal_lengths_have_the_plain_variance():
    rng = np.random.default_rng(0)
    a, b = (np.column_stack([rng.normal(size=n), np.full(n, 7.0)]) for n in (6, 9))
    found = Ratio(Samples(Tables.of(a, b), Design.documents(6, 9))).observed
    assert found.error[0] ** 2 == pytest.approx(sum(np.var(x[:, 0], ddof=1) / len(x) for x in (a, b)) / 49)


@pytest.mark.parametrize("runs", [120, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["prompts", "bins", "bins with groups", "prompts in groups", "clusters"])
def test_one_source_is_rejected_at_the_level_in_every_design(name, runs):
    """Samples whose prompts, bins or groups differ, so that documents are not independent."""
    rng = np.random.default_rng(1)
    prompts = [np.repeat(np.arange(24), 2), np.repeat(np.arange(24), 1 + np.arange(24) % 3)]
    groups = [p // 3 for p in prompts]
    design = {
        "prompts": Design.prompts(*prompts),
        "bins": Design.bins(*prompts),
        "prompts in groups": Design.prompts(*prompts).grouped(*groups),
        "bins with groups": Design.bins(*(np.arange(48) % 2 for _ in prompts)).grouped(*groups),
        "clusters": Design.clusters(*groups),
    }[name]
    alarms = 0
    for k in range(runs):
        of_prompt = rng.normal(0, 2, size=(2, 24))
        if name in ("prompts", "bins"):  # both texts answer the same prompts
            of_prompt[1] = of_prompt[0]
        if name == "prompts in groups":  # the difference between the texts varies by group, around 0
            of_prompt[1] = of_prompt[0] + np.repeat(rng.normal(size=8), 3)
        if name in ("clusters", "bins with groups"):
            of_prompt = np.repeat(rng.normal(0, 2, size=(2, 8)), 3, axis=1)
        a, b = (e[p] + rng.normal(size=len(p)) for e, p in zip(of_prompt, prompts, strict=True))
        alarms += one(MEAN, ones(a), ones(b), design=design, permutations=199, seed=k).p <= 0.05
    assert stats.binomtest(int(alarms), runs, 0.05).pvalue > 0.001, alarms


def test_means_on_the_log_scale_have_their_error_there():
    """Two means that differ by a factor of ten: the interval is that of the log ratio, by the delta method."""
    rng = np.random.default_rng(5)
    real, generated = rng.gamma(4.0, 0.25, 400), rng.gamma(4.0, 2.5, 400)
    s = Statistic("m", "x", "value", mean, scale="log", effect="log_ratio")
    found = one(s, ones(real), ones(generated), permutations=499)
    error = math.sqrt(sum(x.var(ddof=1) / len(x) / x.mean() ** 2 for x in (real, generated)))
    effect = math.log(generated.mean() / real.mean())
    assert found.effect == pytest.approx(effect)
    half = stats.t.ppf(0.975, 798) * error
    assert (found.effect_low, found.effect_high) == pytest.approx((effect - half, effect + half), rel=2e-3)
    assert 0 < found.low < found.difference < found.high < 2 * found.difference


def test_the_transform_is_monotone_and_has_an_inverse():
    t = np.linspace(-9, 9, 400)
    for skewness in (-1.0, -0.3, 1e-9, 0.4, 1.0):
        g = transformed(t, np.full(400, skewness))
        assert (np.diff(g) >= 0).all()
        assert restored(g, skewness) == pytest.approx(t, abs=1e-5)


def test_the_skewness_of_a_difference_is_that_of_both_means():
    rng = np.random.default_rng(0)
    a, b = rng.exponential(size=20), rng.normal(size=50)
    observed = Ratio(Samples(Tables.of(3 * ones(a), 3 * ones(b)), Design.documents(20, 50))).observed
    cumulant = stats.kstat(b, 3) / 50**2 - stats.kstat(a, 3) / 20**2
    error = np.sqrt(a.var(ddof=1) / 20 + b.var(ddof=1) / 50)
    assert observed.skewness[0] == pytest.approx(cumulant / error**3)
    assert observed.t[0] == pytest.approx(transformed(np.array([(b.mean() - a.mean()) / error]), observed.skewness)[0])


def test_means_of_as_many_documents_are_not_transformed():
    rows = ones(np.random.default_rng(0).exponential(size=(20)))
    assert Ratio(Samples(Tables.of(rows, rows), Design.documents(20, 20))).observed.skewness is None


@pytest.mark.slow
def test_equal_means_of_other_shapes_are_rejected_less_often_than_by_t():
    """Log-normal 40 and normal 200 with mean 1: T alone rejects 5 % at level 1 %."""
    rng = np.random.default_rng(3)
    plain, used = [], []
    for k in range(300):
        a, b = np.exp(rng.normal(size=40) - 0.5), 1 + rng.normal(size=200)
        used.append(one(MEAN, ones(a), ones(b), permutations=399, seed=k).p)
        plain.append(stats.ttest_ind(a, b, equal_var=False).pvalue)
    rates = [np.mean(np.array(p) <= 0.01) for p in (plain, used)]
    assert rates[0] > 0.04
    assert rates[1] < 0.75 * rates[0]


def test_constant_values_of_unequal_groups_are_as_extreme_in_opposite_relabellings():
    """The sums of groups of one document, as those of all less those of larger groups, lose all digits."""
    for scale, numbers in ((1.0, ([0, 1, 1], [0, 1, 0, 1, 0])), (1e-3, ([0, 1], [1, 0, 0, 0, 0, 1]))):
        a, b = (np.full(len(n), x * scale) for n, x in zip(numbers, (0.1, 0.3), strict=True))
        result = one(MEAN, ones(a), ones(b), design=Design.clusters(*map(np.array, numbers)), permutations=99)
        assert result.method.exact
        assert result.p == pytest.approx(max(1 / 3, 0.8 ** min(len(set(n)) for n in numbers)))
