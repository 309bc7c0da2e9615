"""p-values from permutation distributions, for single tests and for many tests of one design."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np

from momus.critic.statistic import (
    OF_GAPS,
    Statistic,
    entropy,
    entropy_of,
    jensen_shannon,
    jensen_shannon_of,
    kolmogorov_smirnov,
    mean_gap,
    shares,
)
from momus.numeric.rounding import ROUNDING
from momus.numeric.types import Floats

TIE = ROUNDING
"""Relative tolerance within which two contrasts count as equal."""
FINE = 1e-6
"""Weight of the distance that breaks ties, smaller than the steps between values of the main distance."""


def p_value(kind: Literal["value", "distance"], here: float, null: Floats, exact: bool, tie: float = TIE) -> float:
    """p-value of a contrast under its permutation distribution.

    Two-sided for values: twice the smaller tail, as unequal sample sizes may shift and skew the distribution; one-sided
    for distances. (c + 1)/(B + 1) for random relabellings (Phipson & Smyth 2010), c/B if all are enumerated, the
    observed one among them.

    Parameters
    ----------
    here
        The observed contrast.
    null
        Contrasts under B relabellings, (B,); those that do not exist count as extreme.
    tie
        Relative tolerance within which two contrasts count as equal.

    >>> p_value("distance", 3.0, np.array([1.0, 2.0, 3.0]), exact=False)
    0.5
    """
    extreme = count_extreme(kind, here, null, exact, tie)
    if exact:  # the observed labelling is among them, whatever rounding says
        extreme = max(extreme, 1)
    return extreme / len(null) if exact else (extreme + 1) / (len(null) + 1)


def count_extreme(
    kind: Literal["value", "distance"], here: float, null: Floats, exact: bool = False, tie: float = TIE
) -> int:
    """How many contrasts under relabelling are as extreme as the observed one; see `p_value`.

    >>> count_extreme("distance", 2.0, np.array([1.0, 2.0, 3.0, np.nan]))
    3
    """
    # a relabelling without a contrast counts against the observed one: p can only grow
    null = np.where(np.isnan(null), np.inf, null)
    finite = null[np.isfinite(null)]
    if kind == "distance":
        if np.isinf(here):
            return int((null >= here).sum())
        # distances of equal samples are 0 but for rounding, which a relative tolerance alone would call different
        return int((null >= here - tie * max(1e-3, abs(here))).sum())
    slack = tie * max(1.0, abs(here))
    missing = len(null) - len(finite)
    tail = min(int((finite >= here - slack).sum()), int((finite <= here + slack).sum())) + missing
    # so that (c + 1)/(B + 1) is twice (tail + 1)/(B + 1)
    return min(2 * tail + (0 if exact else 1), len(null))


def tie_above(value: float, tie: float = TIE) -> float:
    """The largest observed distance that counts as equal to one under relabelling.

    >>> tie_above(1.0) - 1 <= 1.001 * TIE
    True
    """
    return max(value / (1 - tie), value + 1e-3 * tie)


class Prepared:
    """Pooled rows of both texts, (B, V) each; every ``prepare`` function is applied at most once."""

    def __init__(self, real: Floats, generated: Floats) -> None:
        self._done: dict[Callable[[Floats], Floats] | None, tuple[Floats, Floats]] = {None: (real, generated)}

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """Shares of both texts, (B, V) each; these and what follows serve several statistics."""
        real, generated = self._done[None]
        return shares(real), shares(generated)

    @cached_property
    def gaps(self) -> Floats:
        """Differences of the shares, real − generated: (B, V)."""
        return np.asarray(self.shares[0] - self.shares[1])

    @cached_property
    def entropies(self) -> tuple[Floats, Floats]:
        """Entropies of both texts, (B,) each."""
        return entropy_of(self.shares[0]), entropy_of(self.shares[1])

    def __call__(self, prepare: Callable[[Floats], Floats] | None) -> tuple[Floats, Floats]:
        """Pooled rows of both texts after ``prepare``."""
        if prepare not in self._done:
            real, generated = self._done[None]
            assert prepare is not None
            self._done[prepare] = prepare(real), prepare(generated)
        return self._done[prepare]


def both_values(s: Statistic, prepared: Prepared) -> tuple[Floats, Floats]:
    """Values of both texts, or NaN and their distance: (B,) each, one per weighting."""
    if s.function is entropy and s.prepare is None:
        return prepared.entropies
    if s.kind == "distance":
        if s.prepare is None and s.function in OF_GAPS:
            distance = OF_GAPS[s.function](prepared.gaps)
        elif s.prepare is None and s.function is jensen_shannon:
            distance = jensen_shannon_of(prepared.shares, prepared.entropies)
        else:
            distance = np.asarray(s.function(*prepared(s.prepare)), dtype=np.float64)
        return np.full_like(distance, np.nan), distance
    real, generated = prepared(s.prepare)
    return np.asarray(s.function(real), dtype=np.float64), np.asarray(s.function(generated), dtype=np.float64)


def contrasts(s: Statistic, prepared: Prepared) -> Floats:
    """Differences or distances, as compared with their null distribution: (B,), one per weighting."""
    if s.function is kolmogorov_smirnov and s.ties is mean_gap and s.prepare is None:  # both are of the same gaps
        gaps = np.abs(np.cumsum(prepared.gaps, axis=1))
        # KS distances take few values; the mean gap breaks their ties without reordering different ones
        return np.asarray(gaps.max(axis=1) + FINE * gaps.mean(axis=1))
    real, generated = both_values(s, prepared)
    if s.kind == "distance":
        if s.ties is None:
            return generated
        untied: Floats = generated + FINE * s.ties(*prepared(s.prepare))
        return untied
    if s.scale == "log":
        ratio: Floats = np.log(generated) - np.log(real)
        return ratio
    return generated - real
