"""Ratios of totals that are compared on the log scale."""

from __future__ import annotations

from momus.critic import mean
from momus.numeric.types import Floats


def log_scaled(pooled: Floats) -> Floats:
    """Ratio of the totals in columns 0 and 1, for a `momus.Statistic` with ``scale="log"``.

    Differences of `momus.critic.mean` are studentised on the scale of the value. Ratios that are many times as large in
    one text as in the other are tested, and get their intervals, on the log scale by this function.

    >>> import numpy as np
    >>> log_scaled(np.array([[6.0, 4.0]]))
    array([1.5])
    """
    return mean(pooled)
