"""What is chosen by the data and told first: sizes and intervals that hold, gates at their limit, changes of a run."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from momus.verdicts.table import held

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "validity"))
from gate_and_diff import change, fails
from winners import table_of, winner

REPLICATIONS = 60


@pytest.mark.parametrize("effects", [np.full(20, 0.3), np.repeat([0.6, 0.0], [2, 18]), np.full(50, 0.3)])
def test_the_largest_gap_of_a_table_has_its_true_size_and_an_interval_that_holds_it(effects):
    """Unshrunk, 20 equal gaps of 0.3 are told as 2.2 times as large, and half of the intervals miss."""
    told = np.array([winner(effects, np.random.default_rng([seed, 1])) for seed in range(REPLICATIONS)])
    true, plain, after, _, holds = told.mean(axis=0)
    assert 0.85 <= after / true <= 1.2 < plain / true
    assert holds >= 0.9


def test_a_gap_that_no_other_may_exceed_keeps_its_interval_and_nearly_its_size():
    effects = np.array([3.0, 0.2, 0.0, 0.1])
    rows = held(table_of(effects, np.random.default_rng(0)))
    assert rows[0].leading_width == 1.0
    assert rows[0].leading_effect_interval == (rows[0].effect_low, rows[0].effect_high)
    assert rows[0].leading_gap_interval == rows[0].gap_interval
    assert rows[0].leading_gap == pytest.approx(rows[0].gap, rel=0.03)
    assert rows[1].leading_width > 1.1


def test_what_is_told_first_is_unknown_where_a_row_has_no_band():
    rows = [replace(v, band=None) for v in table_of(np.full(3, 0.3), np.random.default_rng(0))]
    assert held(rows) == rows
    assert rows[0].leading_gap is None
    assert rows[0].leading_gap_interval is None


def test_an_interval_of_a_negative_gap_reaches_farther_toward_0():
    v = held(table_of(np.full(5, -0.4), np.random.default_rng(0)))[0]
    low, high = v.leading_effect_interval
    assert low == v.effect_low
    assert high > v.effect_high


@pytest.mark.parametrize("statistics", [1, 8, 30])
def test_a_gate_whose_statistics_are_all_at_its_limit_fails_rarely(statistics):
    failed = [fails(statistics, np.random.default_rng([seed, statistics])) for seed in range(REPLICATIONS)]
    assert np.mean(failed) <= 0.1


def test_the_change_of_two_texts_of_one_model_does_not_come_from_the_choice_of_its_statistic():
    moved = np.array([change(8, np.random.default_rng([seed, 2])) for seed in range(REPLICATIONS)])
    size, error = moved[:, 0].mean(), moved[:, 0].std() / REPLICATIONS**0.5
    assert abs(size) <= 3 * error
    assert abs(size) <= 0.1 * moved[:, 1].mean()
