"""How many relabellings are drawn: stages, when a test stops, and that p stays valid when it does."""

import math

import numpy as np
import pytest
from scipy import sparse, stats

from momus.critic import Statistic
from momus.critic.statistic import mean, total_variation
from momus.inference import compare_rows
from momus.inference.relabelling import EXCEEDED, FINE, FINE_WIDE, FIRST, MARGIN, MOST, STAGES, Budget
from momus.inference.weights import CHUNK

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


@pytest.mark.parametrize(
    ("budget", "stages"),
    [
        (Budget(9999, 1, 0.05), (448, 2048, 9999)),
        (Budget(9999, 20, 0.05), (448, 2048, 9999, 39_999)),
        (Budget(1999, 20, 0.05, fine=FINE_WIDE), (448, 1999, 7999)),
        (Budget(199, 1, 0.05), (199, 799, 1999)),
        (Budget(9999, 9_000, 0.05), (448, 2048, 9999, 39_999, 159_999, MOST)),
        (Budget(9999, 10**6, 0.05), (448, 2048, 9999)),  # Holm's method could not reject after MOST of them either
        (Budget(9999, 1, 0.05, (*FIRST, *STAGES)), (64, 448, 2048, 9999)),
    ],
)
def test_stages(budget, stages):
    assert budget.stages == stages
    assert all(stop % CHUNK == 0 for stop in stages if stop < budget.usual), "early stages are whole chunks"


def test_the_smallest_p_of_the_table_can_be_rejected_after_adjustment():
    """At the last stage, p at the strictest level α/m is reached by as many relabellings as asked for."""
    for family in (1, 8, 20, 99):
        for fine in (FINE, FINE_WIDE):
            budget = Budget(999, family, 0.05, fine=fine)
            assert family * fine / (budget.stages[-1] + 1) <= 0.05
    assert 2000 / (Budget(999, 2000, 0.05).stages[-1] + 1) <= 0.05 / 4


def test_when_a_test_stops():
    budget = Budget(9999, 1, 0.05)
    assert not budget.stops(448, EXCEEDED - 1)
    assert budget.stops(448, EXCEEDED), "p is 101/449"
    assert not budget.stops(2048, math.ceil(MARGIN * 0.05 * 2049) - 2), "p is below 1.5 times the level"
    assert budget.stops(2048, math.ceil(MARGIN * 0.05 * 2049) - 1)
    assert budget.stops(9999, 0)
    budget = Budget(1999, 20, 0.05, fine=FINE_WIDE)
    assert budget.stops(1999, FINE_WIDE)
    assert not budget.stops(1999, FINE_WIDE - 1)
    assert budget.stops(7999, FINE_WIDE - 1), "there is no further stage"
    assert budget.stops(1999, 0), "p is surely below 0.05/20"
    assert not Budget(1999, 40, 0.05, fine=FINE_WIDE).stops(1999, 0)


@pytest.mark.parametrize(
    "budget",
    [
        *(Budget(9999, 1, 0.05), Budget(9999, 20, 0.05), Budget(1999, 216, 0.05), Budget(999, 40, 0.1)),
        *(Budget(499, 1, 0.01), Budget(1999, 20, 0.05, fine=FINE_WIDE)),
    ],
)
def test_p_is_valid_under_early_stopping(budget):
    """Under the null, the chance u that a relabelling reaches the observed contrast is uniform; so P(p ≤ a) ≤ a.

    200,000 replications of the binomial counts: the error of the rate at a is √(a(1 − a)/200,000).
    """
    rng = np.random.default_rng(0)
    n = 200_000
    u, c, p = rng.random(n), np.zeros(n, dtype=int), np.full(n, np.nan)
    drawn = 0
    for stop in budget.stages:
        c += rng.binomial(stop - drawn, u)
        drawn = stop
        # the stop depends on the count alone: ask for each count once
        values, inverse = np.unique(c, return_inverse=True)
        stops = np.array([budget.stops(drawn, int(v)) for v in values])[inverse] & np.isnan(p)
        p[stops] = (c[stops] + 1) / (drawn + 1)
    assert not np.isnan(p).any()
    for a in (0.05, 0.04, 0.025, 0.01, 0.005, 0.0025, 0.002, 0.001):
        if a >= budget.alpha / budget.family:
            # stopping once p is clearly below α/m adds less than 2 % to the chance of a rejection there
            assert (p <= a).mean() <= 1.02 * a + 4 * math.sqrt(a * (1 - a) / n)
            if budget.alpha >= a and (budget.usual + 1) * a % 1 == 0:  # (B + 1) a is a whole number: little is lost
                assert (p <= a).mean() >= 0.9 * a - 4 * math.sqrt(a * (1 - a) / n)


def test_rows_that_clearly_do_not_differ_stop_early_and_others_go_on():
    rng = np.random.default_rng(1)
    a = rng.normal(size=60)

    def compared(shift, **options):
        (result,) = compare_rows([MEAN], {"x": ones(a)}, {"x": ones(rng.normal(shift, 1, 60))}, **options)
        return result

    same, apart = compared(0.0), compared(1.0)
    assert (same.method.permutations, same.p > 0.1) == (448, True)
    assert (apart.method.permutations, apart.p < 0.001) == (9999, True)
    # of 100 rows, one that no relabelling reaches is clear after 4 · 100/.05 of them, in whole chunks
    assert 8000 <= compared(1.0, permutations=999, family=100).method.permutations + 1 <= 8000 + 2 * CHUNK
    assert same.method.floor == 1 / 449


def test_rows_of_one_key_have_budgets_of_their_own_and_the_same_relabellings():
    """A row that goes on does not change the p of one that stops, nor does a row that is tested alone."""
    rng = np.random.default_rng(3)
    a = sparse.csr_array(rng.poisson(1.0, (30, 12)).astype(float))
    b = sparse.csr_array(rng.poisson(np.r_[np.ones(11), 2.0], (30, 12)).astype(float))
    statistics = [
        Statistic("tvd", "x", "distance", total_variation),
        *(Statistic(f"share {k}", "x", "value", lambda p, k=k: p[:, k] / p.sum(axis=1)) for k in range(4)),
        Statistic("last", "x", "value", lambda p: p[:, 11] / p.sum(axis=1)),
    ]
    both = compare_rows(statistics, {"x": a}, {"x": b}, seed=3)
    alone = [compare_rows([s], {"x": a}, {"x": b}, seed=3)[0] for s in statistics]
    assert [r.p for r in both] == [r.p for r in alone]
    assert [r.method.permutations for r in both] == [r.method.permutations for r in alone]
    assert min(r.method.permutations for r in both) == 448
    assert both[-1].method.permutations == 9999


def test_a_first_stage_of_64_keeps_the_level():
    """Of 400 pairs of samples of one source, at most 5 % have p at most .05, and most stop after 64 relabellings."""
    early, p, drawn = (*FIRST, *STAGES), [], []
    for i in range(400):
        x = np.random.default_rng([11, i]).lognormal(0, 0.8, 60)
        (r,) = compare_rows([MEAN], {"x": ones(x[:30])}, {"x": ones(x[30:])}, permutations=999, early=early, seed=i)
        p.append(r.p)
        drawn.append(r.method.permutations)
    assert stats.binom.sf(sum(v <= 0.05 for v in p) - 1, 400, 0.05) > 0.001
    assert np.mean(np.array(drawn) == 64) > 0.5
    assert min(v for v, n in zip(p, drawn, strict=True) if n == 64) > MARGIN * 0.05
