"""Krippendorff's α: published examples, another implementation, and the interval by enumeration."""

import krippendorff
import numpy as np
import pytest

from momus.inference.agreement import agreement

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": examples A to D with their printed values
BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
NOMINAL = ["aabbddcccedda", "babbbddcccdda"]
MISSING = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def alpha(rows, level):
    found = [(i, v) for row in rows for i, v in enumerate(row) if v is not None]
    codes = sorted({v for _, v in found})
    unit, value = np.array([i for i, _ in found]), np.array([codes.index(v) for _, v in found])
    return agreement(unit, value, level)


def test_alpha_is_that_of_the_published_examples():
    assert alpha(BINARY, "nominal").alpha == pytest.approx(0.095, abs=5e-4)
    assert alpha(MISSING, "nominal").alpha == pytest.approx(0.743, abs=5e-4)
    assert alpha(MISSING, "ordinal").alpha == pytest.approx(0.815, abs=5e-4)
    assert alpha(MISSING, "interval").alpha == pytest.approx(0.849, abs=5e-4)
    found = alpha(MISSING, "nominal")
    assert (found.units, found.values) == (11, 40)
    assert found.low < found.alpha < found.high
    assert alpha([[1, 1], [1, 1]], "nominal") is None


def by_hand(counts, distances):
    """1 − observed ÷ expected disagreement, summed over all pairs of values."""
    observed = sum(
        row[a] * (row[b] - (a == b)) * distances[a][b] / (row.sum() - 1)
        for row in counts
        for a in range(len(row))
        for b in range(len(row))
    )
    totals = counts.sum(axis=0)
    expected = sum(
        totals[a] * (totals[b] - (a == b)) * distances[a][b] for a in range(len(totals)) for b in range(len(totals))
    )
    return 1 - observed * (totals.sum() - 1) / expected if expected else np.nan


def test_the_interval_of_alpha_is_that_of_resampled_units():
    """Draws repeat whole units, and those in which all values are equal do not count."""
    rng = np.random.default_rng(0)
    counts = np.zeros((12, 2))
    counts[np.arange(12), np.repeat([0, 0, 0, 1], 3)] = 3
    counts[rng.random(12) < 0.4, :] = (2, 1)
    unit = np.repeat(np.arange(12), 3)
    value = np.concatenate([np.repeat([0, 1], row.astype(int)) for row in counts])
    found = agreement(unit, value, "nominal", seed=5)
    draws = np.random.default_rng(5).multinomial(12, np.full(12, 1 / 12), 1000)
    distances = 1 - np.eye(2)
    expected = [by_hand(np.repeat(counts, times, axis=0), distances) for times in draws]
    assert found.alpha == pytest.approx(by_hand(counts, distances))
    assert (found.low, found.high) == pytest.approx(tuple(np.nanquantile(expected, (0.025, 0.975))))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_that_of_another_implementation(level, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (3, 30)) + rng.integers(0, 2, (1, 30))
    table = np.where(rng.random(values.shape) < 0.3, np.nan, values)
    rater, unit = np.nonzero(~np.isnan(table))
    expected = krippendorff.alpha(table, level_of_measurement=level)
    assert agreement(unit, table[rater, unit], level).alpha == pytest.approx(expected)


def test_numbers_need_not_be_codes():
    rng = np.random.default_rng(0)
    truth = rng.normal(1e6, 1, 2000)
    found = agreement(np.repeat(np.arange(2000), 2), np.repeat(truth, 2) + rng.normal(0, 0.5, 4000), "interval")
    assert found.low < 0.8 < found.high  # 1 of 1.25
    assert found.high - found.low < 0.05
