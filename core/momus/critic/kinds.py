"""Two more kinds of critic: of a whole corpus, and of documents beside what they answer.

A `StatisticCritic` compares texts by statistics alone, without latents. A `PairedCritic` reads fields of a record
beside its text. A critic can be both: ``class Repeats(PairedCritic[Corpus], StatisticCritic)``.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, Self, TypeVar

import numpy as np

from momus.critic.base import Critic
from momus.critic.powers import EvidenceMixin, FieldsMixin, StatisticsMixin
from momus.critic.scores import LogPrior
from momus.text.corpus import Corpus

Z = TypeVar("Z")


class StatisticCritic(Critic[Corpus], StatisticsMixin, EvidenceMixin, ABC):
    """A critic of a whole corpus: implement `sufficient_statistics`, which gets the texts, and `statistics`.

    Nothing is latent, so that there is no Latent NLL, and documents are not ranked as outliers. The first statistic is
    the headline, unless ``reporting`` names another. Override `fit` if the statistics need something of real text.

    >>> from momus.critic import Statistic
    >>> from momus.critic.statistic import mean
    >>> class Questions(StatisticCritic):
    ...     name = axis = "questions"
    ...     def sufficient_statistics(self, latents):
    ...         return {"asks": np.array([[d.text.count("?"), 1.0] for d in latents])}
    ...     def statistics(self):
    ...         return [Statistic("questions", "asks", "value", mean)]
    >>> scores = Questions().fit(["Who?", "Nobody."]).score(["Who? What?"])
    >>> scores.rows["asks"].tolist()
    [[2.0, 1.0]]
    """

    _latent: ClassVar[bool] = False

    def fit(self, real: Corpus) -> Self:
        """Learn nothing: the statistics of two texts are compared as they are."""
        return self

    def project(self, batch: Corpus) -> Corpus:
        """The documents themselves."""
        return batch

    def log_prior(self, latents: Corpus) -> LogPrior:
        """Zero, the log probability of what is certain."""
        return LogPrior.of_vectors(np.zeros(len(latents)))


class PairedCritic(Critic[Z], FieldsMixin, ABC):
    """A critic that sees a document beside what it answers: ``batch.field(name)`` of each name in ``needs``.

    Documents that lack one of the fields are unscored, and not fitted on.
    """
