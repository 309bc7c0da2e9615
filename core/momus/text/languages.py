"""Languages of a corpus, identified from a sample of its documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from momus.text.corpus import Corpus

SAMPLE = 200
SHORTEST, LONGEST = 200, 2000
"""Characters that a document needs to be identified, and those of it that are read."""
MORE = 0.1
"""Two corpora differ in language if their shares of one language differ by more than this, and by more than chance."""


@dataclass(frozen=True)
class Languages:
    """Shares of languages (ISO 639-1 codes) among the sampled documents, the most frequent first.

    Attributes
    ----------
    documents
        Number of documents in the sample: at most 200, each of 200 characters or more.
    """

    corpus: str
    shares: Sequence[tuple[str, float]]
    documents: int

    @property
    def main(self) -> str:
        """The most frequent language; empty if no document is long enough."""
        return self.shares[0][0] if self.shares else ""

    def share(self, code: str) -> float:
        """Share of one language."""
        return dict(self.shares).get(code, 0.0)

    def differs(self, other: Languages) -> bool:
        """Whether the shares of the other corpus's main language differ by more than `MORE` and two standard errors."""
        if not (self.documents and other.documents):
            return False
        p, q = self.share(other.main), other.share(other.main)
        error = np.sqrt(p * (1 - p) / self.documents + q * (1 - q) / other.documents)
        return bool(abs(p - q) > MORE + 2 * error)


def languages_of(corpus: Corpus) -> Languages:
    """Identify the languages of a sample of documents, which depends on their texts and not on their order.

    Identification is naive Bayes over byte n-grams (Lui & Baldwin 2012); documents of code or names are often assigned
    to a language at random.

    >>> stories = ["The rain had stopped by the time they reached the house on the hill. " * 4] * 3
    >>> languages_of(Corpus.from_texts(stories)).main
    'en'
    """
    long = np.flatnonzero(corpus.characters >= SHORTEST)
    # documents with the smallest hashes: the same sample in any order
    chosen = long[np.argsort(corpus.hashes[long], kind="stable")[:SAMPLE]]
    if not len(chosen):
        return Languages(corpus.name, (), 0)
    identify = _identifier()
    counts = Counter(str(identify(corpus[int(i)].text[:LONGEST])[0]) for i in chosen)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Languages(corpus.name, tuple((code, n / len(chosen)) for code, n in ranked), len(chosen))


@cache
def _identifier() -> Any:
    """The identifier, whose model takes a second to load."""
    import py3langid

    return py3langid.classify
