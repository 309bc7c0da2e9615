"""Vectors of answers from the latents of another critic: the shares of its states, on a scale of equal errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from momus.critic import AggregatedPosteriorMixin, Counted, StateSequences, aggregated
from momus.critic.base import Critic
from momus.critic.registry import critic_class
from momus.errors import UsageError
from momus.numeric.types import Ints
from momus.text.corpus import Corpus


def critic_of(name: str) -> Critic[Any]:
    """The critic of this name, with its default parameters, unfitted.

    Raises
    ------
    UsageError
        It compares prompts or blocks of running text, and has no latents of single documents.
    """
    cls = critic_class(name)
    if cls.unit != "document":
        raise UsageError(
            f"diversity: of is {name!r}, whose unit is the {cls.unit}",
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
