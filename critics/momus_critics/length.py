"""Length of documents: whether the generator stops where people stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

import numpy as np

from momus.critic import Counted, CountingCritic, Counts, LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.latents import Values
from momus.critic.statistic import perplexity, spread
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus_critics.evidence import distributions


@parametrized
class Length(CountingCritic[Values]):
    """z is the number of tokens of a document; P_c(z) is the distribution of lengths in real text.

    The empirical distribution is extended to all lengths ≥ 1: equal-count bins, uniform within, each with half a count
    added (Jeffreys), and a geometric tail beyond the longest document. Real and generated text are compared by the
    Kolmogorov–Smirnov distance, by the difference of means (Meister & Cotterell 2021), and by the ratio of the standard
    deviations of log lengths.

    Parameters
    ----------
    bins
        Number of equal-count bins; 0 takes the square root of the number of documents.

    >>> from momus import Corpus
    >>> critic = Length().fit(Corpus.from_texts(["a b c", "a b", "a b c d", "a"]))
    >>> lengths = np.arange(1, 4000)
    >>> round(float(np.exp(critic.log_prior(Values(lengths)).values).sum()), 4)
    1.0
    """

    name = "length"
    axis = "length of documents"
    question = "Are documents as long as real ones, and as varied in length? z is the number of tokens."
    reads = "says"
    reporting = Reporting(
        headline="ks",
        leading=True,
        directions=directions("more|less usual in length"),
        limits="It cannot see what a document says, nor whether its end is one: only how long it is.",
    )

    bins: Annotated[int, Range(0, 100_000)] = 0

    def fit_counts(self, real: Corpus) -> Counts:
        """Count documents by length."""
        return Counts.of_values(lengths=real.tokens(self.tokenizer).lengths)

    def fit_from(self, counts: Counts) -> Self:
        """Learn the bins and their probabilities from the lengths of documents."""
        lengths = counts.values("lengths")
        bins = self.bins or max(1, round(np.sqrt(len(lengths))))
        inner = np.quantile(lengths, np.linspace(0, 1, bins + 1)[1:-1], method="higher")
        self.edges_ = np.unique(np.concatenate([[1], inner, [lengths[-1] + 1]])).astype(np.int64)
        mass = np.histogram(lengths, self.edges_)[0] + 0.5
        tail = 0.5 / (mass.sum() + 0.5)
        self.log_mass_ = np.log(mass / mass.sum() * (1 - tail)) - np.log(np.diff(self.edges_))
        self.log_tail_ = float(np.log(tail))
        self.tail_mean_ = float(max(lengths.mean(), 1.0))
        return self

    @property
    def _unit(self) -> str:
        """What the tokenizer counts."""
        return "words and symbols" if self.tokens == "words" else "tokens"

    def project(self, batch: Corpus) -> Values:
        """Count tokens."""
        return Values(batch.tokens(self.tokenizer).lengths.astype(np.float64))

    def log_prior(self, latents: Values) -> LogPrior:
        """log P_c(length)."""
        z = latents.values
        inside = z < self.edges_[-1]
        bin_ = np.clip(np.searchsorted(self.edges_, z, side="right") - 1, 0, len(self.log_mass_) - 1)
        decay = 1.0 / self.tail_mean_  # P(length = longest + 1 + j) = tail · (1 − q) qʲ, j with mean tail_mean_
        q = 1.0 / (1.0 + decay)
        beyond = self.log_tail_ + np.log1p(-q) + (z - self.edges_[-1]) * np.log(q)
        return LogPrior.of_vectors(np.where(inside, self.log_mass_[bin_], beyond))

    def sufficient_statistics(self, latents: Values) -> Mapping[str, Rows]:
        """The length as a single count (for KS), as a number (for the mean), and moments of its logarithm."""
        z = latents.values
        # the fitted mean as unit loses no digits of the variance to a large mean of logarithms; it changes nothing else
        x = np.log(z / self.tail_mean_)
        # n tokens stand for n ± ½ (Sheppard's correction), so texts of one length have a tiny spread instead of none
        squares = x**2 + 1 / (12 * z**2)
        return {
            "length": Counted.of_values(z),
            "tokens": np.column_stack([z, np.ones(len(z))]),
            "typical": np.column_stack([np.log(z), np.ones(len(z))]),
            "logarithms": np.column_stack([x, squares, np.ones(len(z))]),
        }

    def statistics(self) -> Sequence[Statistic]:
        """KS distance of lengths, mean length, typical length (which one long text does not move), and spread."""
        return (
            Statistic.ks("length", "Kolmogorov–Smirnov distance of lengths"),
            Statistic.ratio(
                "mean_length", "tokens", "mean length", "shorter|longer", effect="hedges_g", unit=self._unit
            ),
            Statistic.value(
                "typical_length",
                "typical",
                perplexity,
                "typical length (geometric mean)",
                "shorter|longer",
                scale="log",
                unit=self._unit,
            ),
            Statistic.value(
                "spread",
                "logarithms",
                spread,
                "standard deviation of log lengths",
                "more alike|more varied in length",
                scale="log",
            ),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Cumulative distributions."""
        x, title = Axis(f"length in {self._unit}", "log"), "Cumulative distribution of length"
        return [distributions((real, generated), "length", "length-distribution", title, x, "share of documents")]
