"""Step-down max-T against its definition, and the scale on which different contrasts are compared."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from momus.inference.multiplicity import stepped_down, strength_of_contrasts, strength_of_t


def by_definition(here, null):
    """Step-down max-T by its definition: p of the k-th largest from the maximum over the k-th and all smaller ones."""
    order = np.argsort(-here, kind="stable")
    adjusted, worst = np.empty(len(here)), 0.0
    for k, i in enumerate(order):
        rest = order[k:]
        p = (1 + sum(row[rest].max() >= here[i] for row in null)) / (len(null) + 1)
        worst = max(worst, p)
        adjusted[i] = worst
    return adjusted


@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=60)
def test_step_down_agrees_with_its_definition(axes, b, seed):
    rng = np.random.default_rng(seed)
    here, null = rng.integers(0, 6, axes).astype(float), rng.integers(0, 6, (b, axes)).astype(float)
    assert stepped_down(here, null) == pytest.approx(by_definition(here, null))


def test_equal_axes_cost_nothing_and_one_axis_is_its_own_test():
    rng = np.random.default_rng(0)
    null = rng.normal(size=(99, 1))
    alone, twice = stepped_down(np.array([1.5]), null), stepped_down(np.array([1.5, 1.5]), np.repeat(null, 2, axis=1))
    assert alone[0] == twice[0] == twice[1] == (1 + (null >= 1.5).sum()) / 100


def test_contrasts_that_do_not_exist_count_as_extreme():
    assert stepped_down(np.array([1.0]), np.array([[np.inf], [0.0]])).tolist() == pytest.approx([2 / 3])
    assert stepped_down(np.array([2.0]), np.array([[0.0], [0.0]])).tolist() == pytest.approx([1 / 3])
    here, null = strength_of_contrasts(1.0, np.array([np.nan, 0.0, 2.0]), two_sided=False, exact=False)
    assert null[0] == np.inf
    assert here == pytest.approx(np.log10(2), abs=1e-6)


def test_a_contrast_that_never_changes_is_not_extreme():
    here, null = strength_of_contrasts(0.4, np.full(9, 0.4), two_sided=False, exact=False)
    assert stepped_down(np.array([here]), null[:, None])[0] == 1.0
    here, null = strength_of_contrasts(np.nan, np.full(3, np.nan), two_sided=False, exact=False)
    assert (here, null.tolist()) == (0.0, [0.0] * 3), "nor are contrasts of which none exists"


def test_strengths_are_logarithms_of_p_values():
    rng = np.random.default_rng(0)
    null = rng.gamma(4.0, 1.0, 200_000)  # a gamma distribution is its own nominal one
    for x in (6.0, 9.0, 12.0):
        here, others = strength_of_contrasts(x, null, two_sided=False, exact=False)
        assert here == pytest.approx(-np.log10(stats.gamma.sf(x, 4.0)), rel=0.03)
        expected = -np.log10(stats.gamma.sf(null, 4.0))
        assert (np.abs(others - expected) <= np.maximum(0.03 * expected, 0.01)).all(), "of all, in order"
    here, _ = strength_of_contrasts(3.0, rng.normal(size=200_000), two_sided=True, exact=False)
    assert here == pytest.approx(-np.log10(2 * stats.norm.sf(3.0)), rel=0.02)
    assert strength_of_t(np.array([-3.0]), 7.0)[0] == pytest.approx(-np.log10(2 * stats.t.sf(3.0, 7)))
