"""A test that is looked at again and again, with a state that a nightly job can keep in a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from momus.errors import StoreError, UsageError
from momus.parameters import Range
from momus.schema import build

FORMAT, METHOD = "momus-looks-1", "spending"
STATE, START_ANEW = "the state of repeated looks", "start anew with Looks(…)"
PLANNED = 0.9
"""Share of α that is spent evenly on the planned looks, if their number is given; the rest is for looks beyond."""


def spent(alpha: float, look: int, planned: int | None = None) -> float:
    """Level at which the test of one look is done: α (1/√k − 1/√(k + 1)) at look k.

    Looks are counted from 1. The levels add up to α. By Bonferroni's inequality, any false alarm at any look has
    probability at most α, for p-values that are valid at each look and depend on each other in any way: cumulative
    looks, or fresh samples against one real sample. Of the schedules k⁻ˢ − (k + 1)⁻ˢ, 6/(πk)² and 1/(k log² k), the
    one with s = 1/2 had the highest power over 20 to 100 looks, or nearly so (benchmarks/validity/looks.py).

    Parameters
    ----------
    planned
        Number of looks, if known beforehand: nine tenths of α are spent evenly on them, and one tenth on any beyond.

    Raises
    ------
    UsageError
        α lies outside (0, 1), or a number of looks is below 1.

    >>> [round(spent(0.05, k), 5) for k in (1, 2, 20, 100)]
    [0.01464, 0.00649, 0.00027, 2e-05]
    >>> round(spent(0.05, 20, planned=20), 5)
    0.00225
    """
    check_alpha(alpha)
    if look < 1 or (planned is not None and planned < 1):
        raise UsageError(f"look {look}, planned {planned}: looks are counted from 1", hint="give a number from 1 on")
    if planned is not None and look <= planned:
        return alpha * PLANNED / planned
    k = look - (planned or 0)
    # 1/√k − 1/√(k + 1), without cancellation
    weight = 1 / (math.sqrt(k * (k + 1)) * (math.sqrt(k) + math.sqrt(k + 1)))
    return alpha * weight * (1.0 if planned is None else 1 - PLANNED)


def check_alpha(alpha: float) -> None:
    """Raise `UsageError` unless α lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is {alpha}", hint="give a level between 0 and 1, such as 0.05")


@dataclass(frozen=True)
class Look:
    """The outcome of one look.

    Attributes
    ----------
    number
        1, 2, …
    p, threshold
        The look's p, and the level that it is compared with.
    p_always
        The smallest α at which this or an earlier look would have raised an alarm: valid at any time.
    alarm
        Whether this look raises an alarm, p ≤ threshold.
    """

    number: int
    p: float
    threshold: float
    p_always: float
    alarm: bool


class _State(TypedDict):
    """The state of `Looks` as JSON."""

    format: Literal["momus-looks-1"]
    method: Literal["spending"]
    alpha: Annotated[float, Range(0, 1, above=True)]
    number: Annotated[int, Range(0)]
    p_always: Annotated[float, Range(0, 1)]
    planned: Annotated[int, Range(1)] | None


class Looks:
    """A test that is looked at repeatedly; the probability of any false alarm, at any look, is at most α.

    Parameters
    ----------
    alpha
        Level over all looks, of which each look spends a part, see `spent`.
    planned
        Number of looks, if known beforehand.

    Raises
    ------
    UsageError
        An option or a look is invalid.

    >>> looks = Looks()
    >>> [looks.add(p=p).alarm for p in (0.04, 0.2, 0.001)]
    [False, False, True]
    >>> looks = Looks.from_json(looks.to_json())
    >>> looks.number, round(looks.p_always, 4)
    (3, 0.0129)
    """

    def __init__(self, alpha: float = 0.05, planned: int | None = None) -> None:
        check_alpha(alpha)
        if planned is not None and planned < 1:
            raise UsageError(f"planned={planned} looks", hint="plan 1 look or more")
        self.alpha, self.planned = float(alpha), planned
        self.number, self.p_always = 0, 1.0

    def add(self, p: float) -> Look:
        """Add a look with a p that is valid at this look, of any dependence on the others.

        A look that is refused does not count.
        """
        if not 0 <= p <= 1:
            raise UsageError(f"p = {p} is no probability", hint="give a number from 0 to 1")
        threshold = spent(self.alpha, self.number + 1, self.planned)
        always = min(float(p) * self.alpha / threshold, 1.0)
        self.number += 1
        self.p_always = min(self.p_always, always)
        return Look(self.number, float(p), threshold, self.p_always, always <= self.alpha)

    def to_json(self) -> dict[str, Any]:
        """The state, of strings and numbers."""
        state = {"format": FORMAT, "method": METHOD, "alpha": self.alpha}
        return {**state, "number": self.number, "p_always": self.p_always, "planned": self.planned}

    @classmethod
    def from_json(cls, content: Any) -> Looks:
        """Restore the state.

        Raises
        ------
        StoreError
            The content is not what `to_json` returns.
        """
        state = build(_State, content, STATE, START_ANEW)
        if state["number"] == 0 and state["p_always"] != 1:
            raise StoreError(f"{STATE}: p_always is {state['p_always']} before the first look", hint=START_ANEW)
        looks = cls(state["alpha"], state["planned"])
        looks.number, looks.p_always = state["number"], state["p_always"]
        return looks
