"""Conformal p-values of single documents from held-out real ones, and the choice of those that are no real documents.

A real sample is cut at random in two. On the first part, the *reference*, each value of a document (one per critic) is
put on a common scale: its surprise −log P(a real document is at least as extreme), by relative frequency, and beyond
the four fifths that are least extreme by a generalised Pareto distribution. (Without it all values beyond the reference
were equal, and with an exponential tail critics with heavy tails would outshout the others.) The oddity of a document
is its largest surprise. The second part calibrates it:

    p = (1 + #{calibrating documents at least as odd}) / (n + 1)

If a document is exchangeable with the calibrating ones, P(p ≤ t) ≤ t for every t, whatever the critics are and however
they depend on one another: the largest surprise is one number per document, so no correction for the number of critics
is due. Ties make p larger. Such p-values are positively dependent through the calibrating sample, in the way in which
the procedure of Benjamini & Hochberg (1995) keeps its false-discovery rate (Bates, Candès, Lei, Romano & Sesia 2023,
Annals of Statistics 51, theorem 2): of the documents chosen, an expected share of at most ``fdr`` are as real as the
sample.

Documents of one author resemble each other, so those of another author are not exchangeable with them; authors are.
Where real documents have groups, the sample is cut by whole groups, and the shares of the K calibrating groups are
pooled (Dunn, Wasserman & Ramdas 2022, Journal of the American Statistical Association 118, section 3):

    p = (1 + Σ_k share of the documents of group k that are at least as odd) / (K + 1)

No p is below 1 / (K + 1), however many documents the groups have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Bools, Floats, Ints
from momus.outliers.leaning import Leaning, normal_scores
from momus.text.running import group_numbers

INNER = 0.8
"""Share of the reference whose surprise is its relative frequency; the rest is the tail."""
HEAVIEST = 2.0
"""Largest shape of a tail."""
REFERENCE = 1 / 3
"""Share of the real documents that put values on a common scale; the others calibrate."""


@dataclass(frozen=True)
class Tail:
    """The upper tail of a reference sample.

    Attributes
    ----------
    values
        The sample in ascending order, without missing values: float64 (n,).
    size
        Number of documents of the sample, those without a value included, which count as least extreme.
    start, scale, shape
        The tail: P(X ≥ x) falls from ``start`` as (1 + shape · (x − start) / scale)^(−1 / shape); the exponential tail
        if the shape is 0. By probability-weighted moments (Hosking & Wallis 1987), with a shape of at least 0.

    >>> tail = Tail.of(np.arange(1.0, 101.0))
    >>> [round(float(np.exp(-s)), 3) for s in tail.surprise(np.array([51.0, 90.0, 200.0, np.nan]))]
    [0.505, 0.084, 0.0, 1.0]
    """

    values: Floats
    size: int
    start: float
    scale: float
    shape: float

    @classmethod
    def of(cls, sample: Floats) -> Tail:
        """Learn the tail of a sample, in which NaN is a missing value."""
        values = np.sort(sample[~np.isnan(sample)])
        if not len(values):
            return cls(values, len(sample), np.inf, 1.0, 0.0)
        # a value of the sample itself: documents that share it stay out of the excess
        start = float(np.quantile(values, INNER, method="lower"))
        excess = values[values > start] - start  # ascending
        return cls(values, len(sample), start, *_pareto(excess[np.isfinite(excess)]))

    def surprise(self, values: Floats) -> Floats:
        """−log P(X ≥ x) of each value x, 0 where it is missing: float64 like ``values``."""
        inner = np.minimum(values, self.start)
        above = len(self.values) - np.searchsorted(self.values, inner, side="left")
        # −log((above + 1)/(n + 1)): beyond the largest value it stays finite, and the tail takes over
        frequency = np.log(self.size + 1.0) - np.log(above + 1.0)
        with np.errstate(over="ignore"):  # of a tail so thin that any value beyond it is as extreme as can be
            excess = np.minimum(np.maximum(values - self.start, 0.0) / self.scale, np.finfo(np.float64).max)
        beyond = np.log1p(self.shape * excess) / self.shape if self.shape else excess
        # P(X ≥ x) = P(X ≥ start) · P(X ≥ x | X ≥ start); up to `start`, the second factor is 1
        return np.where(np.isnan(values), 0.0, frequency + beyond)


def _pareto(excess: Floats) -> tuple[float, float]:
    """Scale and shape of a generalised Pareto distribution of positive values in ascending order.

    >>> excess = -np.log1p(-(np.arange(1000) + 0.5) / 1000)
    >>> [round(x, 1) for x in _pareto(excess)], [round(x, 1) for x in _pareto(np.expm1(excess / 4) * 4)]
    ([1.0, 0.0], [1.0, 0.2])
    """
    n = len(excess)
    if not n:
        return 1.0, 0.0
    mean = float(excess.mean())
    # E[X (1 − F(X))] by plotting positions
    weighted = float(((n - np.arange(n) - 0.65) / n * excess).mean())
    left = mean - 2 * weighted  # near 0 for equal values; the heavier the tail, the nearer to the mean
    shape = 2 - mean / left if left > 0 else HEAVIEST
    # negative shapes have an end, beyond which every document would be equally impossible
    if n < 3 or shape <= 0:
        return mean, 0.0
    shape = min(shape, HEAVIEST)
    return max(2 * mean * weighted / left, 1e-300) if shape < HEAVIEST else mean, shape


@dataclass(frozen=True)
class Judged:
    """Documents judged by real ones, in the order of their text: arrays (n,).

    Attributes
    ----------
    ranks
        int32: p · (calibrating documents + 1), at least 1.
    critic
        int16: number of the critic under which each document is most surprising.
    surprise
        float64: its surprise there, in nats.
    small
        bool: whether its value is odd because it is small.
    unscored
        bool: whether it has no value under any critic.
    """

    ranks: NDArray[np.int32]
    critic: NDArray[np.int16]
    surprise: Floats
    small: Bools
    unscored: Bools

    @classmethod
    def joined(cls, parts: Iterable[Judged]) -> Judged:
        """The documents of several parts of a text, of which there is at least one."""
        rows = ((p.ranks, p.critic, p.surprise, p.small, p.unscored) for p in parts)
        return cls(*map(np.concatenate, zip(*rows, strict=True)))


@dataclass(frozen=True)
class Above:
    """How much weight documents have whose number is at least as large: ``reached[i]`` from place i of ``numbers`` on.

    >>> Above.of(np.array([3.0, 1.0]), np.array([1.0, 0.5]))(np.array([0.0, 2.0, 4.0])).tolist()
    [1.5, 1.0, 0.0]
    """

    numbers: Floats
    reached: Floats

    @classmethod
    def of(cls, numbers: Floats, weights: Floats) -> Above:
        """Sort numbers of documents, (n,), with their weights."""
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], np.append(np.cumsum(weights[order][::-1])[::-1], 0.0))

    def __call__(self, numbers: Floats) -> Floats:
        """The weight at or above each number."""
        return np.asarray(self.reached[np.searchsorted(self.numbers, numbers, side="left")])


@dataclass(frozen=True)
class Calibrated:
    """What gives documents their p-values; see the module.

    Attributes
    ----------
    upper
        Tails of large values, one per critic.
    lower
        Tails of small values, of their negatives; None for critics of which only large values are odd.
    by_critic
        Surprises of the calibrating documents, one per critic.
    oddity
        The largest surprise of each of them, or how far it lies in the ``direction``.
    units
        Groups that calibrate; documents, where they have none.
    reference, calibrating
        Normal scores of the documents, and ``weights`` of the calibrating ones.
    direction
        What ranks documents instead of the largest surprise, if it is known (`leaning`).
    """

    upper: Sequence[Tail]
    lower: Sequence[Tail | None]
    by_critic: Sequence[Above]
    oddity: Above
    units: int
    reference: Floats
    calibrating: Floats
    weights: Floats
    direction: Leaning | None = None

    @classmethod
    def of(cls, real: Floats, two_sided: Sequence[bool], order: Ints, groups: Sequence[str | None] = ()) -> Calibrated:
        """Learn from the values of real documents, (n, critics), in an ``order`` that does not depend on them.

        The first third are the reference: of the groups, in the order of their first documents. NaN is a missing
        value; it is never odd.

        Parameters
        ----------
        groups
            The group of each document; None stands alone. Default: documents are independent.
        """
        unit, held = _halves(order, groups)
        reference, calibrating = real[order][~held], real[order][held]
        sizes = np.bincount(unit[held], minlength=int(unit.max(initial=-1)) + 1)  # documents of each, 0 for reference
        weights, units = 1.0 / np.maximum(sizes, 1)[unit[held]], int((sizes > 0).sum())
        upper = [Tail.of(column) for column in reference.T]
        lower = [Tail.of(-column) if both else None for column, both in zip(reference.T, two_sided, strict=True)]
        # the tails were learned on other documents, so calibrating ones are exchangeable with new ones
        both = ends(calibrating, upper, lower)
        surprise = np.maximum(*both)
        by_critic = [Above.of(column, weights) for column in surprise.T]
        oddity = Above.of(surprise.max(axis=1, initial=0.0), weights)
        scores = normal_scores(*ends(reference, upper, lower)), normal_scores(*both)
        return cls(upper, lower, by_critic, oddity, units, *scores, weights)

    def leaning(self, parts: Callable[[], Iterable[Floats]]) -> Calibrated:
        """What ranks the documents of a text, by their values in parts, as `Leaning` does if many are a little odd."""

        def pool() -> Iterator[Floats]:
            yield self.calibrating
            yield from (normal_scores(*ends(values, self.upper, self.lower)) for values in parts())

        if (direction := Leaning.learn(self.reference, pool)) is None:
            return self
        return replace(
            self, direction=direction, oddity=Above.of(direction(self.calibrating).sum(axis=1), self.weights)
        )

    def __len__(self) -> int:
        return len(self.oddity.numbers)

    def _ranks(self, above: Above, surprise: Floats) -> Ints:
        """p · (calibrating documents + 1), rounded up; documents of equal weight have whole numbers anyway."""
        return np.ceil((1 + above(surprise)) / (self.units + 1) * (len(self) + 1) - 1e-9).astype(np.int64)

    def judge(self, values: Floats) -> Judged:
        """Judge documents by their values, (n, critics)."""
        high, low = ends(values, self.upper, self.lower)
        surprise, rows = np.maximum(high, low), np.arange(len(values))
        parts = surprise if self.direction is None else self.direction(normal_scores(high, low))
        odd = surprise.max(axis=1, initial=0.0) if self.direction is None else parts.sum(axis=1)
        worst = parts.argmax(axis=1)  # (n,)
        ranks, small = self._ranks(self.oddity, odd).astype(np.int32), (low > high)[rows, worst]
        unscored = np.asarray(np.isnan(values).all(axis=1))
        return Judged(ranks, worst.astype(np.int16), surprise[rows, worst], small, unscored)

    def alone(self, values: Floats) -> Ints:
        """`Judged.ranks` under each critic alone: int64 (n, critics)."""
        surprise = np.maximum(*ends(values, self.upper, self.lower))
        return np.column_stack([self._ranks(above, s) for above, s in zip(self.by_critic, surprise.T, strict=True)])


def _halves(order: Ints, groups: Sequence[str | None]) -> tuple[Ints, Bools]:
    """The unit (a group, or a document) of each document in an order, and whether the document calibrates."""
    unit = group_numbers([groups[i] if groups else None for i in order.tolist()])
    return unit, unit >= max(round((int(unit.max(initial=-1)) + 1) * REFERENCE), 1)


def folds_of(documents: Sequence[tuple[str, str | None]], count: int) -> tuple[Ints, Floats]:
    """The fold of each document, from 0, by whole groups; and its weight, which is 1 in all for each group: (n,).

    >>> folds, weights = folds_of([("a", "x"), ("b", "x"), ("c", None), ("d", None)], 3)
    >>> sorted(folds[1:].tolist()), bool(folds[0] == folds[1]), weights.tolist()
    ([0, 1, 2], True, [0.5, 0.5, 1.0, 1.0])
    """
    order = order_of(documents)
    unit = np.zeros(len(documents), dtype=np.int64)
    unit[order], _ = _halves(order, [group for _, group in documents])
    return unit % count, 1.0 / np.bincount(unit)[unit]


def ends(values: Floats, upper: Sequence[Tail], lower: Sequence[Tail | None]) -> tuple[Floats, Floats]:
    """Surprises of values, (n, critics), at the upper and the lower end, 0 where a value or a tail is missing.

    With two tails, the larger surprise counts; that each tail has half of the documents is left to the calibration.
    """
    high, low = np.zeros((2, *values.shape))
    for k, (above, below) in enumerate(zip(upper, lower, strict=True)):
        high[:, k] = above.surprise(values[:, k])
        low[:, k] = below.surprise(-values[:, k]) if below is not None else 0.0
    return high, low


def order_of(documents: Sequence[tuple[str, str | None]]) -> Ints:
    """An order of documents that follows from their ids and groups, and from nothing else: row numbers, int64 (n,).

    Whole groups are ordered, so that a large one does not come earlier.

    >>> one, other = (order_of([(i, None) for i in ids]).tolist() for ids in ("abc", "cba"))
    >>> one == [2 - i for i in other]
    True
    """
    names = [id if group is None else f"group {group}" for id, group in documents]
    keys = [hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names]
    return np.argsort(np.frombuffer(b"".join(keys), dtype=">u8"), kind="stable").astype(np.int64)


def largest_rank(counts: Ints, calibrating: int, fdr: float) -> int:
    """The largest rank of p at which documents are chosen by the procedure of Benjamini & Hochberg; 0 if none is.

    Parameters
    ----------
    counts
        How many documents have p = r / (calibrating + 1), by r from 0: int64 (calibrating + 2,).

    >>> largest_rank(np.array([0, 3, 0, 1] + [0] * 16 + [16]), 19, 0.4)
    1
    """
    good = np.flatnonzero((counts > 0) & (q_values(counts, calibrating) <= fdr + 1e-12))
    return int(good.max(initial=0))


def q_values(counts: Ints, calibrating: int) -> Floats:
    """The smallest false-discovery rate at which documents with p = r / (calibrating + 1) are chosen, by r.

    >>> q_values(np.array([0, 2, 0, 2]), 2).round(3).tolist()
    [0.667, 0.667, 1.0, 1.0]
    """
    chosen = np.cumsum(counts)
    p = np.arange(len(counts)) / (calibrating + 1)
    estimate = np.where(counts > 0, p * chosen[-1] / np.maximum(chosen, 1), np.inf)
    # a larger p never has a smaller q: the minimum over all ranks from this one on
    return np.minimum(np.minimum.accumulate(estimate[::-1])[::-1], 1.0)


def fewest_chosen(documents: int, calibrating: int, fdr: float) -> int:
    """The smallest number of documents, of so many, that can be chosen at all; more than ``documents`` if none can.

    A p-value is never below 1 / (calibrating + 1), for so many calibrating units, so fewer odd documents than this go
    unnoticed.

    >>> fewest_chosen(100_000, 9_999, 0.05)
    200
    """
    return int(np.ceil(documents / (fdr * (calibrating + 1)) - 1e-9))
