"""Find what a document copies from itself: for each token, how far back it was said before.

An n-gram is a copy if the same n-gram occurs earlier in its document, and its source is the nearest such place. Sorting
numbers equal n-grams alike, so N tokens take O(N log N) time, with vectorised steps only but for the borders of copies.

The process over new and copied tokens: an alternating renewal process in discrete time, by its hazards.

At each token that continues no copy, one begins with probability h(b), where b is the class of the token's place in its
document: the more has been said, the more can be said again. Its source lies in class c (the same sentence, paragraph,
document) with probability s(c | b). A copy continues with probability g(c, a), where a is the class of the tokens
copied so far; after its end the next token may begin another. All probabilities are relative frequencies in real text,
with half a count added to each outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from momus.critic import Counts
from momus.critic.latents import StateSequences
from momus.estimator import Estimator
from momus.numeric.ragged import changes, number_keys, owners_of, places_of
from momus.numeric.types import Bools, Floats, Ints

NEW, SENTENCE, PARAGRAPH, DOCUMENT = range(4)
STATES = ("new", "copy within the sentence", "copy within the paragraph", "copy within the document")


@dataclass(frozen=True)
class Spans:
    """Copied stretches, in the order of the text.

    Attributes
    ----------
    starts, lengths, distances
        int64 (S,): first token, number of tokens, and number of tokens back to the source.
    documents
        int64 (S,): document of each.
    """

    starts: Ints
    lengths: Ints
    distances: Ints
    documents: Ints


@dataclass(frozen=True)
class Copies(StateSequences):
    """States of the tokens (new, or a copy from within the sentence, paragraph or document), and their sources.

    Attributes
    ----------
    distances
        int64 (N,): tokens back to the source, 0 for new tokens.
    ages
        int64 (N,): number of tokens of the same span before this one; 0 for new tokens.
    ids
        int64 (N,): the tokens, as numbers in ``words``.
    words
        The distinct tokens.
    raw, packed
        int64 (n,): bytes of each document's text, plain and compressed by zlib.
    """

    distances: Ints = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    ages: Ints = None  # type: ignore[assignment]
    ids: Ints = None  # type: ignore[assignment]
    words: tuple[str, ...] = ()
    raw: Ints = None  # type: ignore[assignment]
    packed: Ints = None  # type: ignore[assignment]

    @property
    def spans(self) -> Spans:
        """The copied stretches."""
        starts = np.flatnonzero((self.distances > 0) & (self.ages == 0))
        # the last token of a span is the last one before an age does not grow by one
        grows = np.append((self.ages[1:] == self.ages[:-1] + 1) & (self.distances[1:] > 0), False)
        ends = np.flatnonzero((self.distances > 0) & ~grows)
        return Spans(starts, ends - starts + 1, self.distances[starts], self.documents[starts])


def copy_distances(ids: Ints, offsets: Ints, n: int) -> Ints:
    """Distance to the source of each token that a copied n-gram covers, 0 for all others: int64 (N,).

    A copy goes on from its source as long as the text agrees; only then it takes a nearer one.

    >>> text = np.array([5, 1, 2, 3, 9, 1, 2, 3, 7])
    >>> copy_distances(text, np.array([0, 9]), 3).tolist()
    [0, 0, 0, 0, 0, 4, 4, 4, 0]
    """
    count = len(ids) - n + 1
    covered = np.zeros(len(ids), dtype=np.int64)
    if count < 2:
        return covered
    owners = owners_of(offsets)
    base = int(ids.max()) + 1
    # number the n-grams that start at each token, (count,), one token longer each round
    grams = ids
    for k in range(1, n):
        grams = number_keys(grams[: len(ids) - k] * base + ids[k:])[0]
    inside = np.flatnonzero(owners[:count] == owners[n - 1 :])
    if not len(inside):
        return covered
    # a copy has its source in its own document, so equal n-grams of two documents get two keys
    keys = number_keys(owners[inside] * (int(grams.max()) + 1) + grams[inside])[0]
    # in the order of equal keys, then of position, the source of an n-gram is its neighbour on the left
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    distance = np.zeros(count, dtype=np.int64)
    distance[inside[order[1:][same]]] = (inside[order[1:]] - inside[order[:-1]])[same]
    _continue(distance, grams, owners)
    # a token belongs to the first copied n-gram that covers it: later rounds look at n-grams that start earlier
    for lag in range(n):
        np.copyto(covered[lag : lag + count], distance, where=distance > 0)
    return covered


def _continue(distance: Ints, grams: Ints, owners: Ints) -> None:
    """Where the source changes within a copied stretch, keep the old source while the text agrees; in place."""
    changes = np.flatnonzero((distance[1:] != distance[:-1]) & (distance[1:] > 0) & (distance[:-1] > 0)) + 1
    done = 0
    for at in changes.tolist():
        if at < done:
            continue
        back, i = int(distance[at - 1]), at
        while i < len(distance) and distance[i] > 0 and owners[i - back] == owners[i] and grams[i - back] == grams[i]:
            distance[i] = back
            i += 1
        done = i


def copies_of(ids: Ints, offsets: Ints, sentences: Ints, paragraphs: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """States, distances and ages of N tokens, each int64 (N,).

    Parameters
    ----------
    sentences, paragraphs
        int64 (N,): number of the sentence and of the paragraph of each token.
    n
        The smallest number of tokens of a copy.

    >>> ids, whole = np.array([1, 2, 1, 2, 1, 2]), np.zeros(6, dtype=np.int64)
    >>> [a.tolist() for a in copies_of(ids, np.array([0, 6]), whole, whole, 2)]
    [[0, 0, 1, 1, 1, 1], [0, 0, 2, 2, 2, 2], [0, 0, 0, 1, 2, 3]]
    """
    distances = copy_distances(ids, offsets, n)
    here = np.arange(len(ids))
    begins = changes(distances)
    # two documents may meet with equal distances
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    first = np.maximum.accumulate(np.where(begins, here, 0))  # first token of each stretch of equal distance
    copied = distances > 0
    source = first - distances  # of the first token of each stretch, (N,)
    states = np.where(
        sentences[source] == sentences[first],
        SENTENCE,
        np.where(paragraphs[source] == paragraphs[first], PARAGRAPH, DOCUMENT),
    )
    return np.where(copied, states, NEW), distances, np.where(copied, here - first, 0)


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

    def _place(self, copies: Copies) -> Ints:
        """Class of each token's place, at most the last that real text reaches: int64 (N,)."""
        return np.minimum(doubling_class(places_of(copies.offsets), PLACES), self.last_)

    def log_probabilities(self, copies: Copies) -> Floats:
        """log P of each token's state given those before it, in nats: float64 (N,)."""
        _, begins, ends, age, source = _events(copies)
        place = self._place(copies)
        copied = copies.distances > 0
        follows = copies.ages > 0
        h, g = self.begin_[place], self.continue_[source, age]  # (N,) each
        # the token before decides whether a span went on or ended: shift its values by one token
        value = np.where(begins, np.log(h) + np.log(self.source_[place, source]), np.log1p(-h))
        # a token within a copy was decided by the hazard of going on, added below
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
