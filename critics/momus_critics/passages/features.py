"""Features of a piece of text: its embedding, projected onto the directions that predict its place in the document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy import sparse

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.text.tokens import get_tokenizer


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

        split = get_tokenizer("words", True).split
        seen: dict[str, int] = {}
        for text in texts:
            for word in set(split(text.casefold())):
                seen[word] = seen.get(word, 0) + 1
        least = 5 if len(texts) >= 1000 else 2
        ordered = sorted((w for w, n in seen.items() if n >= least), key=lambda w: (-seen[w], w))[: self.features]
        self.vocabulary_ = ordered or sorted(seen)[: self.features]
        documents = np.array([seen[w] for w in self.vocabulary_], dtype=float)
        self.idf_ = np.log((1 + len(texts)) / (1 + documents)) + 1
        x = self._weighted(texts)
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

    def _weighted(self, texts: Sequence[str]) -> sparse.csr_array:
        """Sublinear TF-IDF, each row scaled to Euclidean norm 1, CSR array (N, words)."""
        split = get_tokenizer("words", True).split
        number = {w: i for i, w in enumerate(self.vocabulary_)}
        # vocabulary numbers of the known words of each text; concatenated, they are the column indices of the rows
        codes = [[number[w] for w in split(t.casefold()) if w in number] for t in texts]
        offsets = offsets_of([len(c) for c in codes])
        flat = np.array([c for row in codes for c in row], dtype=np.int64)
        counts = sparse.csr_array((np.ones(len(flat)), flat, offsets), shape=(len(texts), len(number)))
        counts.sum_duplicates()
        data = (1 + np.log(counts.data)) * self.idf_[counts.indices]
        x = sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
        norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
        return sparse.csr_array(sparse.diags_array(1 / np.maximum(norm, 1e-12)) @ x)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return vectors, float array (N, V); a text without known words gets zeros."""
        return np.asarray(self._weighted(texts) @ self.directions_)


class PlaceFeatures(Estimator):
    """Linear discriminants of the stretch of a document that a piece lies in, scaled to unit variance within stretches.

    The subject of a text says little about the place of a piece; the wording of openings, methods and closings does.
    Only the order of real text is needed for that, no titles.

    Parameters
    ----------
    bins
        Number of equal stretches per document; there are ``bins`` − 1 discriminants.
    """

    def __init__(self, *, bins: int = 16) -> None:
        self.bins = bins

    def fit(self, x: Floats, places: Ints) -> Self:
        """Learn the discriminants from vectors (N, V) and the stretch of each, (N,)."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        usable = np.isin(places, np.flatnonzero(np.bincount(places) > 1))  # one piece has no covariance
        x, places = (x[usable], places[usable]) if usable.any() else (x, places)
        if len(np.unique(places)) < 2:
            self.centre_, self.axes_ = x.mean(axis=0), np.zeros((x.shape[1], 1))
            return self
        shrinkage = "auto"  # of the covariance within stretches towards a multiple of the identity (Ledoit and Wolf)
        model = LinearDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage).fit(x, places)
        rank = min(self.bins - 1, len(model.classes_) - 1, x.shape[1])
        self.centre_, axes = x.mean(axis=0), model.scalings_[:, :rank]
        # deviation of each piece from the mean of its stretch, along each discriminant, (N, rank)
        projected = (x - self.centre_) @ axes
        means = np.stack([projected[places == c].mean(axis=0) for c in model.classes_])
        within = projected - means[np.searchsorted(model.classes_, places)]
        self.axes_ = np.asarray(axes / np.maximum(within.std(axis=0), 1e-9))
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        width = len(state.array("centre_", (None,)))
        state.array("axes_", (width, None))

    def transform(self, x: Floats) -> Floats:
        """Project vectors, float array (N, bins − 1)."""
        return np.asarray((x - self.centre_) @ self.axes_)
