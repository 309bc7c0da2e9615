"""Laws of running text: their number, error estimate and minimum length, and standard errors from pieces of a text.

A block bootstrap would draw blocks twice, and a text with repeated blocks has too few types, which distorts growth,
rank and burst curves. Leaving out contiguous groups of text distorts none of them (Quenouille 1956; Miller 1974).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Annotated, Literal, TypeAlias

import numpy as np

from momus.evidence import Direction, Wording
from momus.numeric.types import Floats, Ints
from momus.parameters import Range, check_values
from momus.text.counting import counted
from momus.text.running import RunningText

Reordered: TypeAlias = Callable[[Sequence[RunningText]], Callable[[list[int]], float]]
"""From pieces of text to a function that gives the number for some of them in a given order, without joining them."""
ErrorEstimate = Literal["jackknife", "shuffled", "relabelled"]
LEAST_GROUPS = 4
"""Smallest number of groups that a standard error is estimated from."""


def tokens_needed(minimum: int) -> int:
    """Tokens that a text needs: ``minimum`` of them remain without any one of `LEAST_GROUPS` equal pieces.

    >>> tokens_needed(56_200)
    74934
    """
    return -(-minimum * LEAST_GROUPS // (LEAST_GROUPS - 1))


def too_short(name: str, tokens: int, minimum: int) -> str:
    """Say how many tokens are missing to fit or to test a law; empty if there are enough.

    >>> too_short("real", 60_000, 56_200)
    "'real' has 60,000 tokens of running text; the law needs 74,934 (56,200 without any one of 4 pieces)"
    """
    needed = tokens_needed(minimum)
    if tokens >= needed:
        return ""
    return (
        f"{name!r} has {counted(tokens, 'token')} of running text; the law needs {needed:,} "
        f"({minimum:,} without any one of {LEAST_GROUPS} pieces)"
    )


@dataclass(frozen=True)
class Law:
    """A number that a whole running text has, such as an exponent.

    Attributes
    ----------
    name
        As in ``verdicts.jsonl``.
    function
        From a text to the number; raises ValueError where the text does not determine it.
    error
        How its standard error is estimated: by the ``jackknife`` over contiguous groups of text; ``shuffled``, over
        random orders of the groups too (for numbers that depend on the order of the text); or ``relabelled``, by a
        permutation test of the groups of both texts (for numbers that are neither smooth nor normally distributed).
        See `momus.laws.law` and `momus.verdicts.running_text`.
    minimum
        Tokens that the number can be estimated from; a text needs a third more (`tokens_needed`), for its standard
        error.
    groups
        Contiguous groups that a text is cut into, at most.
    align
        Groups are cut at multiples of so many tokens.
    orders
        Random orders of the groups that each group is left out of, where ``error`` is ``shuffled``.
    reordered
        Faster computation of the number for pieces in many orders, without joining them, if there is one; it may differ
        from ``function``, but by much less than texts differ.
    decides
        Whether it is in the family by which the axis of its critic is tested, as the critic's headline always is.
    label, direction, unit
        How readers are told of it, see `momus.evidence.Wording`.

    Raises
    ------
    UsageError
        An option is out of range.

    >>> Law("types", lambda text: float((text.counts > 0).sum())).error
    'jackknife'
    """

    name: str
    function: Callable[[RunningText], float]
    error: ErrorEstimate = "jackknife"
    minimum: Annotated[int, Range(1)] = 1
    groups: Annotated[int, Range(2)] = 20
    align: Annotated[int, Range(1)] = 1
    orders: Annotated[int, Range(2)] = 2
    reordered: Reordered | None = None
    decides: bool = True
    label: str = ""
    direction: Direction = ()
    unit: str = ""

    @property
    def wording(self) -> Wording:
        """What sentences and figures call the law."""
        return Wording(self.label, self.direction, self.unit)

    def __post_init__(self) -> None:
        """Check the options."""
        check_values(Law, vars(self), f"law {self.name!r}")


ORDERS = 40
"""Number of random orders of the pieces that `shuffled` draws."""


@dataclass(frozen=True)
class Jackknifed:
    """A value with its standard error, the number of groups behind the latter, and its degrees of freedom."""

    value: float
    error: float
    groups: int
    freedom: float


def jackknife(
    function: Callable[[RunningText], float],
    stream: RunningText,
    groups: int,
    align: int = 1,
    by_group: bool = False,
) -> Jackknifed:
    """Delete-one jackknife over ``groups`` contiguous pieces, cut between documents or at multiples of ``align``.

    The variance is (g − 1)/g Σ (θ_i − θ̄)², where θ_i is the value without piece i, adjusted to a common length
    (`_at_one_length`). It assumes that the pieces are nearly independent.

    Parameters
    ----------
    by_group
        Cut between the groups of documents of ``stream`` only (`pieces_of`).

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text or without one of the pieces.
    """
    value = float(function(stream))
    pieces = pieces_of(stream, groups, align, by_group)
    left = [function(joined(stream, [p for j, p in enumerate(pieces) if j != i])) for i in range(len(pieces))]
    adjusted = _at_one_length(np.array(left), value, pieces)  # (g,)
    g = len(pieces)
    error = float(np.sqrt((g - 1) / g * ((adjusted - adjusted.mean()) ** 2).sum()))
    return Jackknifed(value, error, g, _freedom(pieces, by_group))


def shuffled(
    function: Callable[[RunningText], float],
    stream: RunningText,
    groups: int,
    left_out: int = 2,
    reordered: Reordered | None = None,
    by_group: bool = False,
) -> Jackknifed:
    """Standard error from random orders of the pieces, and from leaving out one piece at a time of a few orders.

    For statistics that depend on the order of the text: on its beginning, or on where windows fall. Leaving one piece
    out of twenty changes a beginning only once, or shifts all later windows; the jackknife underestimates the variance
    in the first case and overestimates it in the second. The variance here is a sum of two terms, and assumes that the
    pieces are nearly independent: the variance over orders of all pieces, and the jackknife variance of the mean over
    orders, where each piece is left out of the same ``left_out`` orders. With so few orders, the second term still
    contains some variance over orders; that share is estimated from the interaction of pieces and orders, and
    subtracted. Groups of documents (``by_group``) differ in length, which the second term is adjusted for.

    Raises
    ------
    ValueError
        The statistic does not exist for the whole text, or for an order of its pieces.
    """
    value = float(function(stream))
    pieces = pieces_of(stream, groups, by_group=by_group)
    g = len(pieces)
    of = reordered(pieces) if reordered else lambda order: function(joined(stream, [pieces[j] for j in order]))
    # seeded by the number of groups alone: both texts of a comparison, and every run, get the same orders
    rng = np.random.default_rng(groups)
    orders = [rng.permutation(g).tolist() for _ in range(ORDERS)]
    values = [of(order) for order in orders]
    chance = float(np.var(values, ddof=1))
    # left[i, o]: the value of order o without piece i, (g, left_out); a two-way table without replicates
    left = np.array([[of([j for j in order if j != i]) for order in orders[:left_out]] for i in range(g)])
    means = left.mean(axis=1)  # (g,)
    # what neither the piece nor the order explains, (g, left_out): its mean square estimates the variance over orders
    interaction = left - means[:, None] - left.mean(axis=0) + left.mean()
    noise = float((interaction**2).sum()) / ((g - 1) * (left_out - 1))
    if by_group:
        means = _at_one_length(means, float(np.mean(values[:left_out])), pieces)
    # a mean over left_out orders keeps 1/left_out of the noise, with g − 1 degrees of freedom
    spread = float(((means - means.mean()) ** 2).sum()) - (g - 1) * noise / left_out
    content = max((g - 1) / g * spread, 0.0)
    freedom = _freedom(pieces, by_group)
    if chance + content == 0:
        return Jackknifed(value, 0.0, g, freedom)
    # all orders permute the same pieces, so the number of pieces limits the degrees of freedom of their variance too
    order_freedom = 1 / (1 / (ORDERS - 1) + 1 / freedom)
    combined = (chance + content) ** 2 / (chance**2 / order_freedom + content**2 / freedom)
    return Jackknifed(value, float(np.sqrt(chance + content)), g, combined)


def standard_error(law: Law, text: RunningText, groups: int, by_group: bool = False) -> Jackknifed:
    """Value of a law for one text, and its standard error, estimated as the law declares.

    Parameters
    ----------
    by_group
        Whether the pieces are whole groups of documents: one per group, or ``groups`` if there are more.

    Raises
    ------
    ValueError
        The text does not determine the value.
    """
    if law.error == "shuffled":
        return shuffled(law.function, text, groups, law.orders, law.reordered, by_group)
    return jackknife(law.function, text, groups, law.align, by_group)


def pieces_of(stream: RunningText, groups: int, align: int = 1, by_group: bool = False) -> list[RunningText]:
    """Cut a text into the pieces that are left out or reordered.

    Contiguous ones of about equal length, between documents where the cuts move little; or whole groups of documents.
    """
    return stream.by_group(groups, align) if by_group else stream.cut(groups, align, whole=True)


def _freedom(pieces: Sequence[RunningText], by_group: bool) -> float:
    """Degrees of freedom of a variance over pieces: their number less one.

    Whole groups differ in length: g equal groups that a total is dominated by as much as by these, (Σ m)²/Σ m², count.
    """
    if not by_group:
        return len(pieces) - 1
    lengths = np.array([len(p) for p in pieces], dtype=np.float64)
    return max(float(lengths.sum() ** 2 / (lengths**2).sum()) - 1, 1.0)


def _at_one_length(left: Floats, whole: float, pieces: Sequence[RunningText]) -> Floats:
    """Adjust the leave-one-out values, (g,), to what they would be if all pieces had the same length.

    Cutting between documents makes pieces of unequal lengths. An exponent that depends on the length of the text would
    then vary with the length that remains, although texts are compared at one length. Its slope over log length is
    taken between the mean over texts without one piece and the whole text.
    """
    lengths = np.array([len(p) for p in pieces])
    log_rest = np.log(lengths.sum() - lengths)  # log length without piece i, (g,)
    # slope per unit of log length; the log lengths differ, as each text without a piece is shorter than the whole
    slope = (whole - left.mean()) / (np.log(lengths.sum()) - log_rest.mean())
    adjusted: Floats = left - slope * (log_rest - log_rest.mean())
    return adjusted


def joined(stream: RunningText, pieces: Sequence[RunningText]) -> RunningText:
    """Concatenate pieces that share the vocabulary of ``stream``."""
    return RunningText(np.concatenate([p.ids for p in pieces]), stream.vocabulary)


def shortened(stream: RunningText, tokens: int, pieces: int, align: int = 1, by_group: bool = False) -> RunningText:
    """Shorten a text to a number of tokens: cut it into contiguous pieces, and keep the beginning of each.

    If the ends of documents are known and documents are shorter than what is kept of a piece, whole documents are kept
    (partial ones would weaken the long-range correlations), and the length is met to within half a document. With
    ``by_group``, the same share of each group of documents is kept.

    >>> shortened(RunningText(np.arange(12, dtype=np.int32), [str(i) for i in range(12)]), 6, 3).ids.tolist()
    [0, 1, 4, 5, 8, 9]
    """
    if len(stream) // align <= tokens // align:
        return stream
    if by_group:
        return _shares_of_groups(stream, tokens, pieces)
    edges = np.linspace(0, tokens // align, pieces + 1).astype(np.int64) * align  # of the kept pieces, (pieces + 1,)
    if stream.ends is not None and align == 1 and len(stream.ends) * tokens >= len(stream) * pieces:
        return _whole_documents(stream.cut(pieces, whole=True), edges)
    return _beginnings(stream.cut(pieces, align), edges)


def _shares_of_groups(stream: RunningText, tokens: int, pieces: int) -> RunningText:
    """Keep about the same share of each group: the beginnings of ``pieces`` contiguous pieces or more, in all.

    No group is lost: of a group of short documents at least one is kept.
    """
    groups = stream.by_group(len(stream))
    count = -(-pieces // len(groups))
    kept: list[RunningText] = []
    ends = np.cumsum([len(group) for group in groups])  # (groups,)
    length = 0
    for group, end in zip(groups, (ends * (tokens / len(stream))).round().astype(int).tolist(), strict=True):
        # what earlier groups are too long or too short by is made up for in the next
        short = shortened(replace(group, groups=None), min(max(end - length, 1), len(group)), count)
        if not len(short):
            short = group.slice(0, int(np.append(group.ends, len(group))[0]) if group.ends is not None else len(group))
        kept.append(replace(short, groups=np.array([len(short)])))
        length += len(short)
    return reduce(add, kept)


def _beginnings(pieces: Sequence[RunningText], edges: Ints) -> RunningText:
    """Keep the beginning of each piece; ``edges`` are those of the beginnings in the result, (pieces + 1,)."""
    beginnings = [p.slice(0, n) for p, n in zip(pieces, np.diff(edges).tolist(), strict=True)]
    ends = None
    if pieces[0].ends is not None:
        # documents end where they did, shifted to the new positions, and at the end of each beginning
        inner = (p.ends if p.ends is not None else edges[:0] for p in beginnings)
        ends = np.unique(np.concatenate([edges[1:], *(e + start for e, start in zip(inner, edges, strict=False))]))
    return RunningText(np.concatenate([p.ids for p in beginnings]), pieces[0].vocabulary, ends)


def _whole_documents(pieces: Sequence[RunningText], edges: Ints) -> RunningText:
    """Keep the first documents of each piece: as many as bring the total length nearest to that piece's edge."""
    beginnings: list[RunningText] = []
    length = 0
    for piece, target in zip(pieces, edges[1:].tolist(), strict=True):
        # positions at which the piece may be cut: its beginning, the ends of its documents, its end
        ends = np.unique([0, *(piece.ends if piece.ends is not None else []), len(piece)])
        beginnings.append(piece.slice(0, int(ends[np.abs(length + ends - target).argmin()])))
        length += len(beginnings[-1])
    return reduce(add, beginnings)
