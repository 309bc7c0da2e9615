"""The spread of a number that a whole running text has: by leaving pieces of the text out, and by their order.

A block bootstrap would draw blocks twice, and a text with doubled blocks has too few types: growth, rank and burst
curves all bend. Leaving contiguous groups of text out bends nothing (Quenouille 1956; Miller 1974).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from momus.laws.law import Reordered
from momus.text.running import RunningText

ORDERS = 40
"""Random orders of pieces."""


@dataclass(frozen=True)
class Jackknifed:
    """A value with its standard error, the number of groups that it comes from, and degrees of freedom."""

    value: float
    error: float
    groups: int
    freedom: float


def jackknife(function: Callable[[RunningText], float], stream: RunningText, groups: int, align: int = 1) -> Jackknifed:
    """Leave out one of ``groups`` contiguous pieces at a time, cut between documents, or at multiples of ``align``.

    The variance is (g − 1)/g Σ (θ_i − θ̄)², for pieces that depend on each other little, of values brought to one length
    (`_at_one_length`).

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text.
    """
    value = function(stream)
    pieces = stream.cut(groups, align, whole=True)
    left = [function(joined(stream, [p for j, p in enumerate(pieces) if j != i])) for i in range(groups)]
    found = _at_one_length(np.array(left), value, pieces)
    error = float(np.sqrt((groups - 1) / groups * ((found - found.mean()) ** 2).sum()))
    return Jackknifed(value, error, groups, groups - 1)


def shuffled(
    function: Callable[[RunningText], float],
    stream: RunningText,
    groups: int,
    left_out: int = 2,
    reordered: Reordered | None = None,
) -> Jackknifed:
    """Put the pieces into random orders, and leave out one at a time of some of these.

    For statistics that hang on the order of the text: on how it begins, or where windows fall. One piece left out of
    twenty changes a beginning once, or moves all windows behind it; the jackknife sees the first too little and the
    second too much. For pieces that depend on each other little, the variance is that over orders of all pieces, and
    the jackknife variance of the mean over orders, each piece left out of the same ``left_out`` orders; what these few
    leave of the former in the latter is estimated from the interaction of pieces and orders, and taken off.

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text, or for an order of its pieces.
    """
    value = function(stream)
    pieces = stream.cut(groups, whole=True)
    of = reordered(pieces) if reordered else lambda order: function(joined(stream, [pieces[j] for j in order]))
    rng = np.random.default_rng(groups)
    orders = [rng.permutation(groups).tolist() for _ in range(ORDERS)]
    chance = float(np.var([of(order) for order in orders], ddof=1))
    left = np.array([[of([j for j in order if j != i]) for order in orders[:left_out]] for i in range(groups)])
    means = left.mean(axis=1)
    rest = left - means[:, None] - left.mean(axis=0) + left.mean()
    noise = float((rest**2).sum()) / ((groups - 1) * (left_out - 1))
    spread = float(((means - means.mean()) ** 2).sum()) - (groups - 1) * noise / left_out
    content = max((groups - 1) / groups * spread, 0.0)
    if chance + content == 0:
        return Jackknifed(value, 0.0, groups, groups - 1)
    known = 1 / (1 / (ORDERS - 1) + 1 / (groups - 1))  # orders of one sample of pieces know no more than these
    freedom = (chance + content) ** 2 / (chance**2 / known + content**2 / (groups - 1))
    return Jackknifed(value, float(np.sqrt(chance + content)), groups, freedom)


def _at_one_length(left: NDArray[np.float64], whole: float, pieces: Sequence[RunningText]) -> NDArray[np.float64]:
    """What values with one piece left out would be, were all pieces of one length.

    Whole documents make pieces of unequal lengths. An exponent that depends on the length of the text would so vary
    with what is left of it, while texts are compared at one length. Its slope over log length is that from the text
    without a piece, on average, to the whole.
    """
    lengths = np.array([len(p) for p in pieces])
    rest = np.log(lengths.sum() - lengths)
    slope = (whole - left.mean()) / (np.log(lengths.sum()) - rest.mean())
    brought: NDArray[np.float64] = left - slope * (rest - rest.mean())
    return brought


def joined(stream: RunningText, pieces: Sequence[RunningText]) -> RunningText:
    """Put pieces of a stream together."""
    return RunningText(np.concatenate([p.ids for p in pieces]), stream.vocabulary)


def shortened(stream: RunningText, tokens: int, pieces: int, align: int = 1) -> RunningText:
    """Cut a text to a number of tokens: the beginning of each of some contiguous pieces.

    Where documents are known and shorter than what is left of a piece, whole ones are taken (more parts of documents
    would make a text with less memory), and the length is met to within half a document.

    >>> shortened(RunningText(np.arange(12, dtype=np.int32), [str(i) for i in range(12)]), 6, 3).ids.tolist()
    [0, 1, 4, 5, 8, 9]
    """
    if len(stream) // align <= tokens // align:
        return stream
    edges = np.linspace(0, tokens // align, pieces + 1).astype(np.int64) * align
    if stream.ends is not None and align == 1 and len(stream.ends) * tokens >= len(stream) * pieces:
        return _whole_documents(stream, edges)
    parts = [p.part(0, n) for p, n in zip(stream.cut(pieces, align), np.diff(edges).tolist(), strict=True)]
    ends = None
    if stream.ends is not None:
        inner = (p.ends if p.ends is not None else edges[:0] for p in parts)
        ends = np.unique(np.concatenate([edges[1:], *(e + at for e, at in zip(inner, edges, strict=False))]))
    return RunningText(np.concatenate([p.ids for p in parts]), stream.vocabulary, ends)


def _whole_documents(stream: RunningText, edges: NDArray[np.int64]) -> RunningText:
    """The first documents of each piece, as many as bring the text nearest to the piece's share of the length."""
    parts: list[RunningText] = []
    taken = 0
    for piece, due in zip(stream.cut(len(edges) - 1, whole=True), edges[1:].tolist(), strict=True):
        ends = np.unique([0, *(piece.ends if piece.ends is not None else []), len(piece)])
        parts.append(piece.part(0, int(ends[np.abs(taken + ends - due).argmin()])))
        taken += len(parts[-1])
    return reduce(add, parts)
