"""Witnesses of distances: how each column contributes, hence standard errors and cross-fitted estimates.

A distance of two samples is too large: where the texts are alike it finds the differences of chance. A *witness* gives
every column a weight for each text, such that the weighted shares add up to the distance of the shares it was made
from. On other documents of the same texts, its weighted shares do not exceed the distance of the texts themselves on
average, and come nearer to it the more documents made the witness.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from momus.critic.statistic import (
    Statistic,
    jensen_shannon,
    kolmogorov_smirnov,
    shares,
    supremum,
    total_variation,
)
from momus.inference.pooling import Rows, pooled
from momus.inference.samples import Samples
from momus.numeric.types import Floats

Witness = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From pooled counts of both texts, (1, V) each, to the weights of the columns for each text, (V,) each."""
FEW = 64
"""Rows that are multiplied at a time."""
FOLDS = 10
_FOLDS = 5
"""Number that keeps the random stream of folds apart."""


def tvd_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Half the sign of each column's difference in share."""
    sign = np.sign(shares(p) - shares(q))[0] / 2
    return sign, -sign


def ks_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """The sign of the largest gap for all columns up to it."""
    gaps = np.cumsum(shares(p) - shares(q), axis=1)[0]
    at = int(np.abs(gaps).argmax())
    step = np.where(np.arange(len(gaps)) <= at, np.sign(gaps[at]), 0.0)
    return step, -step


def supremum_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """The sign of the largest difference, for its column alone."""
    gaps = (shares(p) - shares(q))[0]
    weights = np.zeros(len(gaps))
    at = int(np.abs(gaps).argmax())
    weights[at] = np.sign(gaps[at])
    return weights, -weights


def jensen_shannon_witness(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Half the log of twice each text's part in a column, from shares smoothed by half a count (Lin 1991)."""
    one, other = ((c + 0.5) / (c + 0.5).sum() for c in (p[0], q[0]))
    return np.log(2 * one / (one + other)) / 2, np.log(2 * other / (one + other)) / 2


WITNESSES: dict[Callable[..., Floats], Witness] = {
    total_variation: tvd_witness,
    kolmogorov_smirnov: ks_witness,
    supremum: supremum_witness,
    jensen_shannon: jensen_shannon_witness,
}


def witness_of(statistic: Statistic) -> Witness | None:
    """The witness of a distance; None if it has none."""
    return WITNESSES.get(statistic.function) if statistic.prepare is None else None


def distance_error(samples: Samples, witness: Witness) -> tuple[float, float]:
    """Standard error of a distance, for a fixed witness, and its degrees of freedom."""
    weights = witness(*samples.observed)
    influences = [_influences(rows, h) for rows, h in zip(samples.unit_rows, weights, strict=True)]
    if samples.design.together:
        influences = [influences[0] + influences[1]]
    sizes = [len(u) for u in influences]
    if min(sizes) < 2:
        return float("nan"), 1.0
    variances = np.array([float((u**2).sum()) * n / (n - 1) for u, n in zip(influences, sizes, strict=True)])
    whole = float(variances.sum())
    freedom = whole**2 / float((variances**2 / (np.array(sizes) - 1)).sum()) if whole else float(sum(sizes) - 1)
    return float(np.sqrt(whole)), freedom


def _influences(rows: Rows, weights: Floats) -> Floats:
    """Influence of each unit on the weighted sum of shares: (units,)."""
    # sums of float32 rows over columns may be too large to be exact there
    tokens = np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()
    # some rows at a time, as float32 rows are copied for this product
    parts = [rows[i : i + FEW] @ weights for i in range(0, rows.shape[0], FEW)]
    values = np.concatenate(parts).astype(np.float64, copy=False).ravel()
    whole = tokens.sum()
    if not whole:
        return np.zeros(len(tokens))
    return np.asarray((values - values.sum() / whole * tokens) / whole)


def cross_fitted(samples: Samples, witness: Witness, seed: int) -> float:
    """Cross-fitted estimate of a distance: witnesses of nine in ten units, evaluated on the tenth; NaN if too few.

    On average it does not exceed the distance of the two populations.
    """
    d = samples.design
    folds = min(FOLDS, *d.units)
    if folds < 2:
        return float("nan")
    rng = np.random.default_rng([seed, _FOLDS])
    fold_of = [rng.permutation(d.units[0]) % folds]
    fold_of.append(fold_of[0] if d.together else rng.permutation(d.units[1]) % folds)
    # sums of each fold and of all others, (folds, V)
    inside = [
        pooled(rows, (f[:, None] == np.arange(folds)).astype(np.float32))
        for f, rows in zip(fold_of, samples.unit_rows, strict=True)
    ]
    outside = [side.sum(axis=0) - side for side in inside]
    values, weights = [], []
    for k in range(folds):
        if not all(side[k].sum() > 0 for side in (*inside, *outside)):
            continue
        h = witness(outside[0][k : k + 1], outside[1][k : k + 1])
        values.append(sum(float(shares(side[k : k + 1])[0] @ w) for side, w in zip(inside, h, strict=True)))
        weights.append(float((fold_of[0] == k).sum() + (fold_of[1] == k).sum()))
    return float(np.average(values, weights=weights)) if values else float("nan")
