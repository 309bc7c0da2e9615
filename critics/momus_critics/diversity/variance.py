"""Variance of the vectors of answers within prompts and between answers to different prompts.

Vectors have unit length, so half the mean squared distance of two answers is 1 less their mean cosine: the variance
within a prompt is 1 − s_w, with s_w the mean cosine of its answers, and that of answers to different prompts 1 − s_b.
With c_p the mean vector of the answers to prompt p, of P prompts,

    s_b = (|Σ_p c_p|² − Σ_p |c_p|²) / (P (P − 1)),

which needs only sums over prompts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from momus.critic import Counted
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Floats, Ints

NUMBER, WITHIN, SQUARE = range(3)
SUMS = (" prompts", " similarity within", " squared length of the mean")
"""Labels of the first columns; a word or state has no space at its beginning."""
TINY = 1e-9


def prompt_means(x: sparse.csr_array, counts: Ints) -> sparse.csr_array:
    """Mean vector of the answers to each prompt, CSR (prompts, V).

    >>> prompt_means(sparse.csr_array(np.array([[1.0, 0], [0, 1], [1, 0]])), np.array([2, 1])).toarray().tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    owners = owners_of(offsets_of(counts))
    weights = 1.0 / np.maximum(counts, 1)[owners]
    pick = sparse.csr_array((weights, (owners, np.arange(len(owners)))), shape=(len(counts), len(owners)))
    return sparse.csr_array(pick @ x)


def centroids(similarity: Floats, means: sparse.csr_array, columns: Sequence[str]) -> Counted:
    """Rows of 1, s_w, |c_p|² and c_p of each prompt."""
    squares = np.asarray(means.multiply(means).sum(axis=1)).ravel()
    front = np.column_stack([np.ones(len(similarity)), similarity, squares])
    return Counted(sparse.csr_array(sparse.hstack([sparse.csr_array(front), means])), [*SUMS, *columns])


def between_similarity(pooled: Floats) -> Floats:
    """Mean cosine of answers to different prompts, s_b, from sums of `centroids`, (B, 3 + V): (B,).

    >>> means = sparse.csr_array(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))
    >>> sums = centroids(np.ones(3), means, ["a", "b"]).matrix.sum(axis=0)[None]
    >>> bool(np.isclose(between_similarity(sums)[0], (0.6 + 0.0 + 0.8) / 3))
    True
    """
    number = pooled[:, NUMBER]
    total = (pooled[:, len(SUMS) :] ** 2).sum(axis=1)
    return np.asarray((total - pooled[:, SQUARE]) / np.maximum(number * (number - 1), TINY))


def relative_variance(pooled: Floats) -> Floats:
    """(1 − s_w) / (1 − s_b) of the sums: 1 if answers to a prompt differ as much as answers to different ones, (B,)."""
    within = 1 - pooled[:, WITHIN] / np.maximum(pooled[:, NUMBER], TINY)
    return np.asarray(within / np.maximum(1 - between_similarity(pooled), TINY))
