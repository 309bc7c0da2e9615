"""Word frequencies: whether the generator uses the vocabulary as real text does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from momus.critic import Counted, CountingCritic, Counts, LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import TokenStates
from momus.critic.hooks import AdvancedMixin
from momus.critic.scores import AGGREGATED
from momus.critic.shifts import Named, shift_table
from momus.critic.statistic import supremum, total_variation
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import float_sums
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus_critics.evidence import Mark, highest, mark_passage, words_of
from momus_critics.fits.known import unseen_types
from momus_critics.prose.examples import counts_of

UNKNOWN = "<unknown>"
SHOWN = 20
COMMON = 100
"""How many of the commonest words of real text count as common."""


class Unigram(CountingCritic[TokenStates], AdvancedMixin):
    """z is each word; P_c(z) is the empirical pmf of real text, with Good–Turing mass for unseen words.

    All words that do not occur in the real text together have the probability N1/N (Good 1953), where N1 of the N
    tokens are hapaxes; seen words share the rest by relative frequency. Each unseen word has an equal part of that mass
    (`unseen_types`): as one word, all of them would be commoner than most known ones. Real and generated text are
    compared by the total variation of their pmfs, ½·L1, and by sup |p1 − p2|, which Meister & Cotterell (2021, equation
    11) call TVD.

    >>> from momus import Corpus
    >>> critic = Unigram().fit(Corpus.from_texts(["a a b", "c a"]))
    >>> [round(float(p), 2) for p in np.exp(critic.log_probabilities_)]
    [0.35, 0.12, 0.12, 0.42]
    """

    name = "unigram"
    axis = "vocabulary"
    question = "Are words used as often as in real text? z is the word, P_c its relative frequency in real text."
    reporting = Reporting(
        headline="tvd",
        general=True,
        directions=directions(
            "more|less probable word by word",
            "written in commoner|written in rarer words",
            "less|more varied in vocabulary",
        ),
        limits="It cannot see the order of words: a shuffled text has the same vocabulary.",
    )
    sequence = True

    def fit_counts(self, real: Corpus) -> Counts:
        """Count words."""
        table = real.tokens(self.tokenizer)
        return Counts.of(words=(table.vocabulary, np.bincount(table.ids, minlength=len(table.vocabulary))))

    def fit_from(self, counts: Counts) -> Self:
        """Rank words by their counts, and give unseen words their share."""
        self.vocabulary_, numbers = counts.ranked("words")
        seen = numbers.astype(np.float64)
        total = seen.sum()
        # half a hapax added: a text without any would give unseen words no probability
        unseen = (np.sum(seen == 1) + 0.5) / (total + 1.0)
        self.log_probabilities_ = np.log(np.append(seen / total * (1 - unseen), unseen))
        self.unseen_ = unseen_types(seen)
        return self

    @property
    def state_names(self) -> Sequence[str]:
        """The words of real text, and one name for all others."""
        return [*self.vocabulary_, UNKNOWN]

    def project(self, batch: Corpus) -> TokenStates:
        """Look up words; unseen ones get the last state."""
        table = batch.tokens(self.tokenizer)
        states = table.codes(self.vocabulary_, unknown=len(self.vocabulary_))
        return TokenStates(states, table.offsets, words=table.ids, vocabulary=table.vocabulary)

    def log_prior(self, latents: TokenStates) -> LogPrior:
        """Sum of log probabilities over the words of each document."""
        return LogPrior(float_sums(self._log_p(latents), latents.offsets), latents.lengths)

    def _log_p(self, latents: TokenStates) -> Floats:
        """log P_c of each word, (N,)."""
        unseen = latents.states == len(self.vocabulary_)  # (N,)
        return np.asarray(self.log_probabilities_[latents.states] - unseen * np.log(self.unseen_))

    def sufficient_statistics(self, latents: TokenStates) -> Mapping[str, Rows]:
        """Numbers of common words and of all words, (n, 2); distances pool the aggregated posterior."""
        # states are ranks in real text, from 0; the last one is that of unseen words
        is_common = latents.states < min(COMMON, len(self.vocabulary_))
        return {"common": np.column_stack([float_sums(is_common, latents.offsets), latents.lengths])}

    def aggregated_posterior(self, latents: TokenStates) -> Rows:
        """Counts of words; unseen words are counted separately."""
        return Counted.of_tokens(latents.words, latents.offsets, latents.vocabulary)

    def summarize(self, latents: TokenStates) -> Pooled:
        """Counts of words."""
        return Pooled.of_rows({"words": self.aggregated_posterior(latents)}, len(latents))

    tested = (
        Statistic.distance("tvd", AGGREGATED, total_variation, "total variation"),
        Statistic.distance("sup", AGGREGATED, supremum, "largest difference in the share of a word", item="words are"),
        Statistic.share(
            "common_share", "common", f"share of the {COMMON} commonest words", "poorer|richer in common words"
        ),
    )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """The words whose relative frequency differs most."""
        totals = sum(real.counts["words"].values()), sum(generated.counts["words"].values())
        words, p, q = counts_of(real, generated, "words", totals)
        a, b = p[1:] / p[0], q[1:] / q[0]  # shares, (words,)
        known = set(self.vocabulary_)
        seen = np.fromiter((w in known for w in words), bool, len(words))
        which = np.fromiter((any(map(str.isalnum, w)) for w in words), bool, len(words))
        unseen = [percentage(float(x[~seen].sum()), 2) for x in (a, b)]
        table = shift_table(
            "words",
            "Words whose frequency differs most",
            "word",
            words,
            (a, b),
            "per 1,000 tokens",
            1000,
            more={"known": ["yes" if k else "no" for k in seen.tolist()]},
            named=Named("over- and under-used words", "sup", which, np.abs(b - a), SHOWN),
            most=SHOWN,
            note=f"Tokens: {totals[0]:,.0f} real, {totals[1]:,.0f} generated. Words that do not occur in the text that "
            f"the critic was fitted on: {unseen[0]} of real tokens, {unseen[1]} of generated ones.",
        )
        return [table]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the words that the document uses most above their frequency in real text."""
        words = words_of(document, self.tokenizer)
        z = self.project(document)
        types, first, where, counts = np.unique(words, return_index=True, return_inverse=True, return_counts=True)
        nats = -self._log_p(z)
        expected = len(words) * np.exp(-nats)
        # contribution of each token's word to the divergence from real text, c log(c / expected), (N,)
        surplus = counts[where] * np.log(counts[where] / expected)
        over = set(types[highest(surplus[first])].tolist())
        marks = {
            i: Mark(word, f"{counts[where[i]]} times in {len(words):,} words, {expected[i]:.2g} expected")
            for i, word in enumerate(words)
            if word in over and surplus[i] > 0 and counts[where[i]] > 1
        }
        note = "Marked: repeated words among the tenth of its words whose frequency is most above the fitted one."
        return mark_passage(self, document, z, words, marks, unit="nats per word", values=nats, note=note)
