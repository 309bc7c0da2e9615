"""Means and preferences of corpora, with intervals that hold for other readers and other passages.

Every estimate is a share from 0 to 1. Its variance is clustered by raters and by items at once: the sum of both
clustered variances less that of single answers (Cameron, Gelbach & Miller 2011), with Satterthwaite's degrees of
freedom, as in studies of several readers and cases (Hillis 2007). Intervals are those of the logit of the share, after
half an item for and half an item against, as Jeffreys' prior adds, so that unanimous answers have an interval too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from momus.numeric.types import Bools, Floats, Ints

CONFIDENCE = 0.95


class Share(NamedTuple):
    """An estimate from 0 to 1, and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ReaderScores:
    """How raters judged each passage.

    Attributes
    ----------
    passage
        Numbers of the P passages that were judged, (P,).
    stratum
        What passages are compared within, (P,): their pair; of ratings, their prompt, where many share one.
    corpus
        Names of their corpora, (P,).
    table
        Scores from 0 to 1, NaN where there is none, (R, P): ratings; 1, ½ or 0 for preferred, alike or not.
    is_paired
        Whether the two passages of a stratum were judged against each other.
    """

    passage: Ints
    stratum: Ints
    corpus: Sequence[str]
    table: Floats
    is_paired: bool

    @property
    def unit(self) -> Ints:
        """What is judged, (P,): the passage itself, or its pair."""
        return self.stratum if self.is_paired else np.arange(len(self.passage))

    def columns(self, name: str) -> Bools:
        """bool (P,): passages of a corpus."""
        return np.array([c == name for c in self.corpus], dtype=bool)


def mean_score(scores: ReaderScores, name: str, tests: int = 1) -> Share:
    """Mean score of a corpus that has answers: its mean rating, or the share of its pairs in which it is preferred.

    Parameters
    ----------
    tests
        Number of estimates that hold at once with 95 % confidence (Šidák 1967).
    """
    rater, column = np.nonzero(np.isfinite(scores.table) & scores.columns(name))
    return _mean(scores.table[rater, column], rater, scores.unit[column], tests)


def preference(scores: ReaderScores, first: str, second: str, tests: int = 1) -> Share | None:
    """Probability that a reader prefers a passage of the first corpus to one of the second; ties count half.

    Pairs: the share of answers about the two. Ratings: the share of a rater's ratings of the first that are above the
    same rater's ratings of the second (the statistic of Mann & Whitney). None if no rater judged both.

    >>> table = np.array([[1.0, 0.5, 0.0, 0.5], [1.0, 0.0, 0.5, 0.0]])
    >>> scores = ReaderScores(np.arange(4), np.arange(4), list("aabb"), table, False)
    >>> preference(scores, "a", "b").value
    0.75
    """
    one, other = scores.columns(first), scores.columns(second)
    if scores.is_paired:
        meet = one & np.isin(scores.unit, scores.unit[other])
        rater, column = np.nonzero(np.isfinite(scores.table) & meet)
        return _mean(scores.table[rater, column], rater, scores.unit[column], tests) if len(rater) else None
    wins, raters, columns, sizes = [], [], [], []
    for r, row in enumerate(scores.table):
        a, b = (np.flatnonzero(np.isfinite(row) & side) for side in (one, other))
        if len(a) and len(b):
            ranks = stats.rankdata(np.concatenate([row[a], row[b]]))
            # how many of b each of a beats, (len(a),), and how many of a beat each of b, (len(b),)
            wins += [ranks[: len(a)] - stats.rankdata(row[a]), len(a) - ranks[len(a) :] + stats.rankdata(row[b])]
            sizes += [np.full(len(a), len(b)), np.full(len(b), len(a))]
            columns += [a, b]
            raters.append(np.full(len(a) + len(b), r))
    if not wins:
        return None
    won, against, column = (np.concatenate(parts) for parts in (wins, sizes, columns))
    pairs = against.sum() / 2  # each pair of ratings is counted from both of its sides
    value = float(won.sum() / 2 / pairs)
    items = min(len(np.unique(column[side[column]])) for side in (one, other))
    influence = (won - value * against) / pairs
    return _interval(value, influence, np.concatenate(raters), column, items, tests, sides=2)


def _mean(values: Floats, rater: Ints, unit: Ints, tests: int) -> Share:
    """Mean of n values, their raters and units (n,)."""
    value = float(values.mean())
    return _interval(value, (values - value) / len(values), rater, unit, len(np.unique(unit)), tests)


def _interval(
    value: float, influence: Floats, rater: Ints, unit: Ints, items: int, tests: int, sides: int = 1
) -> Share:
    """A share with its interval, from what each answer adds to it (n,).

    Parameters
    ----------
    items
        Number of independent items.
    sides
        How often each pair of answers is counted in the sum of a rater.
    """
    by_unit, units = _clustered(influence, unit)
    by_rater, raters = _clustered(influence / sides, rater)
    tastes = max(by_rater - float(influence @ influence), 0.0) if raters > 1 else 0.0
    variance = by_unit + tastes
    inverse = by_unit**2 / max(units - 1, 1) + tastes**2 / max(raters - 1, 1)
    freedom = variance**2 / inverse if inverse > 0 else np.inf
    centre = (items * value + 0.5) / (items + 1)
    variance += 0.25 * ((1 - centre) ** 2 + centre**2) / (items + 1) ** 2
    level = 1 - CONFIDENCE ** (1 / tests)
    reach = stats.t.isf(level / 2, freedom) * np.sqrt(variance) / (centre * (1 - centre))
    return Share(value, float(expit(logit(centre) - reach)), float(expit(logit(centre) + reach)))


def _clustered(influence: Floats, cluster: Ints) -> tuple[float, int]:
    """Variance of a sum whose terms depend on each other within clusters, and the number of clusters."""
    sums = np.bincount(np.unique(cluster, return_inverse=True)[1], influence)
    n = len(sums)
    return float(sums @ sums) * n / max(n - 1, 1), n
