"""Shares of stopwords and of symbols in documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import betaln

from momus.critic import Counted, CountingCritic, Counts, LogPrior, Note, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.latents import Arrays
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence, MarkedDocument
from momus.numeric.ragged import group_sums
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.text.counting import counted, percentage
from momus_critics.evidence import Mark, distributions, mark_passage, words_of
from momus_critics.stopword_lists import has_stopwords, source_of, stopwords


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

    # in logarithms, parameters stay positive; begun at the pooled share, with α + β = 10
    start = np.log([10 * share, 10 * (1 - share)])
    bounds = [(np.log(1e-4), np.log(1e5))] * 2
    optimum = minimize(loss, np.clip(start, *bounds[0]), method="L-BFGS-B", bounds=bounds)
    a, b = np.exp(optimum.x)
    return float(a), float(b)


SHOWN = 80
"""Tokens of an explained passage."""
PACK = 1 << 32
"""Tokens of the kind and all tokens of a document are counted as one integer, hits · PACK + tokens."""
DIGITS = 6
"""Digits to which shares are rounded before comparison, which makes equal shares equal."""


@dataclass(frozen=True)
class TokenCounts(Arrays):
    """Numbers of tokens of the kind and of all tokens per document, int64 (n,)."""

    hits: Ints
    tokens: Ints

    @property
    def shares(self) -> Floats:
        """hits / tokens, float64 (n,)."""
        return self.hits / self.tokens


class TokenShare(CountingCritic[TokenCounts]):
    """z is the number of a document's tokens of one kind; P_c(z) is beta-binomial given the number of tokens.

    The beta-binomial is fitted by maximum likelihood; real and generated text are compared by the Kolmogorov–Smirnov
    distance between their distributions of shares, and by the difference of mean shares (Meister & Cotterell 2021).
    """

    reporting = Reporting(
        headline="ks",
        general=True,
        directions=directions("more|less usual in this share"),
    )
    _kind = "of the kind"
    _one = "token of the kind"

    @abstractmethod
    def _is_hit(self, vocabulary: Sequence[str]) -> Bools:
        """Whether each word of a vocabulary is of the kind: bool (V,)."""

    def fit_counts(self, real: Corpus) -> Counts:
        """Count documents by their numbers of tokens of the kind and of all tokens."""
        z = self._count(real)
        scored = z.tokens > 0
        return Counts.of_values(pairs=z.hits[scored] * PACK + z.tokens[scored])

    def fit_from(self, counts: Counts) -> Self:
        """Fit the two parameters to the documents' numbers of tokens."""
        pairs = counts.values("pairs")
        self.alpha_, self.beta_ = fit_beta_binomial(pairs // PACK, pairs % PACK)
        return self

    def _count(self, corpus: Corpus) -> TokenCounts:
        table = corpus.tokens(self.tokenizer)
        # look up each token's word, (tokens,), and sum within documents
        hits = group_sums(self._is_hit(table.vocabulary).astype(np.int64)[table.ids], table.offsets)
        return TokenCounts(np.asarray(hits, dtype=np.int64), table.lengths)

    def project(self, batch: Corpus) -> TokenCounts:
        """Count tokens of the kind."""
        return self._count(batch)

    def log_prior(self, latents: TokenCounts) -> LogPrior:
        """log P_c(hits | tokens)."""
        k, n = latents.hits, latents.tokens
        ways = -np.log(n + 1) - betaln(n - k + 1, k + 1)
        law = betaln(k + self.alpha_, n - k + self.beta_) - betaln(self.alpha_, self.beta_)
        return LogPrior.of_vectors(ways + law)

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
            Statistic.ks("shares", f"Kolmogorov–Smirnov distance of shares of {self._kind}"),
            Statistic.share("mean_share", "share", f"mean share of {self._kind}", f"poorer|richer in {self._kind}"),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Cumulative distributions."""
        x, title = Axis(f"{self._kind}, % of tokens"), f"Share of tokens that are {self._kind}"
        name = f"{self.name}-distribution"
        return [distributions((real, generated), "shares", name, title, x, "share of documents", 100)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the tokens of the kind."""
        return self._marked(document, self._is_hit)

    def _marked(self, document: Corpus, is_hit: Callable[[Sequence[str]], Bools]) -> MarkedDocument:
        words = words_of(document, self.tokenizer)
        hits = np.flatnonzero(is_hit(words)).tolist()
        share = len(hits) / max(len(words), 1)
        usual = self.alpha_ / (self.alpha_ + self.beta_)
        tokens = counted(len(words), "token")
        note = (
            f"{len(hits):,} of {tokens} are {self._kind}: {percentage(share, 1)}; in the fitted text "
            f"{percentage(usual, 1)}."
        )
        marks = {i: Mark(self._one) for i in hits}
        return mark_passage(self, document, self.project(document), words, marks, shown=SHOWN, note=note)


@parametrized
class StopwordShare(TokenShare):
    """z is the number of stopwords in a document.

    Parameters
    ----------
    language
        Language of the list of stopwords (ISO 639-1 code). None: each document's own where its metadata has the field
        ``language``, and English where it has not.
    stopwords
        A list to use instead.

    Attributes
    ----------
    lists_
        By language of the documents that the critic was fitted on: the stopwords of ``stopwordsiso`` and its version.
        A saved critic keeps these lists, whatever version is installed.
    """

    name = "stopword-share"
    axis = "share of stopwords"
    question = "Do function words make up the same share of a text as in real text? z is the number of stopwords."
    reporting = replace(
        TokenShare.reporting,
        limits="It cannot see which stopwords these are, nor where they stand: only how many tokens are stopwords.",
    )
    _kind = "stopwords"
    _one = "stopword"

    language: str | None = None
    stopwords: list[str] | None = None

    def fit_counts(self, real: Corpus) -> Counts:
        """Count documents by language too: each language has a list."""
        languages = np.unique(self._languages(real), return_counts=True)
        return super().fit_counts(real) + Counts.of(languages=languages)

    def fit_from(self, counts: Counts) -> Self:
        """Keep the lists that do not ship with Momus, and fit the distribution of shares."""
        languages = set(map(str, counts.table("languages")[0]))
        unlisted = self._without_list(languages)
        # if no document has a list, asking for one is an error that says which there are
        used = sorted(languages - unlisted or languages) if self.stopwords is None else []
        self.lists_: dict[str, dict[str, Any]] = {
            code: {"source": source, "words": sorted(stopwords(code))} for code in used if (source := source_of(code))
        }
        return super().fit_from(counts)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without tokens, and those in a language without a list."""
        codes = self._languages(batch)
        lacking = {code: f"no stopwords of language {code!r}" for code in self._without_list(set(codes))}
        return [r or lacking.get(code) for r, code in zip(super().unscored(batch), codes, strict=True)]

    def notes(self) -> Sequence[Note | str]:
        """Where the lists come from, if they are not those that ship."""
        sources = sorted({entry["source"] for entry in self.lists_.values()})
        codes = ", ".join(sorted(self.lists_))
        return [f"Stopwords of {codes}: {' and '.join(sources)}."] if sources else []

    def assumed_language(self, corpus: Corpus) -> str:
        """The language of the list, unless documents have their own or words are given."""
        if self.stopwords is not None or (self.language is None and any(corpus.languages)):
            return ""
        return self.language or "en"

    def _is_hit(self, vocabulary: Sequence[str]) -> Bools:
        """Whether each word is a stopword of ``language`` (of English for None), ignoring case."""
        return self._hits(vocabulary, self.language or "en")

    def _hits(self, vocabulary: Sequence[str], language: str) -> Bools:
        # the stopwords of a language: those given, those kept by `fit`, or those of this machine
        known = None if self.stopwords is None else frozenset(self.stopwords)
        if known is None:
            kept = vars(self).get("lists_", {}).get(language)
            known = stopwords(language) if kept is None else frozenset(kept["words"])
        return np.fromiter((w.lower().replace("’", "'") in known for w in vocabulary), bool, len(vocabulary))

    def _languages(self, corpus: Corpus) -> list[str]:
        """The language whose list each document is read with."""
        if self.language is not None or self.stopwords is not None:
            return [self.language or "en"] * len(corpus)
        return [code or "en" for code in corpus.languages]

    def _without_list(self, languages: set[str]) -> set[str]:
        """Languages of single documents that have no list; that of the parameter is an error in `fit`."""
        if self.language is not None or self.stopwords is not None:
            return set()
        kept = vars(self).get("lists_", {})
        return {code for code in languages if code not in kept and not has_stopwords(code)}

    def _count(self, corpus: Corpus) -> TokenCounts:
        languages = np.asarray(self._languages(corpus), dtype=object)
        unlisted = self._without_list(set(languages))
        table = corpus.tokens(self.tokenizer)
        hits = np.zeros(len(corpus), dtype=np.int64)
        for code in sorted(set(languages) - unlisted):
            # look up each token's word in this language's list, (tokens,), and sum within the documents of the language
            of_tokens = self._hits(table.vocabulary, code).astype(np.int64)[table.ids]
            hits = np.where(languages == code, group_sums(of_tokens, table.offsets), hits)
        # documents without a list are not scored, and do not count as documents without a stopword
        listed = np.fromiter((code not in unlisted for code in languages), bool, len(languages))
        return TokenCounts(hits, np.where(listed, table.lengths, 0))

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the stopwords of the document's language."""
        (code,) = self._languages(document)
        return self._marked(document, lambda words: self._hits(words, code))


class SymbolShare(TokenShare):
    """z is the number of tokens without a letter in a document: punctuation, digits, other symbols."""

    name = "symbol-share"
    axis = "share of symbols"
    question = (
        "Do punctuation and numbers make up the same share of a text as in real text? z is the number of such tokens."
    )
    reporting = replace(
        TokenShare.reporting,
        limits=(
            "It cannot see which symbols these are, nor whether they stand in the right place: only how many there are."
        ),
    )
    _kind = "symbols"
    _one = "symbol"

    def _is_hit(self, vocabulary: Sequence[str]) -> Bools:
        """Whether each word has no letter."""
        return np.fromiter((not any(map(str.isalpha, w)) for w in vocabulary), bool, len(vocabulary))
