"""Vectors of sections: words weighted by how few documents have them, words that real text lacks included."""

from __future__ import annotations

from itertools import pairwise
from typing import Self

import numpy as np
from scipy import sparse

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.ragged import group_sums
from momus.numeric.types import Floats, Ints
from momus.text.tokens import TokenTable


class SectionVectors(Estimator):
    """Sublinear TF-IDF of sections, each of Euclidean norm 1, over all words of a text.

    A word that no fitted document has gets the highest weight: the name of a thing that one document is about is often
    such a word, and says most about whether two sections belong together. Therefore a word of a single fitted document
    counts as unseen too, and the vectors of fitted documents leave out the document itself from the frequencies.

    Parameters
    ----------
    features
        Number of words whose document frequency is kept, the most frequent ones; the others count as unseen.
    """

    def __init__(self, *, features: int = 200_000) -> None:
        self.features = features

    def fit(self, table: TokenTable) -> Self:
        """Count the documents that have each word."""
        size = max(len(table.vocabulary), 1)
        # distinct pairs of a document and a word, so that a word counts once in each document
        pairs = np.unique(table.documents * size + table.ids)
        counts = np.bincount(pairs % size, minlength=size)
        kept = [i for i in np.argsort(-counts, kind="stable")[: self.features].tolist() if counts[i] > 1]
        self.words_ = [table.vocabulary[i] for i in kept]
        self.counts_ = counts[kept].astype(np.int64)
        self.documents_ = len(table)
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        words = len(state.texts("words_"))
        state.array("counts_", (words,), "i", low=2, high=state.integer("documents_", 1))

    def vectors(self, table: TokenTable, *, fitted: bool = False) -> sparse.csr_array:
        """One row per section, over the vocabulary of the table: CSR array (N, V); a row without weight is zero.

        Parameters
        ----------
        fitted
            Whether these are the documents of `fit`: each is then left out of its own frequencies.

        >>> from momus.text.corpus import Corpus
        >>> from momus.text.tokens import get_tokenizer
        >>> corpus = Corpus.from_sections([[("", "a b"), ("", "b c")], [("", "a a")]])
        >>> table = corpus.tokens(get_tokenizer("words"))
        >>> SectionVectors().fit(table).vectors(table).toarray().round(2).tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.71, 0.71], [0.0, 0.0, 0.0]]
        """
        shape = len(table.section_offsets) - 1, len(table.vocabulary)
        x = sparse.csr_array(
            (np.ones(len(table.ids)), np.array(table.ids), np.array(table.section_offsets)), shape=shape
        )
        x.sum_duplicates()
        known = dict(zip(self.words_, self.counts_.tolist(), strict=True))
        counts = np.array([known.get(word, 0) for word in table.vocabulary], dtype=np.float64)
        own = int(fitted)
        weights = np.log((1.0 + self.documents_ - own) / (1.0 + np.maximum(counts - own, 0.0)))
        data = (1.0 + np.log(x.data)) * weights[x.indices]
        squares = np.asarray(group_sums(data**2, np.asarray(x.indptr, dtype=np.int64)))
        # one factor per row, repeated over the row's stored entries
        scale = np.where(squares > 0, 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
        return sparse.csr_array((data * np.repeat(scale, np.diff(x.indptr)), x.indices, x.indptr), shape=shape)


def grams(rows: sparse.csr_array, columns: sparse.csr_array, offsets: Ints) -> list[Floats]:
    """Dot products between the sections of each document: n arrays (M, M), row m for section m of ``rows``."""
    return [np.asarray((rows[a:b] @ columns[a:b].T).todense()) for a, b in pairwise(offsets.tolist())]
