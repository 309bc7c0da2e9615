"""Latent semantic analysis of pieces of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.types import Floats
from momus.text.tokens import get_tokenizer
from momus_critics.passages.tfidf import learn_vocabulary, weigh


def _words(text: str) -> list[str]:
    return get_tokenizer("words", True).split(text.casefold())


class LsaEmbedder(Estimator):
    """Latent semantic analysis: TF-IDF, projected onto its leading singular vectors (Deerwester et al. 1990).

    Parameters
    ----------
    dimensions
        V, the dimension of the vectors.
    features
        Size of the vocabulary.
    seed
        Seeds the randomised decomposition.
    """

    device: str = "cpu"

    def __init__(self, *, dimensions: int = 400, features: int = 20_000, seed: int = 0) -> None:
        self.dimensions = dimensions
        self.features = features
        self.seed = seed

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn vocabulary, weights and directions."""
        from sklearn.utils.extmath import randomized_svd

        self.vocabulary_, self.idf_ = learn_vocabulary(texts, _words, self.features)
        x = weigh(texts, _words, self.vocabulary_, self.idf_)
        rank = max(1, min(self.dimensions, min(x.shape) - 1))
        _, _, v = randomized_svd(x, rank, n_iter=4, random_state=self.seed)
        self.directions_ = v.T.copy()
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        words = len(state.texts("vocabulary_"))
        state.array("idf_", (words,), low=0.0)
        state.array("directions_", (words, None))

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return vectors, float array (N, V); a text without known words gets zeros."""
        return np.asarray(weigh(texts, _words, self.vocabulary_, self.idf_) @ self.directions_)
