"""Permutation tests of a law: pieces of both texts change sides, until enough relabellings are as extreme.

Relabellings are drawn one by one (Besag & Clifford 1991): a difference that many of the first ones exceed needs no
more of them, and one that few exceed gets as many as the smallest level of interest needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb

import numpy as np

from momus.laws.law import joined
from momus.numeric.types import Floats
from momus.text.running import RunningText

EXCEEDANCES = 20
"""Relabellings at least as extreme as the observed difference after which no more are drawn."""
FEWEST = 99
"""Relabellings that are drawn in any case (if that many are allowed): they give the interval and the standard error."""
RELABELLINGS = 199
"""Relabellings that are drawn at most for a single test at level 5 %."""
MOST = 9999
"""Relabellings that are drawn at most for any family of tests."""
MISSING = 0.1
"""Share of relabelled texts that may leave the law undetermined."""


def relabellings_for(family: int, alpha: float) -> int:
    """Largest number of relabellings: its smallest p is at most half of α / family.

    >>> relabellings_for(1, 0.05), relabellings_for(21, 0.05), relabellings_for(10**6, 0.05)
    (199, 839, 9999)
    """
    return min(max(RELABELLINGS, ceil(round(2 * family / alpha, 6)) - 1), MOST)


@dataclass(frozen=True)
class Relabelled:
    """The differences of relabelled texts, and the p-value of the observed one.

    Attributes
    ----------
    gaps
        float64 (B,), ascending: absolute differences of relabelled texts; infinite if the law is not determined.
    p
        p-value; with ``exact``, the share of all relabellings at least as extreme.
    total
        What p is a share of: p · total is a whole number.
    """

    gaps: Floats
    p: float
    total: int
    exact: bool = False

    @property
    def spread(self) -> float:
        """Root mean square of the differences of relabelled texts: the standard error of the difference."""
        return float(np.sqrt(np.mean(np.square(self.gaps[np.isfinite(self.gaps)]))))

    def within(self, level: float) -> float:
        """Half the width of the interval at this level: it excludes 0 where p ≤ 1 − level, and only there.

        The smallest gap g for which no more than (1 − level) · total relabellings, the observed one included, exceed g.
        """
        rank = ceil(round(level * self.total, 6))
        return float(self.gaps[min(max(rank, 1), len(self.gaps)) - 1])


def relabel(
    function: Callable[[RunningText], float],
    both: RunningText,
    pieces: tuple[list[RunningText], list[RunningText]],
    observed: float,
    most: int,
) -> Relabelled:
    """Test an observed difference (generated − real) by relabelling the pieces of both texts.

    If there are no more than ``most`` relabellings, all of them are computed, and p is exact. Otherwise they are drawn
    until `EXCEEDANCES` of them are at least as extreme as the observed difference, and at least `FEWEST`: with c
    exceedances after l draws, p = c/l if the last one is the draw that ended the test, and (c + 1)/(l + 1) if
    the number of draws was fixed (l is `FEWEST`, or ``most``). In either case P(p ≤ a) ≤ a for each a, if
    the pieces are exchangeable.

    Parameters
    ----------
    both
        A text with the vocabulary of all pieces.
    pieces
        Those of the real and of the generated text.

    Raises
    ------
    ValueError
        More than one in ten relabelled texts do not determine the law.
    """
    every, n_real = [*pieces[0], *pieces[1]], len(pieces[0])
    exact = comb(len(every), n_real) <= most
    labels = _all_labels(len(every), n_real) if exact else _random_labels(len(every), n_real, most)
    gaps: list[float] = []
    bar, exceedances, missing, sequential = abs(observed), 0, 0, False
    for sides in labels:
        gap = np.inf
        with suppress(ValueError):  # a text does not determine the law
            first, second = (function(joined(both, [every[j] for j in side])) for side in sides)
            gap = abs(second - first)
            # rounding must not decide whether a relabelling is as extreme as the observed labelling
            gap = bar if abs(gap - bar) <= 1e-9 * bar else gap
        missing += gap == np.inf
        gaps.append(gap)
        exceedances += gap >= bar
        if not exact and exceedances >= EXCEEDANCES and len(gaps) >= FEWEST:
            sequential = len(gaps) > FEWEST
            break
    if missing > MISSING * len(gaps):
        raise ValueError(f"in {missing} of {len(gaps)} relabellings a text does not determine the statistic")
    ordered = np.sort(np.array(gaps, dtype=np.float64))
    if exact or sequential:
        return Relabelled(ordered, exceedances / len(gaps), len(gaps), exact)
    return Relabelled(ordered, (exceedances + 1) / (len(gaps) + 1), len(gaps) + 1)


def _all_labels(pieces: int, n_real: int) -> Iterator[tuple[list[int], list[int]]]:
    for real in combinations(range(pieces), n_real):
        chosen = set(real)
        yield list(real), [j for j in range(pieces) if j not in chosen]


def _random_labels(pieces: int, n_real: int, most: int) -> Iterator[tuple[list[int], list[int]]]:
    rng = np.random.default_rng(pieces // 2)
    for _ in range(most):
        order = rng.permutation(pieces).tolist()
        yield order[:n_real], order[n_real:]
