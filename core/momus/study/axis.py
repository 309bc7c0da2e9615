"""Does an axis matter to readers? Correlations of critics' values with scores of passages, beyond plain yardsticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from momus.inference import holm
from momus.inference.correlation import pearson, residuals, within
from momus.numeric.types import Floats, Ints
from momus.study.judged import Scores
from momus.text.yardsticks import YARDSTICKS

RESAMPLES = 999
FEWEST = 8
"""Fewest passages of a correlation; and fewest corpora whose means are correlated: half of that."""


@dataclass(frozen=True)
class AxisRow:
    """How answers go with the values of one critic.

    Attributes
    ----------
    critic, axis
        Their names; a yardstick has the same name for both.
    rho, low, high
        Rank correlation within strata, with its interval.
    partial, partial_low, partial_high
        The same, with all (other) yardsticks held fixed.
    p, p_adjusted
        Of the partial correlation; adjusted over critics by Holm's method (yardsticks: NaN).
    passages, strata
        Passages with a value, and strata with two or more of them; one stratum means that all are compared.
    of_corpora
        Rank correlation of the means over corpora; NaN with fewer than four.
    """

    critic: str
    axis: str
    rho: float
    low: float
    high: float
    partial: float
    partial_low: float
    partial_high: float
    p: float
    p_adjusted: float
    passages: int
    strata: int
    of_corpora: float
    is_yardstick: bool = False


def axis_rows(
    scores: Scores,
    values: Mapping[str, Sequence[float | None]],
    axes: Mapping[str, str],
    yardsticks: Sequence[Mapping[str, float]],
    corpora: Sequence[str],
    seed: int = 0,
) -> list[AxisRow]:
    """Correlate scores with each critic's values, and with each yardstick.

    Intervals resample strata (passages, if there is one stratum) and raters, both at once (the pigeonhole bootstrap;
    Owen 2007): standard errors of Fisher's z over resamples, and normal quantiles; p agrees with them.

    Parameters
    ----------
    values
        By critic, in the order of the study's passages.
    yardsticks, corpora
        Yardsticks and corpus of all passages.
    """
    table = np.array([[yardsticks[k].get(y, np.nan) for y in YARDSTICKS] for k in scores.passage])
    names = np.array([corpora[k] for k in scores.passage])
    rows = []
    for critic, column in values.items():
        x = np.array([np.nan if column[k] is None else column[k] for k in scores.passage], dtype=np.float64)
        rows.append(_row(critic, axes.get(critic, critic), x, table, scores, names, seed))
    for k, name in enumerate(YARDSTICKS):
        others = np.delete(table, k, axis=1)
        rows.append(_row(name, name, table[:, k], others, scores, names, seed, is_yardstick=True))
    rows = [r for r in rows if r is not None]
    critics = [i for i, r in enumerate(rows) if not r.is_yardstick and np.isfinite(r.p)]
    adjusted = dict(zip(critics, holm([rows[i].p for i in critics]).tolist(), strict=True))
    return [AxisRow(**{**r.__dict__, "p_adjusted": adjusted.get(i, float("nan"))}) for i, r in enumerate(rows)]


def _row(
    critic: str, axis: str, x: Floats, controls: Floats, scores: Scores, names: Sequence[str], seed: int, **kind: bool
) -> AxisRow | None:
    """The row of one critic; None with too few passages."""
    kept = np.isfinite(x) & np.isfinite(controls).all(axis=1) & np.isfinite(scores.table).any(axis=0)
    strata = np.unique(scores.stratum[kept], return_inverse=True)[1] if kept.any() else np.zeros(0, dtype=np.int64)
    if kept.sum() < FEWEST:
        return None
    one = len(np.unique(strata)) == 1
    x, controls, table = stats.rankdata(x[kept]), stats.rankdata(controls[kept], axis=0), scores.table[:, kept]
    data = _Data(x, controls, table, strata)
    raters, units = len(table), len(x) if one else int(strata.max()) + 1
    full = data.correlations(np.ones(raters), np.ones(len(x)))
    rng = np.random.default_rng(seed)
    drawn = np.full((RESAMPLES, 2), np.nan)
    for b in range(RESAMPLES):
        weights = np.bincount(rng.integers(raters, size=raters), minlength=raters).astype(np.float64)
        times = np.bincount(rng.integers(units, size=units), minlength=units).astype(np.float64)
        drawn[b] = data.correlations(weights, times if one else times[strata])
    with np.errstate(invalid="ignore"):
        errors = np.nanstd(np.arctanh(np.clip(drawn, -0.999999, 0.999999)), axis=0)
        z = np.arctanh(np.clip(full, -0.999999, 0.999999))
    reach = stats.norm.isf(0.025) * errors
    low, high = np.tanh(z - reach), np.tanh(z + reach)
    p = float(2 * stats.norm.sf(abs(z[1]) / errors[1])) if errors[1] > 0 else float("nan")
    several = int((np.bincount(strata) > 1).sum())
    means = _of_corpora(x, np.nanmean(table, axis=0), np.asarray(names)[kept])
    return AxisRow(
        critic,
        axis,
        *(float(v) for v in (full[0], low[0], high[0], full[1], low[1], high[1])),
        p,
        float("nan"),
        int(kept.sum()),
        several,
        means,
        **kind,
    )


@dataclass(frozen=True)
class _Data:
    """Ranks of values (P,), ranks of controls (P, k), scores (R, P), and strata (P,)."""

    x: Floats
    controls: Floats
    table: Floats
    strata: Ints

    def correlations(self, raters: Floats, times: Floats) -> Floats:
        """Full and partial correlation within strata, given weights of raters (R,) and passages (P,)."""
        given = np.isfinite(self.table)
        weight = raters @ given
        kept = (weight > 0) & (times > 0)
        y = stats.rankdata((raters @ np.where(given, self.table, 0.0))[kept] / weight[kept])
        columns = np.column_stack([self.x[kept], y, self.controls[kept]])
        centred = within(columns, self.strata[kept], times[kept]) * np.sqrt(times[kept])[:, None]
        left = residuals(centred[:, :2], centred[:, 2:])
        return np.array([_through_origin(centred[:, 0], centred[:, 1]), _through_origin(left[:, 0], left[:, 1])])


def _through_origin(x: Floats, y: Floats) -> float:
    """Correlation of values that are centred already."""
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 1e-9 else float("nan")


def _of_corpora(x: Floats, y: Floats, names: np.ndarray) -> float:
    """Rank correlation of means over corpora; NaN with fewer than four."""
    known = np.unique(names)
    if len(known) < FEWEST // 2:
        return float("nan")
    means = np.array([(x[names == n].mean(), y[names == n].mean()) for n in known])
    return pearson(stats.rankdata(means[:, 0]), stats.rankdata(means[:, 1]))
