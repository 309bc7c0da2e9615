"""Declaration of a law of running text: the number, its error estimate, its minimum length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from momus.errors import UsageError
from momus.evidence import Direction, Wording
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
        See `momus.laws.jackknife` and `momus.verdicts.running_text`.
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
    minimum: int = 1
    groups: int = 20
    align: int = 1
    orders: int = 2
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
        if self.error not in get_args(ErrorEstimate):
            choices = ", ".join(get_args(ErrorEstimate))
            raise UsageError(f"law {self.name!r}: error is {self.error!r}", hint=f"choose one of {choices}")
        for option, least in (("minimum", 1), ("groups", 2), ("align", 1), ("orders", 2)):
            if getattr(self, option) < least:
                raise UsageError(
                    f"law {self.name!r}: {option} is {getattr(self, option)}", hint=f"give at least {least}"
                )
