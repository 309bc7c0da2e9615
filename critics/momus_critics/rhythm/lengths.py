"""Lengths of the sentences of documents, and their paragraphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.numeric.ragged import Ragged, float_sums, offsets_of, owners_of
from momus.numeric.types import Bools, Floats, Ints
from momus_critics.prose.reading import Prose


@dataclass(frozen=True)
class SentenceLengths(Ragged):
    """Sentences of n documents.

    Attributes
    ----------
    words
        int64 (S,): number of words of each sentence, at least 1.
    begins
        bool (S,): whether it is the first of its paragraph.
    offsets
        int64 (n + 1,): first sentence of each document.
    """

    words: Ints
    begins: Bools
    offsets: Ints


def sentence_lengths(prose: Prose) -> SentenceLengths:
    """Count words by sentence; sentences without a word are left out.

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> from momus_critics.prose.reading import read_prose
    >>> corpus = Corpus.from_texts(["One, two. Three!", "Four"])
    >>> z = sentence_lengths(read_prose(corpus.tokens(paragraph_tokenizer("words"))))
    >>> z.words.tolist(), z.offsets.tolist()
    ([2, 1, 1], [0, 2, 3])
    """
    owners = owners_of(prose.offsets)
    count = int(prose.sentences[-1]) + 1 if len(prose.ids) else 0
    words = np.bincount(prose.sentences, prose.alphabetic, count).astype(np.int64)
    first = np.searchsorted(prose.sentences, np.arange(count))  # first token of each sentence
    keep = words > 0
    kept = first[keep]
    paragraphs = prose.paragraphs[kept]
    begins = np.ones(len(kept), dtype=bool)
    begins[1:] = paragraphs[1:] != paragraphs[:-1]
    offsets = offsets_of(np.bincount(owners[kept], minlength=len(prose)))
    return SentenceLengths(words[keep], begins, offsets)


def moments(z: SentenceLengths, lags: int) -> tuple[Floats, Floats, Floats]:
    """Spread of log lengths within documents and their correlation at a distance, as sums per document.

    With x the logarithms of the n lengths of a document and x̄ their mean, the sum of squares Σ (x − x̄)² has n − 1
    degrees of freedom. The sum of products at lag k, Σ (x_t − x̄)(x_{t+k} − x̄), of independent lengths has the
    expectation −σ² (n − k) / n, which is added back, so that documents of any length estimate a correlation of 0.

    Returns
    -------
    squares
        (n, 2): sum of squares and degrees of freedom.
    products, variances
        (n, lags): sums of products at lags 1, 2, …, and their values at a correlation of 1.
    """
    owners, n = z.documents, z.lengths.astype(np.float64)
    x = np.log(z.words.astype(np.float64))
    means = float_sums(x, z.offsets) / np.maximum(n, 1)
    centred = x - means[owners]
    squares = np.bincount(owners, centred**2, len(z))
    variance = squares / np.maximum(n - 1, 1)
    products, variances = np.zeros((len(z), lags)), np.zeros((len(z), lags))
    for k in range(1, lags + 1):
        same = owners[k:] == owners[:-k]
        raw = np.bincount(owners[k:][same], (centred[k:] * centred[:-k])[same], len(z))
        pairs = np.maximum(n - k, 0)
        products[:, k - 1] = raw + variance * pairs / np.maximum(n, 1)
        variances[:, k - 1] = variance * pairs
    return np.column_stack([squares, np.maximum(n - 1, 0)]), products, variances
