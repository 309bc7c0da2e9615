"""Does an axis matter to readers? Correlations of critics' values with scores of passages, beyond plain yardsticks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from momus.inference import holm
from momus.numeric.types import Floats, Ints
from momus_people.estimate import ReaderScores
from momus_people.excerpts import YARDSTICKS

RESAMPLES = 999
FEWEST = 8
"""Fewest passages of a correlation."""


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
    passages
        Passages with a value.
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
    is_yardstick: bool = False


def axis_rows(
    scores: ReaderScores,
    values: Mapping[str, Sequence[float | None]],
    axes: Mapping[str, str],
    yardsticks: Sequence[Mapping[str, float]],
    seed: int = 0,
) -> list[AxisRow]:
    """Correlate scores with each critic's values, and with each yardstick.

    Intervals resample strata (passages, if there is one stratum) and raters, both at once (the pigeonhole bootstrap;
    Owen 2007): standard errors of Fisher's z over resamples, and normal quantiles; p agrees with them.

    Parameters
    ----------
    values
        By critic, in the order of the study's passages.
    yardsticks
        Of all passages.
    """
    plain = np.array([[yardsticks[k].get(y, np.nan) for y in YARDSTICKS] for k in scores.passage])
    judged = np.isfinite(plain).all(axis=1) & np.isfinite(scores.table).any(axis=0)
    # ratings are compared whatever the leniency of their raters
    table = scores.table if scores.is_paired else scores.table - np.nanmean(scores.table, axis=1, keepdims=True)
    columns = {
        c: np.array([np.nan if column[k] is None else column[k] for k in scores.passage], dtype=np.float64)
        for c, column in values.items()
    }
    # critics that have values of the same passages share their resamples; yardsticks have those of all passages
    groups: dict[bytes, list[str]] = {judged.tobytes(): []}
    for c, column in columns.items():
        groups.setdefault((judged & np.isfinite(column)).tobytes(), []).append(c)
    found: dict[tuple[str, bool], AxisRow] = {}
    for mask, members in groups.items():
        kept = np.frombuffer(mask, dtype=bool)
        if kept.sum() < FEWEST:
            continue
        ranks = stats.rankdata(np.column_stack([*(columns[c][kept] for c in members), plain[kept]]), axis=0)
        strata = np.unique(scores.stratum[kept], return_inverse=True)[1]
        data = _Data(ranks, len(members), table[:, kept], strata)
        listed = [(c, axes.get(c, c), False) for c in members] + [(y, y, True) for y in YARDSTICKS]
        for row in _rows(data, listed, seed):
            if not row.is_yardstick or kept.sum() == judged.sum():
                found[row.critic, row.is_yardstick] = row
    order = [*((c, False) for c in columns), *((y, True) for y in YARDSTICKS)]
    rows = [found[key] for key in order if key in found]
    tested = [i for i, r in enumerate(rows) if not r.is_yardstick and np.isfinite(r.p)]
    adjusted = dict(zip(tested, holm([rows[i].p for i in tested]).tolist(), strict=True))
    return [replace(r, p_adjusted=adjusted.get(i, float("nan"))) for i, r in enumerate(rows)]


@dataclass(frozen=True)
class _Data:
    """Ranks of k critics and of the yardsticks (P, k + 5), scores (R, P), and strata (P,) from 0."""

    ranks: Floats
    critics: int
    table: Floats
    strata: Ints

    def products(self, raters: Floats, times: Floats) -> Floats:
        """Sums of products of all columns and the scores within strata, given weights of raters and passages."""
        scored = np.isfinite(self.table)
        weight = raters @ scored
        kept = (weight > 0) & (times > 0)
        y = stats.rankdata((raters @ np.where(scored, self.table, 0.0))[kept] / weight[kept])
        centred = within(np.column_stack([self.ranks[kept], y]), self.strata[kept], times[kept])
        return np.asarray(centred.T @ (centred * times[kept][:, None]))


def correlations(products: Floats, critics: int) -> Floats:
    """Full and partial correlations with the last of V variables, (B, V − 1, 2), from sums of products (B, V, V).

    Controls are the variables between the first ``critics`` and the last; a control has the other ones. Partial sums of
    products are the Schur complement G_ab − G_aC G_CC⁻¹ G_Cb.
    """
    last = products.shape[1] - 1
    controls = list(range(critics, last))
    found = np.full((len(products), last, 2), np.nan)
    found[:, :, 0] = _ratio(products, products)
    sets = [(list(range(critics)), controls)] * (critics > 0)
    sets += [([c], [k for k in controls if k != c]) for c in controls]
    for chosen, held in sets:
        both = [*chosen, last]
        across = products[:, both][:, :, held]
        inverse = np.linalg.pinv(products[:, held][:, :, held], rcond=1e-10, hermitian=True)
        left = products[:, both][:, :, both] - across @ inverse @ across.transpose(0, 2, 1)
        found[:, chosen, 1] = _ratio(left, products)
    return found


def _ratio(left: Floats, products: Floats) -> Floats:
    """Correlations of all variables with the last one, (B, V − 1); NaN where nothing varies."""
    variance = np.einsum("bii->bi", left)
    scale = np.sqrt(np.maximum(variance[:, :-1] * variance[:, -1:], 0.0))
    varies = scale > 1e-9 * np.maximum(np.abs(products).max(axis=(1, 2)), 1e-300)[:, None]
    return np.where(varies, left[:, :-1, -1] / np.where(varies, scale, 1.0), np.nan)


def _rows(data: _Data, listed: Sequence[tuple[str, str, bool]], seed: int) -> list[AxisRow]:
    """One row per critic and yardstick, in the order of the columns."""
    raters, passages = data.table.shape
    units = int(data.strata.max()) + 1
    # what is resampled with the raters: strata, or passages if all are of one stratum
    unit, units = (np.arange(passages), passages) if units == 1 else (data.strata, units)
    rng = np.random.default_rng(seed)
    products = [data.products(np.ones(raters), np.ones(passages))]
    for _ in range(RESAMPLES):
        weights = np.bincount(rng.integers(raters, size=raters), minlength=raters).astype(np.float64)
        times = np.bincount(rng.integers(units, size=units), minlength=units).astype(np.float64)
        products.append(data.products(weights, times[unit]))
    full, *drawn = correlations(np.array(products), data.critics)
    z, replicates = (np.arctanh(np.clip(v, -0.999999, 0.999999)) for v in (full, drawn))
    # a column may have no correlation in any draw
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        errors = np.nan_to_num(np.nanstd(replicates, axis=0))
    reach = stats.norm.isf(0.025) * errors
    low, high = np.tanh(z - reach), np.tanh(z + reach)
    rows = []
    for k, (critic, axis, is_yardstick) in enumerate(listed):
        p = float(2 * stats.norm.sf(abs(z[k, 1]) / errors[k, 1])) if errors[k, 1] > 0 else float("nan")
        one, partial = ((float(full[k, j]), float(low[k, j]), float(high[k, j])) for j in (0, 1))
        rows.append(AxisRow(critic, axis, *one, *partial, p, float("nan"), passages, is_yardstick))
    return rows


def within(values: Floats, strata: Ints, weights: Floats) -> Floats:
    """Values (n, k) less the weighted mean of their stratum.

    >>> within(np.array([[1.0], [3.0], [9.0]]), np.array([0, 0, 1]), np.ones(3)).ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    total = np.bincount(strata, weights)
    sums = np.column_stack([np.bincount(strata, weights * column) for column in values.T])
    return np.asarray(values - (sums / np.maximum(total, 1e-300)[:, None])[strata])
