"""The one tolerance below which numbers count as equal."""

from __future__ import annotations

import numpy as np

from momus.numeric.types import Floats

ROUNDING = 1e-9
"""Difference, relative to the scale of the numbers, that counts as rounding.

Sums of 10¹² numbers in float64 are exact to about 10⁻¹⁰ of their size; no text differs by as little.
"""


def without_rounding(values: Floats, scale: Floats | float = 1.0) -> Floats:
    """Values, with 0 for those that are rounding beside numbers of size ``scale``.

    >>> without_rounding(np.array([0.3 - 0.1 - 0.2, 0.5])).tolist()
    [0.0, 0.5]
    """
    return np.where(np.abs(values) <= ROUNDING * np.asarray(scale), 0.0, values)
