"""Perplexity, as a critic whose z is the text itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from momus.critic import LogPrior, Note, Pooled, Reporting, Rows, Statistic, directions, resource
from momus.critic.base import WordCritic
from momus.critic.hooks import DeviceMixin
from momus.critic.latents import Arrays
from momus.critic.statistic import kolmogorov_smirnov
from momus.critic.tools import make_adapter
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence, MarkedDocument
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.sequences import SequenceScores, TextScorer
from momus.sequences.ngram_text import NGramText
from momus.text.corpus import Corpus
from momus_critics.evidence import Mark, curves, highest, mark_passage, words_of

WIDTH, BINS = 0.5, 40
"""Width in nats and number of the bins of surprisal; the last bin holds everything beyond."""


@dataclass(frozen=True)
class ScoredTexts(Arrays):
    """log p of the tokens of each document, and its number of words, plus one for its end, int64 (n,)."""

    scores: SequenceScores
    words: Ints


@parametrized
class Perplexity(WordCritic[ScoredTexts], DeviceMixin):
    """z is the text itself, P_c a language model: Latent PPL is the perplexity of the text under it.

    With ``scorer = "ngram"``, P_c is an interpolated Kneser–Ney model fitted on the real text. Any other scorer is an
    existing model: an evaluation model, or the generator itself, for perplexity under its own distribution. It is per
    word, the end of a document counting as one, which makes models with different tokens comparable. Low perplexity is
    no merit: text that repeats probable words is too predictable. The distribution of surprisal, −log p of a token, is
    therefore compared as well.

    Parameters
    ----------
    scorer
        ``ngram``, or an adapter: ``transformers``, ``kenlm``, ``openai``.
    order
        n of the n-gram model.
    options
        Parameters of the adapter, for instance ``{model = "…", window = 512}``.
    tokens, lower
        The tokenizer, for the n-gram model and for counting words.

    >>> critic = Perplexity(order=1).fit(Corpus.from_texts(["a a b", "a b"]))
    >>> round(critic.score(Corpus.from_texts(["a b"])).latent_ppl, 2)
    3.24
    """

    name = "perplexity"
    axis = "predictability of words"
    question = "Is text as predictable as real text, word by word? z is the text, P_c a language model."
    reporting = Reporting(
        headline="latent_ppl",
        directions=directions("more|less probable as wholes"),
        limits=(
            "It cannot see whether a text makes sense: a loop of probable words is the most predictable text of all."
        ),
        stepless="no token with a probability",
        aggregated=False,
    )
    sequence = True

    scorer: str = "ngram"
    order: Annotated[int, Range(1, 10)] = 3
    options: Mapping[str, Any] | None = None

    def fit(self, real: Corpus) -> Self:
        """Count n-grams; other scorers are opened but not fitted."""
        if self.scorer == "ngram":
            model = NGramText(self.order, self.tokenizer).fit_corpus(real)
            self.vocabulary_ = model.vocabulary
            self.ngrams_ = np.stack([*model.counted[0], model.counted[1]])
        else:
            self.opened_ = self._scorer().name
        return self

    def _scorer(self) -> TextScorer:
        if self.scorer == "ngram":
            return resource(_counted, self, self.ngrams_)
        device = {"device": self.device} if self.scorer == "transformers" else {}
        options = {**device, **(self.options or {})}
        scorer: TextScorer = resource(make_adapter, "scorer", self.scorer, options, ("ngram",), (TextScorer,))
        return scorer

    def project(self, batch: Corpus) -> ScoredTexts:
        """Score the tokens of each document."""
        scorer = self._scorer()
        if isinstance(scorer, NGramText):
            scores = scorer.score(scorer.encode_corpus(batch))
        else:
            scores = scorer.score_texts([d.text for d in batch])
        return ScoredTexts(scores, batch.tokens(self.tokenizer).lengths.astype(np.int64) + 1)

    def log_prior(self, latents: ScoredTexts) -> LogPrior:
        """log p of each text, in nats; a text without any scored token (one token, on some servers) has no steps."""
        steps = np.where(latents.scores.lengths > 0, latents.words, 0)
        return LogPrior(latents.scores.totals, steps)

    def sufficient_statistics(self, latents: ScoredTexts) -> Mapping[str, Rows]:
        """Numbers of tokens of each document by surprisal, in bins of half a nat."""
        bins = np.clip((-latents.scores.log_probabilities / WIDTH).astype(np.int64), 0, BINS - 1)
        cells = owners_of(latents.scores.offsets) * BINS + bins
        counts = np.bincount(cells, minlength=len(latents) * BINS).reshape(-1, BINS)
        return {"surprisal": counts.astype(np.float64)}

    tested = (
        Statistic.distance("surprisal_ks", "surprisal", kolmogorov_smirnov, "Kolmogorov–Smirnov distance of surprisal"),
    )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Distributions of surprisal."""

        def points(text: Pooled) -> tuple[Floats, Floats]:
            counts = text.arrays["surprisal"]
            return np.arange(BINS, dtype=np.float64) * WIDTH, counts / max(counts.sum(), 1)

        axes = Axis("surprisal of a token, nats"), Axis("share of tokens")
        note = f"Bins of {WIDTH} nats; the last holds everything beyond {(BINS - 1) * WIDTH} nats."
        return [curves((real, generated), points, "surprisal", "Surprisal of tokens", axes, note, "steps")]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the words of a document with their surprisal, the least predictable marked (n-gram models only)."""
        if self.scorer != "ngram":
            return None
        z = self.project(document)
        surprisal = -z.scores.log_probabilities
        words = words_of(document, self.tokenizer)
        # the last token is the end of the document, which has no text
        marks = {
            i: Mark(words[i], f"expected once in {np.exp(surprisal[i]):,.0f}")
            for i in highest(surprisal)
            if i < len(words)
        }
        note = (
            "Marked: the tenth of the words with the highest surprisal, and how rare each is after the words before it."
        )
        return mark_passage(self, document, z, words, marks, unit="nats per word", values=surprisal, note=note)

    def notes(self) -> list[Note]:
        """The language model."""
        return [Note(f"P_c: {f'{self.order}-gram model of the real text' if self.scorer == 'ngram' else self.opened_}")]


def _counted(critic: Perplexity, ngrams: Ints) -> NGramText:
    """The n-gram model of a fitted critic; the counts, contexts and symbols are the rows of ``ngrams``, (3, N)."""
    model = NGramText(critic.order, critic.tokenizer)
    model.restore(critic.vocabulary_, ngrams[:2], ngrams[2])
    return model
