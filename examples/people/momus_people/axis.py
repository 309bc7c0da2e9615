"""Does an axis matter to readers? Correlations of critics' values with scores of passages, beyond plain yardsticks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from momus.inference import holm
from momus.numeric.types import Floats, Ints
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
    scores: Any,
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
    scores
        One row per rater and passage, see `momus_people.answers.scores_of`.
    values
        By critic, in the order of the study's passages.
    yardsticks
        Of all passages.
    """
    wide = scores.pivot(index="rater", columns="passage", values="score")
    passages, table = wide.columns.to_numpy(), wide.to_numpy()
    stratum = scores.groupby("passage").stratum.first().to_numpy()
    plain = np.array([[yardsticks[k].get(y, np.nan) for y in YARDSTICKS] for k in passages])
    judged = np.isfinite(plain).all(axis=1)
    if not scores.is_paired.all():  # ratings are compared whatever the leniency of their raters
        table = table - np.nanmean(table, axis=1, keepdims=True)
    columns = {c: np.array(column, dtype=np.float64)[passages] for c, column in values.items()}
    # critics that have values of the same passages share their resamples; yardsticks have those of all passages
    groups: dict[bytes, list[str]] = {judged.tobytes(): []}
    for c, column in columns.items():
        groups.setdefault((judged & np.isfinite(column)).tobytes(), []).append(c)
    rows: dict[tuple[str, bool], AxisRow] = {}
    for mask, critics in groups.items():
        kept = np.frombuffer(mask, dtype=bool)
        count = int(kept.sum())
        if count < FEWEST:
            continue
        ranks = stats.rankdata(np.column_stack([*(columns[c][kept] for c in critics), plain[kept]]), axis=0)
        strata = np.unique(stratum[kept], return_inverse=True)[1]
        numbers = estimates(ranks, len(critics), table[:, kept], strata, seed).tolist()
        names = [(c, False) for c in critics] + [(y, True) for y in YARDSTICKS if count == judged.sum()]
        for (name, is_yardstick), row in zip(names, numbers, strict=False):
            axis = name if is_yardstick else axes.get(name, name)
            rest: list[Any] = [*row, float("nan"), count, is_yardstick]
            rows[name, is_yardstick] = AxisRow(name, axis, *rest)
    tested = [c for c in columns if (c, False) in rows and np.isfinite(rows[c, False].p)]
    for c, p in zip(tested, holm([rows[c, False].p for c in tested]).tolist(), strict=True):
        rows[c, False] = replace(rows[c, False], p_adjusted=p)
    return [rows[k] for k in [*((c, False) for c in columns), *((y, True) for y in YARDSTICKS)] if k in rows]


def estimates(ranks: Floats, critics: int, table: Floats, strata: Ints, seed: int) -> Floats:
    """Correlations of k critics and of the yardsticks, their intervals and p, (k + 5, 7).

    Parameters
    ----------
    ranks, table, strata
        Ranks of P passages (P, k + 5), their scores (R, P), and strata (P,) from 0.

    Returns
    -------
    Columns ρ, low, high, partial ρ, its low, its high, and p of the partial correlation.
    """
    raters, passages = table.shape
    units = int(strata.max()) + 1
    # what is resampled with the raters: strata, or passages if all are of one stratum
    unit, units = (np.arange(passages), passages) if units == 1 else (strata, units)
    scored, points = np.isfinite(table), np.nan_to_num(table)
    rng = np.random.default_rng(seed)

    def products(judges: Floats, times: Floats) -> Floats:
        """Sums of products of all columns and the scores within strata, given weights of raters and passages."""
        weight = judges @ scored
        kept = (weight > 0) & (times > 0)
        y = stats.rankdata((judges @ points)[kept] / weight[kept])
        centred = within(np.column_stack([ranks[kept], y]), strata[kept], times[kept])
        return np.asarray(centred.T @ (centred * times[kept][:, None]))

    sums = [products(np.ones(raters), np.ones(passages))]
    for _ in range(RESAMPLES):
        judges = np.bincount(rng.integers(raters, size=raters), minlength=raters).astype(np.float64)
        times = np.bincount(rng.integers(units, size=units), minlength=units).astype(np.float64)
        sums.append(products(judges, times[unit]))
    full, *drawn = correlations(np.array(sums), critics)
    z, replicates = (np.arctanh(np.clip(v, -0.999999, 0.999999)) for v in (full, drawn))
    # a column may have no correlation in any draw
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        errors = np.nan_to_num(np.nanstd(replicates, axis=0))
        p = np.where(errors > 0, 2 * stats.norm.sf(np.abs(z) / errors), np.nan)
    reach = stats.norm.isf(0.025) * errors
    ends = np.stack([full, np.tanh(z - reach), np.tanh(z + reach)], axis=2)  # (k + 5, ρ or partial ρ, 3)
    return np.column_stack([ends.reshape(len(ends), 6), p[:, 1]])


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


def within(values: Floats, strata: Ints, weights: Floats) -> Floats:
    """Values (n, k) less the weighted mean of their stratum.

    >>> within(np.array([[1.0], [3.0], [9.0]]), np.array([0, 0, 1]), np.ones(3)).ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    total = np.bincount(strata, weights)
    sums = np.column_stack([np.bincount(strata, weights * column) for column in values.T])
    return np.asarray(values - (sums / np.maximum(total, 1e-300)[:, None])[strata])
