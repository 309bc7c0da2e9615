"""The critic of rhythm: an autoregressive process over sentence lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from momus.critic import LogPrior, Note, Reporting, Rows, Statistic
from momus.critic.fitted import Fitted
from momus.critic.hooks import NotesMixin
from momus.critic.statistic import mean
from momus.errors import FittingError
from momus.estimator import ComponentsMixin, Estimator
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import group_sums
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.prose.reading import ProseCritic
from momus_critics.rhythm import evidence
from momus_critics.rhythm.lengths import LengthProcess, SentenceLengths, moments, sentence_lengths

LEAST_SPREAD = 1e-3
"""Added to the spread, so that its logarithm is finite for documents whose sentences are all of one length."""


def spread(pooled: Floats) -> Floats:
    """Standard deviation from sums of squares and degrees of freedom, (B, 2)."""
    return np.asarray(np.sqrt(mean(pooled)) + LEAST_SPREAD)


class Rhythm(ProseCritic[SentenceLengths], ComponentsMixin, NotesMixin):
    """z is the sequence of sentence lengths of a document, P_c(z) an autoregressive negative binomial process.

    People vary the length of their sentences, and drift: a passage of long sentences follows one of short ones. The
    mean of P_c depends on the sentence before, on all sentences before, and on whether a paragraph begins.

    Parameters
    ----------
    tokens
        See `ProseCritic`.

    >>> from momus import Corpus
    >>> critic = Rhythm().fit(Corpus.from_texts(["One. Two words. Three more.", "One more. Or so.", "Yes. No."]))
    >>> critic.project(Corpus.from_texts(["It is so. No?"])).words.tolist()
    [3, 1]
    """

    name = "rhythm"
    axis = "rhythm of sentences"
    question = (
        "Do the lengths of sentences vary and drift as in real text? z is the number of words of each sentence in turn."
    )
    reporting = Reporting(
        headline="spread",
        directions={
            "latent_nll": ("more usual in rhythm", "less usual in rhythm"),
            "latent_ppl": ("more predictable in rhythm", "less predictable in rhythm"),
        },
        layout=("breaks", "spacing"),
        limits="It cannot see words: only how long sentences and paragraphs are.",
    )
    sequence = True
    min_documents = 3

    def component(self, attribute: str) -> Estimator:
        """Make the unfitted process."""
        return LengthProcess() if attribute == "process_" else super().component(attribute)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents that are too short to have a rhythm."""
        lengths = sentence_lengths(self.prose(batch)).lengths
        return ["fewer than two sentences" if n < 2 else None for n in lengths]

    def fit(self, real: Corpus) -> Self:
        """Fit the process."""
        z = sentence_lengths(self.prose(real))
        if (z.lengths < 2).all():
            raise FittingError(
                f"critic 'rhythm': no document of {real.name!r} has two sentences", hint="give running text to fit on"
            )
        self.process_: LengthProcess = LengthProcess().fit(z)
        self.sentences_ = len(z.words)
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.component("process_", LengthProcess)
        state.integer("sentences_")

    def project(self, batch: Corpus) -> SentenceLengths:
        """Count the words of each sentence."""
        return sentence_lengths(self.prose(batch))

    def log_prior(self, latents: SentenceLengths) -> LogPrior:
        """Sum of log P_c over the sentences of each document."""
        values = group_sums(self.process_.log_probabilities(latents), latents.offsets)
        return LogPrior(np.asarray(values, dtype=np.float64), latents.lengths)

    def sufficient_statistics(self, latents: SentenceLengths) -> Mapping[str, Rows]:
        """Sums of squares and of products of log lengths, words, sentences, and paragraphs."""
        squares, products, variances = moments(latents, 1)
        sentences = latents.lengths.astype(np.float64)
        words, paragraphs = (
            np.asarray(group_sums(x.astype(np.float64), latents.offsets), dtype=np.float64)
            for x in (latents.words, latents.begins)
        )
        return {
            "squares": squares,
            # without any variance within documents, the correlation is 0
            "neighbours": np.column_stack([products[:, 0], variances[:, 0] + 1e-9]),
            "words": np.column_stack([words, sentences]),
            "paragraphs": np.column_stack([sentences, paragraphs]),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Spread within documents, correlation of neighbours, and mean lengths."""
        return (
            Statistic(
                "spread",
                "squares",
                "value",
                spread,
                scale="log",
                effect="log_ratio",
                label="spread of sentence lengths in a document",
                direction=("more uniform in rhythm", "more varied in rhythm"),
                unit="log words",
            ),
            Statistic.ratio(
                "neighbour_correlation",
                "neighbours",
                "correlation of neighbouring sentence lengths",
                ("more changeable between sentences", "steadier between sentences"),
            ),
            Statistic.relative(
                "sentence_length",
                "words",
                "mean length of sentences",
                ("shorter in its sentences", "longer in its sentences"),
                unit="words",
            ),
            Statistic.relative(
                "paragraph_length",
                "paragraphs",
                "mean length of paragraphs",
                ("shorter in its paragraphs", "longer in its paragraphs"),
                unit="sentences",
            ),
        )

    def summarize(self, latents: SentenceLengths) -> evidence.RhythmSummary:
        """Sentence lengths, correlations by lag, and the lengths of one document."""
        return evidence.summary(latents)

    def evidence(self, real: evidence.RhythmSummary, generated: evidence.RhythmSummary) -> list[Evidence]:
        """Distribution of sentence lengths, correlation by distance, one document of each side."""
        return evidence.show(real, generated)

    def notes(self) -> list[Note]:
        """What the process learned."""
        _, last, all_before, first = self.process_.coefficients_.tolist()
        return [
            Note(
                f"Fitted on {counted(self.sentences_, 'sentence')}. The logarithm of the expected length follows that "
                f"of the sentence before by {last:.2f}, that of all sentences before by {all_before:.2f}, and changes "
                f"by {first:+.2f} where a paragraph begins; shape {self.process_.shape_:.2f}."
            )
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the sentences of least likely length."""
        return evidence.explain(self, document)
