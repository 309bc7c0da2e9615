"""Sections and the subject of their document: a Gaussian factor model in which some sections are strangers.

A document of M sections has a subject u ~ N(0, I/D). Section m has a vector v_m in D dimensions:

    belongs (z_m = 1):   v_m = a_m u + √(1 − a_m²) e_m,     e_m ~ N(0, I/D)
    stranger (z_m = 0):  v_m ~ N(0, I/D)

so a vector has the same distribution in either case, and only its relation to the others tells. The loading a_m grows
with the section's length L_m: a_m² = a² L_m / (L_m + h). Given z, the sections that belong have the covariance
R = a aᵀ + diag(1 − a²) in each dimension, and the likelihood needs the dot products of vectors only (`log_ratio`).

Real vectors of words are sparse, not Gaussian: D is not their number of dimensions, but the number with which the model
predicts best whether a section is of its document (`fit_dimensions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, logit, logsumexp

from momus.estimator import Estimator
from momus.numeric.ragged import group_sums
from momus.numeric.types import Bools, Floats, Ints
from momus.text.tokens import TokenTable

MOST_WORDS = 200_000
"""Words whose document frequency is kept, the most frequent ones; the others count as unseen."""


class SectionVectors(Estimator):
    """Sublinear TF-IDF of sections, each of Euclidean norm 1, over all words of a text.

    A word that no fitted document has gets the highest weight: the name of a thing that one document is about is often
    such a word, and says most about whether two sections belong together. Therefore a word of a single fitted document
    counts as unseen too, and the vectors of fitted documents leave out the document itself from the frequencies.
    """

    def fit(self, table: TokenTable) -> Self:
        """Count the documents that have each word."""
        size = max(len(table.vocabulary), 1)
        # distinct pairs of a document and a word, so that a word counts once in each document
        pairs = np.unique(table.documents * size + table.ids)
        counts = np.bincount(pairs % size, minlength=size)  # documents with each word
        kept = [i for i in np.argsort(-counts, kind="stable")[:MOST_WORDS].tolist() if counts[i] > 1]
        self.words_ = [table.vocabulary[i] for i in kept]
        self.counts_ = counts[kept].astype(np.int64)
        self.documents_ = len(table)
        return self

    def known(self, table: TokenTable) -> Floats:
        """Share of the tokens of each document whose word other fitted documents have, (n,); 0 without tokens."""
        hits = np.bincount(table.documents, table.codes(self.words_) >= 0, len(table))
        return np.asarray(hits / np.maximum(table.lengths, 1))

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
        # one entry per token becomes one per word, with its count
        x.sum_duplicates()
        known = dict(zip(self.words_, self.counts_.tolist(), strict=True))
        counts = np.array([known.get(word, 0) for word in table.vocabulary], dtype=np.float64)
        # each fitted document has one count in the frequency of its own words, and in the number of documents
        included = int(fitted)
        weights = np.log((1.0 + self.documents_ - included) / (1.0 + np.maximum(counts - included, 0.0)))
        data = (1.0 + np.log(x.data)) * weights[x.indices]
        squares = np.asarray(group_sums(data**2, np.asarray(x.indptr, dtype=np.int64)))
        # one factor per row, repeated over the row's stored entries
        scale = np.where(squares > 0, 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)
        return sparse.csr_array((data * np.repeat(scale, np.diff(x.indptr)), x.indices, x.indptr), shape=shape)


def grams(rows: sparse.csr_array, columns: sparse.csr_array, offsets: Ints) -> list[Floats]:
    """Dot products between the sections of each document: n arrays (M, M), row m for section m of ``rows``."""
    return [np.asarray((rows[a:b] @ columns[a:b].T).todense()) for a, b in pairwise(offsets.tolist())]


EXACT = 10
"""Most sections for which all 2^M memberships are enumerated; beyond, see `collapsed`."""
SWEEPS = 50
CLOSE = 1e-6
LARGEST = 0.98
"""Bound of the loadings, which keeps covariances regular."""


def loadings(lengths: Floats, largest: float, half: float) -> Floats:
    """a_m of sections of these lengths: a √(L / (L + h)).

    >>> loadings(np.array([0.0, 50.0]), 0.6, 50.0).round(3).tolist()
    [0.0, 0.424]
    """
    return np.asarray(largest * np.sqrt(lengths / (lengths + half)))


def log_ratio(gram: Floats, loading: Floats, dimensions: float, members: Bools) -> Floats:
    """Log-likelihood ratio of memberships against “all are strangers”, in nats.

    With R of the members: −D/2 · [log det R + tr((R⁻¹ − I) G)]. R is diagonal plus rank one, so that its determinant
    and inverse are closed (matrix determinant lemma, Sherman–Morrison).

    Parameters
    ----------
    gram
        (M, M) dot products v_m · v_n.
    loading
        (M,) a_m.
    members
        (S, M): S memberships, each a choice of sections that belong.

    Returns
    -------
    (S,).

    >>> two = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> ratios = log_ratio(two, np.array([0.7, 0.7]), 10, np.array([[True, True], [True, False]]))
    >>> [f"{abs(r):.3f}" for r in ratios]
    ['1.437', '0.000']
    """
    rest = 1 - loading**2
    b = members.astype(np.float64)
    signal = b @ (loading**2 / rest)  # (S,)
    weighted = b * (loading / rest)  # (S, M)
    # Sherman–Morrison: what the common subject explains, from dot products alone, without the vectors
    explained = ((weighted @ gram) * weighted).sum(axis=1) / (1 + signal)
    native = b @ (np.diag(gram) * (1 / rest - 1))  # (S,)
    return np.asarray(-0.5 * dimensions * (b @ np.log(rest) + np.log1p(signal) + native - explained))


def ratio_to_others(
    dots: Floats, norms: Floats, gram: Floats, target: Floats, loading: Floats, weight: Floats
) -> Floats:
    """Log-likelihood ratio per dimension of each target “belongs with the other sections” against “is a stranger”.

    Target m is compared with all sections of the document but section m.

    Parameters
    ----------
    dots
        (M, M): dot products of target m (row) with the sections.
    norms
        (M,): squared norms of the targets.
    gram, loading
        Of the sections, (M, M) and (M,).
    target
        (M,): loadings of the targets.
    weight
        (M,): how surely each section belongs, from 0 to 1.
    """
    rest = 1 - loading**2
    w = weight * loading / rest  # (M,)
    signal = weight * loading**2 / rest
    others = signal.sum() - signal  # precision that the others add to that of the subject, (M,)
    # the subject's mean given the others is Σ w_n v_n / (1 + others): its dot product with target m, its squared norm
    dot = (dots @ w - np.diag(dots) * w) / (1 + others)
    rows = gram @ w  # (M,)
    square = (w @ rows - 2 * w * rows + w**2 * np.diag(gram)) / (1 + others) ** 2
    variance = 1 - target**2 + target**2 / (1 + others)  # of target m given the others, (M,)
    distance = norms - 2 * target * dot + target**2 * square
    return np.asarray(0.5 * (norms - np.log(variance) - distance / variance))


def enumerated(gram: Floats, loading: Floats, dimensions: float, rate: float) -> Floats:
    """Log Bayes factor of “belongs” of each section, (M,), by summing over all 2^M memberships."""
    m = len(loading)
    members = (np.arange(2**m)[:, None] >> np.arange(m)) & 1 == 1  # (2^M, M)
    size = members.sum(axis=1)  # (2^M,)
    joint = log_ratio(gram, loading, dimensions, members) + size * np.log1p(-rate) + (m - size) * np.log(rate)
    # log-sums over the memberships with and without section m
    with_, without = (logsumexp(np.where(choice, joint[:, None], -np.inf), axis=0) for choice in (members, ~members))
    return np.asarray(with_ - without + logit(rate))


def collapsed(gram: Floats, loading: Floats, dimensions: float, rate: float) -> Floats:
    """Log Bayes factors by collapsed mean field: u is integrated out, the other sections count by their probabilities.

    Zero-order collapsed variational inference (Asuncion et al. 2009), damped, begun with “all belong”.
    """
    # most sections belong; begun with “none”, the subject would have no vector to compare with
    q = np.ones(len(loading))
    factor = np.zeros(len(loading))
    for sweep in range(SWEEPS):
        factor = dimensions * ratio_to_others(gram, np.diag(gram), gram, loading, loading, q)
        new = expit(factor - logit(rate))
        if np.abs(new - q).max() < CLOSE:
            break
        # halved steps: two sections that exclude each other would change places for ever
        q = new if sweep < 2 else (q + new) / 2
    return factor


def fit_of(gram: Floats, loading: Floats, dimensions: float, rate: float) -> Floats:
    """Log Bayes factor of each section, (M,): how much more probable its words are if it belongs to the document."""
    infer = enumerated if len(loading) <= EXACT else collapsed
    return infer(gram, loading, dimensions, rate)


def stranger_probability(factor: Floats, rate: float) -> Floats:
    """P(z_m = 0 | x) from log Bayes factors.

    >>> stranger_probability(np.array([0.0, 5.0]), 0.02).round(4).tolist()
    [0.02, 0.0001]
    """
    return np.asarray(expit(logit(rate) - factor))


def fit_loadings(grams: Sequence[Floats], lengths: Sequence[Floats]) -> tuple[float, float]:
    """Least squares of E[v_m · v_n] = a_m a_n over all pairs of sections of a document: (a, h).

    Returns
    -------
    The loading of an endless section, at most `LARGEST`, and the length of half its square.
    """
    pairs = [np.triu_indices(len(g), 1) for g in grams]
    cosines = np.concatenate([g[i] for g, i in zip(grams, pairs, strict=True)])
    first = np.concatenate([x[i] for x, (i, _) in zip(lengths, pairs, strict=True)])
    second = np.concatenate([x[j] for x, (_, j) in zip(lengths, pairs, strict=True)])

    def solve(log_half: float) -> tuple[float, float]:
        shape = loadings(first, 1.0, np.exp(log_half)) * loadings(second, 1.0, np.exp(log_half))  # (pairs,)
        # a² has a closed form for each h, so only h is searched
        square = float(np.clip((shape @ cosines) / max(shape @ shape, 1e-300), 1e-6, LARGEST**2))
        return square, float(((square * shape - cosines) ** 2).sum())

    log_half = float(minimize_scalar(lambda t: solve(t)[1], bounds=(0.0, 10.0), method="bounded").x)
    return float(np.sqrt(solve(log_half)[0])), float(np.exp(log_half))


def fit_dimensions(native: Floats, foreign: Floats) -> float:
    """D that best tells sections of a document from sections of other documents.

    Parameters
    ----------
    own, foreign
        `ratio_to_others` of sections of the document, and of sections of other documents in their place.

    Returns
    -------
    The maximum of Σ log σ(D · own) + Σ log σ(−D · foreign): with it, D · ratio are calibrated log-odds.
    """

    def loss(log_d: float) -> float:
        d = np.exp(log_d)
        return -float(log_expit(d * native).mean() + log_expit(-d * foreign).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(0.0, np.log(1e4)), method="bounded").x))


def fit_rate(grams: Sequence[Floats], loading: Sequence[Floats], dimensions: float) -> float:
    """Share of strangers ε that maximises the likelihood, by EM with half a stranger added."""
    sections, rate = sum(map(len, loading)), 0.02
    for _ in range(SWEEPS):
        factors = [fit_of(g, a, dimensions, rate) for g, a in zip(grams, loading, strict=True)]
        strangers = float(stranger_probability(np.concatenate(factors), rate).sum())
        # at most half: beyond, strangers would be the rule, and the labels change places
        before, rate = rate, min((strangers + 0.5) / (sections + 1.0), 0.5)
        if abs(rate - before) < 1e-4:
            break
    return rate
