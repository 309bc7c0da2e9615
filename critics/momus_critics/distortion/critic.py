"""Estimation error as a critic: where the language is known, which texts does a model make too probable or too rare?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic import Critic, EvidenceMixin, LogPrior, Pooled, Rows, Statistic, StatisticsMixin, mean
from momus.errors import UsageError
from momus.evidence import Axis, Chart, Evidence, Series, both
from momus.sequences import SequenceScores, TextScorer
from momus.sequences.opening import open_scorer
from momus.text.corpus import Corpus

BINS = 20
GRID = 2.0**20


@dataclass(frozen=True)
class ScoredTwice:
    """log p of each document under the language and under the model."""

    language: SequenceScores
    model: SequenceScores

    def __len__(self) -> int:
        return len(self.language)


def _on_grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """On a grid of a millionth of a nat sums are exact, whatever their order, and no document changes its bin."""
    return np.asarray(np.round(values * GRID) / GRID)


class Distortion(Critic[ScoredTwice], StatisticsMixin, EvidenceMixin):
    """z is the text itself, P_c the language that texts are drawn from; a model is compared with it.

    The real text are samples of the language, the generated text samples of the model. The mean of
    log p_M(x) − log p_L(x) is minus the divergence KL(L ‖ M) on the first and KL(M ‖ L) on the second (LeBrun et al.
    2022). The critic fits nothing: both scorers must be there, so it runs only where a configuration names them.

    Parameters
    ----------
    language
        The scorer of the language and its parameters, for instance ``{scorer = "kenlm", path = "…"}``.
    model
        The same of the model.
    """

    name = "distortion"
    axis = "probabilities of sequences"
    question = "Where did the model's probability mass go? z is the text, P_c the language that it is drawn from."
    sequence = True
    guard = False
    headline = "error"
    configured: ClassVar[tuple[str, ...]] = ("language", "model")

    def __init__(self, *, language: Mapping[str, Any] | None = None, model: Mapping[str, Any] | None = None) -> None:
        self.language = language
        self.model = model

    def fit(self, real: Corpus) -> Self:
        """Find bins of equal count of log p_L on samples of the language.

        Raises
        ------
        UsageError
            A scorer is not named, or cannot be opened.
        """
        values = _on_grid(self._scorer("language").score_texts([d.text for d in real]).totals)
        self._scorer("model")
        self.edges_ = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
        return self

    def _scorer(self, which: str) -> TextScorer:
        given = dict(getattr(self, which) or {})
        name = given.pop("scorer", "")
        if not name:
            raise UsageError(
                f"the critic of distortion has no {which}",
                hint=f'write [distortion] and {which} = {{scorer = "kenlm", path = "…"}} into the configuration',
            )
        return open_scorer(name, given)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Blank documents."""
        return ["empty" if blank else None for blank in batch.blank]

    def project(self, batch: Corpus) -> ScoredTwice:
        """The text itself, with its probability under both."""
        texts = [d.text for d in batch]
        return ScoredTwice(self._scorer("language").score_texts(texts), self._scorer("model").score_texts(texts))

    def log_prior(self, latents: ScoredTwice) -> LogPrior:
        """log p_L(x) in nats."""
        return LogPrior(latents.language.totals, latents.language.lengths)

    def sufficient_statistics(self, latents: ScoredTwice) -> Mapping[str, Rows]:
        """The error of each document, and where it belongs among the bins of log p_L."""
        errors = _on_grid(latents.model.totals - latents.language.totals)
        one_hot = np.eye(len(self.edges_) + 1)[np.searchsorted(self.edges_, _on_grid(latents.language.totals))]
        return {
            "error": np.column_stack([errors, np.ones(len(errors))]),
            "bins": np.hstack([one_hot * errors[:, None], one_hot]),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Mean of log p_M − log p_L in nats."""
        return (Statistic("error", "error", "value", mean, effect="hedges_g"),)

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Mean error by probability under the language."""
        k = len(self.edges_) + 1
        series = []
        middles = np.concatenate([[self.edges_[0]], (self.edges_[1:] + self.edges_[:-1]) / 2, [self.edges_[-1]]])
        for role, summary in both(real, generated):
            sums, counts = summary.arrays["bins"][:k], summary.arrays["bins"][k:]
            enough = counts >= 10
            series.append(
                Series(str(role), middles[enough].tolist(), (sums[enough] / counts[enough]).tolist(), role, "line")
            )
        x, y = Axis("log p under the language, nats"), Axis("mean of log p_M − log p_L, nats")
        note = "Bins of equal count of the samples that the critic was fitted on; at least ten documents a bin."
        return [Chart("error-by-probability", "Error by probability", x, y, series, note=note)]
