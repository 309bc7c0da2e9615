"""Find segments in raw sequences of symbols by description length, to initialise an HSMM of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.types import Ints

Segment = tuple[int, ...]


@dataclass(frozen=True)
class Lexicon:
    """The segments that sequences consist of.

    Attributes
    ----------
    delimiter
        The symbol that ends a segment.
    segments
        The S distinct segments, most frequent first.
    sequences
        Each sequence as numbers of its segments, int64 (segments,).
    """

    delimiter: int
    segments: list[Segment]
    sequences: list[Ints]


def cut(symbols: Sequence[int], delimiter: int) -> list[Segment]:
    """Cut a sequence after every delimiter.

    >>> cut([1, 2, 0, 3, 0, 1], 0)
    [(1, 2, 0), (3, 0), (1,)]
    """
    segments, start = [], 0
    for i, c in enumerate(symbols):
        if c == delimiter:
            segments.append(tuple(symbols[start : i + 1]))
            start = i + 1
    return segments + ([tuple(symbols[start:])] if start < len(symbols) else [])


def description_length(sequences: Sequence[Sequence[int]], delimiter: int, alphabet: int) -> float:
    """Nats per symbol to code sequences as independent segments, plus the lexicon, spelled out once."""
    counts: dict[Segment, int] = {}
    symbols = 0
    for s in sequences:
        symbols += len(s)
        for segment in cut(s, delimiter):
            counts[segment] = counts.get(segment, 0) + 1
    n = np.array(list(counts.values()), dtype=float)
    spelled = sum(map(len, counts)) * np.log(alphabet)
    return float((spelled - (n * np.log(n / n.sum())).sum()) / max(symbols, 1))


def find_lexicon(sequences: Sequence[Sequence[int]], alphabet: int, sample: int = 2000) -> Lexicon:
    """Find the delimiter whose segments give the shortest description of the sequences, and number the segments.

    Parameters
    ----------
    sample
        Number of sequences used to choose the delimiter.
    """
    some = sequences[:sample]
    delimiter = min(range(alphabet), key=lambda c: description_length(some, c, alphabet))
    pieces = [cut(s, delimiter) for s in sequences]
    counts: dict[Segment, int] = {}
    for segments in pieces:
        for segment in segments:
            counts[segment] = counts.get(segment, 0) + 1
    ordered = sorted(counts, key=lambda s: (-counts[s], s))
    number = {s: i for i, s in enumerate(ordered)}
    return Lexicon(delimiter, ordered, [np.array([number[s] for s in p], dtype=np.int64) for p in pieces])
