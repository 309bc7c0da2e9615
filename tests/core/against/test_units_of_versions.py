"""Lists, trends and directions of A to B count groups where there are some."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from momus.against.changes import direction_of, path_of
from momus.against.units import Pairs
from momus.against.versions import Versions, against_of
from momus.critic.scores import Scores

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "validity"))
from groups_of_versions import DESIGNS, MEAN, direction, levels, lists, scores_of, trend


@pytest.mark.parametrize("design", DESIGNS)
def test_null_texts_in_groups_have_no_changes(design):
    """With documents as units, some item is listed in every one, and directions differ in .4 of them."""
    rngs = [np.random.default_rng([seed, 7]) for seed in range(8)]
    assert sum(lists(design, 0.4, rng) for rng in rngs) <= 2
    rngs = [np.random.default_rng([seed, 8]) for seed in range(40)]
    assert sum(direction(design, 0.4, rng) for rng in rngs) <= 7


def test_null_versions_in_groups_have_no_trend():
    rngs = [np.random.default_rng([seed, 9]) for seed in range(40)]
    assert sum(trend(0.4, rng) for rng in rngs) <= 7


def scores(name, prompts, groups=(), values=None):
    n = len(prompts)
    nll = np.ones(n) if values is None else values
    return Scores("c", name, [str(i) for i in range(n)], prompts, nll, np.ones(n, dtype=int), [None] * n, groups=groups)


def test_units_are_groups_of_prompts_else_prompts_else_documents():
    prompts = [f"p{i}" for i in range(8)]
    alone = Pairs.of(scores("a", prompts), scores("b", prompts))
    assert alone.units is None
    assert alone.paired
    assert alone.means[0].shape == (8, 8)
    groups = [f"g{i // 2}" for i in range(8)]
    pairs = Pairs.of(scores("a", prompts, groups), scores("b", prompts))  # the groups of one text know all prompts
    assert pairs.units is not None
    assert pairs.units[0].shape == (4, 8)
    assert pairs.averaged([np.arange(8.0), np.arange(8.0)])[0].tolist() == [0.5, 2.5, 4.5, 6.5]
    repeated = Pairs.of(scores("a", ["p", "p", "q", None]), scores("b", ["r"] * 3))
    assert not repeated.paired
    assert [u.shape for u in repeated.units] == [(3, 4), (1, 3)]
    assert Pairs.of(scores("a", [None] * 4), scores("b", [None] * 3)).units is None


def test_texts_of_the_same_groups_are_compared_group_by_group():
    groups = [f"g{i // 3}" for i in range(30)]
    pairs = Pairs.of(scores("a", [None] * 30, groups), scores("b", [None] * 30, groups[::-1]))
    assert pairs.paired
    one, other = pairs.averaged([np.repeat(np.arange(10.0), 3), np.repeat(np.arange(10.0), 3)[::-1]])
    assert one.tolist() == pytest.approx(range(10))
    assert other.tolist() == pytest.approx(range(10))


def test_the_interval_of_a_path_counts_groups():
    rows = np.column_stack([np.repeat([0.0, 1.0], 8), np.ones(16)])
    alone, grouped = (
        path_of("c", "axis", MEAN, [scores(name, [None] * 16, groups) for name in "ab"], [rows, rows])
        for groups in ((), [f"g{i // 8}" for i in range(16)])
    )
    width = [p.highs[0] - p.lows[0] for p in (alone, grouped)]
    assert width[1] == pytest.approx(width[0] * 8**0.5)


def test_a_direction_is_sure_only_where_the_table_has_a_difference():
    from winners import table_of

    sides = [
        scores_of(name, "neither", levels(0.0, np.random.default_rng(k))[:, 0] + 9 * k) for k, name in enumerate("ab")
    ]
    found = direction_of("0", "axis", False, *sides)
    assert found is not None
    assert found.p < 1e-9
    (v,) = table_of(np.zeros(1), np.random.default_rng(0))
    signature = {"against": "b", "corpora": []}
    for p in (0.3, 0.001):
        verdict = replace(v, generated="a", reference="b", p_adjusted=p)
        against = against_of(signature, [Versions(directions=(found,))], [verdict], [])
        assert against.directions[0].p_adjusted == max(p, found.p)


def test_differences_of_rounding_have_no_direction():
    """A chain of one state gives every document the same Latent NLL, but for the last digits."""
    last = 1e-14 * np.random.default_rng(0).normal(size=(2, 160))
    sides = [scores_of(name, "neither", 1 + noise) for name, noise in zip("ab", last, strict=True)]
    assert direction_of("c", "axis", False, *sides) is None


def test_a_text_whose_documents_are_alike_has_a_direction_without_a_warning():
    varied = 2 + np.random.default_rng(0).normal(size=160)
    sides = [scores(name, [None] * 160, values=x) for name, x in (("a", np.full(160, 1.1)), ("b", varied))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = direction_of("c", "axis", False, *sides)
    assert found is not None
    low, high = stats.ttest_1samp(varied - 1.1, 0).confidence_interval(0.95)
    assert (-found.high, -found.low) == pytest.approx((low, high), rel=1e-6)
