"""Held-out human documents as a yardstick: conformal p-values over all critics, and under each alone.

Documents have values on one scale, whatever their length. The Latent NLL of a document depends on its length under most
critics: short documents vary more, and a law of words grows with the text. So human documents tell how each critic's
value grows with the logarithm of the number of words, and how its scatter does:

    v = a + b · log w + s(w) · e,    log s(w) = c + d · log w

Both are least-squares lines; the second is fitted to log |residual|, so that e has variance 1 if it is normal. What
is judged is e, (critics,).

How odd a document is, one number says: the surprise (`momus.outliers.conformal`) of the Mahalanobis distance of its
normal scores, z' (Σ + εI)⁻¹ z, in which axes that go together count once, or the largest surprise under one critic,
whichever is more surprising. Beside text of models it is that of the log-odds (`momus.review.contrast`), less what the
length predicts; what shares the level with these takes more from them than it finds.

Every held-out document both teaches and calibrates. They are cut into folds; what is learned of all folds but one
judges the documents of that fold, s_i, and a new one, s_k(x), which are compared fold by fold (cross-conformal
prediction: Vovk 2015; CV+: Barber, Candès, Ramdas & Tibshirani 2021):

    p = (1 + Σ_k #{i in fold k: s_i ≥ s_k(x)}) / (n + 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Bools, Floats, Ints
from momus.outliers.conformal import Above, Tail, ends
from momus.outliers.leaning import normal_scores

COMMON = np.log(0.05)
"""Minus the surprise of 1 in 20 human documents, so that what is odder than these is positive."""


@dataclass(frozen=True)
class Judgement:
    """p-values of n documents: over all, (n,), and under each critic alone, (n, critics), 1 where it gives no value.

    ``small`` says whether a value is odd because it is small, that is, too likely: bool (n, critics). ``surprise`` is
    behind p, the mean over folds: (n,).
    """

    p: Floats
    alone: Floats
    small: Bools
    surprise: Floats


@dataclass(frozen=True)
class Scale:
    """What is learned of some human documents: how values depend on the length, tails by critic, and the distance.

    ``odds`` say how log-odds depend on it, if there are any. ``overall`` is the tail of their rest, or, without them,
    those of the distance and of the largest surprise.
    """

    lengths: Lengths
    odds: Lengths
    upper: Sequence[Tail]
    lower: Sequence[Tail]
    two_sided: Sequence[bool]
    distance: Distance
    overall: Sequence[Tail]

    @classmethod
    def learn(cls, values: Floats, odds: Floats, words: Ints, two_sided: Sequence[bool]) -> Scale:
        """Learn from values (n, critics), NaN where there is none, log-odds, (n, 1 or 0), and numbers of words (n,)."""
        lengths, of_odds = Lengths.of(values, words), Lengths.of(odds, words)
        freed = lengths.freed(values, words)
        upper, lower = ([Tail.of(column) for column in side.T] for side in (freed, -freed))
        scores = normal_scores(*ends(freed, upper, lower))
        distance = Distance.learn(scores)
        several = () if odds.shape[1] else (distance.left_out(scores), _largest(freed, two_sided))
        numbers = (*several, *of_odds.rest(odds, words).T)
        return cls(lengths, of_odds, upper, lower, two_sided, distance, [Tail.of(column) for column in numbers])

    def judge(self, values: Floats, odds: Floats, words: Ints) -> tuple[Floats, Bools]:
        """Surprises under each critic and over all, and whether values are odd for being small.

        The first is (n, critics + 1), the second (n, critics).
        """
        freed = self.lengths.freed(values, words)
        high, low = ends(freed, self.upper, self.lower)
        alone = _alone(high, low, self.two_sided)
        several = () if odds.shape[1] else (self.distance(normal_scores(high, low)), alone.max(axis=1, initial=0.0))
        numbers = (*several, *self.odds.rest(odds, words).T)
        surprises = [tail.surprise(n) for tail, n in zip(self.overall, numbers, strict=True)]
        return np.column_stack([alone, np.max(surprises, axis=0) + COMMON]), freed < 0


@dataclass(frozen=True)
class Yardstick:
    """What judges documents at their length.

    Attributes
    ----------
    scales
        What each fold's documents and new ones are put on: learned of the other folds.
    above
        By fold: the fold's documents under each critic, and over all.
    units
        Groups that calibrate; documents, where they have none.
    """

    scales: Sequence[Scale]
    above: Sequence[Sequence[Above]]
    units: int

    @classmethod
    def of(
        cls, values: Floats, odds: Floats, words: Ints, folds: Ints, weights: Floats, two_sided: Sequence[bool]
    ) -> Yardstick:
        """Learn from human documents that no critic was fitted on.

        Parameters
        ----------
        values
            What ranks them under the critics, NaN where unscored: (n, critics).
        odds
            Their log-odds, from regressions without each fold, (n, folds); (n, 0) without text of models.
        words, folds, weights
            Number of words, fold, and weight among the documents of the same group, of each: (n,).
        """
        honest = odds[np.arange(len(odds)), folds][:, None] if odds.shape[1] else odds
        scales, above = [], []
        for k in range(int(folds.max()) + 1):
            of, others = folds == k, folds != k
            scales.append(Scale.learn(values[others], honest[others], words[others], two_sided))
            surprise, _ = scales[k].judge(values[of], honest[of], words[of])
            above.append([Above.of(column, weights[of]) for column in surprise.T])
        return cls(scales, above, round(float(weights.sum())))

    def judge(self, values: Floats, odds: Floats, words: Ints) -> Judgement:
        """Judge documents by their values, (n, critics), their log-odds, (n, folds or 0), and their words, (n,)."""
        n, critics = values.shape
        reached, small, overall = np.ones(()), np.zeros((n, critics)), np.zeros(n)
        for k, (scale, above) in enumerate(zip(self.scales, self.above, strict=True)):
            surprise, odd_if_small = scale.judge(values, odds[:, k : k + 1], words)
            reached = reached + np.column_stack([of(column) for of, column in zip(above, surprise.T, strict=True)])
            small += odd_if_small
            overall += surprise[:, -1] / len(self.scales)
        p, known = reached / (self.units + 1), np.isfinite(values)
        return Judgement(
            np.where(known.any(axis=1), p[:, -1], 1.0),
            np.where(known, p[:, :-1], 1.0),
            small > len(self.scales) / 2,
            overall,
        )


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

    def rest(self, values: Floats, words: Ints) -> Floats:
        """The values less their line in the length, (n, critics)."""
        x = (np.log(np.maximum(words, 1.0)) - self.centre)[:, None]
        return np.asarray(values - self.level - self.slope * x)

    def freed(self, values: Floats, words: Ints) -> Floats:
        """The values without their dependence on length: e, (n, critics)."""
        x = (np.log(np.maximum(words, 1.0)) - self.centre)[:, None]
        return np.asarray(self.rest(values, words) / np.exp(self.scatter + self.widening * x))


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Level and slope of the least-squares line; of fewer than 8 points or one length, no slope."""
    if len(y) < 8 or float(x.std()) < 1e-6:
        return (float(y.mean()) if len(y) else 0.0), 0.0
    slope = float(np.cov(x, y)[0, 1] / x.var(ddof=1))
    return float(y.mean() - slope * x.mean()), slope


RIDGE = 1.0
"""ε: what is added to the variances of human documents, so that few of them determine a distance."""


@dataclass(frozen=True)
class Distance:
    """The Mahalanobis distance from the human reference: its mean, (critics,), and inverse covariance."""

    mean: Floats
    inverse: Floats

    @classmethod
    def learn(cls, human: Floats) -> Distance:
        """Learn from the normal scores of human documents, (n, critics).

        >>> rng = np.random.default_rng(0)
        >>> distance = Distance.learn(rng.normal(size=(500, 2)))
        >>> bool(distance(np.array([[3.0, 3.0]]))[0] > distance(np.array([[1.0, 0.0]]))[0])
        True
        """
        centred = human - human.mean(axis=0)
        covariance = centred.T @ centred / max(len(human) - 1, 1)
        return cls(human.mean(axis=0), np.linalg.inv(covariance + RIDGE * np.eye(human.shape[1])))

    def left_out(self, human: Floats) -> Floats:
        """Squared distances of the documents that it was learned of, each as if it had been left out: (n,).

        In a sample, distances are too small, and the more so the more critics there are. Without the ridge it is exact.

        >>> sample = np.random.default_rng(0).normal(size=(30, 2))
        >>> one = Distance.learn(sample[1:])(sample[:1])[0]
        >>> bool(abs(Distance.learn(sample).left_out(sample)[0] - one) < 0.05 * one)
        True
        """
        n = len(human)
        squared = self(human)
        share = np.minimum(n / max(n - 1, 1) ** 2 * squared, 0.99)
        return np.asarray(max(n - 2, 1) * n**2 / max(n - 1, 1) ** 3 * squared / (1 - share))

    def __call__(self, features: Floats) -> Floats:
        """Squared distance of documents from their normal scores, (n, critics): (n,)."""
        centred = features - self.mean
        return np.asarray(np.einsum("ij,jk,ik->i", centred, self.inverse, centred))


def _alone(high: Floats, low: Floats, two_sided: Sequence[bool]) -> Floats:
    """The surprise under each critic: of two ends that are odd, the larger one."""
    return np.where(two_sided, np.maximum(high, low), high)


def _largest(freed: Floats, two_sided: Sequence[bool]) -> Floats:
    """The largest surprise of each document, (n,), by tails of half of them that does not hold it."""
    halves = np.arange(len(freed)) % 2 == 0
    largest = np.zeros(len(freed))
    for half in (halves, ~halves):  # tails that know a document would find it too usual
        up, down = ([Tail.of(column) for column in side[~half].T] for side in (freed, -freed))
        largest[half] = _alone(*ends(freed[half], up, down), two_sided).max(axis=1, initial=0.0)
    return largest
