"""The critic of long-range correlation of rare words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np

from momus.estimator import parametrized
from momus.evidence import Cell
from momus.laws import Law
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.text.running import RunningText
from momus_critics.laws import curves
from momus_critics.laws.base import ERROR, ERROR_LABEL, ScalingLaw
from momus_critics.laws.curves import Curve, Line, fit_line

NEAR = 10
"""Largest lag whose correlation of rare words enters the verdict."""
DECAYING = 100_000
"""Tokens needed to estimate the exponent of the decay."""


@parametrized
class LongRange(ScalingLaw):
    """Long-range correlation of rare words: autocorrelation c(s) of the distances between them decays as s^−ξ.

    The verdict is on the mean of c(s) at lags up to 10, which is defined for every text. The exponent depends on the
    order in which words of equal frequency are taken as rare (the table shows its spread over random orders), is
    undefined if nothing decays, and proves little alone.

    Parameters
    ----------
    tokens, lower, block, groups
        See `ScalingLaw`.
    rarity
        One in ``rarity`` tokens is rare.
    ties
        Number of random tie orders for the spread in the table.
    seed
        Seed of the tie orders.
    """

    name = "long-range"
    axis = "long-range correlation"
    question = "Do rare words cluster over long stretches as in real text? c(s) is their distances' autocorrelation."
    reporting = replace(
        ScalingLaw.reporting,
        headline="correlation",
        limits="It cannot see which rare words cluster: only how evenly they are spread over the text.",
    )
    label = "exponent −ξ of the decay"
    direction = ("faster to lose correlation", "slower to lose correlation")
    x_label, y_label = "lag s", "autocorrelation c(s)"
    quantity = "−ξ"
    error = "relabelled"  # which words are rare depends on a count or two, and on the other groups
    y_scale = "linear"

    block: int = 281_000
    rarity: Annotated[int, Range(1, 10**9)] = 16
    ties: Annotated[int, Range(1, 1000)] = 10
    seed: int = 0

    def curve(self, stream: RunningText) -> Curve:
        """c(s) against s."""
        return curves.long_range(stream, self.rarity)

    def fitted_points(self, x: Floats, y: Floats) -> Curve:
        """Positive values at lags up to 100."""
        keep = (y > 0) & (x <= 100)
        return x[keep], y[keep]

    def laws(self) -> Sequence[Law]:
        """Mean correlation at short lags; exponent and error of the decay, for texts that have one."""
        return (
            self.law(
                "correlation",
                self.correlation,
                label=f"mean correlation at lags up to {NEAR}",
                direction=("less clustered in rare words", "more clustered in rare words"),
            ),
            self.law(
                "exponent",
                lambda stream: self.decay(stream).slope,
                label=self.label,
                direction=self.direction,
            ),
            self.law("error", lambda stream: self.decay(stream).error, label=ERROR_LABEL, direction=ERROR),
        )

    def correlation(self, stream: RunningText) -> float:
        """Mean of c(s) over s = 1 … 10.

        Raises
        ------
        ValueError
            There are fewer than 1,000 distances between rare words (16,000 tokens if one in 16 is rare).
        """
        lags, correlations = self.curve(stream)
        if not len(lags) or lags[-1] < NEAR:
            raise ValueError(f"fewer than {100 * NEAR:,} distances between rare words")
        return float(correlations[lags <= NEAR].mean())

    def decay(self, stream: RunningText) -> Line:
        """Fit the decay of the correlation.

        Raises
        ------
        ValueError
            There is no correlation that can decay (see `verdict`), or the text is too short.
        """
        if len(stream) < DECAYING:
            raise ValueError(f"estimating the decay needs {DECAYING:,} tokens")
        curve = self.curve(stream)
        if _strength(*curve) == "No":
            raise ValueError("distances between rare words are uncorrelated even at lags up to 10: no decay to fit")
        return fit_line(*self.fitted_points(*curve))

    def verdict(self, stream: RunningText) -> str:
        """``No`` if more than one c(s) is negative for s ≤ 10, ``Weak`` if any is for s ≤ 100, else ``Strong``."""
        return _strength(*self.curve(stream))

    def tie_spread(self, stream: RunningText) -> float:
        """Standard deviation of ξ over random tie orders; NaN if fewer than two orders give a line."""
        slopes = []
        for i in range(self.ties):
            random = np.random.default_rng([self.seed, i])
            try:
                slopes.append(fit_line(*self.fitted_points(*curves.long_range(stream, self.rarity, random))).slope)
            except ValueError:
                continue
        return float(np.std(slopes)) if len(slopes) > 1 else float("nan")

    def extra_columns(self) -> tuple[str, ...]:
        """Strength of the correlation, and spread of the exponent over tie orders."""
        return ("correlation", "± over tie orders")

    def extra_cells(self, stream: RunningText) -> tuple[Cell, ...]:
        """Strength of the correlation, and spread of the exponent over tie orders."""
        spread = self.tie_spread(stream)
        return (self.verdict(stream), spread if np.isfinite(spread) else None)


def _strength(lags: Floats, correlations: Floats) -> str:
    """See `LongRange.verdict`."""
    if (correlations[lags <= NEAR] < 0).sum() > 1:
        return "No"
    return "Weak" if (correlations[lags <= 100] < 0).any() else "Strong"
