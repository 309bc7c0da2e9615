"""Answers to prompts as vectors of words, and how alike those to one prompt are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from momus.critic import Counted
from momus.critic.latents import Arrays
from momus.critic.splitting import usable_documents
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.rounding import without_rounding
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.text.documents import Document, Section
from momus_critics.prose.reading import Prose

PROMPTS, GROUPS = "answers to one prompt", "documents of one group"


def baseline_of(corpus: Corpus) -> str:
    """What stands together in a row: `PROMPTS`, or `GROUPS` if only groups have several documents.

    >>> baseline_of(Corpus.from_texts(["a", "b"], prompts=["p", "q"], groups=["g", "g"])) == GROUPS
    True
    """
    return GROUPS if _repeated(corpus.groups) and not _repeated(corpus.prompts) else PROMPTS


def has_several(corpus: Corpus) -> bool:
    """Whether a prompt, or a group, has several documents.

    >>> has_several(Corpus.from_texts(["a", "b"], prompts=["p", "q"]))
    False
    """
    return _repeated(corpus.prompts) or _repeated(corpus.groups)


def _repeated(names: Sequence[str | None]) -> bool:
    known = [n for n in names if n is not None]
    return len(set(known)) < len(known)


def by_prompt(corpus: Corpus) -> Corpus:
    """One document per prompt, each answer a section; documents without a prompt stay alone, unusable ones are dropped.

    Documents of one group (author, site) stand in for answers where no prompt of the corpus is answered twice. Prompts
    stand in the order of their ids, and answers in an order that depends on their texts alone.

    >>> answers = Corpus.from_texts(["b", "a", "c"], prompts=["p", "p", None])
    >>> [(d.id, [s.text for s in d.sections]) for d in by_prompt(answers)]
    [('corpus:3', ['c']), ('p', ['a', 'b'])]
    """
    # the flag keeps a document without a prompt apart from a prompt that has its id
    texts: defaultdict[tuple[str, bool], list[tuple[int, str, str | None]]] = defaultdict(list)
    usable = usable_documents(corpus)
    grouped = baseline_of(usable) == GROUPS
    for document, key in zip(usable, usable.hashes.tolist(), strict=True):
        source = document.group if grouped else document.prompt
        texts[document.id if source is None else source, source is None].append((key, document.text, document.group))
    documents = []
    for (name, alone), answers in sorted(texts.items()):
        groups = {group for _, _, group in answers}
        documents.append(
            Document(
                name,
                tuple(Section(text) for _, text, _ in sorted(answers, key=lambda a: a[:2])),
                prompt=None if alone or grouped else name,
                group=groups.pop() if len(groups) == 1 else None,
            )
        )
    return Corpus.from_documents(documents, corpus.name)


def vectors(prose: Prose, sections: Ints, number: dict[str, int], idf: Floats) -> sparse.csr_array:
    """Vectors of unit length of answers, (answers, V): 1 + log of each word's count, times its inverse frequency.

    Parameters
    ----------
    sections
        int64 (N,): number of the answer of each token.
    number, idf
        Number of each word that counts, and its weight (V,).
    """
    answers = int(sections[-1]) + 1 if len(sections) else 0
    # looked up by distinct word, then spread over the tokens, (N,)
    columns = np.fromiter((number.get(w, -1) for w in prose.words), np.int64, len(prose.words))[prose.ids]
    known = columns >= 0
    ones = np.ones(int(known.sum()))
    counts = sparse.csr_array(sparse.coo_array((ones, (sections[known], columns[known])), shape=(answers, len(idf))))
    # one entry per token becomes one per word, before the logarithm
    counts.sum_duplicates()
    counts.data = 1 + np.log(counts.data)
    weighted = sparse.csr_array(counts.multiply(idf[None, :]))
    norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    # an answer without such a word keeps a vector of zeros: it resembles none
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ weighted)


@dataclass(frozen=True)
class AnswerSpread(Arrays):
    """Answers to n prompts.

    Attributes
    ----------
    similarity
        float64 (n,): mean cosine of pairs of answers to each prompt.
    distinct
        float64 (n,): effective number of distinct answers among the first ``size``.
    means
        CSR (n, V): mean of the vectors of the answers to each prompt.
    columns
        What the V columns stand for.
    groups
        For each prompt, groups of answers that are nearly the same, as lists of their numbers.
    counts
        int64 (n,): number of answers.
    texts
        The answers' first words, by prompt.
    prompts
        Ids of the prompts.
    """

    similarity: Floats
    distinct: Floats
    means: sparse.csr_array
    columns: list[str]
    groups: list[list[list[int]]]
    counts: Ints
    texts: list[list[str]]
    prompts: list[str]


def effective_number(similarities: Floats) -> float:
    """Exponential of the entropy of the eigenvalues of K / k: 1 if all k answers are the same, k if none are alike.

    The Vendi score (Friedman & Dieng 2023, definition 3.1).

    >>> effective_number(np.eye(3)), round(effective_number(np.ones((3, 3))), 6)
    (3.0, 1.0)
    """
    values = np.linalg.eigvalsh(similarities / len(similarities)).clip(min=0)
    positive = values[values > 1e-12]
    return round(float(np.exp(-(positive * np.log(positive)).sum())), 12)


def alike(similarities: Floats, least: float) -> list[list[int]]:
    """Groups of answers that chains of pairs with at least this similarity connect, the largest first.

    >>> alike(np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]]), 0.8)
    [[0, 1], [2]]
    """
    near: Bools = similarities >= least
    _, label = sparse.csgraph.connected_components(sparse.csr_array(near), directed=False)
    groups = [np.flatnonzero(label == g).tolist() for g in range(int(label.max()) + 1)]
    return sorted(groups, key=lambda g: (-len(g), g[0]))


NUMBER, WITHIN, SQUARE = range(3)
SUMS = (" prompts", " similarity within", " squared length of the mean")
"""Labels of the first columns; a word or state has no space at its beginning."""


def prompt_means(x: sparse.csr_array, counts: Ints) -> sparse.csr_array:
    """Mean vector of the answers to each prompt, CSR (prompts, V).

    >>> prompt_means(sparse.csr_array(np.array([[1.0, 0], [0, 1], [1, 0]])), np.array([2, 1])).toarray().tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    owners = owners_of(offsets_of(counts))
    weights = 1.0 / np.maximum(counts, 1)[owners]  # (answers,)
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
    # |Σ c_p|² = Σ |c_p|² + Σ_{p ≠ q} c_p · c_q: all pairs from sums, so that resamples need no pairs
    total = (pooled[:, len(SUMS) :] ** 2).sum(axis=1)
    pairs = np.where(number > 1, number * (number - 1), np.nan)
    return np.asarray((total - pooled[:, SQUARE]) / pairs)


def relative_variance(pooled: Floats) -> Floats:
    """(1 − s_w) / (1 − s_b) of the sums: 1 if answers to a prompt differ as much as answers to different ones, (B,)."""
    within = 1 - pooled[:, WITHIN] / pooled[:, NUMBER]
    return np.asarray(within / without_rounding(1 - between_similarity(pooled)))
