"""Confidence intervals from bootstrap replicates."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from momus.numeric.types import Floats

Interval = tuple[float, float]


def percentile(replicates: Floats, confidence: float) -> Interval:
    """Percentile interval."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return float(low), float(high)


def centred(estimate: float, replicates: Floats, confidence: float) -> Interval:
    """Percentile interval of the replicates, shifted from their mean to the estimate.

    Plug-in distances and entropies of sparse counts are biased, and resampling adds the same bias again; only the
    spread of the replicates is usable.
    """
    low, high = percentile(replicates - replicates.mean(), confidence)
    return estimate + low, estimate + high


def symmetric(estimate: float, replicates: Floats, influences: list[Floats], confidence: float) -> Interval:
    """Estimate ± Student's t times the bootstrap standard error.

    A resample of n units has (n − 1)/n of their variance; the interval is expanded to correct for that, and uses
    Welch's degrees of freedom (Hesterberg 2015, section 5.3). On skewed values of 20 to 60 documents per side, nominal
    95 % intervals covered 93 to 95 %, BCa intervals 90 to 93 %: the acceleration that BCa estimates from so few values
    only adds noise.

    Parameters
    ----------
    influences
        See `bca`.
    """
    margin = expanded(influences, confidence) * float(replicates.std(ddof=1))
    return estimate - margin, estimate + margin


def bca(estimate: float, replicates: Floats, influences: list[Floats], confidence: float) -> Interval:
    """Bias-corrected and accelerated (BCa) percentile interval (Efron 1987).

    Parameters
    ----------
    influences
        For each independent sample, (n,): (n − 1) · (mean of the leave-one-out values − leave-one-out value).
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
    levels: Floats = ndtr(z0 + z / (1 - acceleration * z))
    low, high = np.quantile(replicates, levels)
    return float(low), float(high)


def expanded(influences: list[Floats], confidence: float) -> float:
    """Half-width of an interval in bootstrap standard errors: Student's t quantile, corrected for narrowness.

    >>> u = np.array([-1.0, 1.0] * 20)
    >>> round(expanded([u], 0.95), 3), round(expanded([u] * 2, 0.95), 3)
    (2.048, 2.016)
    """
    from scipy.stats import t

    sizes = np.array([len(u) for u in influences], dtype=np.float64)
    squares = np.array([float((u**2).sum()) for u in influences])
    if (sizes < 2).any() or squares.sum() == 0:
        return float(ndtri((1 + confidence) / 2))
    # variance of each sample's mean, unbiased and under the bootstrap; freedom: Welch–Satterthwaite
    unbiased, bootstrap = squares / (sizes * (sizes - 1)), squares / sizes**2
    freedom = unbiased.sum() ** 2 / (unbiased**2 / (sizes - 1)).sum()
    return float(t.ppf((1 + confidence) / 2, freedom) * np.sqrt(unbiased.sum() / bootstrap.sum()))
