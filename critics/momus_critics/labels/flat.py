"""Labels without an order: one category per document, yes or no, and sets of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from momus.critic import Pooled, Rows, StateSequences, Statistic, Values
from momus.critic.base import TextCritic
from momus.critic.scores import LogPrior
from momus.critic.shifts import shift_table
from momus.critic.statistic import total_variation
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument, Step
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus_critics.evidence import marked
from momus_critics.labels.process import (
    OTHER,
    TOLD,
    LearnsLabels,
    keys,
    learned,
    matrix,
    reporting_of,
    titles,
)
from momus_critics.labels.values import Weights, shown

UNLIKELY = 0.05
"""A label with a smaller probability is marked."""
YES = "yes"
Z = TypeVar("Z")


@parametrized
class Flat(LearnsLabels[Weights], TextCritic[Z]):
    """Labels without an order, each with the share of real documents that have it; soft labels are expected ones."""

    field: str = ""
    kind: str = "category"

    @property
    def told(self) -> int:
        """Labels whose shares are compared; the last of all labels stands for the others."""
        return min(len(self.labels_) - 1, TOLD)

    @property
    def _names(self) -> list[str]:
        return titles(self.labels_)

    def weights(self, latents: Z) -> Floats:
        """The probabilities of the labels of each document, (n, K)."""
        raise NotImplementedError

    def sufficient_statistics(self, latents: Z) -> Mapping[str, Rows]:
        """The labels of each document, (n, K), and whether it has each of the usual ones."""
        weights = self.weights(latents)
        ones = np.ones(len(weights))
        having = {f"label_{k}": np.column_stack([weights[:, k], ones]) for k in range(self.told)}
        return {"labels": weights, **having}

    def statistics(self) -> Sequence[Statistic]:
        """The share of documents with each of the usual labels."""
        names = zip(keys(self.labels_)[: self.told], self._names, strict=False)
        return tuple(
            Statistic.share(
                f"{key}_share",
                f"label_{k}",
                f"documents labelled “{name}”",
                f"less|more often labelled “{name}”",
                clause=f"{{}} of documents are labelled “{name}”",
            )
            for k, (key, name) in enumerate(names)
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """The share of documents that have each label."""
        rates = (t.arrays["labels"] / max(t.documents, 1) for t in (real, generated))
        return [shift_table("labels", "Labels of documents", "label", titles(self.labels_), rates, "% of documents")]


@parametrized
class Categories(Flat[StateSequences]):
    """z is the label of a document; P_c(z) is categorical, with half a count added to each label."""

    name = "category"
    axis = "labels"
    reporting = reporting_of("in its label", headline="distance")

    def learn(self, values: Sequence[Weights]) -> None:
        """Count expected labels."""
        self.labels_ = learned(values, self.field)
        counts = matrix(values, self.labels_).sum(axis=0) + 0.5
        self.shares_ = counts / counts.sum()

    @property
    def state_names(self) -> Sequence[str]:
        """The labels."""
        return titles(self.labels_)

    def project(self, batch: Corpus) -> StateSequences:
        """The label of each document, with the probabilities of all where some are unsure."""
        weights = matrix(self.values(batch), self.labels_)
        sure = bool((weights.max(axis=1) == 1).all())
        return StateSequences(weights.argmax(axis=1), np.arange(len(weights) + 1), None if sure else weights)

    def weights(self, latents: StateSequences) -> Floats:
        """The probabilities of the labels of each document, (n, K)."""
        return np.eye(len(self.shares_))[latents.states] if latents.marginals is None else np.asarray(latents.marginals)

    def log_prior(self, latents: StateSequences) -> LogPrior:
        """The expected logarithm of the share that a label has in real text."""
        return LogPrior.of_vectors(self.weights(latents) @ np.log(self.shares_))

    def statistics(self) -> Sequence[Statistic]:
        """The distance between the shares of labels, and the share of documents with each of the usual ones."""
        label = "total variation distance between shares of labels"
        return (Statistic.distance("distance", "labels", total_variation, label), *super().statistics())

    def explain(self, document: Corpus) -> MarkedDocument:
        """Show the label, marked where it is rare."""
        latents = self.project(document)
        (weights,) = self.weights(latents)
        names = titles(self.labels_)
        steps = [_step(names[k], weights[k], float(self.shares_[k])) for k in np.argsort(-weights) if weights[k] > 0]
        return marked(self, document, latents, steps)


@parametrized
class YesNo(Categories):
    """z is yes or no; P_c(z) is a Bernoulli distribution."""

    name = "yes-no"
    reporting = reporting_of("in its label", headline="yes_share")
    told = 1  # the share of yes says what that of no does

    kind: str = "yes-no"

    def learn(self, values: Sequence[Weights]) -> None:
        """Count yes and no."""
        super().learn(values)
        self.labels_ = [YES, "no", OTHER]
        counts = matrix(values, self.labels_).sum(axis=0) + np.array([0.5, 0.5, 0.0])
        # no document has another label; its share is there for the arithmetic alone
        self.shares_ = np.maximum(counts, 1e-9) / np.maximum(counts, 1e-9).sum()

    @property
    def _names(self) -> list[str]:
        return [f"{shown(self.field)}: {YES}"]  # several questions are answered by yes

    def statistics(self) -> Sequence[Statistic]:
        """The share of documents labelled yes."""
        return super().statistics()[1:]


@parametrized
class Sets(Flat[Values]):
    """z says which labels a document has; P_c(z) draws each one independently.

    Half a count is added to having a label and to lacking it. A probability counts as so much of a label.
    """

    name = "set"
    axis = "sets of labels"
    reporting = reporting_of("in its labels")

    kind: str = "set"

    def learn(self, values: Sequence[Weights]) -> None:
        """Count the documents that have each label."""
        self.labels_ = learned(values, self.field)
        self.shares_ = (self._matrix(values).sum(axis=0) + 0.5) / (len(values) + 1)

    def _matrix(self, values: Sequence[Weights]) -> Floats:
        """Which labels each document has, (n, K); several unknown ones count as one."""
        return np.minimum(matrix(values, self.labels_), 1.0)

    def project(self, batch: Corpus) -> Values:
        """The labels of each document, or their probabilities."""
        return Values(self._matrix(self.values(batch)))

    def weights(self, latents: Values) -> Floats:
        """Which labels each document has, (n, K)."""
        return np.asarray(latents.values, dtype=np.float64)

    def log_prior(self, latents: Values) -> LogPrior:
        """The expected logarithm of having and of lacking each label."""
        q = latents.values
        return LogPrior.of_vectors(q @ np.log(self.shares_) + (1 - q) @ np.log1p(-self.shares_))

    def sufficient_statistics(self, latents: Values) -> Mapping[str, Rows]:
        """The labels of each document, (n, K), how many, and whether it has each of the usual ones."""
        weights = self.weights(latents)
        count = np.column_stack([weights.sum(axis=1), np.ones(len(weights))])
        return {**super().sufficient_statistics(latents), "count": count}

    def statistics(self) -> Sequence[Statistic]:
        """The share of documents with each of the usual labels, and how many labels they have."""
        fewer = "with fewer labels", "with more labels"
        return (
            *super().statistics(),
            Statistic.ratio("mean_labels", "count", "labels per document", fewer),
        )

    def explain(self, document: Corpus) -> MarkedDocument:
        """Show the labels of a document, the rare ones marked, and the usual ones that it lacks."""
        latents = self.project(document)
        (weights,) = latents.values
        names, steps = titles(self.labels_), []
        for k, name in enumerate(names):
            share = float(self.shares_[k])
            if weights[k] > 0:
                steps.append(_step(name, weights[k], share))
            elif 1 - share < UNLIKELY:
                steps.append(_step(f"not {name}", 1.0, 1 - share))
        return marked(self, document, latents, steps)


def _step(name: str, weight: float, share: float) -> Step:
    """A label of a document, with the share of real documents that have it."""
    sure = "" if weight == 1 else f", with probability {weight:.2g}"
    note = f"{percentage(share, 1)} of real documents{sure}"
    return Step(name, "", -weight * float(np.log(share)), share < UNLIKELY, note)
