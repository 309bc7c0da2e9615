"""One number for how odd a document is, from its values under all critics.

The values are freed of the length and put on the scale of the human reference (`momus.review.lengths`): e, (critics,).

Without text of models, it is the Mahalanobis distance of e from the reference, e' (Σ + εI)⁻¹ e: what is a little odd
on many axes counts, and axes that go together count once. A document that is typical of human text is not odd.

With text of models, each critic is fitted on both sides. Of a document it gives two values, one under each fit; they
are the features of a logistic regression with a quadratic penalty: were the critics independent, the log-likelihood
ratio would be such a sum, Σ w · (log P_model(z) − log P_human(z)). Its weights are learned on documents that neither
fit has seen: the human reference, and held-out documents of the models.

The calibrating human documents took part in neither, so the p-values are valid whatever the number is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Floats, Ints
from momus.review.lengths import Lengths

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

    def parts(self, features: Floats) -> Floats:
        """What each feature adds to the log odds of text of a model, (n, features)."""
        return np.asarray((features - self.mean) / self.scale * self.weights)

    def __call__(self, features: Floats) -> Floats:
        """The log odds that a document is text of a model, at equal shares of both: (n,)."""
        return np.asarray(self.parts(features).sum(axis=1) + self.intercept)


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
