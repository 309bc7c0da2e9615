"""The parts of log P(x) of two texts: means, their jackknife, and the difference, against the formulas."""

import numpy as np
import pytest
from scipy import stats

from momus.critic.powers import PARTS
from momus.critic.scores import Scores
from momus.verdicts.decomposition import _rows
from momus.verdicts.settings import Settings


def scores(parts, steps, name, prompts=None):
    """Scores with parts (n, 3) or with log P(x) as a fourth column; NaN rows are unscored."""
    parts = np.asarray(parts, dtype=float)
    if parts.shape[1] == 3:
        parts = np.column_stack([parts, parts.sum(axis=1)])
    n = len(parts)
    unscored = np.isnan(parts).any(axis=1)
    return Scores(
        "c", name, [str(i) for i in range(n)], prompts or [None] * n, np.where(unscored, np.nan, -parts[:, 0]),
        np.where(unscored, 0, steps), ["blank" if u else None for u in unscored], parts=parts,
    )  # fmt: skip


def texts(seed=0, n=12, m=9):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(-5, 1, (n, 3)), rng.normal(-6, 2, (m, 3))
    return a, rng.integers(1, 9, n), b, rng.integers(1, 9, m)


@pytest.mark.parametrize("per_step", [True, False])
def test_levels_are_ratios_with_a_jackknife_over_documents(per_step):
    a, n, b, m = texts()
    rows = {r.part: r for r in _rows(scores(a, n, "real"), scores(b, m, "g"), Settings(confidence=0.9), per_step)}
    assert tuple(rows) == tuple(PARTS)
    for k, row in enumerate(rows.values()):
        errors = []
        for values, steps, found in ((a, n, row.in_real), (b, m, row.in_generated)):
            column = values[:, k] if k < 3 else values.sum(axis=1)
            count = steps if per_step else np.ones(len(column))
            ratio = column.sum() / count.sum()
            left = np.array([np.delete(column, i).sum() / np.delete(count, i).sum() for i in range(len(column))])
            error = np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())
            reach = stats.t.ppf(0.95, len(left) - 1) * error
            assert (found.value, found.low, found.high) == pytest.approx((ratio, ratio - reach, ratio + reach))
            errors.append(error)
        difference = row.in_generated.value - row.in_real.value
        assert row.difference.value == pytest.approx(difference)
        assert row.difference.high - difference == pytest.approx(difference - row.difference.low)
        reach = stats.norm.ppf(0.95) * np.hypot(*errors)
        assert reach < row.difference.high - difference < 1.4 * reach
        assert (row.n_real, row.n_generated, row.generated) == (12, 9, "g")


def test_a_gap_is_shown_where_the_parts_do_not_sum_to_the_evidence():
    a, n, b, m = texts()
    for rest, shown in ((0.0, False), (5e-7, False), (2e-6, True), (-0.5, True)):
        gapped = np.column_stack([a, a.sum(axis=1)])
        gapped[3, 3] += rest
        for one, other in ((gapped, b), (b, gapped)):
            counts = (n, m) if one is gapped else (m, n)
            rows = _rows(scores(one, counts[0], "real"), scores(other, counts[1], "g"), Settings(), False)
            assert [r.part for r in rows].count("gap") == shown
            if shown:
                gap = next(r for r in rows if r.part == "gap")
                found = gap.in_real if one is gapped else gap.in_generated
                assert found.value == pytest.approx(rest / 12)
                assert rows.index(gap) == 3, "before the sum"


def test_one_document_has_no_interval_and_unscored_ones_take_no_part():
    a, n, b, m = texts()
    a[2:] = np.nan
    (row, *_) = _rows(scores(a[1:], n[1:], "real"), scores(b, m, "g"), Settings(), False)
    assert (row.in_real.value, row.in_real.low, row.n_real) == (pytest.approx(a[1, 0]), None, 1)
    assert (row.difference.low, row.difference.high) == (None, None)
    assert row.in_generated.low is not None
    (row, *_) = _rows(scores(a, n, "real"), scores(b, m, "g"), Settings(), False)
    error = abs(a[0, 0] - a[1, 0]) / 2  # two documents: one degree of freedom
    assert row.in_real.high - row.in_real.value == pytest.approx(stats.t.ppf(0.975, 1) * error)


def test_pairs_of_prompts_are_compared_as_pairs():
    a, n, b, _ = texts(1, 10, 10)
    prompts = [f"p{i}" for i in range(10)]
    order = np.random.default_rng(2).permutation(10)
    real, generated = scores(a, n, "real", prompts), scores(b[order], n, "g", [prompts[i] for i in order])
    (row, *_) = _rows(real, generated, Settings(), False)
    gaps = b[:, 0] - a[:, 0]
    interval = stats.t.interval(0.95, 9, gaps.mean(), stats.sem(gaps))
    assert (row.difference.low, row.difference.high) == pytest.approx(interval)
