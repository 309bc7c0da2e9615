"""Held-out human documents as a yardstick: conformal p-values over all critics, and under each alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Bools, Floats, Ints
from momus.outliers.conformal import Calibrated, reference_of
from momus.review.combining import Distance, features_of
from momus.review.lengths import Lengths


@dataclass(frozen=True)
class Sample:
    """Human documents that no critic was fitted on.

    Attributes
    ----------
    values
        What ranks them under the critics, NaN where unscored: (n, critics), once for each side that critics are
        fitted on: human text, then that of models if there is any.
    words
        Number of words: (n,).
    order, groups
        See `momus.outliers.conformal.Calibrated.of`.
    """

    values: Sequence[Floats]
    words: Ints
    order: Ints
    groups: Sequence[str | None] = ()

    def lengths(self) -> list[Lengths]:
        """How the values of each side depend on the length, by the reference."""
        rows = reference_of(self.order, self.groups)
        return [Lengths.of(values[rows], self.words[rows]) for values in self.values]


@dataclass(frozen=True)
class Judgement:
    """p-values of n documents: over all critics, (n,), and under each alone, (n, critics), 1 where it gives no value.

    Attributes
    ----------
    small
        Whether a value is odd because it is small, that is, too likely: bool (n, critics).
    features
        What they were judged by: (n, features).
    """

    p: Floats
    alone: Floats
    small: Bools
    features: Floats


@dataclass(frozen=True)
class Yardstick:
    """What judges documents at their length.

    Attributes
    ----------
    lengths
        Of each side; see `Sample`.
    by_critic
        Calibrates each critic alone.
    combined
        From features to one number: a `Distance`, or the `momus.review.combining.Weights` of a contrast.
    overall
        Calibrates that number together with the largest surprise under one critic: what is a little odd on many axes
        is found by the first, a fault on one by the second.
    """

    lengths: Sequence[Lengths]
    by_critic: Calibrated
    combined: Callable[[Floats], Floats]
    overall: Calibrated

    @classmethod
    def of(
        cls, sample: Sample, two_sided: Sequence[bool], combined: Callable[[Floats], Floats] | None = None
    ) -> Yardstick:
        """Learn from human documents; by default, the distance is learned from them too."""
        lengths, rows = sample.lengths(), reference_of(sample.order, sample.groups)
        features = features_of(sample.values, lengths, sample.words)
        combined = combined or Distance.learn(features[rows])
        freed = lengths[0].freed(sample.values[0], sample.words)
        by_critic = Calibrated.of(freed, two_sided, sample.order, sample.groups)
        numbers = np.column_stack([combined(features), by_critic.judge(freed).surprise])
        overall = Calibrated.of(numbers, [False, False], sample.order, sample.groups)
        return cls(lengths, by_critic, combined, overall)

    def judge(self, values: Sequence[Floats], words: Ints) -> Judgement:
        """Judge documents by their values, (n, critics) for each side, and their numbers of words, (n,)."""
        freed = self.lengths[0].freed(values[0], words)
        features = features_of(values, self.lengths, words)
        n = len(self.by_critic) + 1
        alone = np.where(np.isfinite(values[0]), self.by_critic.alone(freed) / n, 1.0)
        numbers = np.column_stack([self.combined(features), self.by_critic.judge(freed).surprise])
        p = self.overall.judge(numbers).ranks / n
        unscored = ~np.isfinite(values[0]).any(axis=1)
        return Judgement(np.where(unscored, 1.0, p), alone, freed < 0, features)
