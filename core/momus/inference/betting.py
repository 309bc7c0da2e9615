"""An exact test of exchangeability by betting, valid at any number of documents and looks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Floats

STAKES = np.array([-0.8, -0.4, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.4, 0.8])
"""Shares λ of the capital that the gamblers bet, each on every pair; together they own a capital of 1 at first."""
BLOCK = 64
"""Pairs whose ranks are computed at once."""


class Wager:
    """Capital won by betting that the generated value of a pair is larger (or smaller) than the real one.

    Pair t brings s_t = g(y_t) − g(x_t) in [−1, 1], where g is the empirical distribution function of all values of
    earlier pairs (ties count half). A gambler with stake λ has the capital Π_t (1 + λ s_t); the capital of the wager is
    the mean over `STAKES`, as in a universal portfolio (Cover 1991). If the two values of each pair are exchangeable
    given the earlier pairs, s_t is symmetric around 0 and the capital is a non-negative martingale with mean 1. By
    Ville's inequality it reaches 1/α at any time with probability at most α (Ramdas et al. 2023).

    Parameters
    ----------
    past
        Values of all earlier pairs, sorted, (2t,).
    log_wealth
        Log capital of each gambler, (10,).

    >>> wager = Wager()
    >>> wager.bet([1.0], [2.0])  # the first pair has no past
    1.0
    >>> round(wager.bet([1.0, 1.5, 1.2] * 4, [2.0, 2.5, 2.2] * 4), 1), round(wager.capital, 1)
    (7.4, 7.4)
    """

    def __init__(self, past: Sequence[float] = (), log_wealth: Sequence[float] | None = None) -> None:
        self.past = np.asarray(past, dtype=np.float64)
        self.log_wealth = np.zeros(len(STAKES)) if log_wealth is None else np.asarray(log_wealth, dtype=np.float64)

    @property
    def capital(self) -> float:
        """Mean capital of the gamblers, an e-value; 1 at first."""
        return float(np.exp(np.minimum(self.log_wealth, 700.0)).mean())

    def bet(self, real: Sequence[float] | Floats, generated: Sequence[float] | Floats) -> float:
        """Bet on further pairs, in order, and return the largest capital reached on the way.

        Parameters
        ----------
        real, generated
            Values of the two sides, (m,) each; value i of one side and value i of the other are a pair.

        Raises
        ------
        UsageError
            The sides are of different lengths, empty, or hold a value that is not finite.
        """
        x, y = (np.asarray(v, dtype=np.float64) for v in (real, generated))
        if x.ndim != 1 or x.shape != y.shape or not len(x):
            raise UsageError(
                f"betting needs as many real as generated values, found {x.size} and {y.size}",
                hint="pass the same number of documents from both sides, and keep the others for the next look",
            )
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise UsageError("betting needs finite values, found NaN or infinity", hint="leave unscored documents out")
        highest = 0.0
        for start in range(0, len(x), BLOCK):
            pairs = np.column_stack([x[start : start + BLOCK], y[start : start + BLOCK]])
            gains = self._gains(pairs)
            # log capital of each gambler after each pair, (pairs, stakes)
            paths = self.log_wealth + np.cumsum(np.log1p(np.outer(gains, STAKES)), axis=0)
            highest = max(highest, float(np.exp(np.minimum(paths, 700.0)).mean(axis=1).max()))
            self.log_wealth = paths[-1]
            self.past = np.sort(np.concatenate([self.past, pairs.ravel()]), kind="stable")
        return highest

    def _gains(self, pairs: Floats) -> Floats:
        """s_t = g(y_t) − g(x_t) of each pair of a block, (pairs,); pairs is (pairs, 2)."""
        # values below each value, plus half of its equals: among values of earlier blocks, (pairs, 2)
        below = (np.searchsorted(self.past, pairs) + np.searchsorted(self.past, pairs, side="right")) / 2
        # the same among earlier pairs of this block: [t, side, u] compares pair t with pair u, which counts if u < t
        earlier = np.tri(len(pairs), k=-1)[:, None, :]
        for other in (pairs[:, 0], pairs[:, 1]):
            compared = (other < pairs[:, :, None]) + 0.5 * (other == pairs[:, :, None])
            below += (compared * earlier).sum(axis=2)
        numbers = len(self.past) + 2 * np.arange(len(pairs))
        gains: Floats = (below[:, 1] - below[:, 0]) / np.maximum(numbers, 1)
        return gains
