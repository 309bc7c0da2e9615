"""Word shingles of documents, their MinHash signatures, and the exact Jaccard index of pairs of documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import kept_offsets, offsets_of, owners_of, ranges_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.text.tokens import TokenTable, get_tokenizer

SHINGLE = 3
"""Words per shingle. Single words compare topics and not wording; with five, one changed word in fourteen brings the
Jaccard index of two documents below ½."""
HASHES = 64
CHUNK_TOKENS = 1 << 20
"""Tokens whose shingles are held at a time: 8 MB per array."""
MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
WEIGHTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Shingles:
    """The different shingles of some documents.

    Attributes
    ----------
    values
        uint64 (N,): 64-bit hashes, ascending within each document.
    offsets
        int64 (documents + 1,): offset in ``values`` at which each document starts.
    """

    values: Hashes
    offsets: Ints


@dataclass(frozen=True)
class Sketch:
    """A corpus with what the search for duplicates needs.

    Attributes
    ----------
    corpus
        The documents.
    signatures
        uint32 (documents, 64): smallest value of each of 64 hash functions over the shingles of a document.
    sizes
        int64 (documents,): number of different shingles.
    """

    corpus: Corpus
    signatures: NDArray[np.uint32]
    sizes: Ints


def sketch(corpus: Corpus) -> Sketch:
    """Compute the MinHash signatures (Broder 1997) of all documents.

    Two documents agree in each of the 64 numbers with a probability that is the Jaccard index of their shingles.

    >>> made = sketch(Corpus.from_texts(["To be, or not to be.", "Or not to be, to be?"]))
    >>> made.signatures.shape, made.sizes.tolist()
    ((2, 64), [6, 6])
    """
    table = corpus.tokens(get_tokenizer("words"))
    rng = np.random.default_rng(20)
    # multiply-shift hashing (Dietzfelbinger et al. 1997): an odd factor and a summand per function, shape (64,)
    factors = rng.integers(0, 1 << 63, HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    summands = rng.integers(0, 1 << 63, HASHES, dtype=np.uint64)
    signatures = np.full((len(corpus), HASHES), np.iinfo(np.uint32).max, dtype=np.uint32)
    sizes = np.zeros(len(corpus), dtype=np.int64)
    for start, stop in _batches(table):
        shingles = shingles_of(table.slice(start, stop))
        sizes[start:stop] = np.diff(shingles.offsets)
        filled = np.flatnonzero(sizes[start:stop])
        if len(filled):
            begins = shingles.offsets[filled]
            for k in range(HASHES):
                hashed = ((shingles.values * factors[k] + summands[k]) >> np.uint64(32)).astype(np.uint32)
                signatures[start + filled, k] = np.minimum.reduceat(hashed, begins)
    return Sketch(corpus, signatures, sizes)


def shingles_of(table: TokenTable) -> Shingles:
    """Hash the runs of three words of each document; a document of one or two words is one shingle."""
    offsets = table.offsets
    lengths = np.diff(offsets)
    counts = np.where(lengths > 0, np.maximum(lengths - SHINGLE + 1, 1), 0)
    words = _word_hashes(table)
    starts = ranges_of(offsets[:-1], counts)  # first token of each shingle, (shingles,)
    ends = np.repeat(offsets[1:], counts)  # the end of its document
    values = np.zeros(len(starts), dtype=np.uint64)
    for k, weight in enumerate(WEIGHTS):
        at = starts + k
        values += words[np.where(at < ends, at, len(table.ids))] * weight
    # the finaliser of SplitMix64 spreads neighbouring sums over all 64 bits
    values = (values ^ (values >> np.uint64(30))) * MIX[0]
    values = (values ^ (values >> np.uint64(27))) * MIX[1]
    values ^= values >> np.uint64(31)
    owners = np.repeat(np.arange(len(lengths)), counts)
    order = np.lexsort((values, owners))
    values = values[order]
    new = np.ones(len(values), dtype=bool)
    new[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
    return Shingles(values[new], kept_offsets(new, offsets_of(counts)))


def jaccard(first: Sketch, second: Sketch, pairs: Ints) -> Floats:
    """Jaccard index of the shingles of each pair: float64 (P,).

    Parameters
    ----------
    pairs
        int64 (P, 2): a row number of ``first`` and one of ``second``; each has a shingle.
    """
    result = np.zeros(len(pairs))
    sizes = first.sizes[pairs[:, 0]] + second.sizes[pairs[:, 1]]
    # chunks of pairs that have about CHUNK_TOKENS shingles together
    edges = np.unique(np.cumsum(sizes) // CHUNK_TOKENS, return_index=True)[1]
    for start, stop in pairwise([*edges.tolist(), len(pairs)]):
        chunk = pairs[start:stop]
        sides = [_rows(first, chunk[:, 0]), _rows(second, chunk[:, 1])]
        values = np.concatenate([s.values for s in sides])
        owners = np.concatenate([owners_of(s.offsets) for s in sides])
        order = np.lexsort((values, owners))
        # a shingle that both sides have occurs twice in its pair, side by side
        twice = (values[order][1:] == values[order][:-1]) & (owners[order][1:] == owners[order][:-1])
        common = np.bincount(owners[order][1:][twice], minlength=len(chunk))
        result[start:stop] = common / (sizes[start:stop] - common)
    return result


def estimates(first: Sketch, second: Sketch, pairs: Ints) -> Floats:
    """Estimate the Jaccard index of each pair by the share of equal numbers of the signatures: float64 (P,)."""
    result = np.zeros(len(pairs))
    for start in range(0, len(pairs), 1 << 14):
        chunk = pairs[start : start + (1 << 14)]
        equal: Bools = first.signatures[chunk[:, 0]] == second.signatures[chunk[:, 1]]
        result[start : start + len(chunk)] = equal.mean(axis=1)
    return result


def _rows(side: Sketch, rows: Ints) -> Shingles:
    """Shingles of some documents, computed again: holding them for all documents would take the memory of the text."""
    unique, inverse = np.unique(rows, return_inverse=True)
    shingles = shingles_of(side.corpus.tokens(get_tokenizer("words")).take(unique))
    lengths = np.diff(shingles.offsets)[inverse]
    return Shingles(shingles.values[ranges_of(shingles.offsets[inverse], lengths)], offsets_of(lengths))


def _batches(table: TokenTable) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive documents with about `CHUNK_TOKENS` tokens."""
    numbers = table.offsets[:-1] // CHUNK_TOKENS
    yield from pairwise([*np.flatnonzero(np.diff(numbers, prepend=-1)).tolist(), len(table)])


def _word_hashes(table: TokenTable) -> Hashes:
    """A 64-bit hash of each token's word, the same in all corpora, and 0 for no word at the end: uint64 (N + 1,)."""
    used, inverse = np.unique(table.ids, return_inverse=True)
    digests = b"".join(
        hashlib.blake2b(table.vocabulary[i].encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for i in used.tolist()
    )
    hashes = np.frombuffer(digests, dtype="<u8").astype(np.uint64)[inverse]
    return np.append(hashes, np.uint64(0))
