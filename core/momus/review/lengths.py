"""Values of documents on one scale, whatever their length.

The Latent NLL of a document depends on its length under most critics: short documents vary more, and a law of words
grows with the text. Of the held-out human documents, the third that `momus.outliers.conformal` calls the reference
tells how each critic's value grows with the logarithm of the number of words, and how its scatter does:

    v = a + b · log w + s(w) · e,    log s(w) = c + d · log w

Both are least-squares lines; the second is fitted to log |residual|, so that e has variance 1 if it is normal. What
is judged is e. The other two thirds calibrate: the lines were learned without them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Floats, Ints

NORMAL = 0.6351814
"""−E[log |x|] of a standard normal variable: (γ + log 2) / 2."""
FLOOR = 1e-9
"""Least scatter of a value, as a share of its size: a constant value has no length to depend on."""


@dataclass(frozen=True)
class Lengths:
    """How values depend on the number of words: arrays (critics,).

    Attributes
    ----------
    level, slope
        The line of the value in log w, from ``centre``.
    scatter, widening
        The line of log s in log w, from ``centre``.
    centre
        Mean of log w of the documents that it was learned on.
    """

    level: Floats
    slope: Floats
    scatter: Floats
    widening: Floats
    centre: float

    @classmethod
    def of(cls, values: Floats, words: Ints) -> Lengths:
        """Learn from values (n, critics), NaN where a document has none, and numbers of words (n,).

        >>> rng = np.random.default_rng(0)
        >>> words = rng.integers(50, 500, 400)
        >>> lengths = Lengths.of((2 + 3 * np.log(words) + rng.normal(size=400))[:, None], words)
        >>> bool(abs(lengths.slope[0] - 3) < 0.3), bool(abs(lengths.widening[0]) < 0.4)
        (True, True)
        """
        x = np.log(np.maximum(words, 1.0))
        centre = float(x.mean()) if len(x) else 0.0
        lines = np.zeros((values.shape[1], 4))
        for k, column in enumerate(values.T):
            known = np.isfinite(column)
            lines[k, :2] = _line(x[known] - centre, column[known])
            residual = np.abs(column[known] - lines[k, 0] - lines[k, 1] * (x[known] - centre))
            smallest = FLOOR * max(float(np.abs(column[known]).max(initial=0.0)), FLOOR)
            lines[k, 2:] = _line(x[known] - centre, np.log(np.maximum(residual, smallest)))
        # a scatter that changes by more than with the square root of the length is noise of few documents
        return cls(lines[:, 0], lines[:, 1], lines[:, 2] + NORMAL, np.clip(lines[:, 3], -1.0, 1.0), centre)

    def freed(self, values: Floats, words: Ints) -> Floats:
        """The values without their dependence on length: e, (n, critics)."""
        x = (np.log(np.maximum(words, 1.0)) - self.centre)[:, None]
        return np.asarray((values - self.level - self.slope * x) / np.exp(self.scatter + self.widening * x))


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Level and slope of the least-squares line; of fewer than 8 points or one length, no slope."""
    if len(y) < 8 or float(x.std()) < 1e-6:
        return (float(y.mean()) if len(y) else 0.0), 0.0
    slope = float(np.cov(x, y)[0, 1] / x.var(ddof=1))
    return float(y.mean() - slope * x.mean()), slope
