"""Means and preferences of corpora, with intervals that hold for other readers and other passages.

Every estimate is a share from 0 to 1. Its variance is clustered by raters and by items at once: the sum of both
clustered variances less that of single answers (Cameron, Gelbach & Miller 2011), with Satterthwaite's degrees of
freedom, as in studies of several readers and cases (Hillis 2007). Intervals are those of the logit of the share, after
half an item for and half an item against, as Jeffreys' prior adds, so that unanimous answers have an interval too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logit

from momus.numeric.types import Floats, Ints

CONFIDENCE = 0.95


class Share(NamedTuple):
    """An estimate from 0 to 1, and its interval."""

    value: float
    low: float
    high: float


def mean_score(scores: Any, name: str, tests: int = 1) -> Share:
    """Mean score of a corpus that has answers: its mean rating, or the share of its pairs in which it is preferred.

    Parameters
    ----------
    scores
        One row per rater and passage, see `momus_people.answers.scores_of`.
    tests
        Number of estimates that hold at once with 95 % confidence (Šidák 1967).
    """
    return _mean(scores[scores.corpus == name], tests)


def preference(scores: Any, first: str, second: str, tests: int = 1) -> Share | None:
    """Probability that a reader prefers a passage of the first corpus to one of the second; ties count half.

    Pairs: the share of answers about the two. Ratings: the share of a rater's ratings of the first that are above the
    same rater's ratings of the second (the statistic of Mann & Whitney). None if no rater judged both.

    >>> said = pd.DataFrame({"rater": [0, 0, 0, 1, 1], "unit": [0, 1, 2, 0, 2], "corpus": list("aabab")})
    >>> preference(said.assign(score=[1.0, 0.5, 0.0, 0.0, 0.5], is_paired=False), "a", "b").value
    0.6666666666666666
    """
    one, other = (scores[scores.corpus == name] for name in (first, second))
    if scores.is_paired.all():
        meet = one[one.unit.isin(other.unit)]
        return _mean(meet, tests) if len(meet) else None
    judged = []
    for rater, mine in one.groupby("rater"):
        theirs = other[other.rater == rater]
        if len(theirs):
            a, b = mine.score.to_numpy(), theirs.score.to_numpy()
            ranks = stats.rankdata(np.concatenate([a, b]))
            # how many of b each of a beats, (len(a),), and how many of a beat each of b, (len(b),)
            won = [*(ranks[: len(a)] - stats.rankdata(a)), *(len(a) - ranks[len(a) :] + stats.rankdata(b))]
            against = [len(b)] * len(a) + [len(a)] * len(b)
            judged.append(pd.concat([mine, theirs]).assign(won=won, against=against))
    if not judged:
        return None
    both = pd.concat(judged)
    pairs = both.against.sum() / 2  # each pair of ratings is counted from both of its sides
    value = float(both.won.sum() / 2 / pairs)
    items = int(both.groupby("corpus").unit.nunique().min())
    influence = ((both.won - value * both.against) / pairs).to_numpy()
    return _interval(value, influence, both.rater.to_numpy(), both.unit.to_numpy(), items, tests, sides=2)


def _mean(scores: Any, tests: int) -> Share:
    """Mean of the scores of n answers."""
    values = scores.score.to_numpy()
    value, units = float(values.mean()), scores.unit.to_numpy()
    return _interval(
        value, (values - value) / len(values), scores.rater.to_numpy(), units, scores.unit.nunique(), tests
    )


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
