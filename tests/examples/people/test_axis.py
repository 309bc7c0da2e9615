"""Correlations of critics with scores against a literal bootstrap, SciPy and known cases."""

import numpy as np
import pytest
from scipy import stats

from momus_people import axis
from momus_people.axis import axis_rows
from momus_people.excerpts import YARDSTICKS

from .by_hand import scores_frame


def literal(scores, column, plain, strata, rng, draws):
    """ρ within strata and ρ given the yardsticks, of the text and of draws, by repeating rows of a table."""
    ranks = [stats.rankdata(v) for v in (column, *plain.T)]
    raters, units = len(scores), len(strata) if len(set(strata)) == 1 else max(strata) + 1

    def both(judges, rows):
        kept = [k for k in dict.fromkeys(rows) if np.isfinite(scores[judges, k]).any()]
        y = dict(zip(kept, stats.rankdata([np.nanmean(scores[judges, k]) for k in kept]), strict=True))
        rows = [k for k in rows if k in y]
        table = np.array([[*(r[k] for r in ranks), y[k]] for k in rows])
        groups = np.array([strata[k] for k in rows])
        for g in set(groups.tolist()):
            table[groups == g] -= table[groups == g].mean(axis=0)
        x, held, z = table[:, 0], table[:, 1:-1], table[:, -1]
        left = [v - held @ np.linalg.lstsq(held, v, rcond=None)[0] for v in (x, z)]
        return np.corrcoef(x, z)[0, 1], np.corrcoef(left)[0, 1]

    drawn = []
    for _ in range(draws):
        judges = rng.integers(raters, size=raters)
        chosen = rng.integers(units, size=units)
        if len(set(strata)) == 1:
            rows = sorted(chosen.tolist())
        else:
            rows = [k for u in chosen.tolist() for k in range(len(strata)) if strata[k] == u]
        drawn.append(both(judges, rows))
    return both(np.arange(raters), list(range(len(strata)))), np.array(drawn)


@pytest.mark.parametrize("together", [True, False])
def test_intervals_resample_strata_and_raters(together, monkeypatch):
    monkeypatch.setattr(axis, "RESAMPLES", 60)
    rng = np.random.default_rng(0)
    strata = [0] * 48 if together else np.repeat(np.arange(12), 4).tolist()
    scores = rng.normal(size=(3, 48))
    scores[0, :4] = np.nan
    column = rng.normal(size=48) + np.nanmean(scores, axis=0)
    plain = [dict(zip(YARDSTICKS, v, strict=True)) for v in rng.normal(size=(48, 5)).tolist()]
    table = np.array([list(p.values()) for p in plain])
    rows = axis_rows(
        scores_frame(scores, ["a"] * 48, strata, True),
        {"c": column.tolist()},
        {"c": "its axis"},
        plain,
        seed=5,
    )
    row = rows[0]
    (rho, partial), drawn = literal(scores, column, table, strata, np.random.default_rng(5), 60)
    assert (row.rho, row.partial) == pytest.approx((rho, partial))
    errors = np.arctanh(drawn).std(axis=0)
    for value, low, high, error in (
        (rho, row.low, row.high, errors[0]),
        (partial, row.partial_low, row.partial_high, errors[1]),
    ):
        reach = 1.959964 * error
        assert (low, high) == pytest.approx((np.tanh(np.arctanh(value) - reach), np.tanh(np.arctanh(value) + reach)))
    assert row.p == pytest.approx(2 * stats.norm.sf(abs(np.arctanh(partial)) / errors[1]))
    assert (row.axis, row.critic, row.passages) == ("its axis", "c", 48)
    assert [r.critic for r in rows] == ["c", *YARDSTICKS]
    # a yardstick is compared given the other four
    for k in range(5):
        (rho, partial), _ = literal(scores, table[:, k], np.delete(table, k, axis=1), strata, rng, 0)
        assert (rows[1 + k].rho, rows[1 + k].partial) == pytest.approx((rho, partial))


def rows_of(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    plain = [dict(zip(YARDSTICKS, v, strict=True)) for v in rng.normal(size=(n, 5)).tolist()]
    scores = scores_frame(rng.normal(size=(2, n)), ["a"] * n, [0] * n, False)
    return axis_rows(scores, columns, {}, plain), scores


def test_fewer_than_eight_passages_have_no_row(monkeypatch):
    monkeypatch.setattr(axis, "RESAMPLES", 9)
    values = np.arange(20.0).tolist()
    rows, _ = rows_of(20, {"seven": [None] * 13 + values[:7], "eight": [None] * 12 + values[:8], "all": values})
    assert [r.critic for r in rows] == ["eight", "all", *YARDSTICKS]
    assert [r.passages for r in rows] == [8, 20, *[20] * 5]
    assert rows_of(7, {"all": values[:7]})[0] == []


def test_holm_adjusts_over_critics_only(monkeypatch):
    monkeypatch.setattr(axis, "RESAMPLES", 30)
    rng = np.random.default_rng(1)
    rows, _ = rows_of(30, {"a": rng.normal(size=30).tolist(), "b": rng.normal(size=30).tolist(), "none": [1.0] * 30})
    p = [r.p for r in rows[:2]]
    first = min(1, 2 * min(p))
    assert [r.p_adjusted for r in rows[:2]] == pytest.approx([first if v == min(p) else max(first, v) for v in p])
    assert np.isnan([rows[2].p, rows[2].p_adjusted, rows[2].rho]).all(), "a constant has no correlation"
    assert np.isnan([r.p_adjusted for r in rows[3:]]).all()
