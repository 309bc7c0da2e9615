"""Rows of simulated documents."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from momus.critic import Statistic
from momus.critic.statistic import kolmogorov_smirnov, mean, mean_gap, perplexity, total_variation
from momus.numeric.types import Floats, Ints

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
PPL = Statistic("latent_ppl", "x", "value", perplexity, scale="log", effect="log_ratio")
KS = Statistic("ks", "x", "distance", kolmogorov_smirnov, ties=mean_gap)
TVD = Statistic("tvd", "x", "distance", total_variation)

TYPES, WORDS = 200, 50
"""Word types, and words per document, of counts."""


def ones(x: Floats) -> Floats:
    """Rows [value, 1], whose pooled ratio is the mean: (n, 2) of values (n,)."""
    return np.column_stack([x, np.ones(len(x))])


def clustered(rng: np.random.Generator, clusters: int, size: int, icc: float) -> tuple[Floats, Ints]:
    """Normal values of variance 1 with intraclass correlation ``icc``, and their clusters: (clusters · size,) each."""
    numbers = np.repeat(np.arange(clusters), size)
    own = rng.normal(size=clusters)[numbers] * icc**0.5
    return own + rng.normal(size=len(numbers)) * (1 - icc) ** 0.5, numbers


def sequences(rng: np.random.Generator, n: int, nats: float, sigma: float, steps: float = 100) -> Floats:
    """Rows [nats, steps] of documents whose expected nats per step is ``nats`` whatever their length: (n, 2).

    Lengths are log-normal with mean ``steps`` and standard deviation ``sigma`` of the logarithm. A document's nats per
    step vary by 0.3 between documents, and by 1 per step within them.
    """
    lengths = np.maximum(1.0, np.round(steps * np.exp(sigma * rng.normal(size=n) - sigma**2 / 2)))
    rate = nats + 0.3 * rng.normal(size=n) + rng.normal(size=n) / np.sqrt(lengths)
    return np.column_stack([rate * lengths, lengths])


def ranked(a: Floats, b: Floats) -> tuple[sparse.csr_array, sparse.csr_array]:
    """One count per document in the column of its value's rank among both texts, (n, V) and (m, V): rows of KS."""
    distinct, rank = np.unique(np.concatenate([a, b]), return_inverse=True)
    whole = sparse.csr_array((np.ones(len(rank)), rank, np.arange(len(rank) + 1)), shape=(len(rank), len(distinct)))
    return whole[: len(a)], whole[len(a) :]


def shift_of(distance: float) -> float:
    """Difference of the means of two normal laws of variance 1 at a KS distance: sup |Φ(x) − Φ(x − μ)| = 2 Φ(μ/2) − 1.

    >>> round(shift_of(0.3829), 3)
    1.0
    """
    return float(2 * ndtri((1 + distance) / 2))


def normals(rng: np.random.Generator, n: int, distance: float) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Rows of n | n normal values whose laws have this KS distance."""
    return ranked(rng.normal(size=n), rng.normal(size=n) + shift_of(distance))


def laws(distance: float) -> tuple[Floats, Floats] | None:
    """A Zipf law and another at this total variation distance, (TYPES,) each; None if it is too large to be built.

    Mass moves from the types of even rank to those of odd rank, in proportion to what they have.

    >>> p, q = laws(0.1)
    >>> round(float(np.abs(p - q).sum() / 2), 12)
    0.1
    """
    p = 1 / np.arange(1, TYPES + 1)
    p /= p.sum()
    odd = np.arange(TYPES) % 2 == 0  # ranks 1, 3, 5 …
    if distance >= p[~odd].sum():
        return None
    return p, np.where(odd, p * (1 + distance / p[odd].sum()), p * (1 - distance / p[~odd].sum()))


def counts(rng: np.random.Generator, n: int, distance: float) -> tuple[sparse.csr_array, sparse.csr_array] | None:
    """Rows of word counts of n | n documents whose laws have this total variation distance, (n, TYPES) each."""
    both = laws(distance)
    if both is None:
        return None
    real, generated = (sparse.csr_array(rng.multinomial(WORDS, p, size=n).astype(np.float64)) for p in both)
    return real, generated
