"""Find what a document copies from itself: for each token, how far back it was said before.

An n-gram is a copy if the same n-gram occurs earlier in its document, and its source is the nearest such place. Sorting
numbers equal n-grams alike, so N tokens take O(N log N) time, with vectorised steps only but for the borders of copies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.critic.latents import StateSequences
from momus.numeric.ragged import number_keys, offsets_of, owners_of
from momus.numeric.types import Bools, Ints

NEW, SENTENCE, PARAGRAPH, DOCUMENT = range(4)
STATES = ("new", "copy within the sentence", "copy within the paragraph", "copy within the document")
ROUNDS = 2.5
"""A loop says the same at least so many times in a row: the last round is often cut short."""


@dataclass(frozen=True)
class Spans:
    """Copied stretches, in the order of the text.

    Attributes
    ----------
    starts, lengths, distances
        int64 (S,): first token, number of tokens, and number of tokens back to the source.
    documents
        int64 (S,): document of each.
    wordless
        bool (S,): whether the span consists of symbols alone, such as a ruled line.
    """

    starts: Ints
    lengths: Ints
    distances: Ints
    documents: Ints
    wordless: Bools

    @property
    def loops(self) -> Bools:
        """Whether words are said at least `ROUNDS` times in a row, the source counted: bool (S,)."""
        return (self.lengths >= (ROUNDS - 1) * self.distances) & ~self.wordless


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
        alphabetic = np.fromiter((w[:1].isalnum() for w in self.words), bool, len(self.words))
        heard = offsets_of(alphabetic[self.ids])  # number of words before each token
        wordless = heard[ends + 1] == heard[starts]
        return Spans(starts, ends - starts + 1, self.distances[starts], self.documents[starts], wordless)


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
    begins = np.ones(len(ids), dtype=bool)
    begins[1:] = distances[1:] != distances[:-1]
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    first = np.maximum.accumulate(np.where(begins, here, 0))  # first token of each stretch of equal distance
    copied = distances > 0
    source = first - distances
    states = np.where(
        sentences[source] == sentences[first],
        SENTENCE,
        np.where(paragraphs[source] == paragraphs[first], PARAGRAPH, DOCUMENT),
    )
    return np.where(copied, states, NEW), distances, np.where(copied, here - first, 0)
