"""Declaration of a law of running text: the number, its error estimate, its minimum length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from momus.errors import UsageError
from momus.text.running import RunningText

Reordered: TypeAlias = Callable[[Sequence[RunningText]], Callable[[list[int]], float]]
"""From pieces of text to a function that gives the number for some of them in a given order, without joining them."""
ErrorEstimate = Literal["jackknife", "shuffled", "relabelled"]


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
        See `momus.laws.jackknife` and `momus.laws.test`.
    minimum
        Tokens that a text needs to be estimated.
    groups
        Contiguous groups that a text is cut into, at most.
    align
        Groups are cut at multiples of so many tokens.
    orders
        Random orders of the groups that each group is left out of, where ``error`` is ``shuffled``.
    reordered
        Faster computation of the number for pieces in many orders, without joining them, if there is one; it may differ
        from ``function``, but by much less than texts differ.
    band
        The largest difference that passes as human variation; None if nothing is known.

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
    band: float | None = None

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
