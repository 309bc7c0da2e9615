"""Standard errors of statistics of a whole running text, from omitting and reordering pieces of the text.

A block bootstrap would draw blocks twice, and a text with repeated blocks has too few types, which distorts growth,
rank and burst curves. Leaving out contiguous groups of text distorts none of them (Quenouille 1956; Miller 1974).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from momus.laws.law import Reordered
from momus.numeric.types import Floats, Ints
from momus.text.running import RunningText

ORDERS = 40
"""Number of random orders of the pieces that `shuffled` draws."""


@dataclass(frozen=True)
class Jackknifed:
    """A value with its standard error, the number of groups behind the latter, and its degrees of freedom."""

    value: float
    error: float
    groups: int
    freedom: float


def jackknife(function: Callable[[RunningText], float], stream: RunningText, groups: int, align: int = 1) -> Jackknifed:
    """Delete-one jackknife over ``groups`` contiguous pieces, cut between documents or at multiples of ``align``.

    The variance is (g − 1)/g Σ (θ_i − θ̄)², where θ_i is the value without piece i, adjusted to a common length
    (`_at_one_length`). It assumes that the pieces are nearly independent.

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text or without one of the pieces.
    """
    value = float(function(stream))
    pieces = stream.cut(groups, align, whole=True)
    left = [function(joined(stream, [p for j, p in enumerate(pieces) if j != i])) for i in range(groups)]
    adjusted = _at_one_length(np.array(left), value, pieces)
    error = float(np.sqrt((groups - 1) / groups * ((adjusted - adjusted.mean()) ** 2).sum()))
    return Jackknifed(value, error, groups, groups - 1)


def shuffled(
    function: Callable[[RunningText], float],
    stream: RunningText,
    groups: int,
    left_out: int = 2,
    reordered: Reordered | None = None,
) -> Jackknifed:
    """Standard error from random orders of the pieces, and from leaving out one piece at a time of a few orders.

    For statistics that depend on the order of the text: on its beginning, or on where windows fall. Leaving one piece
    out of twenty changes a beginning only once, or shifts all later windows; the jackknife underestimates the variance
    in the first case and overestimates it in the second. The variance here is a sum of two terms, and assumes that the
    pieces are nearly independent: the variance over orders of all pieces, and the jackknife variance of the mean over
    orders, where each piece is left out of the same ``left_out`` orders. With so few orders, the second term still
    contains some variance over orders; that share is estimated from the interaction of pieces and orders, and
    subtracted.

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text, or for an order of its pieces.
    """
    value = float(function(stream))
    pieces = stream.cut(groups, whole=True)
    of = reordered(pieces) if reordered else lambda order: function(joined(stream, [pieces[j] for j in order]))
    rng = np.random.default_rng(groups)
    orders = [rng.permutation(groups).tolist() for _ in range(ORDERS)]
    chance = float(np.var([of(order) for order in orders], ddof=1))
    # left[i, o]: the value of order o without piece i, (groups, left_out); a two-way table without replicates
    left = np.array([[of([j for j in order if j != i]) for order in orders[:left_out]] for i in range(groups)])
    means = left.mean(axis=1)
    interaction = left - means[:, None] - left.mean(axis=0) + left.mean()
    noise = float((interaction**2).sum()) / ((groups - 1) * (left_out - 1))
    spread = float(((means - means.mean()) ** 2).sum()) - (groups - 1) * noise / left_out
    content = max((groups - 1) / groups * spread, 0.0)
    if chance + content == 0:
        return Jackknifed(value, 0.0, groups, groups - 1)
    # all orders permute the same pieces, so the number of groups limits the degrees of freedom of their variance too
    order_freedom = 1 / (1 / (ORDERS - 1) + 1 / (groups - 1))
    freedom = (chance + content) ** 2 / (chance**2 / order_freedom + content**2 / (groups - 1))
    return Jackknifed(value, float(np.sqrt(chance + content)), groups, freedom)


def _at_one_length(left: Floats, whole: float, pieces: Sequence[RunningText]) -> Floats:
    """Adjust the leave-one-out values, (g,), to what they would be if all pieces had the same length.

    Cutting between documents makes pieces of unequal lengths. An exponent that depends on the length of the text would
    then vary with the length that remains, although texts are compared at one length. Its slope over log length is
    taken between the mean over texts without one piece and the whole text.
    """
    lengths = np.array([len(p) for p in pieces])
    log_rest = np.log(lengths.sum() - lengths)  # log length without piece i, (g,)
    slope = (whole - left.mean()) / (np.log(lengths.sum()) - log_rest.mean())
    adjusted: Floats = left - slope * (log_rest - log_rest.mean())
    return adjusted


def joined(stream: RunningText, pieces: Sequence[RunningText]) -> RunningText:
    """Concatenate pieces that share the vocabulary of ``stream``."""
    return RunningText(np.concatenate([p.ids for p in pieces]), stream.vocabulary)


def shortened(stream: RunningText, tokens: int, pieces: int, align: int = 1) -> RunningText:
    """Shorten a text to a number of tokens: cut it into contiguous pieces, and keep the beginning of each.

    If the ends of documents are known and documents are shorter than what is kept of a piece, whole documents are kept
    (partial ones would weaken the long-range correlations), and the length is met to within half a document.

    >>> shortened(RunningText(np.arange(12, dtype=np.int32), [str(i) for i in range(12)]), 6, 3).ids.tolist()
    [0, 1, 4, 5, 8, 9]
    """
    if len(stream) // align <= tokens // align:
        return stream
    edges = np.linspace(0, tokens // align, pieces + 1).astype(np.int64) * align  # of the kept pieces, (pieces + 1,)
    if stream.ends is not None and align == 1 and len(stream.ends) * tokens >= len(stream) * pieces:
        return _whole_documents(stream, edges)
    beginnings = [p.part(0, n) for p, n in zip(stream.cut(pieces, align), np.diff(edges).tolist(), strict=True)]
    ends = None
    if stream.ends is not None:
        # documents end where they did, shifted to the new positions, and at the end of each beginning
        inner = (p.ends if p.ends is not None else edges[:0] for p in beginnings)
        ends = np.unique(np.concatenate([edges[1:], *(e + start for e, start in zip(inner, edges, strict=False))]))
    return RunningText(np.concatenate([p.ids for p in beginnings]), stream.vocabulary, ends)


def _whole_documents(stream: RunningText, edges: Ints) -> RunningText:
    """Keep the first documents of each piece: as many as bring the total length nearest to that piece's edge."""
    beginnings: list[RunningText] = []
    length = 0
    for piece, target in zip(stream.cut(len(edges) - 1, whole=True), edges[1:].tolist(), strict=True):
        # positions at which the piece may be cut: its beginning, the ends of its documents, its end
        ends = np.unique([0, *(piece.ends if piece.ends is not None else []), len(piece)])
        beginnings.append(piece.part(0, int(ends[np.abs(length + ends - target).argmin()])))
        length += len(beginnings[-1])
    return reduce(add, beginnings)
