"""Max-T: against enumeration by definition; shared relabellings against each axis' own test."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from momus.inference.design import Design
from momus.inference.multiplicity import maximum_test, strength_of_contrasts, strength_of_t
from momus.joint.shared_labels import SharedLabels, restricted


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
@settings(max_examples=60, deadline=None)
def test_step_down_agrees_with_its_definition(axes, b, seed):
    rng = np.random.default_rng(seed)
    here, null = rng.integers(0, 6, axes).astype(float), rng.integers(0, 6, (b, axes)).astype(float)
    found = maximum_test(here, null)
    assert found.adjusted == pytest.approx(by_definition(here, null))
    assert found.p == pytest.approx(found.adjusted.min())
    assert (found.adjusted >= found.single - 1e-12).all()


def test_equal_axes_cost_nothing_and_one_axis_is_its_own_test():
    rng = np.random.default_rng(0)
    null = rng.normal(size=(99, 1))
    alone, twice = maximum_test(np.array([1.5]), null), maximum_test(np.array([1.5, 1.5]), np.repeat(null, 2, axis=1))
    assert alone.p == alone.single[0] == twice.p == twice.adjusted[1]


def test_contrasts_that_do_not_exist_count_as_extreme():
    found = maximum_test(np.array([1.0, 2.0]), np.array([[np.inf, 0.0], [0.0, 0.0]]))
    assert found.single.tolist() == pytest.approx([2 / 3, 1 / 3])
    here, null = strength_of_contrasts(1.0, np.array([np.nan, 0.0, 2.0]), two_sided=False, exact=False)
    assert null[0] == np.inf
    assert here == pytest.approx(np.log10(2), abs=1e-6)


def test_a_contrast_that_never_changes_is_not_extreme():
    here, null = strength_of_contrasts(0.4, np.full(9, 0.4), two_sided=False, exact=False)
    assert maximum_test(np.array([here]), null[:, None]).p == 1.0


def test_strengths_are_logarithms_of_p_values():
    rng = np.random.default_rng(0)
    null = rng.gamma(4.0, 1.0, 200_000)  # a gamma distribution is its own nominal one
    for x in (6.0, 9.0, 12.0):
        here, others = strength_of_contrasts(x, null, two_sided=False, exact=False)
        assert here == pytest.approx(-np.log10(stats.gamma.sf(x, 4.0)), rel=0.03)
        assert others == pytest.approx(-np.log10(stats.gamma.sf(null, 4.0)), rel=0.03, abs=0.01)  # of all, in order
    here, _ = strength_of_contrasts(3.0, rng.normal(size=200_000), two_sided=True, exact=False)
    assert here == pytest.approx(-np.log10(2 * stats.norm.sf(3.0)), rel=0.02)
    assert strength_of_t(np.array([-3.0]), 7.0)[0] == pytest.approx(-np.log10(2 * stats.t.sf(3.0, 7)))


def test_all_labels_are_enumerated_where_few():
    design = Design.documents(3, 3)
    shared = SharedLabels(design, [restricted(design, np.ones(3, bool), np.ones(3, bool))], 100, 0)
    assert shared.exact
    assert shared.permutations == 20
    (labels,) = shared.chunk(0, 20)
    chosen = {tuple(np.flatnonzero(column)) for column in labels.T}
    assert chosen == set(combinations(range(6), 3))


def test_all_exchanges_of_pairs_are_enumerated_where_few():
    design = Design.pairs(np.column_stack([np.arange(5), np.arange(5)]))
    part = restricted(design, np.array([True, True, False, True, True]), np.ones(5, bool))
    shared = SharedLabels(design, [restricted(design, np.ones(5, bool), np.ones(5, bool)), part], 100, 0)
    assert shared.exact
    assert shared.permutations == 32
    every, own = shared.chunk(0, 32)
    assert {tuple(column) for column in every[:5].T} == set(product((0, 1), repeat=5))
    for labels, pairs in ((every, 5), (own, 4)):  # one text of a pair is labelled real, and the other one is not
        assert np.array_equal(labels[:pairs] + labels[pairs:], np.ones((pairs, 32)))
    assert np.array_equal(own[:4], every[[0, 1, 3, 4]])


@pytest.mark.parametrize("sizes", [(700, 900), (900, 700), (1500, 40)])
def test_as_many_documents_of_large_texts_are_labelled_real_as_are(sizes):
    design = Design.documents(*sizes)
    part = restricted(design, np.ones(sizes[0], bool), np.ones(sizes[1], bool))
    (labels,) = SharedLabels(design, [part], 999, 0).chunk(0, 64)
    assert (labels.sum(axis=0) == sizes[0]).all()


@pytest.mark.parametrize("kind", ["documents", "clusters", "prompts", "pairs", "groups", "bins", "grouped bins"])
def test_labels_of_an_axis_are_those_of_its_own_design(kind):
    rng = np.random.default_rng(1)
    n, m = 24, 24
    prompts = np.repeat(np.arange(8), 3)
    design = {
        "documents": lambda: Design.documents(n, m),
        "clusters": lambda: Design.clusters(prompts, prompts),
        "prompts": lambda: Design.prompts(prompts, prompts),
        "pairs": lambda: Design.pairs(np.column_stack([np.arange(n), np.arange(m)])),
        "groups": lambda: Design.prompts(prompts, prompts).grouped(prompts // 2, prompts // 2),
        "bins": lambda: Design.bins(prompts // 4, prompts // 4),
        "grouped bins": lambda: Design.bins(np.arange(n) % 3, np.arange(m) % 3).grouped(prompts, prompts),
    }[kind]()
    real, generated = rng.random(n) < 0.8, rng.random(m) < 0.7
    part = restricted(design, real, generated)
    d = part.design
    shared = SharedLabels(design, [restricted(design, np.ones(n, bool), np.ones(m, bool)), part], 15, 0)
    every, own = shared.chunk(0, 64)
    rows = (2 * d.units[0]) if d.flips else sum(d.units) if d.kind == "clusters" else d.n_real + d.n_generated
    assert own.shape == (rows, 64)
    assert real[d.rows[0]].all()
    assert generated[d.rows[1]].all()
    if kind in ("pairs", "prompts", "groups"):
        assert set(prompts[d.rows[0]]) == set(prompts[d.rows[1]])
    if kind in ("pairs", "groups"):  # the same units change sides on both axes
        half = design.units[0]
        assert np.array_equal(own[: d.units[0]], every[:half][part.index])
    elif kind in ("documents", "clusters"):
        assert (own.sum(axis=0) == (d.n_real if kind == "documents" else d.units[0])).all()
    elif d.groups is None:
        numbers, labelled = np.concatenate(d.numbers), d.strata[0]
        for s, count in enumerate(labelled):
            assert (own[numbers == s].sum(axis=0) == count).all()
    if not d.flips:  # every row is labelled real about as often as every other of its stratum
        many = np.concatenate([shared.chunk(k, 64)[1] for k in range(30)], axis=1).mean(axis=1)
        expected = np.full(len(many), many.mean()) if d.strata is None else None
        if expected is None and d.groups is None:
            numbers = np.concatenate(d.numbers)
            expected = (d.strata[0] / (d.strata[0] + d.strata[1]))[numbers]
        if expected is not None:
            assert many == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(30 * 64))


def test_axes_with_the_same_documents_have_the_same_labels():
    design = Design.documents(10, 12)
    part = restricted(design, np.ones(10, bool), np.ones(12, bool))
    one, other = SharedLabels(design, [part, part], 1000, 0).chunk(3, 64)
    assert one is other
