"""Estimation error of a model as a critic, for text from a known language: which texts are too probable or too rare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from momus.critic import LogPrior, Pooled, Reporting, Rows, Statistic, directions, resource
from momus.critic.base import TextCritic
from momus.critic.latents import Arrays
from momus.critic.tools import make_adapter
from momus.errors import UsageError
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence
from momus.numeric.ragged import on_grid
from momus.numeric.types import Floats
from momus.sequences import SequenceScores, TextScorer
from momus.text.corpus import Corpus
from momus.text.languages import ANY
from momus_critics.evidence import curves, means_by_class

BINS = 20
"""Bins of log p under the language."""


@dataclass(frozen=True)
class ScoredTwice(Arrays):
    """log p of each document under the language and under the model."""

    language: SequenceScores
    model: SequenceScores


@parametrized
class Distortion(TextCritic[ScoredTwice]):
    """z is the text itself, P_c the language that texts are drawn from; a model is compared with it.

    The real texts are samples from the language, the generated texts samples from the model. The mean of
    log p_M(x) − log p_L(x) is −KL(L ‖ M) on the former and KL(M ‖ L) on the latter (LeBrun et al. 2022). The critic
    fits neither scorer, so it runs only if a configuration names both.

    Parameters
    ----------
    language_scorer
        The scorer of the language and its parameters, for instance ``{scorer = "kenlm", path = "…"}``.
    model_scorer
        The scorer of the model and its parameters.
    """

    name = "distortion"
    axis = "probability of texts"
    question = "Which texts does the model make too probable, or too rare? z is the text, P_c the language it is from."
    reporting = Reporting(
        required=("language_scorer", "model_scorer"),
        headline="error",
        directions=directions("more|less probable in the language", "more|less predictable in the language"),
        limits=(
            "It cannot see errors that leave the probability of a text as it is, and needs text from a known language."
        ),
        aggregated=False,
    )
    sequence = True
    scripts = ANY
    may_be_infinite: ClassVar[tuple[str, ...]] = ("edges_",)

    language_scorer: Mapping[str, Any] | None = None
    model_scorer: Mapping[str, Any] | None = None

    def fit(self, real: Corpus) -> Self:
        """Compute equal-count bins of log p_L on samples from the language.

        Raises
        ------
        UsageError
            A scorer is not named, or cannot be opened.
        """
        values = on_grid(self._scorer("language_scorer").score_texts([d.text for d in real]).totals)
        self._scorer("model_scorer")
        self.edges_ = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
        return self

    def _scorer(self, role: str) -> TextScorer:
        """Open the scorer of the language or of the model, by the parameter that names it."""
        options = dict(getattr(self, role) or {})
        name = options.pop("scorer", "")
        if not name:
            raise UsageError(
                f"critic 'distortion': no scorer is named by {role}",
                hint=f'add {role} = {{scorer = "kenlm", path = "…"}} to the table [distortion] of the configuration',
            )
        scorer: TextScorer = resource(make_adapter, "scorer", name, options, kinds=(TextScorer,))
        return scorer

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Blank documents."""
        return ["empty" if blank else None for blank in batch.blank]

    def project(self, batch: Corpus) -> ScoredTwice:
        """Score each text under the language and under the model."""
        texts = [d.text for d in batch]
        return ScoredTwice(
            self._scorer("language_scorer").score_texts(texts), self._scorer("model_scorer").score_texts(texts)
        )

    def log_prior(self, latents: ScoredTwice) -> LogPrior:
        """log p_L(x) in nats."""
        return LogPrior(latents.language.totals, latents.language.lengths)

    def sufficient_statistics(self, latents: ScoredTwice) -> Mapping[str, Rows]:
        """The error of each document, and its bin of log p_L."""
        errors = on_grid(latents.model.totals - latents.language.totals)
        # (n, bins); sums of the columns give the total error and the number of documents per bin
        one_hot = np.eye(len(self.edges_) + 1)[np.searchsorted(self.edges_, on_grid(latents.language.totals))]
        return {
            "error": np.column_stack([errors, np.ones(len(errors))]),
            "bins": np.hstack([one_hot * errors[:, None], one_hot]),
        }

    tested = (
        Statistic.ratio(
            "error",
            "error",
            "mean of log p_M − log p_L",
            "rarer|likelier under the model",
            unit="nats per document",
        ),
    )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Mean error by probability under the language."""
        middles = np.concatenate([[self.edges_[0]], (self.edges_[1:] + self.edges_[:-1]) / 2, [self.edges_[-1]]])

        def points(summary: Pooled) -> tuple[Floats, Floats]:
            used, means = means_by_class(summary.arrays["bins"], 10)
            return middles[used], means

        axes = Axis("log p under the language, nats"), Axis("mean of log p_M − log p_L, nats")
        note = "Equal-count bins of the samples that the critic was fitted on; at least ten documents per bin."
        return [curves((real, generated), points, "error-by-probability", "Error by probability", axes, note)]
