"""Exact and near duplicates among the documents of a corpus, and between two corpora.

Near duplicates have the same runs of three words, up to a Jaccard index of 0.8: copies in which up to about one word in
thirty was changed. Candidates come from MinHash signatures in bands (locality-sensitive hashing; Indyk & Motwani 1998,
Broder 1997), and each candidate pair is then compared exactly. The bands are made in numpy: datasketch keeps Python
objects for each document, and takes about four times as long on 10,000 documents; the tests compare both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Bools, Ints
from momus.text.corpus import Corpus
from momus.text.sketches import HASHES, Sketch, estimates, jaccard, sketch

THRESHOLD = 0.8
BANDS = 16
"""Bands of four hashes: a pair at the threshold is a candidate with probability 1 − (1 − 0.8⁴)¹⁶ = 0.9998, one with a
Jaccard index of 0.1 with probability 0.002."""
LEAST = 10
"""Documents with fewer different shingles are left out: texts as short or as repetitive are alike by chance."""
SLACK = 0.175
"""3.5 standard errors of an estimate from 64 hashes at the threshold; candidates estimated below are not compared."""
EXAMPLES = 5
KEY_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Duplicates:
    """Documents of one corpus that repeat others.

    Attributes
    ----------
    documents
        Number of documents that were compared.
    left_out
        Number of documents with too few different shingles, which were not compared.
    exact, near
        Numbers of documents that repeat another one word for word, or nearly; of each cluster of copies, one document
        is the original and not counted.
    examples
        Ids of a few pairs, exact copies first.
    clusters
        int64 (all documents,): equal numbers for copies of each other; numbered by first appearance.
    """

    documents: int
    left_out: int
    exact: int
    near: int
    examples: Pairs
    clusters: Ints

    @property
    def share(self) -> float:
        """Share of the compared documents that repeat another one."""
        return (self.exact + self.near) / self.documents if self.documents else 0.0


@dataclass(frozen=True)
class Shared:
    """Documents of one corpus that another corpus has, too.

    Attributes
    ----------
    documents
        Numbers of documents of the first and the second corpus that were compared.
    exact
        bool (n,) for each corpus: whether the document is in the other corpus, word for word.
    either
        bool (n,) for each corpus: whether the document is in the other corpus, word for word or nearly.
    examples
        Ids of a few pairs, of the first and the second corpus, exact copies first.
    """

    documents: tuple[int, int]
    exact: tuple[Bools, Bools]
    either: tuple[Bools, Bools]
    examples: Pairs

    @property
    def share(self) -> float:
        """Share of the compared documents of the first corpus that are in the second, too."""
        return float(self.either[0].sum()) / self.documents[0] if self.documents[0] else 0.0


def near_duplicates(corpus: Corpus | Sketch, least: int = LEAST) -> Duplicates:
    """Find the documents of a corpus that repeat others. The result does not depend on the order of the documents.

    Parameters
    ----------
    least
        Fewest different shingles of a document that is compared.

    >>> song = "in the dark the old ship went down and nobody saw it sink but the gulls"
    >>> found = near_duplicates(Corpus.from_texts([song, "another song " + song[7:], song, "no"]))
    >>> found.exact, found.near, found.left_out, found.clusters.tolist()
    (1, 0, 1, [0, 1, 0, 2])
    """
    whole = sketch(corpus) if isinstance(corpus, Corpus) else corpus
    n, compared = len(whole.sizes), whole.sizes >= max(least, 1)
    rows = np.flatnonzero(compared)
    hashes = whole.corpus.hashes
    # one document of each text goes on; originals[i] is that of document i, shape (compared,)
    _, first, inverse = np.unique(hashes[rows], return_index=True, return_inverse=True)
    originals, distinct = rows[first][inverse], rows[first]
    copies = np.column_stack([originals, rows])[originals != rows]
    near = _near(whole, whole, _inner(whole.signatures, distinct))
    clusters = _components(n, np.concatenate([copies, near]))
    repeated = len(rows) - len(np.unique(clusters[rows]))
    examples = _examples(whole.corpus.ids, whole.corpus.ids, copies, near)
    return Duplicates(len(rows), n - len(rows), len(copies), repeated - len(copies), examples, clusters)


def shared_texts(first: Corpus | Sketch, second: Corpus | Sketch, least: int = LEAST) -> Shared:
    """Find the documents that two corpora share; with the corpora exchanged, the two sides of the result are, too.

    >>> song = "in the dark the old ship went down and nobody saw it sink but the gulls"
    >>> a, b = Corpus.from_texts([song, song[9:], "no"]), Corpus.from_texts([song])
    >>> [side.tolist() for side in shared_texts(a, b).either]
    [[True, False, False], [True]]
    """
    one, two = (sketch(c) if isinstance(c, Corpus) else c for c in (first, second))
    hashes = [side.corpus.hashes for side in (one, two)]
    # in the order of their texts: which candidates are compared must not depend on the order of the documents
    orders = [np.argsort(h, kind="stable") for h in hashes]
    rows = [order[side.sizes[order] >= max(least, 1)] for order, side in zip(orders, (one, two), strict=True)]
    common = np.intersect1d(hashes[0][rows[0]], hashes[1][rows[1]])
    exact = tuple(np.isin(h, common) & np.isin(np.arange(len(h)), r) for h, r in zip(hashes, rows, strict=True))
    near = _near(one, two, _across((one.signatures, two.signatures), (rows[0], rows[1]), (exact[0], exact[1])))
    either = exact[0].copy(), exact[1].copy()
    either[0][near[:, 0]], either[1][near[:, 1]] = True, True
    # an exact copy of each of the first documents that have one
    matches = np.flatnonzero(exact[0])[:EXAMPLES]
    copies = np.array([(i, np.flatnonzero(hashes[1] == hashes[0][i])[0]) for i in matches], np.int64).reshape(-1, 2)
    examples = _examples(one.corpus.ids, two.corpus.ids, copies, near)
    return Shared((len(rows[0]), len(rows[1])), (exact[0], exact[1]), either, examples)


def _near(first: Sketch, second: Sketch, pairs: Ints) -> Ints:
    """Keep the pairs with a Jaccard index of at least `THRESHOLD`: int64 (pairs, 2)."""
    pairs = pairs[estimates(first, second, pairs) >= THRESHOLD - SLACK]
    return pairs[jaccard(first, second, pairs) >= THRESHOLD]


def _keys(signatures: NDArray[np.uint32]) -> list[NDArray[np.uint64]]:
    """The four hashes of each band, mixed into one number: 16 arrays (n,)."""
    # chance collisions only add candidates, which are compared exactly
    wide = signatures.astype(np.uint64).reshape(len(signatures), BANDS, HASHES // BANDS)
    return [(wide[:, b] * KEY_FACTORS).sum(axis=1, dtype=np.uint64) for b in range(BANDS)]


def _inner(signatures: NDArray[np.uint32], rows: Ints) -> Ints:
    """Candidate pairs among some documents, int64 (pairs, 2): bounded by twice the documents for each band.

    Of the documents that agree in a band, each is paired with the first and with the one before it. All pairs would be
    quadratic where many documents are alike; pairs of these two kinds connect them to one cluster all the same.
    """
    pairs = [np.zeros((0, 2), np.int64)]
    for key in _keys(signatures[rows]):
        order = np.argsort(key, kind="stable")
        same = key[order][1:] == key[order][:-1]
        # the place at which the run of equal keys begins, for each place from the second, shape (n - 1,)
        places = np.arange(1, len(order))
        begins = np.maximum.accumulate(np.where(same, 0, places)) if len(places) else places
        pairs.append(np.column_stack([order[:-1], order[1:]])[same])
        pairs.append(np.column_stack([order[begins], order[1:]])[same])
    unique = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
    return rows[unique]


def _across(
    signatures: tuple[NDArray[np.uint32], NDArray[np.uint32]], rows: tuple[Ints, Ints], exact: tuple[Bools, Bools]
) -> Ints:
    """Candidate pairs between two corpora, int64 (pairs, 2).

    Each document without an exact copy is paired with the first document of the other corpus that agrees in a band.
    """
    pairs = [np.zeros((0, 2), np.int64)]
    for one, two in zip(_keys(signatures[0][rows[0]]), _keys(signatures[1][rows[1]]), strict=True):
        for a, b, side in ((one, two, 0), (two, one, 1)):
            known, where = np.unique(b, return_index=True)
            if not len(known):
                continue
            place = np.minimum(np.searchsorted(known, a), len(known) - 1)
            hit = (known[place] == a) & ~exact[side][rows[side]]
            found = rows[side][hit], rows[1 - side][where[place[hit]]]
            pairs.append(np.column_stack(found if side == 0 else found[::-1]))
    return np.unique(np.concatenate(pairs), axis=0)


def _components(n: int, pairs: Ints) -> Ints:
    """Number the documents that pairs connect alike, by first appearance: int64 (n,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, labels = connected_components(links, directed=False)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    ranks: Ints = np.argsort(np.argsort(first))[inverse].astype(np.int64)
    return ranks


def _examples(first: Sequence[str], second: Sequence[str], *pairs: Ints) -> Pairs:
    return [(first[i], second[j]) for i, j in np.concatenate(pairs)[:EXAMPLES].tolist()]
