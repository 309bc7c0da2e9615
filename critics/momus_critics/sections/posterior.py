"""Posteriors P_c(z_m | x_m): the type of a section, from its text.

The protocol is `momus.critic.tools.SectionPosterior`; adapters provide other posteriors, such as fine-tuned encoders.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from scipy import sparse

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.ragged import kept_offsets
from momus.numeric.temperature import calibration_error, fit_temperature, softmax
from momus.numeric.types import Floats, Ints
from momus.parameters import OneOf, Range
from momus.text.corpus import Corpus
from momus.text.tokens import TokenTable, get_tokenizer


class LinearPosterior(Estimator):
    """TF-IDF and multinomial logistic regression, calibrated by a temperature.

    Parameters
    ----------
    tokens, lower
        The tokenizer, see `momus.critic.tokens.TokenCritic`.
    features
        Size of the vocabulary, which holds the most frequent words.
    penalty
        Inverse strength C of the L2 penalty.
    seed
        Seeds the choice of the held-out sections on which the temperature is fitted.
    """

    ranges: ClassVar[Mapping[str, Range | OneOf]] = {
        "features": Range(1, 10**7),
        "penalty": Range(0, 10**9, above=True),
    }

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

    def fit(self, corpus: Corpus, labels: Ints, states: int) -> Self:
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

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        words = len(state.texts("vocabulary_"))
        state.array("idf_", (words,), low=0.0)
        classes = len(state.array("bias_", (None,)))
        state.array("weights_", (words, classes))
        state.number("temperature_", above=0.0)
        state.measures("held_out_")

    def _counts(self, table: TokenTable) -> sparse.csr_array:
        """Counts of known words, CSR array (N, V)."""
        # vocabulary number of each token, −1 if unknown, (tokens,); offsets[m]:offsets[m + 1] are the known tokens of
        # section m, and so the entries of row m
        codes = table.codes({word: i for i, word in enumerate(self.vocabulary_)})
        known = codes >= 0
        offsets = kept_offsets(known, table.section_offsets)
        shape = (len(table.section_offsets) - 1, len(self.vocabulary_))
        matrix = sparse.csr_array((np.ones(int(offsets[-1])), codes[known], offsets), shape=shape)
        matrix.sum_duplicates()
        return matrix

    def _weighted(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Sublinear TF-IDF, each row scaled to Euclidean norm 1."""
        data = (1.0 + np.log(counts.data)) * self.idf_[counts.indices]
        weighted = sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
        squares = np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel()
        # one factor per row, repeated over the row's stored entries
        scale = np.repeat(1.0 / np.sqrt(np.maximum(squares, 1e-300)), np.diff(counts.indptr))
        return sparse.csr_array((data * scale, counts.indices, counts.indptr), shape=counts.shape)

    def _regress(self, x: sparse.csr_array, y: Ints, states: int) -> tuple[Floats, Floats]:
        """Weights (V, K) and bias (K,) of the softmax; types without a section get bias −50."""
        from sklearn.linear_model import LogisticRegression

        weights, bias = np.zeros((x.shape[1], states)), np.full(states, -50.0)
        present = np.unique(y)
        if len(present) == 1:
            bias[present] = 0.0
            return weights, bias
        model = LogisticRegression(C=self.penalty, max_iter=200, tol=1e-3).fit(x, y)
        if len(present) == 2:  # scikit-learn then fits one logit, of the second type against the first
            weights[:, present[1]], bias[present[0]], bias[present[1]] = model.coef_[0], 0.0, model.intercept_[0]
            return weights, bias
        weights[:, present], bias[present] = model.coef_.T, model.intercept_
        return weights, bias

    def _calibrate(self, x: sparse.csr_array, y: Ints, states: int) -> float:
        """Fit the temperature on a held-out fifth of the sections; measure accuracy and calibration there."""
        order = np.random.default_rng(self.seed).permutation(len(y))
        held, rest = order[: len(y) // 5], order[len(y) // 5 :]
        known = held[np.isin(y[held], y[rest])]  # held-out sections whose type occurs in training
        if len(known) < 10:
            return 1.0
        weights, bias = self._regress(x[rest], y[rest], states)
        logits = np.asarray(x[known] @ weights) + bias
        temperature = fit_temperature(logits, y[known])
        probabilities = softmax(logits, temperature)
        self.held_out_ = {
            "accuracy": float((logits.argmax(axis=1) == y[known]).mean()),
            "calibration_error": calibration_error(probabilities, y[known]),
            "sections": len(known),
        }
        return temperature

    @property
    def held_out(self) -> Mapping[str, float]:
        """Accuracy and calibration error on the fifth of the sections on which the temperature was fitted."""
        return getattr(self, "held_out_", {})

    def predict(self, batch: Corpus) -> Floats:
        """Return calibrated probabilities, float array (N, K)."""
        x = self._weighted(self._counts(batch.tokens(get_tokenizer(self.tokens, self.lower))))
        return softmax(np.asarray(x @ self.weights_) + self.bias_, self.temperature_)
