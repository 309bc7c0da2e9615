"""Wordings: sentences that a classifier of their words tells apart, where no single phrase does.

An offer of help can be worded in many ways, each in hardly any document. A logistic regression on the words and pairs
of words of first or last sentences learns which of them are more like one text than the other; a document has the
wording if that sentence scores above a threshold. On the half that proposes, documents are scored by classifiers
that were fitted without their unit, so that thresholds and z are not those of what was learned by heart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from momus.discover.features import Feature, edges, shared_words
from momus.discover.proposing import CLEAR, Holding, Predicate, z_of
from momus.inference.design import Design
from momus.numeric.types import Bools, Floats, Ints
from momus.text.counting import clipped

PLACES = {"opens like": 0, "ends like": -1}
"""The sentence of a document that is looked at, by the kind of feature."""
FOLDS = 5
SHARES = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03)
"""Shares of the documents above the thresholds that are tried."""
SHOWN, LONGEST = 2, 80
"""Sentences that describe a wording, and characters of each."""
ALIKE = 0.5
"""Shared words ÷ all words of two sentences, of which one describes enough."""
Edges = tuple[str, str]
"""The first and the last sentence of a document; empty without prose."""
_SPACE = re.compile(r" (?=[.,;:!?…)\]”’])")


@dataclass(frozen=True)
class Wording:
    """What sentences of one text are like: those of score w · x > ``least``, for their TF-IDF x."""

    feature: Feature
    counter: Any
    weights: Floats
    least: float

    def held(self, documents: Sequence[Edges]) -> Floats:
        """Whether the sentence of each document is like these: (n, 1) of 0 and 1."""
        chosen = [document[PLACES[self.feature.kind]] for document in documents]
        return _above(self.counter.transform(chosen) @ self.weights, [self.least], chosen)


class Wordings:
    """The wordings that tell the proposing halves of two texts apart, at most one of each place.

    Attributes
    ----------
    proposing
        In which documents of these they hold, by classifiers of the others.
    """

    def __init__(self, real: Sequence[str], generated: Sequence[str], design: Design) -> None:
        documents, sizes = [edges(text) for text in (*real, *generated)], (len(real), len(generated))
        self.known: list[Wording] = []
        columns = [np.zeros((len(documents), 0))]
        for kind, place in PLACES.items():
            learned = _learned([document[place] for document in documents], kind, sizes, design)
            # the only sentence of a document is its first
            if learned and learned[0].feature.item not in [wording.feature.item for wording in self.known]:
                self.known.append(learned[0])
                columns.append(learned[1])
        self.proposing = _holding(self._names, np.hstack(columns), sizes)

    @property
    def _names(self) -> list[Predicate]:
        return [(wording.feature,) for wording in self.known]

    def holding(self, real: Sequence[str], generated: Sequence[str]) -> Holding:
        """In which other documents they hold."""
        documents = [edges(text) for text in (*real, *generated)]
        columns = [wording.held(documents) for wording in self.known]
        return _holding(self._names, np.hstack([np.zeros((len(documents), 0)), *columns]), (len(real), len(generated)))


def _holding(names: Sequence[Predicate], held: Floats, sizes: tuple[int, int]) -> Holding:
    """Features and in which documents of both texts, one after another, they hold."""
    real, generated = (sparse.csr_matrix(side) for side in np.split(held, [sizes[0]]))
    return Holding(names, real, generated)


def _above(scores: Floats, thresholds: Sequence[float] | Floats, chosen: Sequence[str]) -> Floats:
    """Whether each sentence scores above each threshold, (n, thresholds) of 0 and 1; never without a sentence."""
    some = np.array([bool(sentence) for sentence in chosen])
    return np.asarray((scores[:, None] > np.asarray(thresholds)) & some[:, None], dtype=np.float64)


def _folds(sizes: tuple[int, int], design: Design) -> Ints:
    """The fold of each document of both texts; −1 if it takes no part. Those of a unit are in one fold."""
    folds = [np.full(size, -1) for size in sizes]
    rows = design.rows or (np.arange(sizes[0]), np.arange(sizes[1]))
    for of_side, taken, units in zip(folds, rows, design.unit_numbers, strict=True):
        of_side[taken] = units % FOLDS
    return np.concatenate(folds)


def _learned(chosen: Sequence[str], kind: str, sizes: tuple[int, int], design: Design) -> tuple[Wording, Floats] | None:
    """The wording of one sentence per document that holds clearly more often in one text, and in which, (n, 1)."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    folds, generated = _folds(sizes, design), np.arange(sum(sizes)) >= sizes[0]
    training = [(folds >= 0) & (folds != f) for f in range(FOLDS)]
    counter = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    # every fold needs documents of both texts outside of it
    if any(len(np.unique(generated[rows])) < 2 for rows in training):
        return None
    try:
        x = counter.fit_transform(chosen)
    except ValueError:  # no word recurs
        return None

    def fitted(rows: Bools) -> Floats:
        return np.asarray(LogisticRegression(max_iter=200).fit(x[rows], generated[rows]).coef_[0])

    weights, scores = fitted(folds >= 0), np.zeros(len(chosen))
    for f, rows in enumerate(training):
        scores[folds == f] = x[folds == f] @ fitted(rows)
    candidates: list[tuple[float, Wording, Floats]] = []
    for sign in (1, -1):
        tried = np.quantile(sign * scores[folds >= 0], 1 - np.array(SHARES))
        held = _above(sign * scores, tried, chosen)
        z = sign * z_of(_holding([()] * len(tried), held, sizes), design)
        best = int(z.argmax())
        if z[best] >= CLEAR:
            of_text = [i for i in np.flatnonzero(generated == (sign > 0)).tolist() if chosen[i]]
            nearest = _nearest([chosen[i] for i in of_text], sign * (x[of_text] @ weights))
            wording = Wording(Feature(kind, "\n".join(nearest)), counter, sign * weights, float(tried[best]))
            candidates.append((float(z[best] / held[:, best].mean()), wording, held[:, [best]]))
    # what fewer sentences of one text are like is the mirror of what more are like: the rarer of both says what it is
    return max(candidates, key=lambda row: row[0])[1:] if candidates else None


def _nearest(pieces: Sequence[str], scores: Floats) -> list[str]:
    """The sentences with the largest scores, without those that say about the same."""
    chosen: list[str] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if not any(shared_words(pieces[i], sentence) > ALIKE for sentence in chosen):
            chosen.append(pieces[i])
        if len(chosen) == SHOWN:
            break
    return [clipped(_SPACE.sub("", sentence), LONGEST) for sentence in chosen]
