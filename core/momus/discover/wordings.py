"""Wordings: sentences that a classifier of their words tells apart, where no single phrase does.

An offer of help can be worded in many ways, each in hardly any document. A logistic regression on the words and pairs
of words of first, last or all sentences learns which of them are more like one text than the other; a document has the
wording if one of its sentences scores above a threshold. On the half that proposes, documents are scored by classifiers
that were fitted without their unit, so that thresholds and z are not those of what was learned by heart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from momus.discover.features import Feature, sentences, shared_words
from momus.discover.proposing import CLEAR, Holding, Predicate, z_of
from momus.inference.design import Design
from momus.numeric.types import Bools, Floats, Ints
from momus.text.counting import clipped

PLACES = {"opens like": slice(0, 1), "ends like": slice(-1, None), "says like": slice(None)}
"""The sentences of a document that are looked at, by the kind of feature."""
FOLDS = 5
SHARES = (0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03)
"""Shares of the documents above the thresholds that are tried."""
SHOWN, LONGEST = 2, 80
"""Sentences that describe a wording, and characters of each."""
ALIKE = 0.5
"""Shared words ÷ all words of two sentences, of which one describes enough."""
_SPACE = re.compile(r" (?=[.,;:!?…)\]”’])")


@dataclass(frozen=True)
class Wording:
    """What sentences of one text are like: those of score w · x > ``least``, for their TF-IDF x."""

    feature: Feature
    counter: Any
    weights: Floats
    least: float

    @property
    def sentences(self) -> list[str]:
        """Those that describe it."""
        return self.feature.item.split("\n")

    def held(self, documents: Sequence[Sequence[str]]) -> Floats:
        """Whether each document has a sentence like these: (n, 1) of 0 and 1."""
        pieces, owners = _pieces(documents, self.feature.kind)
        scores = self.counter.transform(pieces) @ self.weights if pieces else np.zeros(0)
        return np.asarray(_largest(scores, owners, len(documents)) > self.least, dtype=np.float64)[:, None]


class Wordings:
    """The wordings that tell the proposing halves of two texts apart, at most one of each place.

    Attributes
    ----------
    proposing
        In which documents of these they hold, by classifiers of the others.
    """

    def __init__(self, real: Sequence[str], generated: Sequence[str], design: Design) -> None:
        documents, sizes = [sentences(text) for text in (*real, *generated)], (len(real), len(generated))
        self.known: list[Wording] = []
        columns = [np.zeros((len(documents), 0))]
        for kind in PLACES:
            learned = _learned(documents, kind, sizes, design)
            described = {sentence for wording in self.known for sentence in wording.sentences}
            # sentences that stand first or last are told so
            if learned and not described & set(learned[0].sentences):
                self.known.append(learned[0])
                columns.append(learned[1])
        self.proposing = self._holding(np.hstack(columns), sizes)

    def holding(self, real: Sequence[str], generated: Sequence[str]) -> Holding:
        """In which other documents they hold."""
        documents = [sentences(text) for text in (*real, *generated)]
        columns = [wording.held(documents) for wording in self.known]
        return self._holding(np.hstack([np.zeros((len(documents), 0)), *columns]), (len(real), len(generated)))

    def _holding(self, held: Floats, sizes: tuple[int, int]) -> Holding:
        return _holding([(wording.feature,) for wording in self.known], held, sizes)


def _holding(names: Sequence[Predicate], held: Floats, sizes: tuple[int, int]) -> Holding:
    """Features and in which documents of both texts, one after another, they hold."""
    real, generated = (sparse.csr_matrix(side) for side in np.split(held, [sizes[0]]))
    return Holding(names, real, generated)


def _pieces(documents: Sequence[Sequence[str]], kind: str) -> tuple[list[str], Ints]:
    """The sentences that are looked at, and the document of each."""
    chosen = [document[PLACES[kind]] for document in documents]
    return [s for some in chosen for s in some], np.repeat(np.arange(len(chosen)), [len(some) for some in chosen])


def _largest(scores: Floats, owners: Ints, n: int) -> Floats:
    """The largest score of the sentences of each document, (n,); −∞ without one."""
    largest = np.full(n, -np.inf)
    np.maximum.at(largest, owners, scores)
    return largest


def _folds(sizes: tuple[int, int], design: Design) -> Ints:
    """The fold of each document of both texts; −1 if it takes no part. Those of a unit are in one fold."""
    folds = [np.full(size, -1) for size in sizes]
    rows = design.rows or (np.arange(sizes[0]), np.arange(sizes[1]))
    for of_side, taken, units in zip(folds, rows, design.unit_numbers, strict=True):
        of_side[taken] = units % FOLDS
    return np.concatenate(folds)


def _learned(
    documents: Sequence[Sequence[str]], kind: str, sizes: tuple[int, int], design: Design
) -> tuple[Wording, Floats] | None:
    """The wording of one place that holds clearly more often in one text, and which documents have it, (n, 1)."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    pieces, owners = _pieces(documents, kind)
    folds, generated = _folds(sizes, design)[owners], owners >= sizes[0]
    training = [(folds >= 0) & (folds != f) for f in range(FOLDS)]
    counter = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    # every fold needs sentences of both texts outside of it
    if any(len(np.unique(generated[rows])) < 2 for rows in training):
        return None
    try:
        x = counter.fit_transform(pieces)
    except ValueError:  # no word recurs
        return None

    def fitted(rows: Bools) -> Floats:
        return np.asarray(LogisticRegression(max_iter=200).fit(x[rows], generated[rows]).coef_[0])

    weights, scores = fitted(folds >= 0), np.zeros(len(pieces))
    for f, rows in enumerate(training):
        scores[folds == f] = x[folds == f] @ fitted(rows)
    candidates: list[tuple[float, Wording, Floats]] = []
    for sign in (1, -1):
        largest = _largest(sign * scores, owners, len(documents))
        tried = np.quantile(largest[np.isfinite(largest)], 1 - np.array(SHARES))
        held = (largest[:, None] > tried).astype(np.float64)  # (documents, thresholds)
        z = sign * z_of(_holding([()] * len(tried), held, sizes), design)
        best = int(z.argmax())
        if z[best] >= CLEAR:
            own = np.flatnonzero(generated == (sign > 0))
            nearest = _nearest([pieces[i] for i in own], sign * (x[own] @ weights))
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
