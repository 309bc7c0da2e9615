"""Starting points of topic models: clusters of documents."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats

MAX_DOCUMENTS = 20_000
"""Documents that are clustered; of larger corpora, a random sample."""
PRIOR = 0.1
"""Pseudo-count of each word in each topic."""


def cluster_counts(counts: sparse.csr_array, clusters: int, seed: int) -> Floats:
    """Word counts (clusters, V) of clusters of documents, from k-means++ on the leading directions of TF-IDF."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    n = counts.shape[0]
    sampled = np.sort(np.random.default_rng(seed).permutation(n)[:MAX_DOCUMENTS])
    x = normalize(TfidfTransformer(sublinear_tf=True).fit_transform(counts[sampled]))
    rank = min(max(clusters, 2), min(x.shape) - 1, 150)
    points = normalize(TruncatedSVD(rank, random_state=seed).fit_transform(x))
    labels = KMeans(min(clusters, len(points)), n_init=2, random_state=seed).fit_predict(points)
    # membership[k, d] = 1 if document d is in cluster k, sparse (clusters, n): the product sums counts by cluster
    membership = sparse.csr_array((np.ones(len(labels)), (labels, sampled)), shape=(clusters, n))
    return np.asarray((membership @ counts).todense())


def smoothed(words: Floats) -> Floats:
    """Distributions over words (K, V) from counts, each mixed with the overall distribution at weight 0.3."""
    overall = words.sum(axis=0) + 1.0
    rough = words + 0.3 * words.sum(axis=1, keepdims=True).clip(1.0) * overall / overall.sum() + 0.01
    return np.asarray(rough / rough.sum(axis=1, keepdims=True))


def mixtures(counts: sparse.csr_array, clusters: int, seed: int, starts: int, steps: int = 40) -> list[Floats]:
    """Fit mixtures of unigrams (one topic per document; Nigam et al. 2000) from random starts by annealed EM.

    A document's own words are left out of the topics that it is compared with. Otherwise a document in the wrong topic
    would stay there because of words that it alone contributed.

    Returns
    -------
    Distributions over words (K, V), the most likely mixture first.

    >>> counts = sparse.csr_array(np.repeat([[3.0, 1, 0, 0], [0, 0, 2, 2]], 10, axis=0))
    >>> sorted((mixtures(counts, 2, 0, 3)[0] > 0.1).tolist())
    [[False, False, True, True], [True, True, False, False]]
    """
    rng = np.random.default_rng(seed)
    x = sparse.csr_array(counts[np.sort(rng.permutation(counts.shape[0])[:MAX_DOCUMENTS])])
    fits = []
    for _ in range(starts):
        # responsibilities (n, K): a random topic with weight 0.8, the rest spread evenly
        share = 0.8 * np.eye(clusters)[rng.integers(clusters, size=x.shape[0])] + 0.2 / clusters
        for step in range(steps):
            joint = _without_itself(x, share)
            share = softmax(min(1.0, 0.05 * 1.2**step) * joint, axis=1)
        words = np.asarray((x.T @ share).T) + PRIOR
        fits.append((float(logsumexp(joint, axis=1).sum()), words / words.sum(axis=1, keepdims=True)))
    return [phi for _, phi in sorted(fits, key=lambda fit: -fit[0])]


def _without_itself(x: sparse.csr_array, share: Floats) -> Floats:
    """log P(topic, words) of each document, given the other documents' words in each topic: (n, K)."""
    rows = owners_of(x.indptr)  # the document of each stored count, (nnz,)
    lengths = np.bincount(rows, x.data, x.shape[0])
    words = np.asarray((x.T @ share).T)
    joint: Floats = np.log(share.mean(axis=0) + 1e-12) * np.ones((len(lengths), 1))
    # per topic: the counts of each stored word without the document's own share of it, (nnz,), and their totals, (n,)
    for k, column in enumerate(share.T):
        others = np.maximum(words[k, x.indices] - column[rows] * x.data, 0.0) + PRIOR
        total = np.maximum(words[k].sum() - column * lengths, 0.0) + PRIOR * x.shape[1]
        joint[:, k] += np.bincount(rows, x.data * np.log(others), len(lengths)) - lengths * np.log(total)
    return joint
