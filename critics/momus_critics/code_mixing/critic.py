"""The critic of mixed languages: latent Dirichlet allocation, and how likely its topic shares find a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import torch
from scipy import sparse
from scipy.special import digamma, gammaln

from momus.critic import (
    AggregatedPosteriorMixin,
    EvidenceMixin,
    ExplanationMixin,
    LogPrior,
    Note,
    Pooled,
    Rows,
    SimplexDraws,
    Statistic,
    StatisticsMixin,
    TokenCritic,
    mean,
)
from momus.errors import FittingError, UsageError
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.draws import document_keys, log_gammas
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats
from momus.progress import stage
from momus.text.corpus import Corpus
from momus.text.vocabulary import VocabularyRules, build_vocabulary
from momus_critics.code_mixing import evidence, lda
from momus_critics.code_mixing.lda import Tokens
from momus_critics.code_mixing.posterior import Sampling, effective_sizes, sample
from momus_critics.code_mixing.spans import Span, decode
from momus_critics.fits.clusters import mixtures

MIXED = 0.1


@dataclass(frozen=True)
class MixtureDraws(SimplexDraws):
    """Topic shares, and the numbers of tokens that they were drawn with.

    Attributes
    ----------
    counts
        (n, chains, sweeps, K): tokens of each topic.
    """

    counts: Floats = field(default_factory=lambda: np.zeros((0, 1, 1, 1)))


class CodeMixing(TokenCritic[MixtureDraws], StatisticsMixin, AggregatedPosteriorMixin, EvidenceMixin, ExplanationMixin):
    """z is a document's shares of K topics, P_c(z) = Dir(α), words from φ (latent Dirichlet allocation).

    With K the number of languages of the real text, each topic becomes a language, and a document that mixes them
    lies where P_c(z) is low. Fitted by Gibbs sampling with α optimised; the posterior of a document by many Gibbs
    chains with φ and α fixed. Latent NLL is E[−log Dir(z; α)], the expectation over z given the sampled assignments
    being exact (Deng et al. 2022, section 7). A density: it can be negative.

    Parameters
    ----------
    topics
        K.
    beta
        Prior of φ_k: Dir(β).
    sweeps
        Gibbs sweeps of the fit; the first half is burn-in.
    starts
        Places where the fit begins, the best of six times as many mixtures of unigrams; a fifth of the sweeps chooses.
    chains, draws
        Gibbs chains of a document's posterior, and draws kept of each.
    span
        Words that a stretch in one language is expected to last, where switches are shown.
    least_count
        Fewest tokens of a word that counts. No word is too frequent, and there are no stopwords: they tell languages
        best.
    tokens, lower
        The tokenizer, see `TokenCritic`.
    seed
        Seeds the fit and the draws; a document's draws depend on its words and the seed alone.
    """

    name = "code-mixing"
    axis = "mixing of languages"
    question = (
        "Does a document keep to its language (or style) where real documents do? z is its shares of K topics, P_c a "
        "Dirichlet distribution fitted on real text."
    )
    needs = 10
    uses_device = True

    def __init__(
        self,
        *,
        topics: int = 2,
        beta: float = 0.01,
        sweeps: int = 200,
        starts: int = 4,
        chains: int = 4,
        draws: int = 40,
        span: int = 20,
        least_count: int = 2,
        tokens: str = "words",
        lower: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__(tokens=tokens, lower=lower)
        self.topics = topics
        self.beta = beta
        self.sweeps = sweeps
        self.starts = starts
        self.chains = chains
        self.draws = draws
        self.span = span
        self.least_count = least_count
        self.seed = seed

    def fit(self, real: Corpus) -> Self:
        """Build the vocabulary, and sample φ and α."""
        if self.topics < 2:
            raise UsageError(f"code-mixing: topics is {self.topics}", hint="give the number of languages, 2 or more")
        table = real.tokens(self.tokenizer)
        rules = VocabularyRules(self.least_count, most_documents=1.0, without=())
        self.vocabulary_ = build_vocabulary(table, rules)
        if len(self.vocabulary_) < self.topics:
            raise FittingError(
                f"critic 'code-mixing': {len(self.vocabulary_)} words of {real.name!r} occur {self.least_count} times",
                hint="give more real text, or lower least_count",
            )
        tokens = self.known(real)
        keys = document_keys(tokens.words, tokens.offsets, 0)
        different = np.sort(np.unique(keys, return_index=True)[1])  # boilerplate would be a cluster by itself
        counts = sparse.csr_array(_counts(tokens, len(self.vocabulary_))[different])
        starts = mixtures(counts, self.topics, self.seed, 6 * self.starts)[: self.starts]
        with stage("Gibbs sweeps", self.sweeps + len(starts) * max(self.sweeps // 5, 2)) as advance:
            found = lda.fit_best(tokens, starts, self.beta, self.sweeps, self.seed, self.device, advance)
        return self._take(found.alpha, found.phi, self.vocabulary_, found.curve)

    def adopt(self, alpha: Floats, phi: Floats, vocabulary: Sequence[str], origin: str) -> Self:
        """Become fitted with the parameters of a model fitted elsewhere: α (K,), φ (K, V), the words of its columns.

        What documents that model has seen is not known, so overlap with them cannot be told.

        Raises
        ------
        FittingError
            Shapes do not agree, or numbers are not positive.
        """
        self.reset()
        self._take(alpha, phi, vocabulary, ())
        self.fitted_hashes_ = np.zeros(0, dtype=np.uint64)
        self.fitted_on_ = {"corpus": origin, "documents": 0, "left_out": 0, "fingerprint": ""}
        return self

    def _take(self, alpha: Floats, phi: Floats, vocabulary: Sequence[str], curve: Sequence[float]) -> Self:
        alpha, phi = np.asarray(alpha, dtype=np.float64), np.asarray(phi, dtype=np.float64)
        fits = phi.shape == (len(alpha), len(vocabulary)) and (alpha > 0).all() and np.isfinite(phi).all()
        if not fits or (phi < 0).any() or (phi.sum(axis=1) <= 0).any():
            raise FittingError(
                f"critic 'code-mixing': α of shape {alpha.shape}, φ of {phi.shape}, {len(vocabulary)} words",
                hint="α must be positive, (K,), φ non-negative with positive row sums, (K, V), and V words named",
            )
        phi = np.maximum(phi / phi.sum(axis=1, keepdims=True), 1e-12)
        order = np.argsort(-alpha, kind="stable")
        self.alpha_, self.phi_ = alpha[order], (phi / phi.sum(axis=1, keepdims=True))[order]
        self.vocabulary_, self.curve_ = list(vocabulary), np.array(curve, dtype=np.float64)
        return self

    def known(self, corpus: Corpus) -> Tokens:
        """Tokens of a corpus that the vocabulary holds."""
        table = corpus.tokens(self.tokenizer)
        codes = table.codes({word: i for i, word in enumerate(self.vocabulary_)})
        inside = codes >= 0
        offsets = offsets_of(inside)[table.offsets]
        words = codes[table.offsets[0] : table.offsets[-1]] if len(codes) else codes
        return Tokens(words[words >= 0].astype(np.int64), offsets - offsets[0])

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents that hold no word of the vocabulary."""
        return [None if n else "no known word" for n in np.diff(self.known(batch).offsets)]

    def project(self, batch: Corpus) -> MixtureDraws:
        """Sample assignments of tokens, and shares given them."""
        tokens = self.known(batch)
        sampling = Sampling(self.chains, sweeps=self.draws, seed=self.seed)
        counts = sample(tokens, self.phi_, self.alpha_, sampling, self.device)
        n, k = len(counts), len(self.alpha_)
        shape = torch.from_numpy(self.alpha_ + counts.reshape(n, -1, k))
        keys = torch.from_numpy(document_keys(tokens.words, tokens.offsets, self.seed + 1))
        log_z = log_gammas(shape, keys[:, None, None], torch.arange(shape.shape[1])[:, None], torch.arange(k))
        return MixtureDraws(torch.softmax(log_z, dim=-1).numpy(), counts)

    def log_prior(self, latents: MixtureDraws) -> LogPrior:
        """E log Dir(z; α) in nats, E log z_k = ψ(α_k + n_k) − ψ(α_0 + N) given the counts."""
        shape = latents.counts + self.alpha_
        log_z = digamma(shape) - digamma(shape.sum(axis=-1, keepdims=True))
        each = gammaln(self.alpha_.sum()) - gammaln(self.alpha_).sum() + log_z @ (self.alpha_ - 1)
        flat = each.reshape(len(each), -1)
        error = flat.std(axis=1) / np.sqrt(effective_sizes(each)) if len(each) else np.zeros(0)
        return LogPrior(flat.mean(axis=1), np.ones(len(each), dtype=np.int64), errors=error)

    def shares(self, latents: MixtureDraws) -> Floats:
        """E z, (n, K), given the counts."""
        shape = latents.counts + self.alpha_
        return np.asarray((shape / shape.sum(axis=-1, keepdims=True)).mean(axis=(1, 2)))

    def sufficient_statistics(self, latents: MixtureDraws) -> Mapping[str, Rows]:
        """The mixing index 1 − max_k E z_k, and whether it is above 0.1."""
        index = 1 - self.shares(latents).max(axis=1)
        ones = np.ones(len(index))
        return {
            "mixing": np.column_stack([index, ones]),
            "mixed": np.column_stack([(index > MIXED).astype(np.float64), ones]),
        }

    def aggregated_posterior(self, latents: MixtureDraws) -> Rows:
        """E z of each document."""
        return self.shares(latents)

    def statistics(self) -> Sequence[Statistic]:
        """Mean mixing index, and the share of documents that mix."""
        return (
            Statistic("mixing_index", "mixing", "value", mean, effect="hedges_g"),
            Statistic("mixed_share", "mixed", "value", mean),
        )

    def summarize(self, latents: MixtureDraws) -> Pooled:
        """Sums of shares, a histogram of the mixing index, counts over the simplex, and effective numbers of draws."""
        shares = self.shares(latents)
        sizes = effective_sizes(latents.counts.max(axis=-1)) if len(shares) else np.zeros(0)
        return evidence.summarize(shares, sizes)

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Distributions of the mixing index, the simplex where K = 3, and topics with their words and shares."""
        return evidence.show(self.topic_words(), real, generated)

    def topic_words(self, count: int = 10) -> list[str]:
        """Words that tell a topic from the others, by φ_kv log (φ_kv / max_j≠k φ_jv)."""
        self.check_fitted()
        best = evidence.telling(self.phi_, count)
        return [" ".join(self.vocabulary_[i] for i in row) for row in best]

    def notes(self) -> list[Note]:
        """Size, α, and how the posterior is sampled."""
        alpha = ", ".join(f"{a:.3g}" for a in self.alpha_)
        return [
            Note(f"{len(self.alpha_)} topics over {len(self.vocabulary_):,} words; α = ({alpha})."),
            Note(
                f"Posterior: {self.chains} Gibbs chains, {self.draws} draws each; scores have Monte-Carlo errors."
            ),
        ]

    def spans(self, document: Corpus) -> list[Span]:
        """Stretches of one document, most probable if it switches every ``span`` words."""
        self.check_fitted()
        codes = document.tokens(self.tokenizer).codes({word: i for i, word in enumerate(self.vocabulary_)})
        return decode(np.log(self.phi_), codes, self.span)

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the stretches of each language."""
        return evidence.explain(self, document)


def _counts(tokens: Tokens, size: int) -> sparse.csr_array:
    parts = (np.ones(len(tokens.words)), tokens.words, tokens.offsets)
    counts = sparse.csr_array(parts, shape=(len(tokens.offsets) - 1, size), copy=True)
    counts.sum_duplicates()  # in place
    return counts
