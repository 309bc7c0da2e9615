"""Repeated looks: exact levels by enumeration, values computed by hand, and states that are read back or refused."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from momus.errors import StoreError, UsageError
from momus.inference.betting import BLOCK, STAKES, Wager
from momus.inference.sequential import Looks, confidence_sequence, spent
from momus.inference.time_uniform import half_width

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
    assert looks.alarmed == ever[-1]


def test_half_width_solves_robbins_equation():
    for alpha in (0.5, 0.05, 0.001, 1e-8):
        h = half_width(alpha)
        assert 2 * (stats.norm.sf(h) + h * stats.norm.pdf(h)) == pytest.approx(alpha, rel=1e-6)


def test_interval_is_the_one_computed_by_hand():
    # h = 2.7955 at 0.05: 2 (0.002591 + 2.7955 · 0.008015) = 0.0500; log(4) = 1.3863; √(7.8148 + 1.3863) = 3.0333
    low, high, p = confidence_sequence([1.0, 1.0], [0.5, 0.25], [50, 200])
    assert high - 1 == pytest.approx([0.5 * 2.7955, 0.25 * 3.0333], abs=2e-4)
    assert 1 - low == pytest.approx(high - 1)
    # look 1: z = 2, 2 (0.022750 + 2 · 0.053991) = 0.26146; look 2: h = √(16 − 1.3863) = 3.82278
    assert p == pytest.approx([0.261464, 2 * (stats.norm.sf(3.82278) + 3.82278 * stats.norm.pdf(3.82278))], rel=1e-4)


def test_flat_mixture_is_inside_the_tuned_normal_mixture():
    """Waudby-Smith et al. 2024: √((x + 1)/x · log((x + 1)/α²)), x = ρ² n, with ρ that is best at the first look."""
    growth = np.geomspace(1, 1e6, 50)
    widths = np.min([np.sqrt((x + 1) / x * np.log((x + 1) / 0.05**2)) for x in np.linspace(5, 15, 400)], axis=0)
    assert widths == pytest.approx(3.03, abs=0.01)
    x = 8.22 * growth  # the minimiser
    tuned = np.sqrt((x + 1) / x * np.log((x + 1) / 0.05**2))
    assert (np.sqrt(half_width(0.05) ** 2 + np.log(growth)) < tuned).all()


def test_level_of_the_mixture_on_brownian_motion():
    """20,000 paths over 400 looks on a geometric grid up to 100 n₁: below α, and most of it is spent."""
    rng = np.random.default_rng(1)
    times = np.geomspace(1, 100, 400)
    steps = rng.normal(size=(20_000, 400)).astype(np.float32) * np.sqrt(np.diff(times, prepend=0))
    z = np.abs(np.cumsum(steps, axis=1)) / np.sqrt(times)
    crossed = (z > np.sqrt(half_width(0.05) ** 2 + np.log(times))).any(axis=1)
    # the exact probability over all times in [1, ∞) is 0.05; a grid and a horizon miss some crossings
    assert stats.binomtest(int(crossed.sum()), len(crossed), 0.05, alternative="greater").pvalue > 1e-4
    assert crossed.mean() > 0.03


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 2), st.integers(0, 100)), min_size=1, max_size=12))
def test_looks_by_mixture_are_the_confidence_sequence(rows):
    d, error = [r[0] for r in rows], [r[1] for r in rows]
    n = 50 + np.cumsum([r[2] for r in rows])
    low, high, p = confidence_sequence(d, error, n)
    looks = Looks(method="mixture")
    found = [looks.add(difference=d[i], standard_error=error[i], n=float(n[i])) for i in range(len(rows))]
    assert [look.low for look in found] == pytest.approx(low)
    assert [look.high for look in found] == pytest.approx(high)
    assert [look.p_always for look in found] == pytest.approx(p)
    for look in found:
        assert look.low <= look.high
        if abs(look.p - 0.05) > 1e-9:
            assert look.alarm == (look.low > 0 or look.high < 0)


@pytest.mark.parametrize("values", [(1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 9.0), (1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0, 1.0)])
def test_expected_capital_is_one_over_all_swaps(values):
    """4 pairs, each swapped or not: 16 equally likely orderings under exchangeability."""
    pairs = np.array(values).reshape(4, 2)
    capitals, highest = [], []
    for swaps in itertools.product((False, True), repeat=4):
        swapped = np.array([p[::-1] if s else p for p, s in zip(pairs, swaps, strict=True)])
        wager = Wager()
        highest.append(wager.bet(swapped[:, 0], swapped[:, 1]))
        capitals.append(wager.capital)
    assert np.mean(capitals) == pytest.approx(1.0, abs=1e-12)
    assert np.ptp(capitals) > 0.05
    for alpha in (0.9, 0.7, 0.5):  # Ville's inequality
        assert np.mean(np.array(highest) >= 1 / alpha) <= alpha


def test_capital_is_the_product_computed_by_hand():
    """Pairs (1, 2), (0, 3), (1, 1): s = 0, 1 − 0, 0; then (2, 4): earlier 0 1 1 1 2 3, g(4) − g(2) = 1 − 4.5/6."""
    wager = Wager()
    wager.bet([1, 0, 1], [2, 3, 1])
    assert wager.capital == pytest.approx(1.0)  # one informative pair, symmetric stakes
    wager.bet([2], [4])
    assert wager.capital == pytest.approx(np.mean((1 + STAKES) * (1 + STAKES * 0.25)))


def test_batches_do_not_matter():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 30, (2, 3 * BLOCK)).astype(float)
    whole, parts = Wager(), Wager()
    top = whole.bet(x, y)
    cuts = [0, 1, 5, BLOCK, 2 * BLOCK + 7, len(x)]
    tops = [parts.bet(x[a:b], y[a:b]) for a, b in itertools.pairwise(cuts)]
    assert parts.log_wealth == pytest.approx(whole.log_wealth)
    assert max(tops) == pytest.approx(top)
    assert parts.past.tolist() == sorted([*x, *y])


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=40))
def test_betting_depends_on_ranks_only_and_not_on_the_side(pairs):
    x, y = np.array(pairs, dtype=float).T
    wagers = [Wager() for _ in range(3)]
    tops = [wagers[0].bet(x, y), wagers[1].bet(np.exp(x), np.exp(y)), wagers[2].bet(y, x)]
    assert tops == pytest.approx([tops[0]] * 3)


def test_betting_finds_a_shift():
    rng = np.random.default_rng(0)
    looks = Looks(method="betting")
    found = [looks.add(real=rng.normal(size=50), generated=rng.normal(0.7, 1, 50)) for _ in range(5)]
    assert found[-1].alarm
    assert found[-1].p_always < 1e-3
    assert not Looks(method="betting").add(real=[1.0], generated=[2.0]).alarm


def looked(method, looks=3, **options):
    rng = np.random.default_rng(4)
    state = Looks(0.1, method, **options)
    for k in range(looks):
        add(state, k, rng)
    return state


def add(state, k, rng):
    if state.method == "spending":
        return state.add(p=float(rng.random()))
    if state.method == "mixture":
        return state.add(difference=float(rng.normal()), standard_error=0.7, n=50 * (k + 1))
    return state.add(real=rng.normal(size=9), generated=rng.normal(1, 1, 9))


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("method", ["spending", "mixture", "betting"])
def test_the_state_survives_a_file(method, count):
    one = looked(method, count)
    other = Looks.from_json(one.to_json())
    assert other.to_json() == one.to_json()
    assert add(one, 3, np.random.default_rng(5)) == add(other, 3, np.random.default_rng(5))
    planned = looked("spending", planned=7)
    assert Looks.from_json(planned.to_json()).planned == 7


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("spending", {"alpha": 0}),
        ("spending", {"alpha": 10**400}),
        ("spending", {"alpha": "0.05"}),
        ("spending", {"number": -1}),
        ("spending", {"number": True}),
        ("spending", {"number": 2.0}),
        ("spending", {"number": 0, "p_always": 0.5}),
        ("spending", {"p_always": float("nan")}),
        ("spending", {"p_always": 2}),
        ("spending", {"planned": 0}),
        ("spending", {"format": "another"}),
        ("spending", {"method": "peeking"}),
        ("spending", {"method": ["spending"]}),
        ("spending", {"more": 1}),
        ("mixture", {"first_n": 0}),
        ("mixture", {"last_n": 1}),
        ("mixture", {"last_n": float("inf")}),
        ("mixture", {"last_n": 10**400}),
        ("betting", {"past": [2, 1]}),
        ("betting", {"past": [1]}),
        ("betting", {"past": ["a", "b"]}),
        ("betting", {"past": 3}),
        ("betting", {"log_wealth": [0.0]}),
        ("betting", {"log_wealth": {"0": 1}}),
    ],
)
def test_a_wrong_state_is_refused(method, change):
    state = json.loads(looked(method).to_json()) | change
    with pytest.raises(StoreError, match="state of repeated looks"):
        Looks.from_json(json.dumps(state))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "[" * 100_000, '{"method": "spending"'])
def test_what_is_no_state_is_refused(text):
    with pytest.raises(StoreError, match="state of repeated looks"):
        Looks.from_json(text)


def test_mistakes_are_named():
    for alpha in (0, 1, -0.1, float("nan")):
        with pytest.raises(UsageError, match="alpha is"):
            Looks(alpha)
    with pytest.raises(UsageError, match="no method 'often'"):
        Looks(method="often")
    with pytest.raises(UsageError, match="planned=3 with method 'betting'"):
        Looks(method="betting", planned=3)
    with pytest.raises(UsageError, match="counted from 1"):
        spent(0.05, 0)
    looks = Looks()
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="no probability"):
            looks.add(p=wrong)
    with pytest.raises(UsageError, match="got nothing"):
        looks.add()
    with pytest.raises(UsageError, match="got p, n"):
        looks.add(p=0.1, n=3)
    assert looks.number == 0
    mixture = looked("mixture")
    with pytest.raises(UsageError, match="n decreases"):
        mixture.add(difference=0.1, standard_error=0.1, n=20)
    with pytest.raises(UsageError, match="not finite, or not positive"):
        mixture.add(difference=0.1, standard_error=0.0, n=200)
    with pytest.raises(UsageError, match="2 differences, 1 standard errors"):
        confidence_sequence([1.0, 2.0], [1.0], [1, 2])
    betting = looked("betting")
    before = betting.to_json()
    for real, generated in (([1.0], [1.0, 2.0]), ([], []), ([float("nan")], [1.0])):
        with pytest.raises(UsageError, match="betting needs"):
            betting.add(real=real, generated=generated)
    assert betting.to_json() == before
