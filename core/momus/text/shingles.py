"""Word shingles of documents, their MinHash signatures, and the exact Jaccard index of pairs of documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from momus.numeric.draws import mixed
from momus.numeric.ragged import group_sums, kept_offsets, offsets_of, owners_of, places_of, ranges_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.tokens import TokenTable

SHINGLE = 3
"""Words per shingle. Single words compare topics and not wording; with five, one changed word in fourteen brings the
Jaccard index of two documents below ½."""
HASHES = 64
BATCH_TOKENS = 1 << 16
"""Tokens whose shingles are hashed at a time: the arrays stay in the processor's cache."""
PAIR_TOKENS = 1 << 20
"""Tokens of the pairs of documents that are compared at a time: 8 MB per array."""
OWNER_BITS, VALUE_BITS = np.uint64(20), np.uint64(44)
WEIGHTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))

Hashes = NDArray[np.uint64]
Signatures = NDArray[np.uint16]


@dataclass(frozen=True)
class Shingles:
    """The shingles of some documents, in the order of their words.

    Attributes
    ----------
    values
        uint64 (N,): 64-bit hashes, equal for equal words in any text.
    offsets
        int64 (documents + 1,): offset in ``values`` at which each document starts.
    """

    values: Hashes
    offsets: Ints


def min_hashes(table: TokenTable) -> tuple[Signatures, Ints]:
    """Compute the MinHash signatures (Broder 1997) of documents.

    Two documents agree in each of the 64 numbers with a probability that is the Jaccard index of their shingles (and
    otherwise with one of 2⁻¹⁶).

    Returns
    -------
    uint16 (documents, 64), the low half of the smallest value of each of 64 hash functions over a document's shingles;
    int64 (documents,), the number of different shingles.

    >>> from momus.text.corpus import Corpus
    >>> from momus.text.tokens import get_tokenizer
    >>> corpus = Corpus.from_texts(["To be, or not to be.", "Or not to be, to be?"])
    >>> signatures, sizes = min_hashes(corpus.tokens(get_tokenizer("words")))
    >>> signatures.shape, sizes.tolist()
    ((2, 64), [6, 6])
    """
    signatures = np.empty((len(table), HASHES), dtype=np.uint16)
    sizes = np.zeros(len(table), dtype=np.int64)
    words = word_hashes(table)
    for start, stop in batches(table):
        shingles = shingles_of(table.slice(start, stop), words)
        signatures[start:stop] = signatures_of(shingles)
        sizes[start:stop] = distinct_counts(shingles.values, shingles.offsets)
    return signatures, sizes


def signatures_of(shingles: Shingles) -> Signatures:
    """Low half of the smallest value of each of 64 hash functions over the shingles: uint16 (documents, 64)."""
    rng = np.random.default_rng(20)
    # h_k(x) = a_k x + b_k mod 2³² with odd a_k permutes the 32-bit numbers; factors and summands have shape (64,)
    factors = rng.integers(0, 1 << 31, HASHES, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    summands = rng.integers(0, 1 << 32, HASHES, dtype=np.uint32)
    signatures = np.full((len(shingles.offsets) - 1, HASHES), np.iinfo(np.uint16).max, dtype=np.uint16)
    filled = np.flatnonzero(np.diff(shingles.offsets))
    # 32 bits suffice for minima, and halve the work of 64 passes
    values = (shingles.values >> np.uint64(32)).astype(np.uint32)
    hashed = np.empty_like(values)  # one buffer for all functions
    for k in range(HASHES if len(filled) else 0):
        np.multiply(values, factors[k], out=hashed)
        np.add(hashed, summands[k], out=hashed)
        # the cast keeps the low 16 bits: the high ones of a minimum are nearly always 0
        signatures[filled, k] = np.minimum.reduceat(hashed, shingles.offsets[filled]).astype(np.uint16)
    return signatures


def type_counts(table: TokenTable) -> Ints:
    """Number of different words of each document: int64 (documents,)."""
    counts = np.zeros(len(table), dtype=np.int64)
    for start, stop in batches(table):
        chunk = table.slice(start, stop)
        counts[start:stop] = distinct_counts(chunk.ids.astype(np.uint64) << np.uint64(32), chunk.offsets)
    return counts


def word_hashes(table: TokenTable) -> Hashes:
    """A 64-bit hash of each word of the vocabulary, the same in all texts: uint64 (V,).

    Multilinear hashing (Lemire & Kaser 2014): Σ a_j (b_j + 1) mod 2⁶⁴ over the bytes b_j of a word, with a factor a_j
    for each place j; the finaliser of SplitMix64 spreads the sum over all bits.
    """
    words = pa.array(table.vocabulary, pa.large_binary())
    offsets = np.frombuffer(words.buffers()[1], np.int64, len(words) + 1)
    text = np.frombuffer(words.buffers()[2] or b"", np.uint8, offsets[-1])
    factors = mixed((np.arange(1, np.diff(offsets).max(initial=0) + 1, dtype=np.uint64)) * WEIGHTS[0])
    hashes: Hashes = mixed(np.asarray(group_sums(factors[places_of(offsets)] * (text + np.uint64(1)), offsets)))
    return hashes


def shingles_of(table: TokenTable, words: Hashes) -> Shingles:
    """Hash the runs of three words of each document; a document of one or two words is one shingle.

    Parameters
    ----------
    words
        uint64 (V,): hash of each word of the vocabulary (`word_hashes`).
    """
    offsets = table.offsets
    lengths = np.diff(offsets)
    counts = np.where(lengths > 0, np.maximum(lengths - SHINGLE + 1, 1), 0)  # shingles of each document
    starts = ranges_of(offsets[:-1], counts)  # first token of each shingle, (shingles,)
    ends = np.repeat(offsets[1:], counts)  # the end of its document
    tokens = np.append(words[table.ids], np.uint64(0))  # with 0 for no word
    values = tokens[starts] * WEIGHTS[0]
    for k in range(1, SHINGLE):
        values += tokens[np.where(starts + k < ends, starts + k, len(table.ids))] * WEIGHTS[k]
    return Shingles(mixed(values), offsets_of(counts))


def distinct_counts(values: Hashes, offsets: Ints) -> Ints:
    """Number of different values of each document, by their first 44 bits: int64 (documents,)."""
    keys = _sorted_keys(values, offsets)
    return np.asarray(group_sums(_is_new(keys).astype(np.int64), offsets))


def jaccard(first: TokenTable, second: TokenTable, pairs: Ints) -> Floats:
    """Jaccard index of the shingles of each pair of documents: float64 (P,).

    Parameters
    ----------
    pairs
        int64 (P, 2): a row number of ``first`` and one of ``second``; each has a shingle.
    """
    result = np.zeros(len(pairs))
    hashes = word_hashes(first), word_hashes(second)
    sizes = first.lengths[pairs[:, 0]] + second.lengths[pairs[:, 1]]  # tokens of each pair
    edges = np.unique(np.cumsum(sizes) // PAIR_TOKENS, return_index=True)[1]  # first pair of each batch
    for start, stop in pairwise([*edges.tolist(), len(pairs)]):
        sides = [
            _distinct(shingles_of(table.take(pairs[start:stop, k]), words))
            for k, (table, words) in enumerate(zip((first, second), hashes, strict=True))
        ]
        owners = np.concatenate([owners_of(s.offsets) for s in sides])
        keys = np.sort(_keys(np.concatenate([s.values for s in sides]), owners))
        # a shingle that both sides have occurs twice in its pair, side by side
        twice = (keys[~_is_new(keys)] >> VALUE_BITS).astype(np.int64)
        common = np.bincount(twice, minlength=stop - start)  # |A ∩ B|, then |A| + |B| − |A ∩ B|
        result[start:stop] = common / (sum(np.diff(s.offsets) for s in sides) - common)
    return result


def batches(table: TokenTable) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive documents with about `BATCH_TOKENS` tokens, and no more documents."""
    numbers = table.offsets[:-1] // BATCH_TOKENS + np.arange(len(table)) // BATCH_TOKENS
    yield from pairwise([*np.flatnonzero(np.diff(numbers, prepend=-1)).tolist(), len(table)])


def _distinct(shingles: Shingles) -> Shingles:
    """The different shingles of each document, ascending."""
    keys = _sorted_keys(shingles.values, shingles.offsets)
    new = _is_new(keys)
    # back to hashes, of which the last 20 bits are lost
    return Shingles(keys[new] << OWNER_BITS, kept_offsets(new, shingles.offsets))


def _sorted_keys(values: Hashes, offsets: Ints) -> Hashes:
    return np.sort(_keys(values, owners_of(offsets)))


def _keys(values: Hashes, owners: Ints) -> Hashes:
    """The document in the high 20 bits and the beginning of the value in the low 44: one sort serves for both."""
    return (owners.astype(np.uint64) << VALUE_BITS) | (values >> OWNER_BITS)


def _is_new(keys: Hashes) -> Bools:
    """Whether each of the sorted keys differs from the one before it."""
    return np.append(np.ones(min(len(keys), 1), dtype=bool), keys[1:] != keys[:-1])
