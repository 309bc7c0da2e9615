"""Shares of stopwords and of symbols in documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import ClassVar, Self

import numpy as np

from momus.critic import (
    Counted,
    EvidenceMixin,
    ExplanationMixin,
    LogPrior,
    Pooled,
    Rows,
    Statistic,
    StatisticsMixin,
    TokenCritic,
    kolmogorov_smirnov,
    mean,
    mean_gap,
)
from momus.critic.fitted import Fitted
from momus.errors import UsageError
from momus.evidence import Axis, Cell, Chart, Evidence, MarkedDocument, Series, Table, both
from momus.numeric.ragged import group_sums
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.text.counting import counted, percentage
from momus_critics.figures import evenly_cumulated, percent, rounded
from momus_critics.marking import Mark, mark_passage, words_of

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt")
SHOWN = 80
"""Tokens of an explained passage."""
DIGITS = 6
"""Digits to which shares are rounded before comparison, which makes equal shares equal."""


@dataclass(frozen=True)
class TokenCounts:
    """Numbers of tokens of the kind and of all tokens per document, int64 (n,)."""

    hits: Ints
    tokens: Ints

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def shares(self) -> Floats:
        """hits / tokens, float64 (n,)."""
        return self.hits / self.tokens


class TokenShare(TokenCritic[TokenCounts], StatisticsMixin, EvidenceMixin, ExplanationMixin):
    """z is the number of a document's tokens of one kind; P_c(z) is beta-binomial given the number of tokens.

    The beta-binomial is fitted by maximum likelihood; real and generated text are compared by the Kolmogorov–Smirnov
    distance between their distributions of shares, and by the difference of mean shares (Meister & Cotterell 2021).
    """

    headline = "ks"
    told = "mean_share"
    directions: ClassVar[Mapping[str, tuple[str, str]]] = {
        "latent_nll": ("more usual in this share", "less usual in this share")
    }
    kind = "of the kind"
    one = "token of the kind"

    @abstractmethod
    def is_hit(self, vocabulary: Sequence[str]) -> Bools:
        """Whether each word of a vocabulary is of the kind: bool (V,)."""

    def fit(self, real: Corpus) -> Self:
        """Fit the two parameters of the beta distribution of shares."""
        z = self._count(real)
        scored = z.tokens > 0
        self.alpha_, self.beta_ = fit_beta_binomial(z.hits[scored], z.tokens[scored])
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.number("alpha_", above=0.0)
        state.number("beta_", above=0.0)

    def _count(self, corpus: Corpus) -> TokenCounts:
        table = corpus.tokens(self.tokenizer)
        # look up each token's word, (tokens,), and sum within documents
        hits = group_sums(self.is_hit(table.vocabulary).astype(np.int64)[table.ids], table.offsets)
        return TokenCounts(np.asarray(hits, dtype=np.int64), table.lengths)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without tokens."""
        return ["no token" if n == 0 else None for n in batch.tokens(self.tokenizer).lengths]

    def project(self, batch: Corpus) -> TokenCounts:
        """Count tokens of the kind."""
        return self._count(batch)

    def log_prior(self, latents: TokenCounts) -> LogPrior:
        """log P_c(hits | tokens)."""
        from scipy.stats import betabinom

        return LogPrior.of_vectors(betabinom.logpmf(latents.hits, latents.tokens, self.alpha_, self.beta_))

    def sufficient_statistics(self, latents: TokenCounts) -> Mapping[str, Rows]:
        """The share as a single count (for KS) and as a number (for the mean)."""
        shares = latents.shares
        return {
            "shares": Counted.of_values(np.round(shares, DIGITS)),
            "share": np.column_stack([shares, np.ones(len(shares))]),
        }

    def statistics(self) -> Sequence[Statistic]:
        """KS distance between the distributions of shares; difference of mean shares."""
        return (
            Statistic(
                "ks",
                "shares",
                "distance",
                kolmogorov_smirnov,
                ties=mean_gap,
                label=f"Kolmogorov–Smirnov distance of shares of {self.kind}",
            ),
            Statistic(
                "mean_share",
                "share",
                "value",
                mean,
                effect="hedges_g",
                label=f"mean share of {self.kind}",
                direction=(f"poorer in {self.kind}", f"richer in {self.kind}"),
                format="share",
            ),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Cumulative distributions, and a table of quantiles."""
        curves: list[Series] = []
        rows: list[tuple[Cell, ...]] = []
        for role, summary in both(real, generated):
            table = sorted((float(k), v) for k, v in summary.counts["shares"].items())
            shares, counts = np.array([k for k, _ in table]), np.array([v for _, v in table])
            cumulated = np.cumsum(counts) / counts.sum()
            pick = evenly_cumulated(cumulated)
            curves.append(Series(role, rounded(100 * shares[pick]), rounded(cumulated[pick]), role, "steps"))
            quantiles = [percent(shares[np.searchsorted(cumulated, q - 1e-12)]) for q in QUANTILES]
            rows.append((role, int(counts.sum()), percent(shares @ counts / counts.sum()), *quantiles))
        columns = ("text", "documents", "mean %", *(f"{percentage(q, 0)} quantile, %" for q in QUANTILES))
        title = f"Share of tokens that are {self.kind}"
        note = (
            "Share of documents whose share is at most x; the largest vertical gap is the Kolmogorov–Smirnov distance."
        )
        x = Axis(f"{self.kind}, % of tokens")
        return [
            Chart(f"{self.name}-distribution", title, x, Axis("share of documents"), curves, note=note),
            Table(f"{self.name}-quantiles", title, columns, rows),
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the tokens of the kind."""
        words = words_of(document, self.tokenizer)
        hits = np.flatnonzero(self.is_hit(words)).tolist()
        prior = self.log_prior(self.project(document))
        share = len(hits) / max(len(words), 1)
        usual = self.alpha_ / (self.alpha_ + self.beta_)
        tokens = counted(len(words), "token")
        note = (
            f"{len(hits):,} of {tokens} are {self.kind}: {percentage(share, 1)}; in real text {percentage(usual, 1)}."
        )
        marks = {i: Mark(self.one) for i in hits}
        return mark_passage(document, words, marks, value=-float(prior.values[0]), unit="nats", shown=SHOWN, note=note)


def fit_beta_binomial(hits: Ints, tokens: Ints) -> tuple[float, float]:
    """Maximum-likelihood α and β, both bounded to [1e-4, 1e5] (a constant share has no finite maximum).

    >>> rng = np.random.default_rng(0)
    >>> n = np.full(4000, 50)
    >>> a, b = fit_beta_binomial(rng.binomial(n, rng.beta(2, 6, 4000)), n)
    >>> round(a), round(b)
    (2, 6)
    """
    from scipy.optimize import minimize
    from scipy.special import betaln

    # equal (hits, tokens) are evaluated once, weighted by their number of documents, (pairs,)
    pairs, weight = np.unique(np.column_stack([hits, tokens]), axis=0, return_counts=True)
    k, n = pairs[:, 0], pairs[:, 1]
    share = (hits.sum() + 0.5) / (tokens.sum() + 1.0)

    def loss(log_parameters: Floats) -> float:
        a, b = np.exp(log_parameters)
        return float(-(weight @ (betaln(k + a, n - k + b) - betaln(a, b))) / weight.sum())

    start = np.log([10 * share, 10 * (1 - share)])
    bounds = [(np.log(1e-4), np.log(1e5))] * 2
    optimum = minimize(loss, np.clip(start, *bounds[0]), method="L-BFGS-B", bounds=bounds)
    a, b = np.exp(optimum.x)
    return float(a), float(b)


@lru_cache
def stopwords(language: str) -> frozenset[str]:
    """The stopwords of a language (lists of two BSD-3 packages; see ``stopwords/SOURCE.txt``).

    Raises
    ------
    UsageError
        There is no list for the language.

    >>> "the" in stopwords("en"), "und" in stopwords("de")
    (True, True)
    """
    if language not in LANGUAGES:
        raise UsageError(
            f"no stopwords for language {language!r}",
            hint=f"choose one of {', '.join(LANGUAGES)}, or pass your list as parameter `words`",
        )
    text = (files("momus_critics") / "stopwords" / f"{language}.txt").read_text(encoding="utf-8")
    return frozenset(text.split("\n")) - {""}


class StopwordShare(TokenShare):
    """z is the number of stopwords in a document.

    Parameters
    ----------
    tokens, lower
        See `TokenCritic`.
    language
        Language of the list of stopwords.
    words
        A list to use instead.
    """

    name = "stopword-share"
    axis = "share of stopwords"
    question = "Do function words make up the same share of a text as in real text? z is the number of stopwords."
    kind = "stopwords"
    one = "stopword"
    limits = "It cannot see which stopwords these are, nor where they stand: only how many tokens are stopwords."

    def __init__(
        self, *, tokens: str = "words", lower: bool = True, language: str = "en", words: list[str] | None = None
    ) -> None:
        super().__init__(tokens=tokens, lower=lower)
        self.language = language
        self.words = words

    def is_hit(self, vocabulary: Sequence[str]) -> Bools:
        """Whether each word is a stopword, ignoring case."""
        known = frozenset(self.words) if self.words is not None else stopwords(self.language)
        return np.fromiter((w.lower().replace("’", "'") in known for w in vocabulary), bool, len(vocabulary))


class SymbolShare(TokenShare):
    """z is the number of tokens without a letter in a document: punctuation, digits, other symbols."""

    name = "symbol-share"
    axis = "share of symbols"
    question = (
        "Do punctuation and numbers make up the same share of a text as in real text? z is the number of such tokens."
    )
    kind = "symbols"
    one = "symbol"
    limits = (
        "It cannot see which symbols these are, nor whether they stand in the right place: only how many there are."
    )

    def is_hit(self, vocabulary: Sequence[str]) -> Bools:
        """Whether each word has no letter."""
        return np.fromiter((not any(map(str.isalpha, w)) for w in vocabulary), bool, len(vocabulary))
