"""Word frequencies: whether the generator uses the vocabulary as real text does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from momus.critic import (
    AGGREGATED,
    AggregatedPosteriorMixin,
    Counted,
    EvidenceMixin,
    LogPrior,
    Pooled,
    Rows,
    Statistic,
    StatisticsMixin,
    TokenCritic,
    TokenStates,
    supremum,
    total_variation,
)
from momus.evidence import Evidence, Table
from momus.numeric.ragged import group_sums
from momus.text.corpus import Corpus

UNKNOWN = "<unknown>"
SHOWN = 20


class Unigram(TokenCritic[TokenStates], StatisticsMixin, AggregatedPosteriorMixin, EvidenceMixin):
    """z is each word; P_c(z) is the empirical pmf of real text, with Good–Turing mass for unseen words.

    All words that do not occur in the real text share one state with probability N1/N (Good 1953), where N1 of the N
    tokens are hapaxes; seen words share the rest by relative frequency. Real and generated text are compared by the
    total variation of their pmfs, ½·L1, and by sup |p1 − p2|, the form that Meister & Cotterell (2021) print.

    >>> from momus import Corpus
    >>> critic = Unigram().fit(Corpus.from_texts(["a a b", "c a"]))
    >>> [round(float(p), 2) for p in np.exp(critic.log_probabilities_)]
    [0.35, 0.12, 0.12, 0.42]
    """

    name = "unigram"
    axis = "vocabulary"
    question = "Are words used as often as in real text? z is the word, P_c its relative frequency in real text."
    sequence = True
    headline = "tvd"

    def fit(self, real: Corpus) -> Self:
        """Count words; the last entry of ``log_probabilities_`` is for unseen words."""
        table = real.tokens(self.tokenizer)
        counts = np.bincount(table.ids, minlength=len(table.vocabulary))
        order = np.argsort(-counts, kind="stable")
        order = order[counts[order] > 0]
        self.vocabulary_ = [table.vocabulary[i] for i in order]
        seen = counts[order].astype(np.float64)
        total = seen.sum()
        unseen = (np.sum(seen == 1) + 0.5) / (total + 1.0)
        self.log_probabilities_ = np.log(np.append(seen / total * (1 - unseen), unseen))
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without tokens."""
        return ["no token" if n == 0 else None for n in batch.tokens(self.tokenizer).lengths]

    def project(self, batch: Corpus) -> TokenStates:
        """Look up words; unseen ones get the last state."""
        table = batch.tokens(self.tokenizer)
        index = {word: i for i, word in enumerate(self.vocabulary_)}
        states = table.codes(index, unknown=len(index))
        return TokenStates(states, table.offsets, words=table.ids, vocabulary=table.vocabulary)

    def log_prior(self, latents: TokenStates) -> LogPrior:
        """Sum of log probabilities over the words of each document."""
        values = group_sums(self.log_probabilities_[latents.states], latents.offsets)
        return LogPrior(np.asarray(values), latents.lengths)

    def sufficient_statistics(self, latents: TokenStates) -> Mapping[str, Rows]:
        """Nothing: the statistics pool the aggregated posterior."""
        return {}

    def aggregated_posterior(self, latents: TokenStates) -> Rows:
        """Counts of words; unseen words are counted separately."""
        return Counted.of_tokens(latents.words, latents.offsets, latents.vocabulary)

    def summarize(self, latents: TokenStates) -> Pooled:
        """Counts of words."""
        return Pooled.of_rows({"words": self.aggregated_posterior(latents)}, len(latents))

    def statistics(self) -> Sequence[Statistic]:
        """Total variation, and the supremum form."""
        return (
            Statistic("tvd", AGGREGATED, "distance", total_variation),
            Statistic("sup", AGGREGATED, "distance", supremum),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Words whose relative frequency differs most."""
        p, q = real.counts["words"], generated.counts["words"]
        n_p, n_q = sum(p.values()), sum(q.values())
        shares = [(w, p.get(w, 0.0) / n_p, q.get(w, 0.0) / n_q) for w in {**p, **q}]
        shares.sort(key=lambda row: (-abs(row[2] - row[1]), str(row[0])))
        known = set(self.vocabulary_)
        rows = [
            (str(w), 1000 * a, 1000 * b, 1000 * (b - a), abs(b - a) / 2, "yes" if w in known else "no")
            for w, a, b in shares[:SHOWN]
        ]
        unseen_real = sum(a for w, a, _ in shares if w not in known)
        unseen_generated = sum(b for w, _, b in shares if w not in known)
        return [
            Table(
                "words",
                "Words whose frequency differs most",
                (
                    "word",
                    "real per 1,000",
                    "generated per 1,000",
                    "difference",
                    "share of the total variation",
                    "known",
                ),
                rows,
                note=f"Tokens: {n_p:,.0f} real, {n_q:,.0f} generated. Words that do not occur in the text that the "
                f"critic was fitted on: {unseen_real:.2%} of real tokens, {unseen_generated:.2%} of generated ones.",
            )
        ]
