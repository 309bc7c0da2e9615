"""Code mixing, of languages or styles within a document: latent Dirichlet allocation as a critic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

import numpy as np
import torch
from scipy import sparse
from scipy.special import digamma, gammaln

from momus.critic import LogPrior, Note, Pooled, Reporting, Rows, SimplexDraws, Statistic, directions
from momus.critic.base import WordCritic
from momus.critic.hooks import AdvancedMixin, DeviceMixin, check_fitted
from momus.errors import FittingError
from momus.estimator import parametrized, reset
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.draws import document_keys, log_gammas
from momus.numeric.ragged import kept_offsets
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus.text.languages import only_language
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_critics.code_mixing import evidence, lda
from momus_critics.code_mixing.lda import Sampling, Span, Tokens, decode, effective_sizes, sample
from momus_critics.evidence import marked
from momus_critics.fits.known import KNOWN_WORDS, KnownShares, KnownWords
from momus_critics.fits.mixtures import mixtures

SPAN = 20
"""Expected length in words of a span in one language, for marking switches."""
MIXED = 0.1
"""Mixing index above which a document counts as mixed."""


@dataclass(frozen=True)
class MixtureDraws(SimplexDraws):
    """Draws of topic shares, and the numbers of tokens per topic that they are conditioned on.

    Attributes
    ----------
    counts
        float64 (n, chains, sweeps, K): tokens of each topic.
    known
        Known words; None if the model was adopted, whose words of real text are unknown.
    """

    counts: Floats = field(default_factory=lambda: np.zeros((0, 1, 1, 1)))
    known: KnownShares | None = None


@parametrized
class CodeMixing(WordCritic[MixtureDraws], AdvancedMixin, DeviceMixin):
    """z is a document's shares of K topics, P_c(z) = Dir(α), words from φ (latent Dirichlet allocation).

    If K is the number of languages of the real text, each topic becomes a language, and documents that mix them have a
    low P_c(z). The model is fitted by Gibbs sampling with α optimised; the posterior of a document is sampled by
    several Gibbs chains with φ and α fixed. Latent NLL is E[−log Dir(z; α)], where the expectation over z given the
    sampled assignments is exact (Deng et al. 2022, appendix C). As the NLL of a density, it can be negative. A language
    that real text lacks shares few words with it, mostly of one topic: so z includes how many words are known
    (`momus_critics.fits.known`).

    Parameters
    ----------
    n_topics
        K.
    smoothing
        The prior of φ_k is Dir(β).
    sweeps
        Gibbs sweeps of the fit; the first half is burn-in.
    starts
        Starting points of the fit: the best of six times as many mixtures of unigrams, each tried for a fifth of the
        sweeps.
    chains, draws
        Gibbs chains of a document's posterior, and draws kept per chain.
    min_count
        Fewest tokens of a word of the vocabulary. Frequent words and stopwords are kept, because they distinguish
        languages best.
    seed
        Seed of the fit and the draws; a document's draws depend on its words and the seed alone.
    """

    name = "code-mixing"
    axis = "language mixing"
    question = (
        "Do documents mix languages (or styles) as real ones do? z is the shares of K topics in a document, P_c a "
        "Dirichlet distribution fitted on real text."
    )
    reporting = Reporting(
        directions=directions("more|less usual in mixing", posterior_entropy="less|more varied in language overall"),
        limits="It cannot see grammar, nor where in a document it switches: only how much of it is in each language.",
    )
    min_documents = 10

    n_topics: Annotated[int, Range(2, 100)] = 2
    smoothing: Annotated[float, Range(0, 10**6, above=True)] = 0.01
    sweeps: Annotated[int, Range(1, 10**6)] = 200
    starts: Annotated[int, Range(1, 1000)] = 4
    chains: Annotated[int, Range(1, 1000)] = 4
    draws: Annotated[int, Range(2, 10_000)] = 40
    min_count: Annotated[int, Range(1, 10**9)] = 2
    seed: int = 0

    _new_known = KnownWords

    @property
    def _rules(self) -> VocabularyRules:
        return VocabularyRules(self.min_count, most_documents=1.0, without=())

    def nothing_to_see(self, texts: Sequence[Corpus]) -> str:
        """Say so where all texts are in one language."""
        first = only_language(texts[0])
        if not first or any(only_language(text) != first for text in texts[1:]):
            return ""
        return f"all texts are in one language, {first!r}"

    def fit(self, real: Corpus) -> Self:
        """Build the vocabulary, and fit φ and α by Gibbs sampling."""
        table = real.tokens(self.tokenizer)
        self.vocabulary_ = build_vocabulary(table, self._rules)
        if len(self.vocabulary_) < self.n_topics:
            raise FittingError(
                f"critic 'code-mixing': {len(self.vocabulary_)} words of {real.name!r} occur at least "
                f"{self.min_count} times; at least {self.n_topics} needed",
                hint="give more real text, or lower min_count",
            )
        tokens = self.known(real)
        keys = document_keys(tokens.words, tokens.offsets, 0)
        distinct = np.sort(np.unique(keys, return_index=True)[1])  # repeated boilerplate would form its own cluster
        counts = sparse.csr_array(count_words(table, self.vocabulary_)[distinct])
        starts = mixtures(counts, self.n_topics, self.seed, 6 * self.starts)[: self.starts]
        with stage("Gibbs sweeps", self.sweeps + len(starts) * max(self.sweeps // 5, 2)) as advance:
            model = lda.fit_best(tokens, starts, self.smoothing, self.sweeps, self.seed, self.device, advance)
        self.known_: KnownWords | None = self._new_known().fit(table, self.vocabulary_, self._rules)
        return self._set(model.alpha, model.phi, self.vocabulary_, model.curve)

    def adopt(self, alpha: Floats, phi: Floats, vocabulary: Sequence[str], origin: str) -> Self:
        """Adopt the parameters of a model fitted elsewhere: α (K,), φ (K, V) and the words of its columns.

        The documents that the model was fitted on are unknown, so overlap with them cannot be detected.

        Raises
        ------
        FittingError
            Shapes do not agree, α is not positive, or φ is negative or has an empty row.
        """
        reset(self)
        self.known_ = None
        self._set(alpha, phi, vocabulary, ())
        self.fitted_hashes_ = np.zeros(0, dtype=np.uint64)
        self.fitted_on_ = {"corpus": origin, "documents": 0, "left_out": 0, "fingerprint": ""}
        return self

    def _set(self, alpha: Floats, phi: Floats, vocabulary: Sequence[str], curve: Sequence[float]) -> Self:
        """Check and store parameters, topics by descending α."""
        alpha, phi = np.asarray(alpha, dtype=np.float64), np.asarray(phi, dtype=np.float64)
        valid = phi.shape == (len(alpha), len(vocabulary)) and (alpha > 0).all() and np.isfinite(phi).all()
        if not valid or (phi < 0).any() or (phi.sum(axis=1) <= 0).any():
            raise FittingError(
                f"critic 'code-mixing': α of shape {alpha.shape}, φ of {phi.shape}, {len(vocabulary)} words",
                hint="give α (K,), positive; φ (K, V), non-negative with positive row sums; and V words",
            )
        phi = np.maximum(phi / phi.sum(axis=1, keepdims=True), 1e-12)
        order = np.argsort(-alpha, kind="stable")
        self.alpha_, self.phi_ = alpha[order], (phi / phi.sum(axis=1, keepdims=True))[order]
        self.vocabulary_, self.curve_ = list(vocabulary), np.array(curve, dtype=np.float64)
        return self

    def known(self, corpus: Corpus) -> Tokens:
        """Tokens of a corpus that are in the vocabulary."""
        table = corpus.tokens(self.tokenizer)
        codes = table.codes(self.vocabulary_)
        offsets = kept_offsets(codes >= 0, table.offsets)
        words = codes[table.offsets[0] : table.offsets[-1]] if len(codes) else codes
        return Tokens(words[words >= 0].astype(np.int64), offsets - offsets[0])

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without a word of the vocabulary."""
        return [None if n else "no known word" for n in np.diff(self.known(batch).offsets)]

    def project(self, batch: Corpus) -> MixtureDraws:
        """Sample assignments of tokens to topics, and shares given the assignments."""
        tokens = self.known(batch)
        sampling = Sampling(self.chains, sweeps=self.draws, seed=self.seed)
        counts = sample(tokens, self.phi_, self.alpha_, sampling, self.device)
        n, k = len(counts), len(self.alpha_)
        # z given counts is Dir(α + counts): normalised gamma draws, (n, chains · sweeps, K), in logs against underflow
        shape = torch.from_numpy(self.alpha_ + counts.reshape(n, -1, k))
        keys = torch.from_numpy(document_keys(tokens.words, tokens.offsets, self.seed + 1))
        log_z = log_gammas(shape, keys[:, None, None], torch.arange(shape.shape[1])[:, None], torch.arange(k))
        table, words = batch.tokens(self.tokenizer), self.known_
        known = None if words is None else words.project(table, self.vocabulary_, self._rules)
        return MixtureDraws(torch.softmax(log_z, dim=-1).numpy(), counts, known)

    def log_prior(self, latents: MixtureDraws) -> LogPrior:
        """E log P_c(z) in nats, of shares and of known words.

        Given the counts, E log z_k = ψ(α_k + n_k) − ψ(α_0 + N).
        """
        shape = latents.counts + self.alpha_
        log_z = digamma(shape) - digamma(shape.sum(axis=-1, keepdims=True))
        # one value per draw, (n, chains, sweeps)
        values = gammaln(self.alpha_.sum()) - gammaln(self.alpha_).sum() + log_z @ (self.alpha_ - 1)
        flat = values.reshape(len(values), -1)  # (n, chains · sweeps)
        errors = flat.std(axis=1) / np.sqrt(effective_sizes(values)) if len(values) else np.zeros(0)
        prior = LogPrior(flat.mean(axis=1), np.ones(len(values), dtype=np.int64), errors=errors)
        if self.known_ is None or latents.known is None:
            return prior
        return replace(prior, values=prior.values + self.known_.log_prior(latents.known))

    def shares(self, latents: MixtureDraws) -> Floats:
        """E z given the counts, (n, K)."""
        shape = latents.counts + self.alpha_
        return np.asarray((shape / shape.sum(axis=-1, keepdims=True)).mean(axis=(1, 2)))

    def sufficient_statistics(self, latents: MixtureDraws) -> Mapping[str, Rows]:
        """The mixing index 1 − max_k E z_k, whether it exceeds 0.1, and known words."""
        index = 1 - self.shares(latents).max(axis=1)  # (n,)
        ones = np.ones(len(index))
        rows: dict[str, Rows] = {
            "mixing": np.column_stack([index, ones]),
            "mixed": np.column_stack([(index > MIXED).astype(np.float64), ones]),
        }
        return rows if latents.known is None else {**rows, "known": latents.known.counts}

    def aggregated_posterior(self, latents: MixtureDraws) -> Rows:
        """E z of each document, (n, K)."""
        return self.shares(latents)

    def statistics(self) -> Sequence[Statistic]:
        """Mean mixing index, the share of mixed documents, and of known words."""
        adopted = getattr(self, "known_", self) is None
        return (
            Statistic.ratio("mixing_index", "mixing", "mixing index", "less|more mixed in language"),
            Statistic.share("mixed_share", "mixed", "share of mixed documents", "less|more often mixed"),
            *(() if adopted else (KNOWN_WORDS,)),
        )

    def summarize(self, latents: MixtureDraws) -> Pooled:
        """Sums of shares, histograms of the mixing index and over the simplex, and effective numbers of draws."""
        shares = self.shares(latents)
        sizes = effective_sizes(latents.counts.max(axis=-1)) if len(shares) else np.zeros(0)
        n, k = shares.shape
        index = 1 - shares.max(axis=1) if n else np.zeros(0)
        arrays = {
            "shares": shares.sum(axis=0),
            "mixing": np.histogram(index, evidence.BINS, (0.0, 1.0))[0].astype(np.float64),
            "effective": np.array([sizes.sum(), float(len(sizes))]),
        }
        if k == 3:
            cells = np.minimum((shares[:, :2] * evidence.GRID).astype(np.int64), evidence.GRID - 1)
            counts = np.bincount(cells @ [evidence.GRID, 1], minlength=evidence.GRID**2).astype(np.float64)
            arrays["simplex"] = counts.reshape(evidence.GRID, evidence.GRID)
        return Pooled(n, arrays)

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Distributions of the mixing index, topics with their words and shares, and the simplex if K = 3."""
        return evidence.show(self.topic_words(), real, generated)

    def topic_words(self, count: int = 10) -> list[str]:
        """Words that distinguish each topic from the others, by φ_kv log (φ_kv / max_j≠k φ_jv)."""
        check_fitted(self)
        others = np.stack([np.delete(self.phi_, k, axis=0).max(axis=0) for k in range(len(self.phi_))])
        best = np.argsort(-self.phi_ * np.log(self.phi_ / others), axis=1, kind="stable")[:, :count]  # (K, count)
        return [" ".join(self.vocabulary_[i] for i in row) for row in best]

    def notes(self) -> list[Note]:
        """Size of the model, α, and how the posterior is sampled."""
        alpha = ", ".join(f"{a:.3g}" for a in self.alpha_)
        return [
            Note(f"{len(self.alpha_)} topics over {len(self.vocabulary_):,} words; α = ({alpha})."),
            Note(f"Posterior: {self.chains} Gibbs chains, {self.draws} draws each; scores have Monte-Carlo errors."),
        ]

    def spans(self, document: Corpus) -> list[Span]:
        """Spans of one document: the most probable, if it switches every `SPAN` words on average."""
        check_fitted(self)
        return decode(np.log(self.phi_), document.tokens(self.tokenizer).codes(self.vocabulary_), SPAN)

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the spans of a document; all except those of its main topic are marked."""
        spans, table = self.spans(document), document.tokens(self.tokenizer)
        if not spans:
            return None
        words = [table.vocabulary[i] for i in table.ids[table.offsets[0] : table.offsets[-1]]]
        steps = evidence.steps_of(spans, words, self.topic_words(3))
        return marked(self, document, self.project(document), steps)
