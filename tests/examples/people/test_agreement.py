"""Agreement of one rater with the others: against SciPy, enumeration of all orders, and its level in simulation."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from momus_people.agreement import with_others


def judged(*by_rater):
    """Units, values and raters of answers, a list by rater with None for units not judged."""
    rows = [(u, v, r) for r, values in enumerate(by_rater) for u, v in enumerate(values) if v is not None]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def test_correlation_is_that_of_ranks_with_the_mean_of_the_others():
    mine, others = [3, 1, 4, None, 5, 2], [[2, 2, 5, 1, 4, None], [3, 1, 3, 5, 4, None]]
    rho, _ = with_others(*judged(mine, *others), 0)
    means = [2.5, 1.5, 4, 4]  # of the four units that this rater and another judged
    assert rho == pytest.approx(stats.spearmanr([3, 1, 4, 5], means).statistic)


@pytest.mark.parametrize("mine", [[1, 2, 3, 4, 5], [2, 1, 3, 5, 4], [3, 3, 1, 2, 2], [5, 4, 3, 2, 1]])
def test_p_is_the_share_of_orders_that_agree_as_well(mine):
    others = [1, 2, 2, 4, 5]
    x, y = stats.rankdata(mine), stats.rankdata(others)
    exact = np.mean([np.dot(order, y) >= x @ y - 1e-9 for order in permutations(x)])
    _, p = with_others(*judged(mine, others), 0, times=39_999)
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1 / 40_000)


@pytest.mark.parametrize("times", [9, 99, 999])
def test_p_counts_the_order_that_was_seen_and_is_never_zero(times):
    """Of B random orders c agree as well; with the one that was seen, c + 1 of B + 1 (Phipson & Smyth 2010)."""
    perfect = list(range(20))  # one of 20! orders
    assert with_others(*judged(perfect, perfect), 0, times=times)[1] == pytest.approx(1 / (times + 1))
    assert with_others(*judged(perfect[::-1], perfect), 0, times=times)[1] == 1


@pytest.mark.slow
def test_p_of_a_rater_who_does_not_read_is_uniform():
    rng = np.random.default_rng(0)
    times, runs = 19, 3000
    p = [with_others(*judged(rng.permutation(12), np.arange(12)), 0, seed=k, times=times)[1] for k in range(runs)]
    counts = np.bincount(np.rint(np.array(p) * (times + 1)).astype(int), minlength=times + 2)
    assert counts[0] == 0
    assert counts[1:].sum() == runs
    # ties of the correlation only raise p, by little with 12 ranks
    assert np.mean(p) == pytest.approx((times + 2) / (2 * (times + 1)), abs=4 * 0.29 / np.sqrt(runs) + 0.01)
    assert counts[1] / runs <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)


def test_raters_with_one_answer_or_few_units_show_nothing():
    assert with_others(*judged([2, 2, 2, 2], [1, 2, 3, 4]), 0) == (0, 1)
    assert np.isnan(with_others(*judged([1, 2, None], [1, 2, 3]), 0)).all()
    assert with_others(*judged([1, 2, 3], [1, 2, 3]), 0)[0] == pytest.approx(1)
