"""Section types and breaks in running text, learned from real text whose sections have titles.

Titles and breaks are read in fitting alone. A logistic regression on words says of each place of a running text which
type of section it is in, and whether a section begins there.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import log_softmax, logsumexp

from momus.estimator import Estimator, parametrized
from momus.numeric.ragged import changes, items_of, offsets_of, owners_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.plain import read_as
from momus.text.vocabulary import OTHER, frequent_titles, normalize_title
from momus_critics.chains.base import counts_by_fold, smoothed
from momus_critics.passages.faults import SectionProcess
from momus_critics.passages.pieces import plain, spans
from momus_critics.passages.tfidf import WordPairs
from momus_critics.sections.posterior import Weights, contrasted, regress

LEAST_DOCUMENTS = 5
"""Documents in which a title must occur to name a type."""
LEAST_SHARE = 0.5
"""Share of the sections with such a title from which a text counts as titled."""
FOLDS = 3
WORDS = 20
"""Distance of places in words; a place begins with the next sentence, or at twice as many words."""
PENALTY = 3.0
"""Inverse strength C of the L2 penalty of the regression on words."""
NEAR = (-2, -1, 1, 2)
"""Places nearby whose scores of a beginning are read too."""
BODY_WEIGHT = 0.1
"""Weight of what a place within a section says of its type: neighbouring places are far from independent."""
MOST = 5000
"""Most places that are read per document."""
ABSENT = -20.0
"""Logarithm of the probability of what never occurred in fitting."""


def type_names(corpus: Corpus) -> list[str]:
    """Titles that name types of sections, and `OTHER`; an empty list if the corpus is not titled.

    >>> corpus = Corpus.from_sections([[("Aims", "x"), ("Means", "y")]] * 5)
    >>> type_names(corpus), type_names(Corpus.from_texts(["x", "y"]))
    (['aims', 'means', '<other>'], [])
    """
    titles = [normalize_title(t) for t in corpus.section_titles]
    names = frequent_titles(titles, owners_of(offsets_of(corpus.section_counts)), LEAST_DOCUMENTS)
    known = set(names)
    if len(names) < 2 or sum(t in known for t in titles) < LEAST_SHARE * len(titles):
        return []
    return [*names, OTHER]


def places_of_text(corpus: Corpus, words: int) -> tuple[list[str], Ints, Ints]:
    r"""The places of running prose: groups of sentences of about ``words`` words, see `momus_critics.passages.pieces`.

    Section marks decide nothing: sections are joined by blank lines.

    Returns
    -------
    Their plain texts, where those of each document begin (n + 1,), and the section in which most of each lies, counted
    over the corpus.

    >>> corpus = Corpus.from_sections([[("A", "One two."), ("B", "Three. Four five.")]])
    >>> places, _, sections = places_of_text(corpus, 2)
    >>> places, sections.tolist()
    (['One two.', 'Three. Four five.'], [0, 1])
    """
    texts = [read_as(text, "prose") for text in corpus.section_texts.to_pylist()]
    bounds = offsets_of(corpus.section_counts)
    places: list[str] = []
    sections: list[int] = []
    offsets = [0]
    for start, end in pairwise(bounds):
        # the character at which each section begins, the blank line between sections counted to the one before
        edges = np.cumsum([0, *(len(t) + 2 for t in texts[start:end])])
        joined = "\n\n".join(texts[start:end])
        cuts = spans(joined, words)[:MOST]
        for a, b in cuts:
            places.append(plain(joined[a:b]))
            # the section that shares most characters with the place
            sections.append(start + int((np.minimum(b, edges[1:]) - np.maximum(a, edges[:-1])).argmax()))
        offsets.append(len(places))
    return places, np.array(offsets, dtype=np.int64), np.array(sections, dtype=np.int64)


@parametrized
class TypedSections(Estimator):
    """The process of titled sections, and how likely each type is at each place of a running text.

    Parameters
    ----------
    seed
        Seeds folds.
    """

    seed: int = 0

    _new_terms = WordPairs

    def fit(self, corpus: Corpus) -> Self:
        """Learn types, chain, lengths and regressions from a corpus that `type_names` calls titled."""
        self.types_ = type_names(corpus)
        k = len(self.types_)
        number = {title: i for i, title in enumerate(self.types_)}
        labels = np.array([number.get(normalize_title(t), k - 1) for t in corpus.section_titles], dtype=np.int64)
        bounds = offsets_of(corpus.section_counts)
        self.counts_, self.constant_, self.transitions_ = smoothed(counts_by_fold(labels, bounds, k, self.seed))
        places, offsets, sections = places_of_text(corpus, WORDS)
        types, begins = labels[sections], changes(sections)  # of each place, (N,)
        # a section may be shorter than a place; the process counts those that are seen
        entered = np.bincount(types, begins, minlength=k) + 0.5  # sections that begin, by type
        self.stay_ = 1 - entered / (np.bincount(types, minlength=k) + 1.0)
        self.sections_ = float(begins.sum() / (len(offsets) - 1))
        self.terms_ = self._new_terms().fit(places)
        self._regress(self.terms_.embed(places), offsets, types + k * begins)
        return self

    def _regress(self, x: sparse.csr_array, offsets: Ints, y: Ints) -> None:
        """Regress the classes on words, then on scores of places nearby, cross-fitted: fitted text flatters."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        classes, n = 2 * len(self.types_), len(offsets) - 1
        fold = np.random.default_rng(self.seed).permutation(n) % FOLDS
        scores = np.zeros((len(y), classes))
        start: Weights | None = None
        for f in range(FOLDS):
            train, train_offsets = items_of(np.flatnonzero(fold != f), offsets)
            held, held_offsets = items_of(np.flatnonzero(fold == f), offsets)
            weights, bias = regress(x[train], train_offsets, y[train], classes, PENALTY)
            scores[held] = contrasted(np.asarray(x[held] @ weights), held_offsets) + bias
            start = weights, bias
        self.weights_, self.bias_ = regress(x, offsets, y, classes, PENALTY, start)
        near = _with_neighbours(scores, offsets)
        spread = near.std(axis=0)
        scale = np.where(spread > 1e-6, 1 / np.maximum(spread, 1e-6), 0.0)  # what never varies says nothing
        model = LogisticRegression(C=1.0, max_iter=100, tol=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # stopping early is regularisation too
            model.fit(near * scale, y)
        self.slopes_, self.level_ = np.zeros((near.shape[1], classes)), np.full(classes, ABSENT)
        self.slopes_[:, model.classes_], self.level_[model.classes_] = scale[:, None] * model.coef_.T, model.intercept_
        prior = np.bincount(y, minlength=classes) + 0.5
        self.prior_ = prior / prior.sum()

    @property
    def process(self) -> SectionProcess:
        """The chain of sections and their lengths in places."""
        visits = self.counts_[:, :-1].sum(axis=0) + 0.5
        end = self.counts_[:, -1].sum() / self.counts_.sum()
        chance = np.append((1 - end) * visits / visits.sum(), end)
        return SectionProcess(self.transitions_, chance, self.stay_, self.sections_)

    def fault_evidence(self, batch: Corpus) -> tuple[Floats, Floats]:
        """Evidence of faults and disorder of each document in nats, (n,) both, see `SectionProcess`; 0 if empty."""
        places, offsets, _ = places_of_text(batch, WORDS)
        evidence, disorder = np.zeros(len(batch)), np.zeros(len(batch))
        lengths = np.diff(offsets)
        some = np.flatnonzero(lengths)
        if len(some):
            begin, inside = self._likelihoods(places, offsets)
            bounds = offsets_of(lengths[some])
            evidence[some] = self.process.fault_evidence(begin, inside, bounds)
            disorder[some] = self.process.disorder(begin, inside, bounds)
        return evidence, disorder

    def _likelihoods(self, places: list[str], offsets: Ints) -> tuple[Floats, Floats]:
        """P(words | type) up to a factor per place, where a section begins and where none does, (N, K) both."""
        k = len(self.types_)
        scores = contrasted(np.asarray(self.terms_.embed(places) @ self.weights_), offsets) + self.bias_
        log_p = log_softmax(_with_neighbours(scores, offsets) @ self.slopes_ + self.level_, axis=1)
        parts = []
        for half, weight in ((slice(k, None), 1.0), (slice(0, k), BODY_WEIGHT)):
            one, prior = log_p[:, half], self.prior_[half]
            whole = logsumexp(one, axis=1, keepdims=True)  # whether a section begins, whatever its type
            parts.append(whole - np.log(prior.sum()) + weight * (one - whole - np.log(prior / prior.sum())))
        # one scale for both halves, whose ratio says whether a section begins
        top = np.maximum(parts[0].max(axis=1), parts[1].max(axis=1))[:, None]
        return np.exp(parts[0] - top), np.exp(parts[1] - top)


def _with_neighbours(scores: Floats, offsets: Ints) -> Floats:
    """Scores of the classes, (N, 2K), log odds of a beginning at places nearby, and whether the document begins.

    Of places nearby, types are not read: what follows what would be learned twice.
    """
    k, n = scores.shape[1] // 2, len(scores)
    scores = np.maximum(scores, ABSENT)  # of a class that a fold has not
    odds = logsumexp(scores[:, k:], axis=1) - logsumexp(scores[:, :k], axis=1)
    owner, rows = owners_of(offsets), np.arange(n)
    columns = [scores]
    for shift in NEAR:
        near = np.clip(rows + shift, 0, max(n - 1, 0))
        # even odds where there is no place in the document
        columns.append(np.where(owner[near] == owner, odds[near], 0.0)[:, None])
    return np.hstack([*columns, np.isin(rows, offsets[:-1]).astype(np.float64)[:, None]])
