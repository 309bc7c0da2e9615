"""How much of a document a fitted vocabulary knows, as a coordinate of z.

k of the n content words of a document are known: k ~ Bin(n, σ(u)), u ~ N(m, s²). A critic that reads the words of a
vocabulary alone would take text of which it knows little for usual: its posterior hardly leaves the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import expit, log_expit

from momus.critic import Statistic
from momus.critic.powers import Decomposition
from momus.estimator import Estimator, parametrized
from momus.numeric.types import Bools, Floats, Ints
from momus.text.counting import percentage
from momus.text.tokens import TokenTable
from momus.text.vocabulary import VocabularyRules, build_vocabulary

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
"""Nodes and weights of Gauss–Hermite quadrature under N(0, 1)."""
WEIGHTS = WEIGHTS / WEIGHTS.sum()
STEPS, ROUNDS = 60, 100
"""Steps towards a posterior, and most rounds of the prior's EM, which takes a few steps in each."""


KNOWN_WORDS = Statistic.share(
    "known_words",
    "known",
    "content words that the fitted text has",
    "poorer|richer in known words",
    clause="{} of content words are in the fitted vocabulary",
)
"""The share of known words, of rows ``known``: known words and words."""


@dataclass(frozen=True)
class KnownShares:
    """Posteriors of u: mean and variance (n,), of ``counts`` (n, 2): known content words, and content words."""

    counts: Floats
    mean: Floats
    variance: Floats


@parametrized
class KnownWords(Estimator):
    """u, the log-odds that a content word of a document is known, normal over real documents.

    Words of the vocabulary are known, and those of real text that are too frequent for it. In the documents of `fit`,
    a word is known only if the other documents have it often enough.
    """

    def fit(self, table: TokenTable, vocabulary: Sequence[str], rules: VocabularyRules) -> Self:
        """Estimate m and s² by variational EM.

        Parameters
        ----------
        vocabulary, rules
            The vocabulary of the critic, and the rules by which it was built from ``table``.
        """
        frequent = build_vocabulary(table, replace(rules, most_documents=1.0, most_words=0))
        chosen = set(vocabulary)
        self.others_ = [w for w in frequent if w not in chosen]
        counts = self._count(table, vocabulary, rules, rules.least_count)
        # one more document, of a known and an unknown word: without it, real text without unknown words has no finite m
        counts = np.concatenate([counts[counts[:, 1] > 0], [[1.0, 2.0]]])
        self.mean_, self.variance_ = 0.0, 1.0
        u, v = posterior(counts, self.mean_, self.variance_)
        for _ in range(ROUNDS):
            u, v = ascend(counts, self.mean_, self.variance_, u, v, 3)
            before, self.mean_ = (self.mean_, self.variance_), float(u.mean())
            self.variance_ = float(((u - self.mean_) ** 2 + v).mean())
            if np.allclose(before, (self.mean_, self.variance_), rtol=0.0, atol=1e-4):
                break
        return self

    def _count(
        self, table: TokenTable, vocabulary: Sequence[str], rules: VocabularyRules, elsewhere: int = 0
    ) -> Floats:
        """Known content words and content words of each document, (n, 2); see `fit` for ``elsewhere``."""
        words, ids = np.unique(table.ids, return_inverse=True)
        content: Bools = np.array([rules.admits(table.vocabulary[i]) for i in words.tolist()], dtype=bool)[ids]
        known: Bools = content & (table.codes([*vocabulary, *self.others_]) >= 0)
        if elsewhere:
            # occurrences of each token's word in its own document, from distinct pairs of document and word, (N,)
            pairs = table.documents * max(len(words), 1) + ids
            _, place, repeats = np.unique(pairs, return_inverse=True, return_counts=True)
            known &= np.bincount(ids)[ids] - repeats[place] >= elsewhere
        return np.column_stack([np.bincount(table.documents, x, len(table)) for x in (known, content)])

    def project(self, table: TokenTable, vocabulary: Sequence[str], rules: VocabularyRules) -> KnownShares:
        """Count the known words of each document, and infer u."""
        counts = self._count(table, vocabulary, rules)
        return KnownShares(counts, *posterior(counts, self.mean_, self.variance_))

    def distance(self, latents: KnownShares) -> Floats:
        """(û − m)² / s², (n,)."""
        return np.asarray((latents.mean - self.mean_) ** 2 / self.variance_)

    def log_prior(self, latents: KnownShares, spread: bool = True) -> Floats:
        """E log N(u; m, s²) under q, or its value at û without ``spread``: (n,), in nats."""
        squares = self.distance(latents) + (latents.variance / self.variance_ if spread else 0.0)
        return np.asarray(-0.5 * (np.log(2 * np.pi * self.variance_) + squares))

    def decompose(self, latents: KnownShares) -> Decomposition:
        """The parts of the bound of log P(which content words are known)."""
        prior, counts = self.log_prior(latents), latents.counts
        nodes = latents.mean[:, None] + np.sqrt(latents.variance)[:, None] * NODES
        unknown = counts[:, 1] - counts[:, 0]
        likelihood = counts[:, 0] * (log_expit(nodes) @ WEIGHTS) + unknown * (log_expit(-nodes) @ WEIGHTS)
        entropy = 0.5 * np.log(2 * np.pi * np.e * latents.variance)
        return Decomposition(prior, likelihood, entropy, prior + likelihood + entropy)

    def note(self) -> str:
        """The share of known words of a typical real document."""
        return f"a typical document knows {percentage(expit(self.mean_), 0)} of its content words"


def posterior(counts: Floats, mean: float, variance: float) -> tuple[Floats, Floats]:
    """Mean and variance of the normal q(u) that maximises the bound of k of n known words: (n,) each.

    Parameters
    ----------
    counts
        (n, 2): k and n; a document without words keeps the prior.
    mean, variance
        Of the prior.

    >>> u, v = posterior(np.array([[9.0, 10.0], [1.0, 10.0], [0.0, 0.0]]), 2.0, 1.0)
    >>> u.round(2).tolist(), v.round(2).tolist()
    ([2.19, -0.61, 2.0], [0.5, 0.32, 1.0])
    """
    u, v = np.full(len(counts), float(mean)), np.full(len(counts), float(variance))
    return ascend(counts, mean, variance, u, v, STEPS)


def ascend(counts: Floats, mean: float, variance: float, u: Floats, v: Floats, steps: int) -> tuple[Floats, Floats]:
    """Alternate Newton steps of û and fixed-point steps of v, each document on its own; see `posterior`."""
    k, n = counts[:, 0], counts[:, 1]
    for _ in range(steps):
        p = expit(u[:, None] + np.sqrt(v)[:, None] * NODES)  # at the nodes of each document's q, (n, nodes)
        gradient = k - n * (p @ WEIGHTS) - (u - mean) / variance
        curvature = n * ((p * (1 - p)) @ WEIGHTS) + 1 / variance
        # a logistic curve hardly changes its slope within 1, so steps of at most 1 do not diverge
        u, v = u + np.clip(gradient / curvature, -1.0, 1.0), 1 / curvature
    return u, v


def unseen_types(counts: Floats | Ints) -> float:
    """Estimate how many types of a population a sample lacks, at least 1 (Chao 1984, bias-corrected; a lower bound).

    Parameters
    ----------
    counts
        How often each type of the sample occurs, (V,).

    >>> unseen_types(np.array([1, 1, 1, 1, 2, 7]))
    3.0
    """
    once, twice = (int((counts == n).sum()) for n in (1, 2))
    return max(once * (once - 1) / (2.0 * (twice + 1)), 1.0)
