"""Rank and frequency: whether word frequency in generated text follows the Zipf's law of real text.

Pooled counts are float arrays (B, V), one row per resample; each row is ranked by its own counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import zeta

from momus.critic import Counted, CountingCritic, Counts, LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import TokenStates
from momus.estimator import parametrized
from momus.evidence import Axis, Chart, Evidence, MarkedDocument, Series, both
from momus.numeric.ragged import float_sums, offsets_of, places_of
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus_critics.evidence import Mark, highest, log_spaced, mark_passage, rounded, words_of

BOUNDS = (1.0001, 20.0)


def log_normalizer(exponent: float) -> float:
    """log ζ(s).

    >>> round(log_normalizer(2.0), 4)
    0.4977
    """
    return float(np.log(zeta(exponent)))


def fit_exponent(counts: NDArray[np.generic]) -> float:
    """Maximum-likelihood exponent of the zeta distribution for word counts in any order.

    >>> round(fit_exponent(np.array([60, 20, 9, 5, 3])), 3)
    2.312
    """
    from scipy.optimize import minimize_scalar

    ordered = np.sort(np.asarray(counts, dtype=np.float64))[::-1]
    ordered = ordered[ordered > 0]
    mean_log = float(ordered @ np.log(np.arange(1, len(ordered) + 1)) / ordered.sum())

    def minus_mean(s: float) -> float:  # −log likelihood per token
        return s * mean_log + log_normalizer(s)

    return float(minimize_scalar(minus_mean, bounds=BOUNDS, method="bounded", options={"xatol": 1e-9}).x)


@lru_cache(maxsize=1)
def _mean_log_table() -> tuple[Floats, Floats]:
    """Exponents, and the mean log rank −ζ'(s)/ζ(s) that each implies, for interpolation."""
    exponents = 1.0 + np.geomspace(1e-4, 19.0, 20_000)
    step = 1e-6 * (exponents - 1.0)
    # SciPy has no derivative of ζ; steps shrink towards the pole at 1
    slope = (np.log(zeta(exponents + step)) - np.log(zeta(exponents - step))) / (2 * step)
    return exponents, -slope


@lru_cache(maxsize=8)
def _log_ranks(n: int) -> Floats:
    """Logarithms of ranks 1 … n."""
    logs: Floats = np.log(np.arange(1, n + 1))
    logs.flags.writeable = False
    return logs


def ranked(pooled: Floats) -> Floats:
    """Sort each row in descending order; the functions below take ranked rows.

    >>> ranked(np.array([[2.0, 70_000.0, 3.0]])).tolist()
    [[70000.0, 3.0, 2.0]]
    """
    # integers are sorted several times as fast as floats, the shorter the faster; fractions as they are
    largest = pooled.max(initial=0)
    kind = np.int16 if largest < 2**15 else np.int32 if largest < 2**31 else np.float64
    whole = pooled.astype(kind)
    ascending = np.sort(whole if np.array_equal(whole, pooled) else pooled, axis=1, kind="stable")
    return ascending.astype(np.float64)[:, ::-1]


def exponents(ordered: Floats) -> Floats:
    """Maximum-likelihood exponent of each row; NaN for a single word, which any exponent above 1 fits."""
    mean_log = ordered @ _log_ranks(ordered.shape[1]) / ordered.sum(axis=1)  # the sufficient statistic, (B,)
    grid, implied = _mean_log_table()
    return np.where(mean_log > 0, np.interp(mean_log, implied[::-1], grid[::-1]), np.nan)


def shares_up_to(ordered: Floats, ranks: int) -> Floats:
    """Empirical cumulative distribution over the first ranks (over all if ``ranks`` is 0)."""
    head = ordered[:, :ranks] if ranks else ordered
    return np.asarray(np.cumsum(head, axis=1) / ordered.sum(axis=1, keepdims=True))


def ks_ranked(real: Floats, generated: Floats, ranks: int = 10_000) -> Floats:
    """D_p: the largest gap between two empirical rank distributions, each ranked by its own counts.

    >>> ks_ranked(np.array([[3.0, 1.0]]), np.array([[2.0, 2.0]]))
    array([0.25])
    """
    gap: Floats = np.abs(shares_up_to(real, ranks) - shares_up_to(generated, ranks)).max(axis=1)
    return gap


def law_shares(exponents_: Floats, n: int) -> Floats:
    """Cumulative distribution of laws at ranks 1 … n, (B, n)."""
    log_mass = -exponents_[:, None] * _log_ranks(n)
    return np.asarray(np.cumsum(np.exp(log_mass - np.log(zeta(exponents_))[:, None]), axis=1))


def ks_given_law(ordered: Floats, exponent: float, ranks: int = 10_000) -> Floats:
    """D_p̂: the largest gap between each row's rank distribution and one law, over the first ranks.

    Beyond a row's number of types its distribution is 1 and the gap only shrinks.
    """
    shares = shares_up_to(ordered, ranks)
    gap: Floats = np.abs(shares - _law(exponent, shares.shape[1])).max(axis=1)
    return gap


@lru_cache(maxsize=4)
def _law(exponent: float, n: int) -> Floats:
    """`law_shares` of one law, (1, n)."""
    return law_shares(np.array([exponent]), n)


def ks_own_law(ordered: Floats, ranks: int = 10_000) -> Floats:
    """D_pθ: the largest gap between each row's rank distribution and the law fitted on that row."""
    shares = shares_up_to(ordered, ranks)
    law = law_shares(exponents(ordered), shares.shape[1])
    gap: Floats = np.abs(shares - law).max(axis=1)
    return gap


POINTS = 120
"""Points of the curves of frequency by rank."""


@parametrized
class RankFrequency(CountingCritic[TokenStates]):
    """z is the rank of each token; P_c(k) = k^(−s) / ζ(s), s by maximum likelihood on real text.

    The latent rank of a word is its rank in the real text; the j-th new word of a document gets the j-th rank after the
    last known one. The three Kolmogorov–Smirnov distances rank each text by its own counts: ``ks`` (D_p, text against
    text), ``ks_real_law`` (D_p̂, a text against the law fitted on real text) and ``ks_own_law`` (D_pθ, a text against
    the law fitted on itself); Meister & Cotterell 2021, section 5.1.

    Parameters
    ----------
    ranks
        Number of ranks that the distances cover; 0 takes all.

    >>> from momus import Corpus
    >>> critic = RankFrequency().fit(Corpus.from_texts(["a a a a b b c d", "a b a c"]))
    >>> round(critic.exponent_, 3)
    2.126
    """

    name = "rank-frequency"
    axis = "common and rare words"
    question = "Do frequent and rare words share the text as in real text? z is the rank of each token, P_c Zipf's law."
    reporting = Reporting(
        headline="ks",
        general=True,
        directions=directions("more|less probable word by word", "written in commoner|written in rarer words"),
        limits=(
            "It cannot see which words are common and which are rare, nor their order: only how often each rank occurs."
        ),
        aggregated=False,
    )
    sequence = True

    ranks: Annotated[int, Range(0, 10**7)] = 10_000

    def fit_counts(self, real: Corpus) -> Counts:
        """Count words."""
        table = real.tokens(self.tokenizer)
        return Counts.of(words=(table.vocabulary, np.bincount(table.ids, minlength=len(table.vocabulary))))

    def fit_from(self, counts: Counts) -> Self:
        """Rank words by their counts, and fit the exponent."""
        self.vocabulary_, numbers = counts.ranked("words")
        self.exponent_ = fit_exponent(numbers)
        return self

    def project(self, batch: Corpus) -> TokenStates:
        """Look up the ranks of words in the real text, from 1."""
        table = batch.tokens(self.tokenizer)
        ranks = table.codes(self.vocabulary_).astype(np.int64) + 1  # (N,); 0 for new words
        # the j-th new type of each document, by first appearance, gets the j-th rank after the last known one
        new = np.flatnonzero(ranks == 0)
        key = table.documents[new] * len(table.vocabulary) + table.ids[new]
        # `first`, `rank` have one entry per (document, new type); `inverse` takes each new token to its entry
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first, kind="stable")
        # by first appearance, entries are in the order of documents: number them within each document
        per_document = np.bincount(table.documents[new][first])
        rank = np.empty(len(first), dtype=np.int64)
        rank[by_appearance] = len(self.vocabulary_) + 1 + places_of(offsets_of(per_document))
        ranks[new] = rank[inverse]
        return TokenStates(ranks, table.offsets, words=table.ids, vocabulary=table.vocabulary)

    def log_prior(self, latents: TokenStates) -> LogPrior:
        """−s log k − log ζ(s), summed over the tokens of each document."""
        values = -self.exponent_ * np.log(latents.states) - log_normalizer(self.exponent_)
        return LogPrior(float_sums(values, latents.offsets), latents.lengths)

    def sufficient_statistics(self, latents: TokenStates) -> Mapping[str, Rows]:
        """Counts of words; ranks come from pooled counts, so each resample is ranked by its own counts."""
        return {"words": Counted.of_tokens(latents.words, latents.offsets, latents.vocabulary)}

    def statistics(self) -> Sequence[Statistic]:
        """Three KS distances, and the exponent of each text."""
        own_law = partial(ks_own_law, ranks=self.ranks)
        real_law = partial(ks_given_law, exponent=self.exponent_, ranks=self.ranks)
        distance = partial(ks_ranked, ranks=self.ranks)
        of_ranks = partial(Statistic.value, rows="words", prepare=ranked)
        return (
            Statistic.distance("ks", "words", distance, "Kolmogorov–Smirnov distance of ranks", prepare=ranked),
            of_ranks(
                "ks_real_law",
                function=real_law,
                label="KS distance to the fitted law",
                direction=("closer to the fitted law", "further from the fitted law"),
                decides=False,
            ),
            of_ranks(
                "ks_own_law",
                function=own_law,
                label="KS distance to the text's own law",
                direction=("closer to Zipf's law", "further from Zipf's law"),
                decides=False,
            ),
            of_ranks(
                "exponent",
                function=exponents,
                label="Zipf exponent",
                direction=("less dominated by common words", "more dominated by common words"),
                needs="two different words",
            ),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Rank–frequency curves of both texts with the fitted law."""
        series: list[Series] = []
        for role, summary in both(real, generated):
            counts = np.sort(np.fromiter(summary.counts["words"].values(), np.float64))[::-1]  # by rank
            picked = log_spaced(len(counts), POINTS)
            series.append(Series(role, picked.tolist(), rounded(counts[picked - 1] / counts.sum()), role))
        ranks = log_spaced(len(self.vocabulary_), POINTS)
        law = np.exp(-self.exponent_ * np.log(ranks) - log_normalizer(self.exponent_))
        series.append(Series(f"law of real text, s = {self.exponent_:.3f}", ranks.tolist(), rounded(law), "fitted"))
        x, y = Axis("rank", "log"), Axis("relative frequency", "log")
        note = "Each text is ranked by its own frequencies."
        return [Chart("rank-frequency", "Relative frequency by rank", x, y, series, note=note)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the words of the highest ranks, with their ranks in the fitted text."""
        z = self.project(document)
        known = len(self.vocabulary_)
        new = f"not among the {known:,} words of the fitted text"
        marks = {
            i: Mark(f"rank {z.states[i]:,}") if z.states[i] <= known else Mark("new word", new)
            for i in highest(z.states.astype(np.float64))
        }
        note = f"Marked: its rarest tenth of words. Of {known:,} words of the fitted text, the commonest has rank 1."
        words = words_of(document, self.tokenizer)
        return mark_passage(self, document, z, words, marks, unit="nats per word", note=note)
