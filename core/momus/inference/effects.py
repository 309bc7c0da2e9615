"""Effect sizes of the observed texts and of every resample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momus.critic.statistic import Statistic
from momus.inference.pooling import Tables, pooled
from momus.inference.weights import Weights
from momus.numeric.types import Floats


def effect_size(
    statistic: Statistic, real: Floats, generated: Floats, tables: Tables, weights: tuple[Weights, Weights]
) -> Floats:
    """Effect size of each resample, (B,).

    ``hedges_g`` is the difference of means in pooled standard deviations of documents, with the small-sample factor
    1 − 3/(4·df − 1) (Hedges 1981); ``log_ratio`` is log(generated/real); anything else is the difference.
    """
    if statistic.kind == "distance":
        return generated
    if statistic.effect == "log_ratio":
        ratio: Floats = np.log(generated) - np.log(real)
        return ratio
    if statistic.effect == "hedges_g":
        # documents per resample, and sums of squared deviations from its means: (B,) for each text
        n, m = (w.sum(axis=0, dtype=np.float64) for w in weights)
        squares = [
            _sum_of_squares(np.asarray(t), w) for t, w in zip((tables.real, tables.generated), weights, strict=True)
        ]
        df = n + m - 2
        deviation = np.sqrt((squares[0] + squares[1]) / np.where(df < 1, np.nan, df))
        flat = deviation == 0
        g = np.where(flat, 0.0, (generated - real) / np.where(flat, 1.0, deviation))
        return np.asarray(g * (1 - 3 / (4 * df - 1)))
    return generated - real


def _sum_of_squares(rows: NDArray[np.floating], weights: Weights) -> Floats:
    """Sum of squared deviations of column 0 from its mean, for each resample: (B,)."""
    x = rows[:, :1] - rows[:, :1].mean()  # centred: Σ w x² − (Σ w x)²/Σ w then loses fewer digits
    sums = pooled(np.concatenate([x, x**2, np.ones_like(x)], axis=1), weights)
    return np.maximum(sums[:, 1] - sums[:, 0] ** 2 / sums[:, 2], 0.0)
