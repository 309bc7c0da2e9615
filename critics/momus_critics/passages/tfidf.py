"""TF-IDF of pieces of text, by words or by words and pairs of neighbours, and latent semantic analysis of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import sparse

from momus.critic.tools import Embedder, make_adapter
from momus.estimator import Estimator, construct, parametrized
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats
from momus.text.tokens import get_tokenizer

Split = Callable[[str], list[str]]
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[.?!:,;(={]")


def learn_vocabulary(texts: Sequence[str], split: Split, most: int) -> tuple[list[str], Floats]:
    """The most frequent terms of texts, and their weights log((1 + n) / (1 + n_w)) + 1 for n_w texts with term w.

    Terms count that occur in at least five of 1,000 texts or more, in at least two of fewer.
    """
    seen: dict[str, int] = {}
    for text in texts:
        for term in set(split(text)):
            seen[term] = seen.get(term, 0) + 1
    least = 5 if len(texts) >= 1000 else 2
    # ties by spelling: a set has no order
    ordered = sorted((w for w, n in seen.items() if n >= least), key=lambda w: (-seen[w], w))[:most]
    vocabulary = ordered or sorted(seen)[:most]
    documents = np.array([seen[w] for w in vocabulary], dtype=float)
    return vocabulary, np.log((1 + len(texts)) / (1 + documents)) + 1


def weigh(texts: Sequence[str], split: Split, vocabulary: Sequence[str], idf: Floats) -> sparse.csr_array:
    """Sublinear TF-IDF, each row scaled to Euclidean norm 1, CSR array (N, words)."""
    number = {w: i for i, w in enumerate(vocabulary)}
    # vocabulary numbers of the known terms of each text; concatenated, they are the column indices of the rows
    codes = [[number[w] for w in split(t) if w in number] for t in texts]
    offsets = offsets_of([len(c) for c in codes])
    flat = np.array([c for row in codes for c in row], dtype=np.int64)
    counts = sparse.csr_array((np.ones(len(flat)), flat, offsets), shape=(len(texts), len(number)))
    # one entry per term, before the logarithm of its count
    counts.sum_duplicates()
    data = (1 + np.log(counts.data)) * idf[counts.indices]
    x = sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1 / np.maximum(norm, 1e-12)) @ x)


def words_and_pairs(text: str) -> list[str]:
    """Words, numbers (all as ``0``) and the punctuation of sentences, and their pairs.

    >>> words_and_pairs("Why 42?")
    ['why', '0', '?', 'why 0', '0 ?']
    """
    tokens = ["0" if t.isdecimal() else t for t in _TOKEN.findall(text.casefold())]
    return tokens + [f"{a} {b}" for a, b in pairwise(tokens)]


@parametrized
class WordPairs(Estimator):
    """TF-IDF of words and pairs of neighbouring words.

    Parameters
    ----------
    features
        Size of the vocabulary.
    """

    device = "cpu"

    features: int = 40_000

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn vocabulary and weights."""
        self.vocabulary_, self.idf_ = learn_vocabulary(texts, words_and_pairs, self.features)
        return self

    def embed(self, texts: Sequence[str]) -> sparse.csr_array:
        """Return vectors, sparse float array (N, terms); a text without known words gets zeros.

        >>> WordPairs().fit(["one two", "one two", "two"]).embed(["two", "three"]).toarray().round(1).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        """
        return weigh(texts, words_and_pairs, self.vocabulary_, self.idf_)


@lru_cache(maxsize=16_384)  # sentences of one text are cut by all fits on its folds, and to be embedded
def _words(text: str) -> list[str]:
    return get_tokenizer("words", True).split(text.casefold())


@parametrized
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

    device = "cpu"

    dimensions: int = 400
    features: int = 20_000
    seed: int = 0

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn vocabulary, weights and directions."""
        from sklearn.utils.extmath import randomized_svd

        self.vocabulary_, self.idf_ = learn_vocabulary(texts, _words, self.features)
        x = weigh(texts, _words, self.vocabulary_, self.idf_)
        rank = max(1, min(self.dimensions, min(x.shape) - 1))
        _, _, v = randomized_svd(x, rank, n_iter=4, random_state=self.seed)
        self.directions_ = v.T.copy()
        return self

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return vectors, float array (N, V); a text without known words gets zeros."""
        return np.asarray(weigh(texts, _words, self.vocabulary_, self.idf_) @ self.directions_)


def make_embedder(
    name: str, options: Mapping[str, Any] | None, defaults: Mapping[str, Any], builtin: Sequence[str] = ("lsa",)
) -> Estimator:
    """An unfitted embedder: ``lsa`` with these default parameters, or an adapter; ``builtin`` are named in errors.

    Raises
    ------
    UsageError
        The adapter makes no vectors of texts.
    """
    if name == "lsa":
        return construct(LsaEmbedder, {**defaults, **(options or {})}, place="embedder 'lsa'")
    embedder: Estimator = make_adapter("embedder", name, options or {}, builtin, (Estimator, Embedder))
    return embedder
