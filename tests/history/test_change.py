"""Intervals of a change in distance cover it, at once over axes, whatever the signs of the effects."""

import numpy as np
import pytest

from momus.history.change import DistanceMoves, reaches
from momus.inference.ranking import Distances
from momus.joint.gap import Gap


def f(u, v):
    return np.sign(u * v) * np.minimum(np.abs(u), np.abs(v))


@pytest.mark.parametrize("seed", range(20))
def test_the_range_over_a_box_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    low = rng.normal(size=2)
    high = low + rng.gamma(1.0, size=2)
    u, v = (np.linspace(a, b, 401) for a, b in zip(low, high, strict=True))
    grid = f(u[:, None], v[None, :])
    moves = DistanceMoves(np.zeros(2), (low + high) / 2, np.array([[-1.0, -1.0], [1.0, 1.0]]) * (high - low) / 2, 1e9)
    moves = DistanceMoves(np.array([0.0, f(*moves.values)]).clip(-9, 9), moves.values, moves.draws, 1e9)
    assert moves.interval(1.0) == pytest.approx((grid.min(), grid.max()), abs=0.02)


def simulated(rng, truth, error, shared, draws):
    """Estimates of both runs whose errors are correlated, and bootstrap draws of the same distribution."""

    def noise(size):
        common = rng.normal(size=(size, 1)) * np.sqrt(shared)
        return (common + rng.normal(size=(size, 2)) * np.sqrt(1 - shared)) * error

    here, moves = truth + noise(1)[0], noise(draws)
    return [Distances(here[i : i + 1], moves[:, i : i + 1], True, 1e6) for i in (0, 1)]


@pytest.mark.parametrize("truth", [(0.0, 0.0), (0.0, 0.1), (0.5, 0.6), (-0.5, 0.6), (0.05, -0.05), (1.0, 0.2)])
def test_coverage(truth):
    rng = np.random.default_rng(1)
    truth = np.array(truth)
    change = abs(truth[1]) - abs(truth[0])
    runs, covered, farther = 400, 0, 0
    for _ in range(runs):
        moves = DistanceMoves.of(*simulated(rng, truth, 0.1, 0.5, 299))
        low, high = moves.interval(reaches([moves], 0.95)[0])
        covered += low <= change <= high
        farther += low > 0
        assert low <= moves.change <= high
    assert covered >= 0.93 * runs  # three standard errors below 0.95 is 0.917
    if change <= 0:
        assert farther <= 0.05 * runs


def test_intervals_of_many_axes_hold_at_once():
    rng = np.random.default_rng(2)
    truths = rng.normal(size=(8, 2))
    missed = 0
    for _ in range(200):
        axes = [DistanceMoves.of(*simulated(rng, t, 0.2, 0.5, 299)) for t in truths]
        ends = [m.interval(r) for m, r in zip(axes, reaches(axes, 0.95), strict=True)]
        missed += any(not a <= abs(t[1]) - abs(t[0]) <= b for (a, b), t in zip(ends, truths, strict=True))
    assert missed <= 0.095 * 200  # three standard errors above 0.05


def test_bonferroni_serves_where_draws_are_too_few():
    rng = np.random.default_rng(3)
    moves = [DistanceMoves(np.zeros(2), np.zeros(1), rng.normal(size=(999, 1)), 1e9) for _ in range(4)]
    assert reaches(moves, 1 - 1e-5)[0] == pytest.approx(4.71, abs=0.05)  # normal quantile at 1e-5 / 8
    assert reaches([], 0.95) == []


def test_p_agrees_with_the_interval():
    moves = DistanceMoves.of(*simulated(np.random.default_rng(4), np.array([0.1, 0.6]), 0.1, 0.0, 999))
    p = moves.p_above(0.1, 1)
    assert 0 < p < 0.05
    from scipy.stats import norm

    assert moves.interval(float(norm.isf(p / 2)))[0] == pytest.approx(0.1, abs=1e-3)
    flat = DistanceMoves(np.array([0.0, 1.0]), np.array([1.0, 1.0]), np.zeros((9, 2)), 9.0)
    assert (flat.p_above(0.5, 1), flat.p_above(1.5, 1)) == (0.0, 1.0)


def test_laws_are_bounded_for_a_shared_real_text():
    one, other = Gap(0.1, 0.03, 0.02, 40.0, 1.0, "size"), Gap(0.3, 0.04, 0.04, 50.0, 1.0, "size")
    moves = DistanceMoves.of_gaps(one, other)
    assert moves.errors == pytest.approx([0.05, 0.07])
    assert moves.change == pytest.approx(0.2)
