"""Tests and intervals against enumeration, SciPy, and simulation."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse, stats

from momus.critic import Critic, LogPrior, Statistic, Values
from momus.critic.scores import Scores
from momus.critic.statistic import (
    entropy,
    jensen_shannon,
    kolmogorov_smirnov,
    mean,
    mean_gap,
    perplexity,
    supremum,
    total_variation,
)
from momus.inference import Design, axis_test, benjamini_hochberg, compare_rows, design_of, holm
from momus.inference.weights import multiplicities, random_labels
from momus.verdicts.judge import judge

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
TVD = Statistic("tvd", "x", "distance", total_variation)


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


def one(statistic, a, b, **options):
    (found,) = compare_rows([statistic], {"x": a}, {"x": b}, **options)
    return found


def welch(x, y):
    return (x.mean() - y.mean()) / np.sqrt(x.var(ddof=1) / len(x) + y.var(ddof=1) / len(y))


def test_exact_p_equals_enumeration_and_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=5), rng.normal(1, 1, size=4)
    found = one(MEAN, ones(a), ones(b))
    every = np.concatenate([a, b])
    t = []
    for rows in combinations(range(9), 5):
        chosen = np.isin(np.arange(9), rows)
        t.append(abs(welch(every[~chosen], every[chosen])))
    assert found.p == pytest.approx(np.mean(np.array(t) >= abs(welch(b, a)) - 1e-9))
    assert found.method.exact
    assert found.method.studentised
    # of equal sizes, SciPy's two-sided p is the same
    same_sizes = one(MEAN, ones(a[:4]), ones(b))
    assert same_sizes.p == pytest.approx(stats.permutation_test((b, a[:4]), welch, n_resamples=np.inf).pvalue)


def test_exact_paired_p_equals_enumeration_and_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=8), rng.normal(0.8, 1, size=8)
    found = one(MEAN, ones(a), ones(b), design=Design.pairs(np.column_stack([np.arange(8), np.arange(8)])))
    # of paired differences, t and their mean order all changes of sign alike
    signs = np.array(list(product((1, -1), repeat=8)))
    expected = np.mean(np.abs(signs @ (b - a)) >= abs((b - a).sum()) - 1e-9)
    assert found.p == pytest.approx(expected)
    result = stats.permutation_test((b - a,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.p == pytest.approx(result.pvalue)
    assert (found.method.design, found.method.units_real, found.method.permutations) == ("pairs", 8, 256)


def test_exact_enumeration_over_more_than_one_chunk():
    a, b = np.array([0.0, 1, 2, 3, 4, 5.5]), np.arange(6.0) + 2.5
    found = one(MEAN, ones(a), ones(b))
    assert found.method.permutations == 924
    assert found.p == pytest.approx(stats.permutation_test((b, a), welch, n_resamples=np.inf).pvalue)


def test_other_values_are_tested_by_the_plain_difference():
    """A statistic without a formula for its error: the larger p of a permutation test and a t-test."""
    rng = np.random.default_rng(2)
    a, b = rng.poisson(3, (5, 4)).astype(float), rng.poisson([1, 1, 5, 5], (4, 4)).astype(float)
    found = one(Statistic("entropy", "x", "value", entropy), a, b)
    every, differences = np.concatenate([a, b]), []
    for rows in combinations(range(9), 5):
        chosen = np.isin(np.arange(9), rows)
        differences.append(stats.entropy(every[~chosen].sum(axis=0)) - stats.entropy(every[chosen].sum(axis=0)))
    difference, centre = stats.entropy(b.sum(axis=0)) - stats.entropy(a.sum(axis=0)), np.mean(differences)
    exact = np.mean(np.abs(np.array(differences) - centre) >= abs(difference - centre) - 1e-9)
    t_test = 2 * stats.t.sf(abs(difference) / found.standard_error, found.freedom)
    assert found.difference == pytest.approx(difference)
    assert found.p == pytest.approx(max(exact, t_test))
    assert not found.method.studentised


def test_random_p_is_close_to_the_exact_one():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=9), rng.normal(1.4, 1, size=9)
    exact = one(MEAN, ones(a), ones(b), permutations=60_000)
    drawn = one(MEAN, ones(a), ones(b), permutations=20_000)
    assert exact.method.exact
    assert (drawn.method.exact, drawn.method.permutations) == (False, 20_000), "p is too small to stop early"
    assert abs(exact.p - drawn.p) < 5 * np.sqrt(exact.p / 20_000)


def test_distances_equal_scipy():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 9, 40), rng.integers(2, 12, 25)
    p, q = (np.bincount(v, minlength=12)[None].astype(float) for v in (x, y))
    assert kolmogorov_smirnov(p, q)[0] == pytest.approx(stats.ks_2samp(x, y).statistic)
    u, v = p[0] / 40, q[0] / 25
    assert total_variation(p, q)[0] == pytest.approx(np.abs(u - v).sum() / 2)
    assert supremum(p, q)[0] == pytest.approx(np.abs(u - v).max())
    middle = (u + v) / 2
    js = (stats.entropy(u, middle) + stats.entropy(v, middle)) / 2
    assert jensen_shannon(p, q)[0] == pytest.approx(js)
    assert entropy(p)[0] == pytest.approx(stats.entropy(u))


@pytest.mark.parametrize("sizes", [(400, 300), (40, 30)])
def test_intervals_of_means_are_nearly_those_of_welch(sizes):
    """The interval inverts the test, whose critical value comes near to that of Student's t."""
    rng = np.random.default_rng(4)
    a, b = rng.exponential(size=sizes[0]), rng.exponential(2, size=sizes[1])
    found = one(MEAN, ones(a), ones(b), permutations=9999)
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    centre, half = (found.high + found.low) / 2, (found.high - found.low) / 2
    assert centre == pytest.approx(b.mean() - a.mean())
    assert half == pytest.approx((expected.high - expected.low) / 2, rel=0.03 if min(sizes) > 100 else 0.08)


def test_perplexity_is_a_ratio_of_totals_with_an_effect_on_the_log_scale():
    a, b = np.array([[2.0, 2], [6.0, 3]]), np.array([[9.0, 3], [4.0, 2]])
    found = one(Statistic("ppl", "x", "value", perplexity, scale="log", effect="log_ratio"), a, b)
    assert found.real_value == pytest.approx(np.exp(8 / 5))
    assert found.generated_value == pytest.approx(np.exp(13 / 5))
    assert found.effect == pytest.approx(1.0)


def test_hedges_g_is_the_textbook_value():
    a, b = np.array([1.0, 2, 3, 4]), np.array([3.0, 4, 5, 9, 2])
    found = one(MEAN, ones(a), ones(b))
    pooled = np.sqrt((3 * a.var(ddof=1) + 4 * b.var(ddof=1)) / 7)
    assert found.effect == pytest.approx((b.mean() - a.mean()) / pooled * (1 - 3 / 27))


def test_one_source_is_rejected_at_the_level_of_the_test():
    """500 null samples at 5 %: more than 45 or fewer than 9 rejections have probability below 1e-4 together."""
    rng = np.random.default_rng(5)
    p = [
        one(MEAN, ones(rng.exponential(size=9)), ones(rng.exponential(size=14)), permutations=199, seed=i).p
        for i in range(500)
    ]
    assert 9 <= sum(x <= 0.05 for x in p) <= 45


def test_intervals_cover_the_known_difference():
    """300 samples of 95 % intervals, n = 40 and 60: between 88 % and 99 % cover."""
    rng = np.random.default_rng(6)
    covered = 0
    for i in range(300):
        found = one(MEAN, ones(rng.normal(size=40)), ones(rng.normal(0.5, 2, size=60)), permutations=199, seed=i)
        covered += found.low <= 0.5 <= found.high
    assert 0.88 <= covered / 300 <= 0.99


def test_sparse_rows_equal_dense_ones_whatever_the_threads():
    rng = np.random.default_rng(7)
    a, b = rng.poisson(0.3, (30, 90)).astype(float), rng.poisson(0.4, (25, 90)).astype(float)
    options = {"permutations": 150, "resamples": 150}
    found = [
        one(TVD, a, b, **options, threads=1),
        one(TVD, sparse.csr_array(a), sparse.csr_array(b), **options, threads=1),
        one(TVD, sparse.csr_array(a), sparse.csr_array(b), **options, threads=3),
    ]
    for other in found[1:]:
        assert other.p == found[0].p
        assert other.low == pytest.approx(found[0].low)
    assert one(TVD, a, b, **options, seed=1).p != found[0].p


def test_distances_are_those_of_the_populations():
    rng = np.random.default_rng(8)
    same = [
        one(
            TVD,
            rng.multinomial(50, np.ones(20) / 20, 30).astype(float),
            rng.multinomial(50, np.ones(20) / 20, 30).astype(float),
            permutations=199,
        )
        for _ in range(60)
    ]
    assert 0 <= np.mean([f.difference for f in same]) < 0.015, "cross-fitted, and no lower than 0"
    assert min(f.generated_value for f in same) > 0
    assert np.mean([f.low == 0 for f in same]) > 0.85, "the distance of the populations is 0"
    assert all((f.low > 0) == (f.p <= 0.05) for f in same)
    assert all(f.effect == f.difference for f in same)
    assert all(f.low <= f.difference < f.high for f in same)
    assert all(f.low < f.difference for f in same if f.p <= 0.05)


@pytest.mark.slow
def test_intervals_of_distances_cover_the_distance_of_the_populations():
    """200 samples of 60 documents of 50 words from two texts with a total variation of 0.1, and from one text."""
    rng = np.random.default_rng(9)
    shares = np.full(20, 0.05)
    shifted = shares + np.where(np.arange(20) < 10, 0.01, -0.01)
    for other, truth in ((shifted, 0.1), (shares, 0.0)):
        covered, above = 0, 0
        for k in range(200):
            sides = [rng.multinomial(50, p, 60).astype(float) for p in (shares, other)]
            found = one(TVD, *sides, permutations=199, seed=k, threads=1)
            covered += found.low <= truth <= found.high
            above += found.low > truth
        assert covered / 200 > 0.92
        assert above / 200 < 0.08


def test_clusters_are_relabelled_whole():
    a = np.array([1.0, 1, 1, 5, 5, 5])
    b = a + 10
    clusters = np.array([0, 0, 0, 1, 1, 1])
    loose = one(MEAN, ones(a), ones(b))
    whole = one(MEAN, ones(a), ones(b), design=Design.clusters(clusters, clusters))
    assert (whole.n_real, whole.method.units_real) == (6, 2)
    assert whole.real_value == pytest.approx(3.0)
    assert loose.p < 0.01
    assert whole.p == pytest.approx(2 / 6)


def test_little_or_constant_data():
    single = one(MEAN, ones(np.array([1.0])), ones(np.array([1.0, 2, 3])))
    assert {single.low, single.standard_error} == {None}
    assert not single.method.studentised
    assert 0 < single.p <= 1
    constant = one(MEAN, ones(np.ones(5)), ones(np.ones(7)))
    assert {constant.p, constant.low, constant.effect} == {None}
    assert (constant.difference, constant.method.test) == (0.0, "none")
    assert constant.method.reason == "mean is 1 in every document of both texts; nothing to compare"
    with pytest.raises(ValueError, match="at least one document"):
        one(MEAN, ones(np.zeros(0)), ones(np.ones(3)))
    missing = one(MEAN, np.array([[1.0, 0.0]]), ones(np.ones(3)))
    assert (missing.method.lacks, missing.generated_value) == ("real", 1.0)
    assert {missing.p, missing.difference} == {None}


def test_multiplicity():
    p = [0.001, 0.02, 0.04, 0.5]
    assert holm(p) == pytest.approx([0.004, 0.06, 0.08, 0.5])
    assert benjamini_hochberg(p) == pytest.approx([0.004, 0.04, 0.04 * 4 / 3, 0.5])
    assert len(holm([])) == 0


@pytest.mark.slow
@pytest.mark.parametrize("runs", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_ordering_ties_gives_a_distance_of_few_values_its_level(runs):
    """KS of 20 and 20 moves in steps of 1/20: null samples at the 5 % level, without and with an order."""
    rng = np.random.default_rng(0)
    plain = Statistic("ks", "x", "distance", kolmogorov_smirnov)
    ordered = Statistic("ks", "x", "distance", kolmogorov_smirnov, ties=mean_gap)
    alarms = np.zeros(2)
    for _ in range(runs):
        rank = rng.permutation(40)
        rows = sparse.csr_array((np.ones(40), (np.arange(40), rank)), shape=(40, 40))
        sides = {"x": rows[:20]}, {"x": rows[20:]}
        alarms += [axis_test([s], *sides, permutations=199, seed=1)[0] <= 0.05 for s in (plain, ordered)]
    assert alarms[0] < alarms[1], "an order of ties only adds alarms"
    assert alarms[0] / runs < 0.042
    assert stats.binomtest(int(alarms[1]), runs, 0.05).pvalue > 0.01


def test_relabelling_within_prompts_is_exact():
    """Three prompts with 1 + 2, 2 + 1 and 1 + 1 documents: 3 · 3 · 2 labellings, all equally frequent."""
    design = Design.prompts(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2]))
    assert design.relabellings == 18
    drawn = [tuple(column) for column in random_labels(design, 0, 0, 9000).T.astype(int).tolist()]
    counts = Counter(drawn)
    assert len(counts) == 18
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4
    strata = np.array([0, 1, 1, 2, 0, 0, 1, 2])
    assert all(np.bincount(strata, weights=c).tolist() == [1, 2, 1] for c in counts)
    mine, theirs = multiplicities(design, 0, 0, 50)
    assert (mine[1] == mine[2]).all()
    assert (mine[0] == theirs[0]).all()
    assert (mine[3] == theirs[3]).all()


def test_prompts_with_one_document_per_side_are_pairs():
    rng = np.random.default_rng(3)
    a = rng.normal(size=30)
    b = a + rng.normal(0.3, 0.5, size=30)
    order = rng.permutation(30)
    pairs = one(MEAN, ones(a), ones(b), design=Design.pairs(np.column_stack([np.arange(30)] * 2)))
    prompts = one(MEAN, ones(a), ones(b[order]), design=Design.prompts(np.arange(30), order))
    assert prompts.difference == pytest.approx(pairs.difference)
    assert prompts.standard_error == pytest.approx(pairs.standard_error)
    assert (prompts.low, prompts.high) == pytest.approx((pairs.low, pairs.high), abs=0.02)
    assert prompts.p == pytest.approx(pairs.p, abs=0.01)
    assert (prompts.method.design, prompts.method.units_real) == ("prompts", 30)


class Plain(Critic[Values]):
    """A critic with no statistics of its own."""

    name = "plain"
    axis = "x"

    def fit(self, real):
        return self

    def project(self, batch):
        return Values(np.zeros(len(batch)))

    def log_prior(self, latents):
        return LogPrior.of_vectors(latents.values)


@pytest.mark.parametrize("runs", [120, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shared", [True, False])
def test_several_documents_of_a_prompt_keep_the_level(shared, runs):
    """Null samples of 20 prompts, 1 real and 3 generated documents each, whose prompts differ: level 5 %."""
    rng = np.random.default_rng(4)
    alarms = loose = 0
    for k in range(runs):
        prompt = rng.normal(size=40)
        owners = np.repeat(np.arange(20), 3)
        real = prompt[:20] if shared else prompt[20:]
        nll = [real + 0.5 * rng.normal(size=20), prompt[owners] + 0.5 * rng.normal(size=60)]
        names = [[f"{'' if shared else 'r'}{i}" for i in range(20)], [str(i) for i in owners]]
        sides = [
            Scores("c", "x", [str(i) for i in range(len(v))], n, v, np.ones(len(v), int), [None] * len(v))
            for v, n in zip(nll, names, strict=True)
        ]
        design = design_of(*(side.scored_prompts for side in sides))
        assert design.kind == ("prompts" if shared else "clusters")
        found = judge(Plain(), *sides, permutations=199, seed=k)
        alarms += found[0].p <= 0.05
        loose += one(MEAN, ones(nll[0]), ones(nll[1]), permutations=199, seed=k).p <= 0.05
    assert stats.binomtest(int(alarms), runs, 0.05).pvalue > 0.001
    assert shared or loose > 0.08 * runs, "what the level is without regard to prompts"


@pytest.mark.parametrize("runs", [120, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("design", ["unequal", "skewed", "paired", "within prompts"])
def test_intervals_cover_in_every_design(design, runs):
    """Of 95 % intervals; benchmarks/validity/coverage.py has 1,000 samples of the protocol's own statistics."""
    rng, inside = np.random.default_rng(5), 0
    for k in range(runs):
        options = {}
        if design == "unequal":
            a, b, true = rng.normal(size=25), rng.normal(1, 3, size=80), 1.0
        elif design == "skewed":
            a, b, true = rng.exponential(size=60), rng.exponential(1.25, size=60), 0.25
        else:
            prompt = rng.normal(0, 2, size=40)
            owners = np.arange(40) if design == "paired" else np.repeat(np.arange(40), 1 + np.arange(40) % 3)
            a, b, true = prompt + rng.normal(size=40), prompt[owners] + rng.normal(0.5, 1, size=len(owners)), 0.5
            if design == "paired":
                options["design"] = Design.pairs(np.column_stack([owners, owners]))
            else:
                options["design"] = Design.prompts(np.arange(40), owners)
        found = one(MEAN, ones(a), ones(b), permutations=199, seed=k, threads=1, **options)
        inside += found.low <= true <= found.high
    assert stats.binomtest(inside, runs, 0.95).pvalue > 0.005
