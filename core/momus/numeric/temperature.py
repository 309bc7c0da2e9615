"""Calibrated probabilities: a temperature chosen on held-out data, and how far off probabilities are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Floats


def softmax(logits: Floats, temperature: float = 1.0) -> Floats:
    """Turn logits (N, K) into probabilities, rows summing to 1.

    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    from scipy.special import softmax as scipy_softmax

    return np.asarray(scipy_softmax(np.asarray(logits, dtype=np.float64) / temperature, axis=1))


def fit_temperature(logits: Floats, truth: NDArray[np.int64]) -> float:
    """Choose the temperature under which the true classes are most likely (Guo et al. 2017, section 4.2).

    Parameters
    ----------
    logits
        (N, K) of data that the logits were not fitted on.
    truth
        (N,) classes.

    Returns
    -------
    Between e⁻³ and e³; 1 where there is no data.

    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(size=(4000, 3))
    >>> truth = (softmax(logits).cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    >>> round(fit_temperature(5 * logits, truth))
    5
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    if len(truth) == 0:
        return 1.0
    rows = np.arange(len(truth))

    def loss(log_t: float) -> float:
        return -float(log_softmax(logits * np.exp(-log_t), axis=1)[rows, truth].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))


def calibration_error(probabilities: Floats, truth: NDArray[np.int64], bins: int = 15) -> float:
    """Expected calibration error: the mean gap between confidence and accuracy (Naeini et al. 2015).

    Parameters
    ----------
    probabilities
        (N, K).
    bins
        Number of bins of equal width over the confidence of the most probable class.

    Returns
    -------
    Σ_b (n_b / N) |accuracy_b − confidence_b|, in [0, 1]; NaN without data.

    >>> calibration_error(np.array([[0.75, 0.25]] * 4), np.array([0, 0, 0, 1]))
    0.0
    """
    if len(truth) == 0:
        return float("nan")
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == truth
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    gap = np.bincount(place, right - confidence, minlength=bins)
    return float(np.abs(gap).sum() / len(truth))
