"""p-values from permutation distributions, for single tests and for many tests of one design."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from momus.critic.statistic import Statistic
from momus.numeric.types import Floats

TIE = 1e-9
"""Relative tolerance within which two contrasts count as equal."""
FINE = 1e-6
"""Weight of the distance that breaks ties, smaller than the steps between values of the main distance."""


def p_value(kind: Literal["value", "distance"], here: float, null: Floats, exact: bool) -> tuple[float, float, float]:
    """p-value of a contrast under its permutation distribution, and mean and standard deviation of the latter.

    Two-sided for values, around the centre of the distribution, which unequal sample sizes may shift; one-sided for
    distances. (c + 1)/(B + 1) for random relabellings (Phipson & Smyth 2010), c/B if all are enumerated.

    Parameters
    ----------
    here
        The observed contrast.
    null
        Contrasts under B relabellings, (B,); those that do not exist count as extreme.

    >>> p_value("distance", 3.0, np.array([1.0, 2.0, 3.0]), exact=False)[0]
    0.5
    """
    null = np.where(np.isfinite(null), null, np.inf)
    finite = null[np.isfinite(null)]
    centre, spread = (float(finite.mean()), float(finite.std())) if len(finite) else (0.0, 0.0)
    slack = TIE * max(1.0, abs(here)) if kind == "value" else TIE * max(1e-3, abs(here))
    if kind == "distance":
        extreme = int((null >= here - slack).sum())
    else:
        middle = (finite.sum() + (0 if exact else here)) / (len(finite) + (0 if exact else 1))
        extreme = int((np.abs(null - middle) >= abs(here - middle) - slack).sum())
    p = extreme / len(null) if exact else (extreme + 1) / (len(null) + 1)
    return p, centre, spread


class Prepared:
    """Pooled rows of both texts, (B, V) each; every ``prepare`` function is applied at most once."""

    def __init__(self, real: Floats, generated: Floats) -> None:
        self._done: dict[Callable[[Floats], Floats] | None, tuple[Floats, Floats]] = {None: (real, generated)}

    def __call__(self, prepare: Callable[[Floats], Floats] | None) -> tuple[Floats, Floats]:
        """Pooled rows of both texts after ``prepare``."""
        if prepare not in self._done:
            real, generated = self._done[None]
            assert prepare is not None
            self._done[prepare] = prepare(real), prepare(generated)
        return self._done[prepare]


def both_values(s: Statistic, prepared: Prepared) -> tuple[Floats, Floats]:
    """Values of both texts, or NaN and their distance: (B,) each, one per weighting."""
    real, generated = prepared(s.prepare)
    if s.kind == "distance":
        distance = np.asarray(s.function(real, generated), dtype=np.float64)
        return np.full_like(distance, np.nan), distance
    return np.asarray(s.function(real), dtype=np.float64), np.asarray(s.function(generated), dtype=np.float64)


def contrasts(s: Statistic, prepared: Prepared) -> Floats:
    """Differences or distances, as compared with their null distribution: (B,), one per weighting."""
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
