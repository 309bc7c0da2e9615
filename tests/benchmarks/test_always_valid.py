"""Confidence sequences and betting: values computed by hand, enumeration, and a simulated Brownian motion."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from momus.errors import UsageError

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "validity"))

from always_valid import BLOCK, STAKES, Wager, confidence_sequence, half_width


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
    wager = Wager()
    capitals = [wager.bet(rng.normal(size=50), rng.normal(0.7, 1, 50)) for _ in range(5)]
    assert capitals[-1] > 1000
    assert Wager().bet([1.0], [2.0]) < 20


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 2), st.integers(0, 100)), min_size=1, max_size=12))
def test_p_and_interval_of_a_confidence_sequence_agree(rows):
    d, error = [r[0] for r in rows], [r[1] for r in rows]
    low, high, p = confidence_sequence(d, error, 50 + np.cumsum([r[2] for r in rows]))
    assert (low <= high).all()
    excluded = np.maximum.accumulate((low > 0) | (high < 0))
    clear = np.abs(p - 0.05) > 1e-9
    assert ((p <= 0.05) == excluded)[clear].all()


def test_mistakes_are_named():
    with pytest.raises(UsageError, match="n decreases"):
        confidence_sequence([0.1, 0.1], [0.1, 0.1], [50, 20])
    with pytest.raises(UsageError, match="not finite, or not positive"):
        confidence_sequence([0.1], [0.0], [200])
    with pytest.raises(UsageError, match="2 differences, 1 standard errors"):
        confidence_sequence([1.0, 2.0], [1.0], [1, 2])
    wager = Wager()
    for real, generated in (([1.0], [1.0, 2.0]), ([], []), ([float("nan")], [1.0])):
        with pytest.raises(UsageError, match="betting needs"):
            wager.bet(real, generated)
    assert not len(wager.past)
