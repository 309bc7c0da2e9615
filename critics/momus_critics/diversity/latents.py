"""Vectors of answers from the latents of another critic, and their variance within and between prompts.

A vector holds the shares of the critic's states, on a scale of equal errors. Vectors have unit length, so half the mean
squared distance of two answers is 1 less their mean cosine: the variance within a prompt is 1 − s_w, with s_w the mean
cosine of its answers, and that of answers to different prompts 1 − s_b. With c_p the mean vector of the answers to
prompt p, of P prompts,

    s_b = (|Σ_p c_p|² − Σ_p |c_p|²) / (P (P − 1)),

which needs only sums over prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from momus.critic import Counted, StateSequences
from momus.critic.base import Critic
from momus.critic.hooks import row_unit
from momus.critic.latents import aggregated
from momus.critic.powers import AggregatedPosteriorMixin
from momus.critic.registry import critic_class
from momus.errors import UsageError
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus


def critic_of(name: str) -> Critic[Any]:
    """The critic of this name, with its default parameters, unfitted.

    Raises
    ------
    UsageError
        It compares prompts or blocks of running text, and has no latents of single documents.
    """
    cls = critic_class(name)
    if row_unit(cls) != "document":
        raise UsageError(
            f"diversity: of is {name!r}, whose unit is the {row_unit(cls)}",
            hint="name a critic of documents, such as unigram, topics, passages or templates",
        )
    critic: Critic[Any] = cls()
    return critic


def as_documents(prompts: Corpus) -> Corpus:
    """One document per answer, in the order of the prompts of `momus_critics.diversity.answers.by_prompt`."""
    return Corpus.from_texts([section.text for document in prompts for section in document.sections], name=prompts.name)


def state_vectors(critic: Critic[Any], answers: Corpus) -> tuple[sparse.csr_array, list[str]]:
    """Vectors of unit length, the square roots of the shares of the critic's states: (answers, V), and state names.

    Their cosine is the Bhattacharyya coefficient: 1 for answers with equal shares, 0 for those that share no state.
    An answer that the critic cannot score has a vector of zeros.

    Raises
    ------
    UsageError
        The critic's latents have no states.
    """
    scored = np.array([reason is None for reason in critic.unscored(answers)], dtype=bool)
    kept: Ints = np.flatnonzero(scored)
    if not len(kept):
        return sparse.csr_array((len(answers), 1)), ["0"]
    latents = critic.project(answers.take(kept))
    if isinstance(critic, AggregatedPosteriorMixin):
        rows = critic.aggregated_posterior(latents)
    elif isinstance(latents, StateSequences):
        rows = aggregated(latents)
    else:
        raise UsageError(
            f"diversity: of is {critic.name!r}, whose latents have no states",
            hint="name a critic with states, such as unigram, topics, passages, templates, discourse or repetition",
        )
    labels = list(map(str, rows.labels if isinstance(rows, Counted) else range(rows.shape[1])))
    shares = sparse.csr_array(rows.matrix if isinstance(rows, Counted) else rows, dtype=np.float64)
    totals = np.asarray(shares.sum(axis=1)).ravel()
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    scaled = sparse.csr_array(sparse.diags_array(scale) @ shares).sqrt()
    # rows of unscored answers are empty: place[i] is the row of answer i among the scored ones
    place = sparse.csr_array((np.ones(len(kept)), (kept, np.arange(len(kept)))), shape=(len(answers), len(kept)))
    return sparse.csr_array(place @ scaled), labels


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
