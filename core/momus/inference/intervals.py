"""Intervals from bootstrap replicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from momus.inference.statistic import Floats

Interval = tuple[float, float]


def percentile(replicates: Floats, confidence: float) -> Interval:
    """Plain percentiles."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return float(low), float(high)


def centred(estimate: float, replicates: Floats, confidence: float) -> Interval:
    """Spread of the replicates around their own mean, laid around the estimate.

    Plug-in distances and entropies of sparse counts are biased, and biased once more in a resample; only the spread of
    the replicates is of use.
    """
    low, high = percentile(replicates - replicates.mean(), confidence)
    return estimate + low, estimate + high


def bca(estimate: float, replicates: Floats, influences: list[Floats], confidence: float) -> Interval:
    """Bias-corrected and accelerated percentiles (Efron 1987).

    Parameters
    ----------
    influences
        For each independent sample, (n − 1) · (mean of the leave-one-out values − leave-one-out value), (n,).
    """
    below = np.mean(replicates < estimate) + np.mean(replicates == estimate) / 2
    if not 0 < below < 1:
        return percentile(replicates, confidence)
    z0 = ndtri(below)
    cubes = sum(float((u**3).sum()) / len(u) ** 3 for u in influences)
    squares = sum(float((u**2).sum()) / len(u) ** 2 for u in influences)
    acceleration = cubes / (6 * squares**1.5) if squares > 0 else 0.0
    tail = (1 - confidence) / 2
    z = z0 + ndtri(np.array([tail, 1 - tail]))
    levels: NDArray[np.float64] = ndtr(z0 + z / (1 - acceleration * z))
    low, high = np.quantile(replicates, levels)
    return float(low), float(high)
