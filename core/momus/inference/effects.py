"""Effect sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from momus.inference.pooling import Rows
from momus.numeric.types import Floats


def hedges_factor(tables: Sequence[Rows], weights: Sequence[Floats]) -> tuple[float, float]:
    """What a difference of means is multiplied by to give Hedges' g, and the degrees of freedom of the latter.

    g is the difference in pooled standard deviations of documents, with the small-sample factor 1 − 3/(4·df − 1)
    (Hedges 1981). NaN where a standard deviation does not exist, or is 0 and the means differ; 0 where all is equal.

    Parameters
    ----------
    tables, weights
        Rows [value, 1] of both texts, and the weights of their documents.
    """
    squares, count, means = 0.0, 0.0, []
    for rows, w in zip(tables, weights, strict=True):
        x = np.asarray(rows, dtype=np.float64)[:, 0]
        n = effective_n(w)
        mean = float(w @ x) / float(w.sum())
        # weighted variance, scaled to the sum of squares of n equally weighted documents
        squares += float(w @ (x - mean) ** 2) / float(w.sum()) * n
        count += n
        means.append(mean)
    freedom = count - 2
    if freedom < 1 - 1e-9:
        return math.nan, 1.0
    deviation = math.sqrt(squares / freedom)
    scale = max(abs(m) for m in means)
    if deviation <= 1e-12 * scale:  # rounding
        return (0.0 if abs(means[1] - means[0]) <= 1e-9 * scale else math.nan), freedom
    return (1 - 3 / (4 * freedom - 1)) / deviation, freedom


def effective_n(weights: Floats) -> float:
    """Number of equally weighted documents with the same variance of a mean: (Σw)²/Σw² (Kish 1965).

    >>> effective_n(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares else 0.0
