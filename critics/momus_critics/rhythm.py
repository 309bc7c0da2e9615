"""Rhythm: how long the sentences of a document are, one after another; an autoregressive process over their lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from momus.critic import LogPrior, Pooled, Reporting, Rows, Statistic
from momus.critic.fitted import Fitted
from momus.critic.statistic import mean
from momus.errors import FittingError
from momus.evidence import Axis, Evidence, MarkedDocument
from momus.numeric.ragged import group_sums
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus_critics.evidence import Mark, distributions, highest, mark_passage, words_of
from momus_critics.fits.lengths import LengthProcess, SentenceLengths, moments, sentence_lengths
from momus_critics.prose.reading import BREAK, ProseCritic

UNEQUAL = "sentences of several lengths"
"""What a document must have for a spread."""


def spread(pooled: Floats) -> Floats:
    """Standard deviation from sums of squares and degrees of freedom, (B, 2)."""
    return np.asarray(np.sqrt(mean(pooled)))


class Rhythm(ProseCritic[SentenceLengths]):
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

    def new_process(self) -> LengthProcess:
        """The unfitted process."""
        return LengthProcess()

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
        self.process_ = self.new_process().fit(z)
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        Fitted(self).component("process_", LengthProcess)

    def project(self, batch: Corpus) -> SentenceLengths:
        """Count the words of each sentence."""
        return sentence_lengths(self.prose(batch))

    def log_prior(self, latents: SentenceLengths) -> LogPrior:
        """Sum of log P_c over the sentences of each document."""
        values = group_sums(self.process_.log_probabilities(latents), latents.offsets)
        return LogPrior(np.asarray(values, dtype=np.float64), latents.lengths)

    def sufficient_statistics(self, latents: SentenceLengths) -> Mapping[str, Rows]:
        """Sums of squares and of products of log lengths, words, sentences, and paragraphs."""
        squares, neighbours = moments(latents)
        sentences = latents.lengths.astype(np.float64)
        words, paragraphs = (
            np.asarray(group_sums(x.astype(np.float64), latents.offsets), dtype=np.float64)
            for x in (latents.words, latents.begins)
        )
        return {
            "squares": squares,
            "neighbours": neighbours,
            "words": np.column_stack([words, sentences]),
            "paragraphs": np.column_stack([sentences, paragraphs]),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Spread within documents, correlation of neighbours, and mean lengths."""
        return (
            Statistic.value(
                "spread",
                "squares",
                spread,
                "spread of sentence lengths in a document",
                ("more uniform in rhythm", "more varied in rhythm"),
                scale="log",
                unit="log words",
                needs=UNEQUAL,
            ),
            Statistic.ratio(
                "neighbour_correlation",
                "neighbours",
                "correlation of neighbouring sentence lengths",
                ("more changeable between sentences", "steadier between sentences"),
                needs=UNEQUAL,
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

    def summarize(self, latents: SentenceLengths) -> Pooled:
        """Sentence lengths."""
        values, counts = np.unique(latents.words, return_counts=True)
        words: dict[str | float, float] = {
            float(v): float(c) for v, c in zip(values.tolist(), counts.tolist(), strict=True)
        }
        return Pooled(len(latents), {}, {"words": words})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Distribution of sentence lengths."""
        x, tables = Axis("words per sentence", "log"), [t.counts["words"] for t in (real, generated)]
        title = "Cumulative distribution of sentence length"
        return [distributions("sentence-lengths", title, x, "share of sentences", tables)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the tenth of the sentences whose lengths are least likely."""
        words, prose = words_of(document, self.tokenizer, BREAK), self.prose(document)
        z = sentence_lengths(prose)
        if not len(z.words):
            return None
        nats, means = -self.process_.log_probabilities(z), self.process_.means(z)
        counts = np.bincount(prose.sentences, prose.alphabetic)
        numbers = np.flatnonzero(counts > 0)  # number in the text of each sentence with a word
        values: Floats = np.zeros(len(words))
        marks: dict[int, Mark] = {}
        odd = set(highest(nats))
        for i, number in enumerate(numbers.tolist()):
            tokens = np.flatnonzero(prose.sentences == number)
            values[tokens[0]] = nats[i]  # a sentence's nats stand with its first token
            if i in odd:
                mark = Mark(f"{int(z.words[i])} words", f"{means[i]:.0f} expected here")
                marks |= dict.fromkeys(tokens.tolist(), mark)
        total, mean_length = float(group_sums(nats, z.offsets)[0]), float(z.words.mean())
        note = f"{len(z.words):,} sentences of {mean_length:.1f} words on average. Marked: least likely lengths."
        return mark_passage(document, words, marks, value=total, unit="nats", values=values, note=note)
