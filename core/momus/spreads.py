"""The spread of a number that a whole running text has: by leaving pieces of the text out, or taking half of them.

A block bootstrap would draw blocks twice, and a text with doubled blocks has too few types: growth, rank and burst
curves all bend. Leaving contiguous groups of text out bends nothing (Quenouille 1956; Miller 1974).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.streams import Stream


@dataclass(frozen=True)
class Jackknifed:
    """A value with its delete-one-group jackknife standard error and degrees of freedom."""

    value: float
    error: float
    groups: int


def jackknife(function: Callable[[Stream], float], stream: Stream, groups: int, align: int = 1) -> Jackknifed:
    """Leave out one of ``groups`` contiguous pieces at a time, cut between documents, or at multiples of ``align``.

    The variance is (g − 1)/g Σ (θ_i − θ̄)², for pieces that depend on each other little.

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text.
    """
    value = function(stream)
    pieces = stream.cut(groups, align, whole=True)
    left = [function(joined(stream, [p for j, p in enumerate(pieces) if j != i])) for i in range(groups)]
    found: NDArray[np.float64] = np.array(left)
    error = float(np.sqrt((groups - 1) / groups * ((found - found.mean()) ** 2).sum()))
    return Jackknifed(value, error, groups)


def half_samples(function: Callable[[Stream], float], stream: Stream, groups: int, align: int = 1) -> Jackknifed:
    """Take half of the pieces at a time, in random order, twice as often as there are pieces.

    The standard deviation over halves stands for that of the whole text, as if pieces were independent (the delete-d
    jackknife, Shao & Wu 1989). For statistics that hang on how a text begins: leaving one piece out of twenty changes
    the beginning once.
    """
    value = function(stream)
    pieces = stream.cut(groups, align, whole=True)
    rng = np.random.default_rng(groups)
    orders = [rng.permutation(groups)[: groups // 2] for _ in range(2 * groups)]
    found = [function(joined(stream, [pieces[j] for j in order])) for order in orders]
    d = groups - groups // 2
    return Jackknifed(value, float(np.std(found, ddof=1) * np.sqrt((groups - d) / d)), groups)


def joined(stream: Stream, pieces: Sequence[Stream]) -> Stream:
    """Put pieces of a stream together."""
    return Stream(np.concatenate([p.ids for p in pieces]), stream.vocabulary)


def shortened(stream: Stream, tokens: int, pieces: int, align: int = 1) -> Stream:
    """Cut a text to a number of tokens: the beginning of each of some contiguous pieces.

    >>> shortened(Stream(np.arange(12, dtype=np.int32), [str(i) for i in range(12)]), 6, 3).ids.tolist()
    [0, 1, 4, 5, 8, 9]
    """
    if len(stream) // align <= tokens // align:
        return stream
    edges = np.linspace(0, tokens // align, pieces + 1).astype(np.int64) * align
    parts = [p.part(0, n) for p, n in zip(stream.cut(pieces, align), np.diff(edges).tolist(), strict=True)]
    ends = None
    if stream.ends is not None:
        inner = (p.ends if p.ends is not None else edges[:0] for p in parts)
        ends = np.unique(np.concatenate([edges[1:], *(e + at for e, at in zip(inner, edges, strict=False))]))
    return Stream(np.concatenate([p.ids for p in parts]), stream.vocabulary, ends)
