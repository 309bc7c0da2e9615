"""Ranks: signed effects on both sides of 0, ties, pools of shared prompts, and coverage by simulation."""

import numpy as np
import pytest

from momus.inference.matching import pools_of
from momus.inference.ranking import Distances, average, nearest_on_average, ranked


def distances(estimates, error, signed=True, b=999, seed=0, common=0.0):
    rng = np.random.default_rng(seed)
    k = len(estimates)
    moves = error * (np.sqrt(common) * rng.normal(size=(b, 1)) + np.sqrt(1 - common) * rng.normal(size=(b, k)))
    return Distances(np.array(estimates, dtype=float), moves, signed, 500.0)


def test_far_apart_models_have_one_rank_each():
    found = ranked(distances([3.0, -1.0, 2.0, 0.0], 0.05))
    assert found.low.tolist() == found.high.tolist() == [4, 2, 3, 1]
    assert found.nearest.tolist() == [0, 0, 0, 1]


def test_effects_of_opposite_sign_and_equal_size_are_tied():
    found = ranked(distances([1.0, -1.0, 3.0], 0.1))
    assert found.low.tolist() == [1, 1, 3]
    assert found.high.tolist() == [2, 2, 3]
    assert found.nearest[:2] == pytest.approx([0.5, 0.5], abs=0.1)


def test_common_noise_does_not_hide_an_order():
    # the noise of the real text moves both effects alike, and cancels in their difference where both have one sign
    apart = [1.0, 1.3]
    assert ranked(distances(apart, 0.3, common=0.99)).high.tolist() == [1, 2]
    assert ranked(distances(apart, 0.3)).high.tolist() == [2, 2]


def test_equal_columns_are_tied_and_p_nearest_sums_to_one():
    d = distances([0.5, 0.5], 0.1, common=1.0, signed=False)
    found = ranked(d)
    assert found.high.tolist() == [2, 2]
    assert found.nearest.tolist() == [0.5, 0.5]


def test_order_of_models_does_not_matter():
    d = distances([0.3, -0.1, 0.5], 0.1)
    turned = Distances(d.estimates[::-1], d.deviations[:, ::-1], True, d.freedom)
    assert ranked(turned).low.tolist() == ranked(d).low[::-1].tolist()


@pytest.mark.parametrize(("signed", "truth"), [(True, [0.0, 0.02, -0.02, 0.02]), (False, [0.3, 0.3, 0.3, 0.3])])
def test_rarely_says_nearer_of_models_that_are_equally_far(signed, truth):
    rng = np.random.default_rng(3)
    wrong, r = 0, 400
    size = np.abs(truth)
    for _ in range(r):
        common, own = 0.1 * rng.normal(), 0.1 * rng.normal(size=4)
        moves = 0.1 * (rng.normal(size=(299, 1)) + rng.normal(size=(299, 4)))
        nearer = ranked(Distances(np.array(truth) + common + own, moves, signed, 1000.0)).nearer
        wrong += bool((nearer & (size[:, None] >= size)).any())
    assert wrong / r <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / r)


def test_average_over_axes():
    one, other = distances([1.0, -3.0], 0.01), distances([2.0, 2.0], 0.01, seed=1)
    both = average([one, other], np.array([0.5, 2.0]))
    assert both.distances.tolist() == [1.5, 3.5]
    low, high = both.intervals(0.95)
    assert (low < both.distances).all()
    assert (high > both.distances).all()
    assert nearest_on_average([one, other], np.array([0.5, 2.0])).tolist() == [1, 0]


def test_intervals_of_a_distance_reach_to_zero_where_the_sign_is_open():
    low, high = distances([0.1, -2.0], 0.1).intervals(0.95)
    assert low[0] == 0
    assert high[0] > 0.25
    assert low[1] == pytest.approx(1.8, abs=0.05)
    assert high[1] == pytest.approx(2.2, abs=0.05)


def test_pools_follow_shared_prompts_and_groups():
    found = pools_of({"real": ["a", "b", "c"], "g": ["c", "a", "b"], "h": [None, None]})
    assert found.sizes.tolist() == [3, 2]
    assert not found.matched
    drawn = np.concatenate(list(found.multiplicities(640, 0)), axis=1)
    assert (drawn[:3].sum(axis=0) == 3).all()
    assert (drawn[3:].sum(axis=0) == 2).all()
    assert drawn.mean(axis=1) == pytest.approx(np.ones(5), abs=0.2)
    # a generated document belongs to the group of its prompt
    grouped = pools_of({"real": ["a", "b"], "g": ["a", "b"]}, {"real": ["x", "x"], "g": [None, None]})
    assert grouped.sizes.tolist() == [1]
    assert grouped.matched


def test_a_mean_over_axes_does_not_favour_the_larger_text():
    """Of two texts that are equally far, the one with few documents had .27 against .10 at 0, and .44 against .34."""
    rng = np.random.default_rng(0)
    means, sure = [], []
    for _ in range(30):
        effects, spread = np.abs(0.2 * rng.normal(size=20)), np.array([30, 1000]) ** -0.5
        parts = [
            Distances(e + spread * rng.normal(size=2), spread * rng.normal(size=(199, 2)), True, 29.0) for e in effects
        ]
        bands = np.full(20, 0.5)
        means.append(average(parts, bands).shown)
        sure.append(nearest_on_average(parts, bands)[1] >= 0.95)
    smaller, larger = np.mean(means, axis=0)
    assert smaller == pytest.approx(larger, rel=0.15)
    assert np.mean(sure) <= 0.25
