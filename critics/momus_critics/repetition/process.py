"""The process over new and copied tokens: an alternating renewal process in discrete time, by its hazards.

At each token that continues no copy, one begins with probability h(b), where b is the class of the token's place in its
document: the more has been said, the more can be said again. Its source lies in class c (the same sentence, paragraph,
document) with probability s(c | b). A copy continues with probability g(c, a), where a is the class of the tokens
copied so far; after its end the next token may begin another. All probabilities are relative frequencies in real text,
with half a count added to each outcome.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from momus.critic import Counts
from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.ragged import places_of
from momus.numeric.types import Bools, Floats, Ints
from momus_critics.repetition.copies import NEW, Copies

PLACES, AGES, SOURCES = 24, 12, 3
"""Classes of places and of ages, each twice as wide as the one before, and classes of sources."""


def doubling_class(values: Ints, classes: int) -> Ints:
    """Class of whole numbers from 0: 0, 1–2, 3–6, 7–14 and so on.

    >>> doubling_class(np.array([0, 1, 2, 3, 6, 7]), 10).tolist()
    [0, 1, 1, 2, 2, 3]
    """
    return np.minimum(np.log2(values.astype(np.float64) + 1).astype(np.int64), classes - 1)


class CopyProcess(Estimator):
    """Hazards of beginning and continuing copies, fitted on real text; see the module."""

    def fit(self, copies: Copies) -> Self:
        """Count how often copies begin and go on, and turn counts into hazards."""
        return self.learn(self.count(copies))

    def count(self, copies: Copies) -> Counts:
        """Count how often copies begin, by place and source, and go on or end, by source and age."""
        place, begins, ends, age, source = _events(copies)
        free = copies.ages == 0  # tokens that continue no copy
        by_source = np.zeros((PLACES, SOURCES), dtype=np.int64)
        np.add.at(by_source, (place[begins], source[begins]), 1)
        # a copied token whose document goes on either has a successor in its span or ends it
        goes = (copies.distances > 0) & ~ends & ~_final(copies)
        on, off = np.zeros((SOURCES, AGES), dtype=np.int64), np.zeros((SOURCES, AGES), dtype=np.int64)
        np.add.at(on, (source[goes], age[goes]), 1)
        np.add.at(off, (source[ends], age[ends]), 1)
        return Counts.of(
            chances=np.bincount(place[free], minlength=PLACES),
            taken=np.bincount(place[begins], minlength=PLACES),
            by_source=by_source,
            on=on,
            off=off,
            copied=np.bincount(place[copies.distances > 0], minlength=PLACES),
            total=np.bincount(place, minlength=PLACES),
        )

    def learn(self, counts: Counts) -> Self:
        """Turn counts into probabilities, with half a count added to each outcome."""
        n = counts.array
        # classes of places that real text does not reach take the last one's probabilities
        self.last_ = int(np.flatnonzero(n("chances")).max(initial=0))
        self.begin_ = (n("taken") + 0.5) / (n("chances") + 1.0)
        self.source_ = (n("by_source") + 0.5) / (n("by_source").sum(axis=1, keepdims=True) + 0.5 * SOURCES)
        self.continue_ = (n("on") + 0.5) / (n("on") + n("off") + 1.0)
        self.expected_ = (n("copied") + 0.5) / (n("total") + 1.0)
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        tiny = np.finfo(np.float64).tiny
        for name, shape in (("begin_", (PLACES,)), ("expected_", (PLACES,)), ("continue_", (SOURCES, AGES))):
            state.array(name, shape, low=tiny, high=1 - 1e-16)
        state.probabilities("source_", (PLACES, SOURCES))
        state.array("source_", (PLACES, SOURCES), low=tiny)
        state.integer("last_", high=PLACES - 1)

    def _place(self, copies: Copies) -> Ints:
        """Class of each token's place, at most the last that real text reaches: int64 (N,)."""
        return np.minimum(doubling_class(places_of(copies.offsets), PLACES), self.last_)

    def log_probabilities(self, copies: Copies) -> Floats:
        """log P of each token's state given those before it, in nats: float64 (N,)."""
        _, begins, ends, age, source = _events(copies)
        place = self._place(copies)
        copied = copies.distances > 0
        follows = copies.ages > 0
        h, g = self.begin_[place], self.continue_[source, age]
        # the token before decides whether a span went on or ended: shift its values by one token
        value = np.where(begins, np.log(h) + np.log(self.source_[place, source]), np.log1p(-h))
        value[follows] = 0.0
        value[1:] += np.where(follows[1:], np.log(g[:-1]), 0.0)
        value[1:] += np.where(ends[:-1] & copied[:-1], np.log1p(-g[:-1]), 0.0)
        return value

    def expected(self, copies: Copies) -> Floats:
        """Probability that each token is a copy, by its place: float64 (N,)."""
        return np.asarray(self.expected_[self._place(copies)])


def _events(copies: Copies) -> tuple[Ints, Bools, Bools, Ints, Ints]:
    """Class of place, whether a copy begins, whether one ends before the document does, classes of age and source."""
    copied = copies.distances > 0
    place = doubling_class(places_of(copies.offsets), PLACES)
    begins = copied & (copies.ages == 0)
    ends = np.zeros(len(copied), dtype=bool)
    ends[:-1] = copied[:-1] & (copies.ages[1:] == 0)
    ends &= ~_final(copies)
    source = np.where(copied, copies.states - 1, NEW)
    return place, begins, ends, doubling_class(copies.ages, AGES), source


def _final(copies: Copies) -> Bools:
    """Whether each token is the last one of its document: bool (N,)."""
    final = np.zeros(len(copies.states), dtype=bool)
    final[copies.offsets[1:][np.diff(copies.offsets) > 0] - 1] = True
    return final
