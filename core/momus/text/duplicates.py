"""Exact and near duplicates among the documents of a text, and between two texts.

Near duplicates have the same runs of three words, up to a Jaccard index of 0.8: copies in which up to about one word in
thirty was changed. Candidates come from MinHash signatures in bands (locality-sensitive hashing; Indyk & Motwani 1998,
Broder 1997), and each candidate pair is then compared exactly, for which its documents are read again. The tests
compare the result with that of datasketch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.text.digests import is_among
from momus.text.shingles import jaccard
from momus.text.sketches import TextSketch
from momus.text.tokens import TokenTable, get_tokenizer

THRESHOLD = 0.8
BANDS = 16
"""Bands of four hashes: a pair at the threshold is a candidate with probability 1 − (1 − 0.8⁴)¹⁶ = 0.9998, one with a
Jaccard index of 0.1 with probability 0.002."""
LEAST = 10
"""Documents with fewer different shingles are left out: texts as short or as repetitive are alike by chance."""
SAID = 4
"""Fewest words and symbols of a text whose equal copies count."""
SLACK = 0.175
"""3.5 standard errors of an estimate from 64 hashes at the threshold; candidates estimated below are not compared."""
EXAMPLES = 5
PAIRS = 1 << 14
"""Candidate pairs that are compared at a time: no more documents than twice this are read at once."""

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Duplicates:
    """Documents of one corpus that repeat others.

    Attributes
    ----------
    documents
        Number of documents that were compared.
    exact, near
        Numbers of documents that repeat another one word for word, or nearly; of each cluster of copies, one document
        is the original and not counted.
    examples
        Ids of a few pairs, exact copies first.
    clusters
        int64 (all documents,): equal numbers for copies of each other; numbered by first appearance.
    """

    documents: int
    exact: int
    near: int
    examples: Pairs
    clusters: Ints


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


def near_duplicates(text: Corpus | TextSketch, least: int = LEAST) -> Duplicates:
    """Find the documents of a text that repeat others. The result does not depend on the order of the documents.

    Parameters
    ----------
    least
        Fewest different shingles of a document of which near copies are looked for.

    >>> song = "in the dark the old ship went down and nobody saw it sink but the gulls"
    >>> found = near_duplicates(Corpus.from_texts([song, "another song " + song[7:], song, "no"]))
    >>> found.exact, found.near, found.clusters.tolist()
    (1, 0, [0, 1, 0, 2])
    """
    sketch = _sketch(text)
    n, long = len(sketch), _compared(sketch, least)
    # of short ones, all copies word for word count, but not that many say yes
    said = (sketch.tokens >= SAID) | (sketch.shingles >= max(least, 1))
    rows = sketch.canonical_rows[said[sketch.canonical_rows]]
    # one document of each text goes on; originals[i] is that of document rows[i], shape (compared,)
    _, first, inverse = np.unique(sketch.hashes[rows], return_index=True, return_inverse=True)
    originals, distinct = rows[first][inverse], rows[np.sort(first)]
    copies = np.column_stack([originals, rows])[originals != rows]  # (copies, 2)
    # among one document of each text: exact copies would fill the candidates
    near = _near(sketch, sketch, _inner(sketch, distinct[np.isin(distinct, long)]))
    clusters = _components(n, np.concatenate([copies, near]))
    # documents less clusters: of each cluster, one is the original
    repeated = len(rows) - int(np.count_nonzero(np.bincount(clusters[rows])))
    examples = _examples(sketch, sketch, copies, near)
    return Duplicates(len(rows), len(copies), repeated - len(copies), examples, clusters)


def shared_texts(first: Corpus | TextSketch, second: Corpus | TextSketch, least: int = LEAST) -> Shared:
    """Find the documents that two texts share; with the texts exchanged, the two sides of the result are, too.

    >>> song = "in the dark the old ship went down and nobody saw it sink but the gulls"
    >>> a, b = Corpus.from_texts([song, song[9:], "no"]), Corpus.from_texts([song])
    >>> [side.tolist() for side in shared_texts(a, b).either]
    [[True, False, False], [True]]
    """
    sides = _sketch(first), _sketch(second)
    # in canonical order: which candidates are compared must not depend on the order of the documents
    rows = _compared(sides[0], least), _compared(sides[1], least)
    hashes = [side.hashes[r] for side, r in zip(sides, rows, strict=True)]
    known = is_among(hashes[0], hashes[1]), is_among(hashes[1], hashes[0])
    exact = _mask(len(sides[0]), rows[0][known[0]]), _mask(len(sides[1]), rows[1][known[1]])
    # documents with an exact copy need no other
    near = _near(*sides, _across(sides, rows, (np.flatnonzero(~known[0]), np.flatnonzero(~known[1]))))
    either = exact[0].copy(), exact[1].copy()
    either[0][near[:, 0]], either[1][near[:, 1]] = True, True
    # a few documents of the first text with an exact copy in the second, each with the first of its copies
    copies = [(rows[0][i], rows[1][np.argmax(hashes[1] == hashes[0][i])]) for i in np.flatnonzero(known[0])[:EXAMPLES]]
    examples = _examples(*sides, np.array(copies, np.int64).reshape(-1, 2), near)
    return Shared((len(rows[0]), len(rows[1])), exact, either, examples)


def _sketch(text: Corpus | TextSketch) -> TextSketch:
    return TextSketch.of(text, sample=0) if isinstance(text, Corpus) else text


def _compared(sketch: TextSketch, least: int) -> Ints:
    """Rows of the documents with enough different shingles, in canonical order."""
    return sketch.canonical_rows[sketch.shingles[sketch.canonical_rows] >= max(least, 1)]


def _mask(n: int, rows: Ints) -> Bools:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def _near(first: TextSketch, second: TextSketch, pairs: Ints) -> Ints:
    """Keep the pairs with a Jaccard index of at least `THRESHOLD`: int64 (pairs, 2)."""
    # estimates are cheap, and spare reading most candidates again
    likely = pairs[estimates(first, second, pairs) >= THRESHOLD - SLACK]
    indices = [np.zeros(0)]
    for start, stop in pairwise([*range(0, len(likely), PAIRS), len(likely)]):
        chunk = likely[start:stop]
        if first is second:
            table, places = _reread(first, chunk.ravel())
            indices.append(jaccard(table, table, places.reshape(-1, 2)))
        else:
            sides = _reread(first, chunk[:, 0]), _reread(second, chunk[:, 1])
            indices.append(jaccard(sides[0][0], sides[1][0], np.column_stack([sides[0][1], sides[1][1]])))
    return likely[np.concatenate(indices) >= THRESHOLD]


def _reread(sketch: TextSketch, rows: Ints) -> tuple[TokenTable, Ints]:
    """The tokens of the different documents among these, and the place of each row there."""
    different, places = np.unique(rows, return_inverse=True)
    return sketch.documents(different).tokens(get_tokenizer("words")), places


def estimates(first: TextSketch, second: TextSketch, pairs: Ints) -> Floats:
    """Estimate the Jaccard index of each pair by the share of equal numbers of the signatures: float64 (P,)."""
    result = np.zeros(len(pairs))
    for start in range(0, len(pairs), PAIRS):
        chunk = pairs[start : start + PAIRS]
        equal: Bools = first.signatures[chunk[:, 0]] == second.signatures[chunk[:, 1]]
        result[start : start + len(chunk)] = equal.mean(axis=1)
    return result


def _keys(sketch: TextSketch, rows: Ints, band: int) -> NDArray[np.uint64]:
    """The four hashes of a band of some documents, side by side in one number: uint64 (rows,)."""
    keys: NDArray[np.uint64] = sketch.signatures.view(np.uint64)[rows, band]
    return keys


def _inner(sketch: TextSketch, rows: Ints) -> Ints:
    """Candidate pairs among some documents, int64 (pairs, 2): bounded by twice the documents for each band.

    Of the documents that agree in a band, each is paired with the first and with the one before it. All pairs would be
    quadratic where many documents are alike; pairs of these two kinds connect them to one cluster all the same.
    """
    pairs = [np.zeros((0, 2), np.int64)]
    for band in range(BANDS):
        keys = _keys(sketch, rows, band)
        # only the few documents that agree with another are put in order, shape (agreeing,)
        ordered = np.sort(keys)
        agreeing = np.flatnonzero(is_among(keys, ordered[1:][ordered[1:] == ordered[:-1]]))
        order = agreeing[np.argsort(keys[agreeing], kind="stable")]
        same = keys[order][1:] == keys[order][:-1]
        # the place at which the run of equal keys begins, for each place from the second, shape (agreeing - 1,)
        places = np.arange(1, len(order))
        begins = np.maximum.accumulate(np.where(same, 0, places)) if len(places) else places
        pairs.append(np.column_stack([order[:-1], order[1:]])[same])
        pairs.append(np.column_stack([order[begins], order[1:]])[same])
    return rows[_different(np.sort(np.concatenate(pairs), axis=1))]


def _across(sides: tuple[TextSketch, TextSketch], rows: tuple[Ints, Ints], single: tuple[Ints, Ints]) -> Ints:
    """Candidate pairs between two texts, int64 (pairs, 2).

    Each document without an exact copy is paired with the first document of the other text that agrees in a band.

    Parameters
    ----------
    rows
        Row numbers of the documents that are compared, of either text.
    single
        Places in ``rows`` of the documents without an exact copy.
    """
    pairs = [np.zeros((0, 2), np.int64)]
    for band in range(BANDS):
        keys = [_keys(side, r, band) for side, r in zip(sides, rows, strict=True)]
        hits = [is_among(keys[0], keys[1]), np.zeros(0, dtype=bool)]
        hits[1] = is_among(keys[1], keys[0][hits[0]])
        # the keys that both sides have, and the first place of each on either side, shape (common,)
        common, first = np.unique(keys[0][hits[0]], return_index=True)
        firsts = (
            np.flatnonzero(hits[0])[first],
            np.flatnonzero(hits[1])[np.unique(keys[1][hits[1]], return_index=True)[1]],
        )
        for side in (0, 1):
            matches = single[side][hits[side][single[side]]]
            others = firsts[1 - side][np.searchsorted(common, keys[side][matches])]
            pairs.append(np.column_stack((matches, others) if side == 0 else (others, matches)))
    places = _different(np.concatenate(pairs))
    return np.column_stack([rows[0][places[:, 0]], rows[1][places[:, 1]]])


def _different(pairs: Ints) -> Ints:
    """The different pairs, ascending: int64 (P, 2)."""
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]  # by first, then by second
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[new]


def _components(n: int, pairs: Ints) -> Ints:
    """Number the documents that pairs connect alike, by first appearance: int64 (n,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, labels = connected_components(links, directed=False)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    # argsort twice gives ranks: labels in the order in which they first occur
    ranks: Ints = np.argsort(np.argsort(first))[inverse].astype(np.int64)
    return ranks


def _examples(first: TextSketch, second: TextSketch, *pairs: Ints) -> Pairs:
    rows = np.concatenate(pairs)[:EXAMPLES]
    return list(zip(first.ids(rows[:, 0]), second.ids(rows[:, 1]), strict=True))
