"""Held-out human documents as a yardstick: conformal p-values over all critics, and under each alone.

Documents have values on one scale, whatever their length. The Latent NLL of a document depends on its length under most
critics: short documents vary more, and a law of words grows with the text. Of the held-out human documents, the third
that `momus.outliers.conformal` calls the reference tells how each critic's value grows with the logarithm of the number
of words, and how its scatter does:

    v = a + b · log w + s(w) · e,    log s(w) = c + d · log w

Both are least-squares lines; the second is fitted to log |residual|, so that e has variance 1 if it is normal. What
is judged is e, (critics,). The other two thirds calibrate: the lines were learned without them.

One number says how odd a document is. Without text of models, it is the Mahalanobis distance of e from the reference,
e' (Σ + εI)⁻¹ e: what is a little odd on many axes counts, and axes that go together count once. A document that is
typical of human text is not odd.

With text of models, each critic is fitted on both sides. Of a document it gives two values, one under each fit; they
are the features of a logistic regression with a quadratic penalty: were the critics independent, the log-likelihood
ratio would be such a sum, Σ w · (log P_model(z) − log P_human(z)). Its weights are learned on documents that neither
fit has seen: the human reference, and held-out documents of the models.

The calibrating human documents took part in neither, so the p-values are valid whatever the number is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Bools, Floats, Ints
from momus.outliers.conformal import Calibrated, order_of, reference_of


@dataclass(frozen=True)
class Judgement:
    """p-values of n documents: over all critics, (n,), and under each alone, (n, critics), 1 where it gives no value.

    ``small`` says whether a value is odd because it is small, that is, too likely: bool (n, critics).
    """

    p: Floats
    alone: Floats
    small: Bools


@dataclass(frozen=True)
class Yardstick:
    """What judges documents at their length.

    Attributes
    ----------
    lengths
        How the values of each side that critics are fitted on depend on the length: human text, then that of models if
        there is any.
    by_critic
        Calibrates each critic alone.
    combined
        From features to one number: a `Distance`, or the `Weights` of a contrast.
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
        cls,
        values: Sequence[Floats],
        words: Ints,
        documents: Sequence[tuple[str, str | None]],
        two_sided: Sequence[bool],
        combined: Callable[[Floats], Floats] | None = None,
    ) -> Yardstick:
        """Learn from human documents that no critic was fitted on; by default, the distance is learned from them too.

        Parameters
        ----------
        values
            What ranks them under the critics, NaN where unscored: (n, critics) for each side.
        words
            Number of words: (n,).
        documents
            Id and group of each.
        """
        order, groups = order_of(documents), [group for _, group in documents]
        rows = reference_of(order, groups)
        lengths = [Lengths.of(side[rows], words[rows]) for side in values]
        combined = combined or Distance.learn(features_of(values, lengths, words)[rows])
        by_critic = Calibrated.of(lengths[0].freed(values[0], words), two_sided, order, groups)
        numbers = _numbers(values, words, lengths, by_critic, combined)
        return cls(lengths, by_critic, combined, Calibrated.of(numbers, [False, False], order, groups))

    def judge(self, values: Sequence[Floats], words: Ints) -> Judgement:
        """Judge documents by their values, (n, critics) for each side, and their numbers of words, (n,)."""
        freed, n = self.lengths[0].freed(values[0], words), len(self.by_critic) + 1
        known = np.isfinite(values[0])
        numbers = _numbers(values, words, self.lengths, self.by_critic, self.combined)
        p = np.where(known.any(axis=1), self.overall.judge(numbers).ranks / n, 1.0)
        return Judgement(p, np.where(known, self.by_critic.alone(freed) / n, 1.0), freed < 0)


def _numbers(
    values: Sequence[Floats],
    words: Ints,
    lengths: Sequence[Lengths],
    by_critic: Calibrated,
    combined: Callable[[Floats], Floats],
) -> Floats:
    """The combined number of each document, and its largest surprise under one critic: (n, 2)."""
    surprise = by_critic.judge(lengths[0].freed(values[0], words)).surprise
    return np.column_stack([combined(features_of(values, lengths, words)), surprise])


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

    def freed(self, values: Floats, words: Ints) -> Floats:
        """The values without their dependence on length: e, (n, critics)."""
        x = (np.log(np.maximum(words, 1.0)) - self.centre)[:, None]
        return np.asarray((values - self.level - self.slope * x) / np.exp(self.scatter + self.widening * x))


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Level and slope of the least-squares line; of fewer than 8 points or one length, no slope."""
    if len(y) < 8 or float(x.std()) < 1e-6:
        return (float(y.mean()) if len(y) else 0.0), 0.0
    slope = float(np.cov(x, y)[0, 1] / x.var(ddof=1))
    return float(y.mean() - slope * x.mean()), slope


CLIPPED = 6.0
"""Features beyond so many residuals count as so many: one strange document shall not decide a weight."""
PENALTY = 0.1
"""Inverse strength of the penalty, as scikit-learn's ``C``; weights of correlated critics share."""
RIDGE = 0.1
"""ε: what is added to the variances of the reference, so that its few documents determine a distance."""


@dataclass(frozen=True)
class Weights:
    """A logistic regression: weights of standardised features, (features,), and what standardises them."""

    mean: Floats
    scale: Floats
    weights: Floats
    intercept: float

    @classmethod
    def learn(cls, human: Floats, models: Floats) -> Weights:
        """Learn from the features of human documents, (n, features), and of those of models, (m, features)."""
        from sklearn.linear_model import LogisticRegression

        features = np.vstack([human, models])
        mean, scale = features.mean(axis=0), features.std(axis=0)
        scale = np.where(scale > 1e-9, scale, 1.0)
        of_model = np.repeat([0, 1], [len(human), len(models)])
        fitted = LogisticRegression(C=PENALTY, class_weight="balanced", max_iter=1000)
        fitted.fit((features - mean) / scale, of_model)
        return cls(mean, scale, fitted.coef_[0], float(fitted.intercept_[0]))

    def __call__(self, features: Floats) -> Floats:
        """The log odds that a document is text of a model, at equal shares of both: (n,)."""
        return np.asarray(((features - self.mean) / self.scale * self.weights).sum(axis=1) + self.intercept)


@dataclass(frozen=True)
class Distance:
    """The Mahalanobis distance from the human reference: its mean, (critics,), and inverse covariance."""

    mean: Floats
    inverse: Floats

    @classmethod
    def learn(cls, human: Floats) -> Distance:
        """Learn from the features of human documents, (n, critics).

        >>> rng = np.random.default_rng(0)
        >>> distance = Distance.learn(rng.normal(size=(500, 2)))
        >>> bool(distance(np.array([[3.0, 3.0]]))[0] > distance(np.array([[1.0, 0.0]]))[0])
        True
        """
        centred = human - human.mean(axis=0)
        covariance = centred.T @ centred / max(len(human) - 1, 1)
        return cls(human.mean(axis=0), np.linalg.inv(covariance + RIDGE * np.eye(human.shape[1])))

    def __call__(self, features: Floats) -> Floats:
        """Squared distance of documents from their features, (n, critics): (n,)."""
        centred = features - self.mean
        return np.asarray(np.einsum("ij,jk,ik->i", centred, self.inverse, centred))


def features_of(values: Sequence[Floats], lengths: Sequence[Lengths], words: Ints) -> Floats:
    """Features of documents from their values under each fit, (n, critics) each; a missing value says nothing."""
    freed = [scale.freed(value, words) for value, scale in zip(values, lengths, strict=True)]
    return np.clip(np.nan_to_num(np.hstack(freed)), -CLIPPED, CLIPPED)
