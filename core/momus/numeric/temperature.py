"""Calibration of probabilities: temperature scaling and the expected calibration error."""

from __future__ import annotations

import numpy as np

from momus.numeric.types import Floats, Ints


def softmax(logits: Floats, temperature: float = 1.0) -> Floats:
    """Convert logits (N, K) to probabilities; rows sum to 1.

    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    from scipy.special import softmax as scipy_softmax

    return np.asarray(scipy_softmax(np.asarray(logits, dtype=np.float64) / temperature, axis=1))


def fit_temperature(logits: Floats, truth: Ints) -> float:
    """Fit the temperature that maximises the likelihood of the true classes (Guo et al. 2017, section 4.2).

    Parameters
    ----------
    logits
        (N, K), for data on which the model was not fitted.
    truth
        (N,) classes.

    Returns
    -------
    A temperature between e⁻³ and e³; 1 without data.

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


def calibration_error(probabilities: Floats, truth: Ints, bins: int = 15) -> float:
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
    correct = probabilities.argmax(axis=1) == truth
    bin_numbers = np.minimum((confidence * bins).astype(int), bins - 1)
    gap = np.bincount(bin_numbers, correct - confidence, minlength=bins)  # n_b (accuracy_b − confidence_b)
    return float(np.abs(gap).sum() / len(truth))
