"""Repeated looks: exact levels by enumeration, and states that are read back or refused."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus.errors import StoreError, UsageError
from momus.inference.sequential import Looks, spent

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_levels_add_up_to_alpha():
    for planned in (None, 1, 20):
        total = math.fsum(spent(0.05, k, planned) for k in range(1, 20_001))
        # what is left after k looks: α/√(k + 1), or a tenth of it after the planned looks
        left = 0.05 / math.sqrt(20_001) if planned is None else 0.005 / math.sqrt(20_001 - planned)
        assert total == pytest.approx(0.05 - left, rel=1e-9)
    assert spent(0.05, 1) == pytest.approx(0.05 * (1 - 1 / math.sqrt(2)))
    assert [spent(0.05, k, 4) for k in (1, 4)] == pytest.approx([0.01125] * 2)
    assert spent(0.05, 5, 4) == pytest.approx(0.005 * (1 - 1 / math.sqrt(2)))


def test_spending_is_exact_where_looks_exclude_each_other():
    """The worst dependence: look k rejects on its own part of a uniform number, so the levels add up."""
    u = (np.arange(20_000) + 0.5) / 20_000
    edges = np.concatenate([[0], np.cumsum([spent(0.05, k) for k in range(1, 11)])])
    alarmed = np.zeros(len(u), dtype=bool)
    for k in range(10):
        shifted = (u - edges[k]) % 1.0  # uniform at each look
        alarmed |= shifted <= spent(0.05, k + 1)
    assert alarmed.mean() == pytest.approx(edges[-1], abs=1e-4)
    assert edges[-1] < 0.05


@given(PROBABILITIES, st.sampled_from([None, 5]))
def test_alarms_agree_with_the_always_valid_p(values, planned):
    looks = Looks(planned=planned)
    found = [looks.add(p=p) for p in values]
    ever = list(itertools.accumulate((look.alarm for look in found), lambda a, b: a or b))
    assert [look.p_always <= 0.05 for look in found] == ever
    assert [look.number for look in found] == list(range(1, len(values) + 1))
    for look in found:
        if not math.isclose(look.p, look.threshold):
            assert look.alarm == (look.p < look.threshold)
    assert (looks.p_always <= looks.alpha) == ever[-1]


def looked(looks=3, **options):
    rng = np.random.default_rng(4)
    state = Looks(0.1, **options)
    for p in rng.random(looks):
        state.add(p)
    return state


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("planned", [None, 7])
def test_the_state_survives_a_file(planned, count):
    one = looked(count, planned=planned)
    other = Looks.from_json(json.loads(json.dumps(one.to_json())))
    assert other.to_json() == one.to_json()
    assert other.planned == planned
    assert one.add(0.01) == other.add(0.01)


def test_a_state_of_an_earlier_version_is_read():
    state = {"format": "momus-looks-1", "method": "spending", "alpha": 0.1, "number": 2, "p_always": 0.3, "planned": 7}
    looks = Looks.from_json(state)
    assert (looks.number, looks.p_always, looks.planned) == (2, 0.3, 7)


@pytest.mark.parametrize(
    "change",
    [
        {"alpha": 0},
        {"alpha": 10**400},
        {"alpha": "0.05"},
        {"number": -1},
        {"number": True},
        {"number": 2.0},
        {"number": 0, "p_always": 0.5},
        {"p_always": float("nan")},
        {"p_always": 2},
        {"planned": 0},
        {"format": "another"},
        {"method": "peeking"},
        {"method": "betting"},
        {"method": ["spending"]},
    ],
)
def test_a_wrong_state_is_refused(change):
    state = looked().to_json() | change
    with pytest.raises(StoreError, match="state of repeated looks"):
        Looks.from_json(state)


@pytest.mark.parametrize("state", ["", [], None, {}, {"method": "spending"}])
def test_what_is_no_state_is_refused(state):
    with pytest.raises(StoreError, match="state of repeated looks"):
        Looks.from_json(state)


def test_mistakes_are_named():
    for alpha in (0, 1, -0.1, float("nan")):
        with pytest.raises(UsageError, match="alpha is"):
            Looks(alpha)
    with pytest.raises(UsageError, match="planned=0"):
        Looks(planned=0)
    with pytest.raises(UsageError, match="counted from 1"):
        spent(0.05, 0)
    looks = Looks()
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="no probability"):
            looks.add(p=wrong)
    assert looks.number == 0
