"""Mixtures: clusters of documents, where topic models start; latent classes of yes-or-no features, fitted by EM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp, softmax

from momus.estimator import Estimator, parametrized
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats

MAX_DOCUMENTS = 20_000
"""Documents that are clustered; of larger corpora, a random sample."""
PRIOR, STEPS = 0.1, 40
"""Pseudo-count of each word in each topic, and steps of EM."""


def cluster_counts(counts: sparse.csr_array, clusters: int, seed: int) -> Floats:
    """Word counts (clusters, V) of clusters of documents, from k-means++ on the leading directions of TF-IDF."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    n = counts.shape[0]
    sampled = np.sort(np.random.default_rng(seed).permutation(n)[:MAX_DOCUMENTS])
    x = normalize(TfidfTransformer(sublinear_tf=True).fit_transform(counts[sampled]))
    # TruncatedSVD takes no more directions than there are rows or columns, less one
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


def mixtures(counts: sparse.csr_array, clusters: int, seed: int, starts: int) -> list[Floats]:
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
        for step in range(STEPS):
            joint = _without_itself(x, share)
            # annealed: soft at first, so that documents do not stay in the topic that they were dealt
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


ITERATIONS, STARTS = 200, 3
TOLERANCE = 1e-7
"""EM stops once the mean log-likelihood grows by less."""


@parametrized
class BernoulliMixture(Estimator):
    """K classes; each gives every feature a probability, independently (Lazarsfeld and Henry 1968).

    Parameters
    ----------
    n_states
        Most classes; the number is the one with the smallest BIC among 1, 2, …, ``n_states``.
    seed
        Of the random starts.

    >>> x = np.repeat([[1, 1, 0], [0, 0, 1]], 40, axis=0)
    >>> model = BernoulliMixture(n_states=3).learn(x)
    >>> model.shares_.round(2).tolist(), model.posterior(x)[[0, -1]].argmax(axis=1).tolist()
    ([0.5, 0.5], [1, 0])
    """

    n_states: int = 6
    seed: int = 0

    def learn(self, features: NDArray[np.generic]) -> Self:
        """Fit shares (K,) and probabilities (K, F) to features (N, F); classes are in descending order of share."""
        x = np.asarray(features, dtype=np.float64)
        # equal rows are fitted once, weighted by their number: (U, F) and (U,)
        x, weight = np.unique(x, axis=0, return_counts=True)
        n = float(weight.sum())
        best = np.inf
        for k in range(1, min(self.n_states, len(x)) + 1):
            shares, probabilities, value = _fit(x, weight.astype(np.float64), k, self.seed)
            bic = -2 * value + (k - 1 + k * x.shape[1]) * np.log(n)
            if bic < best:
                order = np.lexsort((*probabilities.T[::-1], -shares))
                best, self.shares_, self.probabilities_ = bic, shares[order], probabilities[order]
        return self

    def posterior(self, features: NDArray[np.generic]) -> Floats:
        """P(class | features), (N, K)."""
        log_joint = _log_joint(np.asarray(features, dtype=np.float64), self.shares_, self.probabilities_)
        return np.asarray(np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True)))


def names_of(mixture: BernoulliMixture, features: Sequence[str]) -> list[str]:
    """Name each class by the two features that it has most beyond the others."""
    p, overall = mixture.probabilities_, mixture.shares_ @ mixture.probabilities_
    lift = p * np.log(p / overall)
    names: list[str] = []
    for k in range(len(p)):
        best = [f for f in np.argsort(-lift[k], kind="stable")[:2].tolist() if lift[k, f] > 0.02]
        name = " and ".join(features[f] for f in best) or "plain"
        names.append(name if name not in names else f"{name} ({names.count(name) + 1})")
    return names


def _log_joint(x: Floats, shares: Floats, p: Floats) -> Floats:
    """log P(class, features), (N, K)."""
    return np.asarray(np.log(shares) + x @ np.log(p).T + (1 - x) @ np.log1p(-p).T)


def _fit(x: Floats, weight: Floats, k: int, seed: int) -> tuple[Floats, Floats, float]:
    """Shares, probabilities and log-likelihood of the best of several starts."""
    rng = np.random.default_rng((seed, k))
    runs = [_em(x, weight, rng.dirichlet(np.ones(k), len(x))) for _ in range(STARTS if k > 1 else 1)]
    return max(runs, key=lambda run: run[2])


def _em(x: Floats, weight: Floats, responsibility: Floats) -> tuple[Floats, Floats, float]:
    """Expectation–maximisation from responsibilities (N, K), with half a sentence with and without each feature."""
    before, total = -np.inf, float(weight.sum())
    for _ in range(ITERATIONS):
        mass = responsibility * weight[:, None]
        members = mass.sum(axis=0)
        shares = (members + 0.5) / (members + 0.5).sum()
        p = (mass.T @ x + 0.5) / (members[:, None] + 1.0)
        log_joint = _log_joint(x, shares, p)
        # by hand: the exponentials serve the evidence and the responsibilities
        top = log_joint.max(axis=1, keepdims=True)
        joint = np.exp(log_joint - top)
        sums = joint.sum(axis=1, keepdims=True)  # (N, 1)
        value = float(weight @ (top + np.log(sums))[:, 0])
        if value - before < TOLERANCE * total:
            break
        before, responsibility = value, joint / sums
    return shares, p, value
