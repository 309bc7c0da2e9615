"""Posteriors P_c(z_m | x_m): which type a section is, from its own text.

Two things make a posterior: ``fit(batch, labels)`` and ``predict(batch) -> (N, K)``, N sections of the batch in order.
"""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.corpus import Corpus
from momus.fitted import Fitted
from momus.tokens import TokenTable, get_tokenizer

Floats = NDArray[np.float64]


class SectionPosterior(Protocol):
    """What the critic asks of a posterior."""

    def fit(self, corpus: Corpus, labels: NDArray[np.int64], states: int) -> Self:
        """Learn from N labelled sections (label −1: leave the section out)."""
        ...

    def predict(self, batch: Corpus) -> Floats:
        """Return P(z_m = k | x_m), float array (N, K), rows summing to 1."""
        ...


class LinearPosterior(Fitted):
    """TF-IDF and multinomial logistic regression, calibrated by a temperature.

    Parameters
    ----------
    tokens, lower
        The tokenizer, see `momus.token_critic.TokenCritic`.
    features
        Size of the vocabulary: the most frequent words.
    penalty
        Inverse strength C of the L2 penalty.
    seed
        Seeds the folds that the temperature is chosen on.
    """

    def __init__(
        self,
        *,
        tokens: str = "words",
        lower: bool = True,
        features: int = 20_000,
        penalty: float = 10.0,
        seed: int = 0,
    ) -> None:
        self.tokens = tokens
        self.lower = lower
        self.features = features
        self.penalty = penalty
        self.seed = seed

    def fit(self, corpus: Corpus, labels: NDArray[np.int64], states: int) -> Self:
        """Learn vocabulary, weights, and the temperature that calibrates held-out probabilities."""
        from sklearn.feature_extraction.text import TfidfTransformer

        table = corpus.tokens(get_tokenizer(self.tokens, self.lower))
        counts = np.bincount(table.ids, minlength=len(table.vocabulary))
        order = np.argsort(-counts, kind="stable")[: self.features]
        self.vocabulary_ = [table.vocabulary[i] for i in order if counts[i] > 0]
        raw = self._counts(table)
        self.idf_ = np.asarray(TfidfTransformer(sublinear_tf=True).fit(raw).idf_, dtype=np.float64)
        x = self._weighted(raw)
        used = np.flatnonzero(labels >= 0)
        x, y = x[used], labels[used]
        self.temperature_ = self._calibrate(x, y, states)
        self.weights_, self.bias_ = self._regress(x, y, states)
        return self

    def _counts(self, table: TokenTable) -> sparse.csr_array:
        """Counts of known words, CSR array (N, V)."""
        codes = table.codes({word: i for i, word in enumerate(self.vocabulary_)})
        known = codes >= 0
        offsets = np.concatenate([[0], np.cumsum(known)])[table.section_offsets]
        shape = (len(table.section_offsets) - 1, len(self.vocabulary_))
        matrix = sparse.csr_array((np.ones(int(offsets[-1])), codes[known], offsets), shape=shape)
        matrix.sum_duplicates()
        return matrix

    def _weighted(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Sublinear TF-IDF with rows of length 1."""
        data = (1.0 + np.log(counts.data)) * self.idf_[counts.indices]
        weighted = sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
        squares = np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel()
        norm = np.repeat(1.0 / np.sqrt(np.maximum(squares, 1e-300)), np.diff(counts.indptr))
        return sparse.csr_array((data * norm, counts.indices, counts.indptr), shape=counts.shape)

    def _regress(self, x: sparse.csr_array, y: NDArray[np.int64], states: int) -> tuple[Floats, Floats]:
        from sklearn.linear_model import LogisticRegression

        weights, bias = np.zeros((x.shape[1], states)), np.full(states, -50.0)
        present = np.unique(y)
        if len(present) == 1:
            bias[present] = 0.0
            return weights, bias
        model = LogisticRegression(C=self.penalty, max_iter=200, tol=1e-3).fit(x, y)
        if len(present) == 2:
            weights[:, present[1]], bias[present[0]], bias[present[1]] = model.coef_[0], 0.0, model.intercept_[0]
            return weights, bias
        weights[:, present], bias[present] = model.coef_.T, model.intercept_
        return weights, bias

    def _calibrate(self, x: sparse.csr_array, y: NDArray[np.int64], states: int) -> float:
        """Choose the temperature by the log-likelihood of a held-out fifth of the sections (Guo et al. 2017)."""
        from scipy.optimize import minimize_scalar

        order = np.random.default_rng(self.seed).permutation(len(y))
        held, rest = order[: len(y) // 5], order[len(y) // 5 :]
        if len(held) < 10:
            return 1.0
        weights, bias = self._regress(x[rest], y[rest], states)
        logits = np.asarray(x[held] @ weights) + bias
        known = np.isin(y[held], y[rest])
        logits, truth = logits[known], y[held][known]
        self.held_out_accuracy_ = float((logits.argmax(axis=1) == truth).mean())
        self.held_out_sections_ = len(truth)

        def loss(log_t: float) -> float:
            scaled = logits * np.exp(-log_t)
            top = scaled.max(axis=1)
            log_z = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
            return float((log_z - scaled[np.arange(len(truth)), truth]).mean())

        return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))

    def predict(self, batch: Corpus) -> Floats:
        """Return calibrated probabilities, float array (N, K)."""
        x = self._weighted(self._counts(batch.tokens(get_tokenizer(self.tokens, self.lower))))
        logits = (np.asarray(x @ self.weights_) + self.bias_) / self.temperature_
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        probabilities: Floats = logits / logits.sum(axis=1, keepdims=True)
        return probabilities
