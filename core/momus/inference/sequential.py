"""A test that is looked at again and again, with a state that a nightly job can keep in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from momus.errors import StoreError, UsageError
from momus.inference.betting import STAKES, Wager
from momus.inference.multiplicity import holm
from momus.inference.time_uniform import ConfidenceSequence, check_alpha, confidence_sequence, spent
from momus.numeric.types import Floats

__all__ = ["ConfidenceSequence", "Look", "LookMethod", "Looks", "add_family", "confidence_sequence", "spent"]

LookMethod: TypeAlias = Literal["spending", "mixture", "betting"]
FORMAT = "momus-looks-1"
NEEDED = {"spending": ("p",), "mixture": ("difference", "standard_error", "n"), "betting": ("real", "generated")}
FIELDS = {"spending": ("planned",), "mixture": ("first_n", "last_n"), "betting": ("past", "log_wealth")}


@dataclass(frozen=True)
class Look:
    """The outcome of one look.

    Attributes
    ----------
    number
        1, 2, …
    p, threshold
        The look's p, and the level that it is compared with: spending spends part of α, the other two compare a p that
        is valid at all looks with α.
    p_always
        The smallest α at which this or an earlier look would have raised an alarm: valid at any time.
    alarm
        Whether this look raises an alarm, p ≤ threshold.
    low, high
        Interval of the confidence sequence (mixture).
    """

    number: int
    p: float
    threshold: float
    p_always: float
    alarm: bool
    low: float | None = None
    high: float | None = None


class Looks:
    """A test that is looked at repeatedly; the probability of any false alarm, at any look, is at most α.

    Parameters
    ----------
    alpha
        Level over all looks.
    method
        ``spending``: add ``p``, valid at each look, of any dependence, see `spent`. ``mixture``: add ``difference``,
        ``standard_error`` and ``n`` of all documents so far, see `confidence_sequence`. ``betting``: add the new
        values of both sides, ``real`` and ``generated``, as many of each, see `momus.inference.betting.Wager`.
    planned
        Number of looks, if known beforehand (spending).

    Raises
    ------
    UsageError
        An option or a look is invalid.

    >>> looks = Looks(method="spending")
    >>> [looks.add(p=p).alarm for p in (0.04, 0.2, 0.001)]
    [False, False, True]
    >>> looks = Looks.from_json(looks.to_json())
    >>> looks.number, round(looks.p_always, 4)
    (3, 0.0129)
    """

    def __init__(self, alpha: float = 0.05, method: LookMethod = "spending", planned: int | None = None) -> None:
        check_alpha(alpha)
        if method not in get_args(LookMethod):
            raise UsageError(f"no method {method!r} of looks", hint=f"choose one of {', '.join(get_args(LookMethod))}")
        if planned is not None and (planned < 1 or method != "spending"):
            raise UsageError(f"planned={planned} with method {method!r}", hint="plan 1 look or more, with spending")
        self.alpha, self.method, self.planned = float(alpha), method, planned
        self.number, self.p_always = 0, 1.0
        self.first_n = self.last_n = 0.0
        self.wager = Wager()

    @property
    def alarmed(self) -> bool:
        """Whether any look so far raised an alarm."""
        return self.p_always <= self.alpha

    def add(
        self,
        *,
        p: float | None = None,
        difference: float | None = None,
        standard_error: float | None = None,
        n: float | None = None,
        real: Sequence[float] | Floats | None = None,
        generated: Sequence[float] | Floats | None = None,
    ) -> Look:
        """Add a look; the method says which arguments it takes. A look that is refused does not count."""
        given: dict[str, Any] = {"p": p, "difference": difference, "standard_error": standard_error, "n": n}
        given |= {"real": real, "generated": generated}
        names = tuple(name for name, value in given.items() if value is not None)
        if names != NEEDED[self.method]:
            raise UsageError(
                f"a look by {self.method} got {', '.join(names) or 'nothing'}",
                hint=f"pass {', '.join(NEEDED[self.method])}",
            )
        p_look, threshold, always, interval = getattr(self, f"_{self.method}")(*(given[k] for k in names))
        self.number += 1
        self.p_always = min(self.p_always, always)
        return Look(self.number, p_look, threshold, self.p_always, always <= self.alpha, *interval)

    def _spending(self, p: float) -> tuple[float, float, float, tuple[float, ...]]:
        if not 0 <= p <= 1:
            raise UsageError(f"p = {p} is no probability", hint="give a number from 0 to 1")
        threshold = spent(self.alpha, self.number + 1, self.planned)
        return float(p), threshold, min(float(p) * self.alpha / threshold, 1.0), ()

    def _mixture(self, d: float, error: float, n: float) -> tuple[float, float, float, tuple[float, ...]]:
        first, last = (self.first_n, self.last_n) if self.number else (n, n)
        # three looks: only the numbers of documents of the first and the last one matter for this one
        low, high, p = confidence_sequence([0.0, 0.0, d], [1.0, 1.0, error], [first, last, n], self.alpha)
        self.first_n, self.last_n = float(first), float(n)
        return float(p[-1]), self.alpha, float(p[-1]), (float(low[-1]), float(high[-1]))

    def _betting(self, x: Floats, y: Floats) -> tuple[float, float, float, tuple[float, ...]]:
        p = 1 / max(self.wager.bet(x, y), 1.0)
        return p, self.alpha, p, ()

    def to_json(self) -> str:
        """The state as JSON; betting keeps all values so far."""
        state: dict[str, Any] = {"format": FORMAT, "method": self.method, "alpha": self.alpha}
        state |= {"number": self.number, "p_always": self.p_always}
        if self.method == "betting":
            state |= {"past": self.wager.past.tolist(), "log_wealth": self.wager.log_wealth.tolist()}
        else:
            state |= {name: getattr(self, name) for name in FIELDS[self.method]}
        return json.dumps(state, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Looks:
        """Restore the state.

        Raises
        ------
        StoreError
            The text is not what `to_json` writes.
        """
        try:
            state: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _unreadable(f"it is no JSON ({type(error).__name__})") from error
        method: Any = state.get("method") if isinstance(state, Mapping) else None
        if method not in get_args(LookMethod) or state.get("format") != FORMAT:
            raise _unreadable(f"it has no format {FORMAT!r} with a method")
        expected = {"format", "method", "alpha", "number", "p_always", *FIELDS[method]}
        if set(state) != expected:
            raise _unreadable(f"its keys are {', '.join(sorted(state))}, not {', '.join(sorted(expected))}")
        _check_state(state)
        looks = cls(state["alpha"], method, state.get("planned"))
        looks.number, looks.p_always = state["number"], float(state["p_always"])
        looks.first_n, looks.last_n = float(state.get("first_n", 0)), float(state.get("last_n", 0))
        looks.wager = Wager(state.get("past", ()), state.get("log_wealth"))
        return looks


def add_family(family: Mapping[str, Looks], p: Mapping[str, float | None]) -> dict[str, Look]:
    """Add one look at several tests: Holm's adjustment over the tests, alpha spending over the looks.

    The probability of any false alarm of any test at any look is at most α, since Holm's method keeps the level that is
    spent on each look.

    Parameters
    ----------
    family
        Looks by name of the test, by spending and at the same look.
    p
        p-value of each test; None (not tested) counts as 1.

    Raises
    ------
    UsageError
        The names differ, or a test is not at the same look as the others.

    >>> looks = add_family({"length": Looks(), "unigram": Looks()}, {"length": 0.008, "unigram": 0.007})
    >>> [(look.p, look.alarm) for look in looks.values()]  # Holm: 2 · 0.007 is below 0.0146
    [(0.014, True), (0.014, True)]
    """
    if set(family) != set(p) or len({(t.number, t.alpha, t.planned, t.method) for t in family.values()}) > 1:
        raise UsageError(
            f"a family of looks at {', '.join(sorted(family))} got p-values of {', '.join(sorted(p))}",
            hint="give one p-value per test, and add all looks with add_family",
        )
    adjusted = holm([1.0 if p[name] is None else float(p[name] or 0.0) for name in family])
    return {name: looks.add(p=float(value)) for (name, looks), value in zip(family.items(), adjusted, strict=True)}


def _unreadable(why: str) -> StoreError:
    return StoreError(f"the state of repeated looks cannot be read: {why}", hint="start anew with Looks(…)")


def _number(value: Any, low: float, high: float = 1e300) -> bool:
    return type(value) in (int, float) and low <= value <= high


def _check_state(state: Mapping[str, Any]) -> None:
    """Raise `StoreError` unless every field of the state has the right type and range."""
    looks, past, wealth = state["number"], state.get("past", []), state.get("log_wealth", [0.0] * len(STAKES))
    planned = state.get("planned")
    lists = isinstance(past, list) and isinstance(wealth, list)
    checks = {
        "alpha": _number(state["alpha"], 0, 1) and 0 < state["alpha"] < 1,
        "number": type(looks) is int and looks >= 0,
        "p_always": _number(state["p_always"], 0, 1) and (looks != 0 or state["p_always"] == 1),
        "planned": planned is None or (type(planned) is int and planned >= 1),
        "first_n": _number(state.get("first_n", 0), 0) and (state.get("first_n", 1) > 0) >= bool(looks),
        "last_n": _number(state.get("last_n", 0), 0) and state.get("last_n", 0) >= state.get("first_n", 0),
        "past": lists and all(_number(v, -1e300) for v in past) and len(past) % 2 == 0 and past == sorted(past),
        "log_wealth": lists and len(wealth) == len(STAKES) and all(_number(v, -1e300) for v in wealth),
    }
    for name, good in checks.items():
        if not good:
            raise _unreadable(f"{name} is {str(state[name])[:60]}")
