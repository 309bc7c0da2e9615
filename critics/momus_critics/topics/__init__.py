"""Topic co-occurrence: the correlated topic model as a critic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from momus.critic import Counted, Gaussians, LogPrior, Note, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import WordCritic
from momus.critic.hooks import AdvancedMixin, DeviceMixin, check_fitted
from momus.critic.powers import Decomposition, DecompositionMixin, ItemsMixin
from momus.critic.scores import AGGREGATED
from momus.errors import FittingError, UsageError
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus.text.counting import counted, percentage
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_critics.fits.known import KNOWN_WORDS, KnownShares, KnownWords
from momus_critics.stopword_lists import stopwords
from momus_critics.topics import evidence
from momus_critics.topics.bound import expected_log_likelihood
from momus_critics.topics.fitting import Options, fit, infer, point_is_enough
from momus_critics.topics.laplace import refine

TOP_WORDS = 12


@dataclass(frozen=True)
class TopicLatents(Gaussians):
    """Posteriors of the log-odds of topics, (n, K − 1), and of known words."""

    known: KnownShares


@parametrized
class Topics(WordCritic[TopicLatents], ItemsMixin, AdvancedMixin, DecompositionMixin, DeviceMixin):
    """z is η, the log-odds of topics, and u, that of known words; words from φ (the CTM of Blei & Lafferty 2007).

    P_c(z) = N(η; μ, Σ) N(u; m, s²). Words that the fitted text lacks belong to no topic, so η alone is most usual in
    text about other things, of which hardly a word is known (`momus_critics.fits.known`).

    The model is fitted by variational EM, which underestimates Σ: μ and Σ are estimated again after it, with full
    covariances of the posteriors, if the documents bound Σ (the notes say so). The posterior of a document is
    N(λ, diag ν²), the maximum of the bound.
    Latent NLL is exact under it: ½ [(K − 1) log 2π + log |Σ| + (λ − μ)ᵀ Σ⁻¹ (λ − μ) + tr(Σ⁻¹ diag ν²)] (Deng et al.
    2022, section 6), and the same of u. As the NLL of a density, it can be negative. The verdict is on the distance
    (λ − μ)ᵀ Σ⁻¹ (λ − μ) + (û − m)² / s² and on the share of known words: a document of many topics has a narrow q, so
    the trace falls when unrelated topics are mixed.

    Parameters
    ----------
    n_topics
        K; 0 takes one for every 20 documents, at least 5 and at most 100.
    expectation
        ``full``, or ``mean``, which omits the trace, as the paper's code does.
    min_count, max_share, vocabulary_size, language, without
        The vocabulary: fewest tokens of a word, largest share of documents with it, largest size (0: no limit),
        language of the stopwords (empty: no stopwords), strings that no word may contain.
    steps, tolerance
        Largest number of steps of EM, and the relative growth of the ELBO below which EM stops.
    smoothing
        β of the prior of φ_k.
    word_posterior
        ``dirichlet`` (φ_k has a Dirichlet posterior), ``point`` (its most probable value), or ``auto``: whichever
        completes held-out documents better.
    seed
        Seed of the starting point.
    """

    name = "topics"
    axis = "which topics occur together"
    question = (
        "Do topics co-occur as in real documents? z is the log-odds of topics in a document, and of words that the "
        "fitted text has; P_c is a normal distribution with the correlations of real text."
    )
    reporting = Reporting(
        together="once",
        headline="distance",
        general=True,
        restarts=2,
        directions=directions("more|less probable in topics", posterior_entropy="less|more varied in topics overall"),
        limits="It cannot see the order of words or sentences: only which words occur together in a document.",
    )
    evidence_kind = "bound"
    evidence_of = "which words are known, and those of the vocabulary, in their order"
    min_documents = 10

    n_topics: Annotated[int, Range(0, 2000)] = 0
    expectation: Literal["full", "mean"] = "full"
    min_count: Annotated[int, Range(1, 10**9)] = 5
    max_share: Annotated[float, Range(0, 1, above=True)] = 0.5
    vocabulary_size: Annotated[int, Range(0, 10**9)] = 0
    language: str = "en"
    without: list[str] | None = None
    steps: Annotated[int, Range(1, 10**6)] = 300
    tolerance: Annotated[float, Range(0, 1)] = 2e-6
    smoothing: Annotated[float, Range(0, 10**6, above=True)] = 0.02
    word_posterior: Literal["auto", "dirichlet", "point"] = "auto"
    seed: int = 0

    _new_known = KnownWords

    def fit(self, real: Corpus) -> Self:
        """Build the vocabulary, and fit by variational EM."""
        if self.n_topics == 1:
            raise UsageError(
                "topics: n_topics is 1", hint="give 2 or more topics, or 0 for a number that suits the text"
            )
        counts = self._counts_of(real)
        options = self._options(self.n_topics or int(np.clip(counts.shape[0] // 20, 5, 100)))
        point = self.word_posterior == "point" or (self.word_posterior == "auto" and point_is_enough(counts, options))
        options = replace(options, point=point)
        with stage("EM of topics", options.steps) as advance:
            model = fit(counts, options, lambda step, _: advance(step))
        # after EM and with φ fixed: mean-field posteriors are too narrow, and Σ with them
        refined = refine(counts, model, options)
        self.refined_ = refined is not None
        model = refined or model
        # topics by descending mean share; the last one stays last, as the reference of the log-odds
        order = np.argsort(-softmax(_extended(model.lam), axis=1).mean(axis=0)[:-1], kind="stable")
        self.phi_, self.weights_ = (np.concatenate([x[order], x[-1:]]) for x in (model.phi, model.weights))
        self.mean_, self.covariance_ = model.mean[order], model.covariance[np.ix_(order, order)]
        self.curve_ = np.array(model.curve)
        self.point_ = point
        self.documents_, self.tokens_ = int(counts.shape[0]), int(counts.sum())
        self.known_ = self._new_known().fit(real.tokens(self.tokenizer), self.vocabulary_, self._rules)
        return self

    def tried(self) -> dict[str, Any]:
        """Whether words are points or have posteriors."""
        return {"word_posterior": "point" if self.point_ else "dirichlet"}

    @property
    def _rules(self) -> VocabularyRules:
        return VocabularyRules(
            self.min_count,
            self.max_share,
            self.vocabulary_size,
            stopwords(self.language) if self.language else (),
            ("xmath", "xcite") if self.without is None else tuple(self.without),
        )

    def _counts_of(self, real: Corpus) -> sparse.csr_array:
        """Build the vocabulary, and count its words in the documents that have any: CSR (n, V)."""
        table = real.tokens(self.tokenizer)
        self.vocabulary_ = build_vocabulary(table, self._rules)
        if len(self.vocabulary_) < 10:
            raise FittingError(
                f"critic 'topics': {len(self.vocabulary_)} words of {real.name!r} occur at least {self.min_count} "
                f"times and in at most {percentage(self.max_share, 0)} of documents; at least 10 needed",
                hint="give more real text, or lower min_count",
            )
        counts = count_words(table, self.vocabulary_)
        used = np.flatnonzero(np.diff(counts.indptr) > 0)
        if len(used) < self.min_documents:
            raise FittingError(
                f"critic 'topics': {counted(len(used), 'document')} of {real.name!r} with a word of the vocabulary; "
                f"at least {self.min_documents} needed",
                hint="give more real text, or lower min_count",
            )
        return sparse.csr_array(counts[used])

    def _options(self, topics: int) -> Options:
        named = {name: getattr(self, name) for name in ("steps", "tolerance", "smoothing", "seed", "device")}
        return Options(topics, **named)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without a word of the vocabulary: their posterior would be the prior."""
        known = np.diff(count_words(batch.tokens(self.tokenizer), self.vocabulary_).indptr)
        return [None if n else "no known word" for n in known]

    def project(self, batch: Corpus) -> TopicLatents:
        """Maximise the bound of each document over λ and ν², and that of its known words."""
        table = batch.tokens(self.tokenizer)
        counts = count_words(table, self.vocabulary_)
        options = replace(self._options(len(self.phi_)), dtype=torch.float64)  # rounding must not decide where it stops
        lam, var, _ = infer(counts, self.weights_, self.mean_, self.covariance_, options)
        return TopicLatents(lam, var, self.known_.project(table, self.vocabulary_, self._rules))

    def log_prior(self, latents: TopicLatents) -> LogPrior:
        """E log N(η; μ, Σ) N(u; m, s²) under q, in nats."""
        precision = np.linalg.inv(self.covariance_)  # (D, D)
        away = latents.mean - self.mean_
        d = len(self.mean_)
        value = d * np.log(2 * np.pi) + np.linalg.slogdet(self.covariance_)[1]
        value = value + np.einsum("nd,de,ne->n", away, precision, away, optimize=True)
        full = self.expectation == "full"
        if full:
            value = value + latents.variance @ np.diag(precision)  # tr(Σ⁻¹ diag ν²) of each document, (n,)
        return LogPrior.of_vectors(np.asarray(-0.5 * value) + self.known_.log_prior(latents.known, full))

    def decompose(self, batch: Corpus, latents: TopicLatents) -> Decomposition | None:
        """The parts of the bound that q maximises; None for ``posterior="mean"``, a point without an entropy."""
        if self.expectation != "full":
            return None
        counts = count_words(batch.tokens(self.tokenizer), self.vocabulary_)
        middle, variance = (np.asarray(x, dtype=np.float64) for x in (latents.mean, latents.variance))
        known = self.known_.decompose(latents.known)
        likelihood = expected_log_likelihood(counts, self.weights_, middle, variance) + known.log_likelihood
        prior = np.asarray(self.log_prior(latents).values, dtype=np.float64)
        entropy = 0.5 * np.log(2 * np.pi * np.e * variance).sum(axis=1) + known.entropy
        return Decomposition(prior, likelihood, entropy, prior + likelihood + entropy)

    def sufficient_statistics(self, latents: TopicLatents) -> Mapping[str, Rows]:
        """Entropy of the topic shares at λ, the distance of λ and û from their means, and known words."""
        shares = softmax(_extended(latents.mean), axis=1)
        spread = -(shares * np.log(np.maximum(shares, 1e-30))).sum(axis=1)
        away, ones = latents.mean - self.mean_, np.ones(len(spread))
        distance = (away @ np.linalg.inv(self.covariance_) * away).sum(axis=1) + self.known_.distance(latents.known)
        return {
            "topic_entropy": np.column_stack([spread, ones]),
            "distance": np.column_stack([distance, ones]),
            "known": latents.known.counts,
        }

    def aggregated_posterior(self, latents: TopicLatents) -> Rows:
        """Topic shares at λ, (n, K)."""
        return np.asarray(softmax(_extended(latents.mean), axis=1))

    tested = (
        Statistic.ratio(
            "topic_entropy", "topic_entropy", "topic entropy per document", "narrower|broader in topics", unit="nats"
        ),
        Statistic.ratio(
            "distance",
            "distance",
            "distance from typical topics (squared Mahalanobis)",
            "more|less usual in topic combinations",
        ),
        KNOWN_WORDS,
    )
    """Unlike Latent NLL, the distance does not depend on the width of q, narrow for documents of many topics."""

    def items(self, rows: Mapping[str, Rows]) -> Mapping[str, Counted]:
        """Shares of the topics, by their most probable words."""
        return {"topics": Counted(sparse.csr_array(np.asarray(rows[AGGREGATED])), self.topic_words(8))}

    def summarize(self, latents: TopicLatents) -> Pooled:
        """Sums over documents of centred log-odds, of their products and of topic shares."""
        full = _extended(latents.mean)
        # against the average topic: correlations must not depend on which topic is the last
        centred = full - full.mean(axis=1, keepdims=True)
        shares = softmax(full, axis=1)
        arrays = {"sum": centred.sum(axis=0), "products": centred.T @ centred, "shares": shares.sum(axis=0)}
        return Pooled(len(latents), arrays)

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Pairs of topics whose correlation differs most, both correlation matrices, and shares of topics."""
        return evidence.show(self.topic_words(), real, generated)

    def topic_words(self, count: int = TOP_WORDS) -> list[str]:
        """The most probable words of each topic."""
        check_fitted(self)
        best = np.argsort(-self.phi_, axis=1, kind="stable")[:, :count]  # (K, count)
        return [" ".join(self.vocabulary_[i] for i in row) for row in best]

    def notes(self) -> list[Note]:
        """Size of the model and of the text that it was fitted on."""
        kind = "points" if self.point_ else "Dirichlet posteriors"
        how = "from full posterior covariances" if self.refined_ else "from variational EM, which underestimates it"
        return [
            Note(
                f"{len(self.phi_)} topics, {len(self.vocabulary_):,} words; fitted on "
                f"{counted(self.documents_, 'document')} with {counted(self.tokens_, 'token')} of them in "
                f"{counted(len(self.curve_), 'step')} of EM; words: {kind}; Σ {how}; {self.known_.note()}."
            )
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the topics of a document, and mark those that rarely co-occur."""
        counts = count_words(document.tokens(self.tokenizer), self.vocabulary_)
        return evidence.explain(self, document, self.project(document), counts)


def _extended(lam: NDArray[np.floating]) -> Floats:
    """λ with the last log-odds, 0: (n, K)."""
    return np.concatenate([lam, np.zeros((len(lam), 1))], axis=1)
