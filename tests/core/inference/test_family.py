"""One p for a family of statistics: its level in every design, its step-down p-values, and its order."""

import numpy as np
import pytest
from scipy import sparse, stats

from momus.critic.statistic import Statistic, kolmogorov_smirnov, mean, total_variation
from momus.inference import Design, compare_rows
from momus.inference.contrast import contrast_of
from momus.inference.matching import of_units
from momus.inference.multiplicity import HEADLINE, TAIL, family_test
from momus.inference.pvalues import Prepared
from momus.inference.samples import Samples, Tables
from momus.inference.weights import all_labels, coupled

MEAN = Statistic.ratio("mean", "x", "", ("lower", "higher"))
LOOPS = Statistic.value("loops", "loops", mean, "", ("fewer", "more"), format="share")
RATIO = Statistic("log", "ratio", "value", mean, scale="log", effect="log_ratio")
KS = Statistic("ks", "bins", "distance", kolmogorov_smirnov)
TVD = Statistic("tvd", "words", "distance", total_variation)
FAMILY = [MEAN, LOOPS, RATIO, KS, TVD]


def rows_of(z, rng):
    """Rows of documents with latent values z, (n,), which all statistics depend on."""
    n = len(z)
    words = rng.multinomial(30, np.full(80, 1 / 80), n).astype(float)
    bins = np.zeros((n, 12))
    bins[np.arange(n), np.clip(np.round(2 * z + 6), 0, 11).astype(int)] = 1
    return {
        "x": np.column_stack([z, np.ones(n)]),
        "loops": np.column_stack([(z > 1.6).astype(float), np.ones(n)]),
        "ratio": np.column_stack([np.exp(z / 3), rng.integers(1, 4, n)]),
        "bins": sparse.csr_array(bins),
        "words": sparse.csr_array(words),
    }


def clustered(rng, sizes, icc=0.3):
    """Latent values of documents in groups of these sizes."""
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    return numbers, np.sqrt(icc) * rng.normal(size=len(sizes))[numbers] + np.sqrt(1 - icc) * rng.normal(
        size=len(numbers)
    )


def sample(kind, rng):
    """Two texts of one source and their design."""
    if kind == "documents":
        return rng.normal(size=30), rng.normal(size=45), Design.documents(30, 45)
    if kind == "pairs":
        prompt = rng.normal(size=30)
        return (
            prompt + rng.normal(size=30),
            prompt + rng.normal(size=30),
            Design.pairs(np.column_stack([np.arange(30)] * 2)),
        )
    if kind == "prompts":
        prompt = rng.normal(size=20)
        one, other = np.repeat(np.arange(20), 2), np.arange(20)
        return prompt[one] + rng.normal(size=40), prompt + rng.normal(size=20), Design.prompts(one, other)
    sizes = {
        "clusters": ([3] * 15, [3] * 20),
        "uneven": (rng.integers(1, 5, 25).tolist(), [1] * 40),
    }[kind]
    (one, a), (other, b) = (clustered(rng, s) for s in sizes)
    return a, b, Design.clusters(one, other)


KINDS = ["documents", "pairs", "prompts", "clusters", "uneven"]


@pytest.mark.parametrize("runs", [50, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_axis_keeps_its_level_in_every_design(kind, runs):
    """Of pairs of texts of one source, p is at most .05 in at most as many as 5 % may give by chance."""
    alarms, agreeing = 0, 0
    for k in range(runs):
        rng = np.random.default_rng([3, KINDS.index(kind), k])
        a, b, design = sample(kind, rng)
        real, generated = rows_of(a, rng), rows_of(b, rng)
        options = {"permutations": 199, "resamples": 0, "early": (64,), "seed": k, "threads": 1}
        headline = FAMILY[k % 2].name  # of either share
        found = compare_rows(FAMILY, real, generated, design=design, axis=True, headline=headline, **options)
        alarms += found[0].p_axis <= 0.05
        tested = [r for r in found if r.p is not None]  # no document may have a latent value of loops
        agreeing += all(r.p_in_axis >= r.p and r.p_axis <= r.p_in_axis for r in tested)
        assert min(r.p_in_axis for r in tested) == found[0].p_axis
    assert stats.binom.sf(alarms - 1, runs, 0.05) > 0.001
    assert agreeing == runs


def test_step_down_p_values_are_those_of_all_relabellings():
    """Enumerated: min-P over ranks of three statistics, each compared with those no more extreme than itself."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=5), rng.normal(1.0, 1, 5)
    rows = [rows_of(z, rng) for z in (a, b)]
    design = Design.documents(5, 5)
    labels = all_labels(design)
    contrasts = [contrast_of(s, Samples(Tables.of(rows[0][s.rows], rows[1][s.rows]), design)) for s in (MEAN, KS, TVD)]
    nulls = [c.under(labels, Prepared(*c.samples.pooled(labels)) if c.needs_sums else None) for c in contrasts]
    size = [np.abs(nulls[0]), nulls[1], nulls[2]]
    observed = np.flatnonzero((labels[:5] == 1).all(axis=0))[0]
    # how many labellings have as large a contrast, (3, B)
    count = np.array([[(x >= v - 1e-9 * max(abs(v), 1e-3)).sum() for v in x] for x in size])
    found = family_test(contrasts, nulls, exact=True)
    order = np.argsort(count[:, observed], kind="stable")
    p, least = np.empty(3), 0.0
    for place, k in enumerate(order):
        rest = order[place:]
        below = count[rest].min(axis=0) < count[k, observed]
        equal = count[rest].min(axis=0) == count[k, observed]
        # ranks that are equal are ordered by strength, so p lies between these
        low, high = below.mean(), (below | equal).mean()
        least = max(least, low)
        p[k] = found.adjusted[k]
        assert least - 1e-12 <= p[k] <= max(high, p[order[: place + 1]].max()) + 1e-12
    assert found.extreme == round(found.adjusted.min() * labels.shape[1])


def test_a_difference_in_one_statistic_is_found_in_it_alone():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=60), rng.normal(size=60)
    real, generated = rows_of(a, rng), rows_of(b, rng)
    generated["loops"] = np.column_stack([np.arange(60) < 20, np.ones(60)]).astype(float)
    found = {r.statistic: r for r in compare_rows(FAMILY, real, generated, axis=True)}
    leading = found["loops"]
    assert leading.p_axis == leading.p_in_axis <= 0.001
    assert all(r.p_in_axis > 0.05 for r in found.values() if r is not leading)
    # statistics of the family have the same relabellings, so many as the axis needs
    assert len({r.method.permutations for r in found.values()}) == 1


def test_statistics_that_do_not_decide_have_no_part_in_the_family():
    rng = np.random.default_rng(2)
    real, generated = rows_of(rng.normal(size=30), rng), rows_of(rng.normal(size=30), rng)
    beside = Statistic("beside", "x", "value", mean, decides=False)
    with_it = compare_rows([MEAN, KS, beside], real, generated, axis=True)
    without = compare_rows([MEAN, KS], real, generated, axis=True)
    assert [r.p_in_axis for r in with_it[:2]] == [r.p_in_axis for r in without]
    assert {with_it[2].p_axis, with_it[2].p_in_axis} == {None}


def test_one_statistic_alone_has_its_own_p():
    rng = np.random.default_rng(3)
    real, generated = rows_of(rng.normal(size=30), rng), rows_of(rng.normal(0.6, 1, 30), rng)
    for s in FAMILY:
        (alone,), (axis,) = (compare_rows([s], real, generated, axis=on) for on in (False, True))
        assert alone.p == axis.p == axis.p_axis == axis.p_in_axis


def test_p_can_be_the_smallest_however_many_statistics_there_are():
    rng = np.random.default_rng(4)
    real, generated = rows_of(rng.normal(size=40), rng), rows_of(rng.normal(3.0, 1, 40), rng)
    found = compare_rows(FAMILY, real, generated, axis=True, permutations=999)
    assert found[0].p_axis == 1 / (found[0].method.permutations + 1)


def test_the_headline_loses_little_by_its_company():
    """By the union bound, its p in the family is at most p ÷ share, but for the extrapolated tails of the others."""
    shares, equal = [], []
    for k in range(20):
        rng = np.random.default_rng([7, k])
        real, generated = rows_of(rng.normal(size=40), rng), rows_of(rng.normal(0.4, 1, 40), rng)
        found = {r.statistic: r for r in compare_rows(FAMILY, real, generated, axis=True, headline="mean", resamples=0)}
        of_family = sum(r.p is not None for r in found.values())
        slack = (of_family - 1) * TAIL / found["mean"].method.permutations
        assert found["mean"].p_in_axis <= found["mean"].p / HEADLINE + slack
        shares.append(found["mean"].p_in_axis)
        equal.append(compare_rows(FAMILY, real, generated, axis=True, resamples=0)[0].p_in_axis)
    assert np.mean(shares) < np.mean(equal)


def test_rows_that_were_summed_by_unit_have_the_same_relabellings():
    """As for rows on disk: the words are summed by cluster before the test, the other rows are not."""
    rng = np.random.default_rng(6)
    (one, a), (other, b) = clustered(rng, [3] * 12), clustered(rng, [3] * 14)
    real, generated, design = rows_of(a, rng), rows_of(b + 0.4, rng), Design.clusters(one, other)
    plain = compare_rows(FAMILY, real, generated, design=design, axis=True, permutations=499)
    sums = [
        sparse.csr_array(np.stack([side["words"].toarray()[n == u].sum(axis=0) for u in range(n.max() + 1)]))
        for side, n in ((real, one), (generated, other))
    ]
    summed = compare_rows(
        FAMILY,
        {**real, "words": sums[0]},
        {**generated, "words": sums[1]},
        design=design,
        designs={"words": of_units(design)},
        axis=True,
        permutations=499,
    )
    assert [r.p_in_axis for r in plain] == [r.p_in_axis for r in summed]


def test_labels_and_signs_of_the_same_keys_go_together():
    design = Design.clusters(np.repeat(np.arange(10), 2), np.arange(15))
    first, signs = coupled(design, 0, 0, 64)
    assert first.shape == signs.shape == (25, 64)
    assert (first.sum(axis=0) == 10).all()
    assert set(np.unique(signs)) == {-1.0, 1.0}
    many = [coupled(design, 0, k, 64) for k in range(40)]
    of_real = np.concatenate([np.sum(s[:10], axis=0) for _, s in many])
    assert abs(of_real.mean()) < 4 * np.sqrt(10 / len(of_real)), "signs are fair"
    kept = np.concatenate([np.sum(labels[:10], axis=0) for labels, _ in many])
    both = np.concatenate([np.sum(s[:10], axis=0) + np.sum(s[10:], axis=0) for _, s in many])
    assert np.corrcoef(kept, both)[0, 1] > 0.6
