"""Labels of documents: parse what records hold, tell of which type the labels are, and read each as weights or numbers.

A label is one category, yes or no, a set of labels, a number, a share from 0 to 1, or a sequence of labels. A labeller
that is unsure gives a mapping from labels to probabilities in place of a label.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from momus.errors import FittingError
from momus.reading.labels import parsed
from momus.text.counting import clipped, counted
from momus.visible import visible

KINDS = ("category", "yes-no", "set", "number", "share", "sequence")
"""Types of labels."""
WORDS = dict.fromkeys(("true", "yes", "1", "t", "y", "ja", "oui"), "yes")
WORDS |= dict.fromkeys(("false", "no", "0", "f", "n", "nein", "non"), "no")
"""What counts as yes or no, in lower case."""
LONGEST = 200
"""Characters of a label at most: longer ones are text."""
STEPS = 100_000
"""Labels of a sequence at most."""
LARGEST = 1e30
"""Largest number that counts as finite: its powers, summed over a text, are finite too."""
NONE = "(none)"
"""The only step of a document without any."""
ROUNDING = 1e-3
"""How far the probabilities of a category may sum from 1."""

Weights = dict[str, float]
"""Probabilities of the labels of a document or of a step of it; of a label without one, 1."""


class UnfitError(Exception):
    """A label cannot be read; the text says why, in the words of a reason for which documents are unscored."""


def shown(label: str, most: int = 40) -> str:
    r"""A label for readers: on one line, without control characters, cut.

    >>> shown("a" + chr(27) + "{}"), shown(""), len(shown("x" * 300))
    ('a\\x1b()', '(empty)', 42)
    """
    plain = visible(" ".join(label.split())).replace("{", "(").replace("}", ")")
    return clipped(plain, most) if plain else "(empty)"


def _name(value: Any) -> str:
    """The label that a value is: a string, or a number or truth value as it is written."""
    if isinstance(value, str):
        if len(value) > LONGEST:
            raise UnfitError(f"its label is a text of {len(value):,} characters")
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}"
    raise UnfitError("its label is nested")


def _mapping(value: Mapping[str, Any], *, sums: bool) -> Weights:
    for p in value.values():
        if not isinstance(p, int | float) or not 0 <= p <= 1:  # a comparison with NaN is false
            raise UnfitError("a probability of its labels is no number from 0 to 1")
    weights = {_name(key): float(p) for key, p in value.items()}
    total = sum(weights.values())
    if not sums:
        return weights
    if abs(total - 1) > ROUNDING:
        raise UnfitError(f"the probabilities of its labels sum to {total:.3g}")
    return {key: p / total for key, p in weights.items()}


def category(value: Any) -> Weights:
    """One label, or the probabilities of several.

    >>> category("warm"), category({"warm": 0.75, "cold": 0.25})
    ({'warm': 1.0}, {'warm': 0.75, 'cold': 0.25})
    """
    if isinstance(value, Mapping):
        return _mapping(value, sums=True)
    if isinstance(value, list):
        raise UnfitError("its label is a list")
    return {_name(value): 1.0}


def yes_no(value: Any) -> Weights:
    """Yes or no, in one of the spellings of `WORDS`, or their probabilities."""
    weights: Weights = {}
    for name, p in category(value).items():
        word = WORDS.get(name.lower())
        if word is None:
            raise UnfitError("its label is neither yes nor no")
        weights[word] = weights.get(word, 0.0) + p
    return weights


def label_set(value: Any) -> Weights:
    """The labels of a list, each with weight 1, or the probability of each."""
    if isinstance(value, Mapping):
        return _mapping(value, sums=False)
    if not isinstance(value, list):
        raise UnfitError("its label is no list")
    return dict.fromkeys(map(_name, value), 1.0)


def number(value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnfitError("its label is no number")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not abs(result) <= LARGEST:  # a comparison with NaN is false
        raise UnfitError("its label is not a finite number")
    return result


def share(value: Any) -> float:
    """A number from 0 to 1."""
    result = number(value)
    if not 0 <= result <= 1:
        raise UnfitError("its label is a number outside of 0 to 1")
    return result


def sequence(value: Any) -> list[Weights]:
    """The labels of each step.

    >>> sequence(["ask", {"answer": 0.5, "refuse": 0.5}])
    [{'ask': 1.0}, {'answer': 0.5, 'refuse': 0.5}]
    """
    if not isinstance(value, list):
        raise UnfitError("its label is no list")
    if len(value) > STEPS:
        raise UnfitError(f"its label is a list of {len(value):,} steps")
    return [category(step) for step in value or [NONE]]


READERS: dict[str, Callable[[Any], Any]] = dict(
    zip(KINDS, (category, yes_no, label_set, number, share, sequence), strict=True)
)
"""How a value is read, by type."""


def read(text: str, kind: str) -> Any:
    """What a field holds, read as a label of one type.

    Raises
    ------
    UnfitError
        It is of another type.
    """
    return READERS[kind](parsed(text))


def unfit(text: str, kind: str) -> str | None:
    """Why what a field holds cannot be read as a label of one type; None if it can."""
    try:
        read(text, kind)
    except UnfitError as error:
        return str(error)
    return None


def _form(value: Any) -> str:
    """What a value looks like, for `kind_of`."""
    if isinstance(value, list | Mapping):
        return "a list" if isinstance(value, list) else "probabilities"
    if str(value).lower() in WORDS and not isinstance(value, float):
        return "yes or no"
    return "a number" if isinstance(value, int | float) else "a text"


def kind_of(values: Sequence[Any], ids: Sequence[str], field: str) -> tuple[str, str]:
    """The type of the labels of some documents, and why, in words.

    Parameters
    ----------
    values
        What `momus.reading.labels.parsed` returned for each document.
    ids, field
        Their ids and the name of the field, for messages.

    Raises
    ------
    FittingError
        The values are of several types; the message names a document.

    >>> kind_of([["ask", "ask"], ["ask"]], ["a", "b"], "moves")
    ('sequence', 'lists in which labels recur')
    >>> kind_of([0.5, 1], ["a", "b"], "score")[0], kind_of([3, 1], ["a", "b"], "score")[0]
    ('share', 'number')
    """
    forms = list(map(_form, values))
    # zeros and ones are numbers among other numbers, yes and no are words among others, and words are sure among
    # probabilities
    wider = next((form for form in ("probabilities", "a number", "a text") if form in forms), "yes or no")
    for i, value in enumerate(values):
        sure = wider == "probabilities" and forms[i] == "a text"
        if sure or (forms[i] == "yes or no" and (wider != "a number" or type(value) is int)):
            forms[i] = wider
    usual, n = Counter(forms).most_common(1)[0]
    if n < len(values):
        row = next(i for i, form in enumerate(forms) if form != usual)
        other = shown(json.dumps(values[row], default=str))
        raise FittingError(
            f"document {ids[row]!r:.80}: its label {field!r} is {forms[row]} ({other}), where "
            f"{counted(n, 'document')} of {len(values):,} have {usual}",
            hint=f"correct the record, or name the type, as in {field}:category",
        )
    return _kind_of_form(usual, values)


def _kind_of_form(form: str, values: Sequence[Any]) -> tuple[str, str]:
    """The type of values that look alike, and why."""
    if form == "a list":
        soft = any(isinstance(step, Mapping) for value in values for step in value)
        recurring = any(len(set(map(str, value))) < len(value) for value in values)
        if soft or recurring:
            return "sequence", "lists in which labels recur" if recurring else "lists of probabilities"
        return "set", "lists in which no label recurs"
    if form == "probabilities":
        try:
            names = {name.lower() for value in values for name in category(value)}
        except UnfitError:
            return "set", "probabilities that do not sum to 1"
        kind = "yes-no" if names <= WORDS.keys() else "category"
        return kind, "probabilities that sum to 1"
    if form == "a number":
        finite = [v for v in values if isinstance(v, int) or math.isfinite(v)]
        inside = all(0 <= v <= 1 for v in finite)
        return ("share", "numbers from 0 to 1") if inside else ("number", "numbers")
    return ("yes-no", "yes and no") if form == "yes or no" else ("category", "single labels")
