"""Multiplicity adjustment of the p-values of one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momus.numeric.types import Floats


def holm(p: Sequence[float]) -> Floats:
    """Adjust p-values by Holm's step-down method, which controls the family-wise error rate (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> Floats:
    """Compute Benjamini–Hochberg q-values, which control the false-discovery rate (1995).

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    from scipy.stats import false_discovery_control  # a second to import, which printing a run need not spend

    return np.asarray(false_discovery_control(p) if len(p) else p, dtype=np.float64)
