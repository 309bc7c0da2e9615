"""Minimum detectable differences and distances: what they promise is what samples show."""

import numpy as np
import pytest
from scipy import sparse, stats

from momus.critic import Statistic
from momus.critic.statistic import kolmogorov_smirnov, mean, mean_gap, shares, supremum, total_variation
from momus.inference import Design, axis_test, compare_rows
from momus.inference.intervals import (
    _alternating,
    _ordered,
    chance_value,
    detectable_difference,
    detectable_distance,
)
from momus.inference.samples import Samples, Tables
from momus.inference.weights import random_labels

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")


def ones(x):
    return np.column_stack([x, np.ones(len(x))])


def test_the_known_value_of_a_difference():
    assert detectable_difference(1.0, 1e6, 0.05) == pytest.approx(2.802, abs=0.001)
    assert detectable_difference(0.1, 1e6, 0.05) == pytest.approx(0.2802, abs=0.0001)


@pytest.mark.parametrize("freedom", [8, 18, 98])
@pytest.mark.parametrize("level", [0.05, 0.05 / 21])
def test_power_is_four_fifths_on_average_over_pilots(freedom, level):
    """200,000 pairs of a pilot's standard error and a new test, both of normal values."""
    rng = np.random.default_rng(0)
    pilot, new = np.sqrt(rng.chisquare(freedom, (2, 200_000)) / freedom)
    t = (rng.normal(size=200_000) + detectable_difference(1.0, freedom, level) * pilot) / new
    assert (t > stats.t.ppf(1 - level / 2, freedom)).mean() == pytest.approx(0.8, abs=0.006)


def test_a_difference_of_that_size_is_found_in_four_of_five_samples():
    rng = np.random.default_rng(0)
    mde = detectable_difference(np.sqrt(2 / 40), 78, 0.05)
    found = 0
    for k in range(300):
        (r,) = compare_rows(
            [MEAN], {"x": ones(rng.normal(size=40))}, {"x": ones(rng.normal(mde, 1, 40))}, permutations=199, seed=k
        )
        found += r.p <= 0.05
    assert 0.72 < found / 300 < 0.87


def test_the_level_is_shared_by_the_rows_of_the_table():
    rng = np.random.default_rng(1)
    a, b = ones(rng.normal(size=40)), ones(rng.normal(size=40))
    alone, of_ten = (compare_rows([MEAN], {"x": a}, {"x": b}, permutations=199, family=m)[0] for m in (1, 10))
    assert of_ten.mde == pytest.approx(detectable_difference(alone.standard_error, alone.freedom, 0.005))
    assert of_ten.mde > alone.mde


def test_the_value_that_chance_exceeds():
    null = np.arange(1.0, 100.0)
    assert chance_value(null, 0.05) == 95.0
    assert (null > chance_value(null, 0.05)).mean() < 0.05
    # 99 relabellings allow no p of 0.001: the tail of a normal distribution
    assert chance_value(null, 0.001) == pytest.approx(50 + stats.norm.ppf(0.999) * null.std())


@pytest.mark.parametrize("shift", [_ordered, _alternating])
def test_directions_move_mass_but_make_none(shift):
    for middle in (np.full(6, 1 / 6), np.array([0.5, 0.3, 0.1, 0.1]), np.array([0.9, 0.1])):
        direction = shift(middle)
        assert direction.sum() == pytest.approx(0, abs=1e-12)
        if shift is _alternating:
            assert np.abs(direction).sum() / 2 == pytest.approx(1.0), "a total variation of 1"
        else:
            f = np.cumsum(middle)
            assert np.abs(np.cumsum(direction)) == pytest.approx(4 * f * (1 - f)), "as a shift of logistic values"
        assert (middle - 0.2 * direction >= 0).all()
    assert _alternating(np.array([1.0])).tolist() == [0.0]


def relabelled(tables, count=500):
    """Pooled rows of both sides under random relabellings, (count, V) each."""
    samples = Samples(tables, Design.documents(tables.real.shape[0], tables.generated.shape[0]))
    chunks = [samples.pooled(random_labels(samples.design, 0, k, 64)) for k in range(count // 64)]
    return tuple(np.concatenate(side) for side in zip(*chunks, strict=True))


@pytest.mark.parametrize("function", [total_variation, kolmogorov_smirnov, supremum], ids=lambda f: f.__name__)
def test_four_of_five_samples_at_the_detectable_distance_exceed_the_critical_value(function):
    rng = np.random.default_rng(2)
    counts = rng.multinomial(20, np.full(12, 1 / 12), 80).astype(float)
    noise = relabelled(Tables.of(counts[:40], counts[40:]))
    null, s = function(*noise), Statistic("d", "x", "distance", function)
    mde = detectable_distance(s, null, noise, 0.05)
    p, q = (shares(side) for side in noise)
    middle = (p + q).mean(axis=0)[None] / 2
    direction = _ordered(middle[0]) if function is kolmogorov_smirnov else _alternating(middle[0])
    # the shift whose distance between populations is the one returned
    shifts = np.linspace(0, 1, 2001)
    sizes = np.array([float(function(middle - d / 2 * direction, middle + d / 2 * direction)[0]) for d in shifts])
    shift = shifts[np.abs(sizes - mde).argmin()]
    exceeded = function(np.maximum(p - shift / 2 * direction, 0), np.maximum(q + shift / 2 * direction, 0))
    assert (exceeded > chance_value(null, 0.05)).mean() == pytest.approx(0.8, abs=0.03)
    assert detectable_distance(s, null, noise, 0.001) > mde > 0


def test_samples_of_that_ks_distance_are_told_apart_in_four_of_five_cases():
    """60 and 60 values from logistic distributions whose KS distance is the one returned: 300 samples."""
    rng = np.random.default_rng(3)
    n = 60
    s = Statistic("ks", "x", "distance", kolmogorov_smirnov, ties=mean_gap)

    def rows(a, b):
        rank = np.argsort(np.argsort(np.concatenate([a, b])))
        every = sparse.csr_array((np.ones(2 * n), (np.arange(2 * n), rank)), shape=(2 * n, 2 * n))
        return every[:n], every[n:]

    a, b = rows(rng.logistic(size=n), rng.logistic(size=n))
    (result,) = compare_rows([s], {"x": a}, {"x": b}, permutations=999)
    # F(x + d/2) − F(x − d/2) is largest at 0: tanh(d/4)
    shift = 4 * np.arctanh(result.mde)
    found = 0
    for _ in range(300):
        a, b = rows(rng.logistic(size=n), rng.logistic(shift, size=n))
        found += axis_test([s], {"x": a}, {"x": b}, permutations=199, seed=1)[0] <= 0.05
    assert 0.7 <= found / 300 <= 0.9


def test_no_detectable_distance_where_none_reaches_the_critical_value():
    one_column = (np.ones((20, 1)), np.ones((20, 1)))
    s = Statistic("tvd", "x", "distance", total_variation)
    assert np.isnan(detectable_distance(s, np.full(20, 0.5), one_column, 0.05))


def test_a_distance_that_grows_with_the_documents_has_no_detectable_one():
    rng = np.random.default_rng(0)
    counts = [np.column_stack([np.ones(40), rng.random((40, 30)) < 0.3]) for _ in range(2)]
    statistic = Statistic("grows", "x", "distance", total_variation, uneven="itself")
    (result,) = compare_rows([statistic], {"x": counts[0]}, {"x": counts[1]}, permutations=199)
    assert result.mde is None
    assert result.p > 0
