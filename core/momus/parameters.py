"""The schema of constructor parameters: their annotations, with what they may be, and errors with words."""

from __future__ import annotations

import inspect
import json
import math
import numbers
import re
import sys
import types
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from momus.arguments import arg
from momus.errors import UsageError

LARGEST = 2**63 - 1
"""The largest whole number of a parameter: arrays hold no larger one."""
DEEPEST = 20
"""How deep tables and lists of a parameter may be nested."""
UNFIT = re.compile("[\0\ud800-\udfff]")
PLAIN = (bool, int, float, str, type(None))
SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, Sequence, AbstractSet)


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter may be, as part of its annotation: ``Annotated[int, Range(1)]``.

    Attributes
    ----------
    low, high
        The smallest and the largest value; None: no bound.
    above
        Whether ``low`` itself is excluded.

    >>> Range(1), Range(0, 1, above=True)
    (a number of at least 1, a number above 0 and at most 1)
    """

    low: float | None = None
    high: float | None = None
    above: bool = False

    def holds(self, value: float) -> bool:
        """Whether the value lies in the range."""
        if self.low is not None and (value <= self.low if self.above else value < self.low):
            return False
        return self.high is None or value <= self.high

    def __repr__(self) -> str:
        bounds = [] if self.low is None else [f"{'above' if self.above else 'of at least'} {self.low:,}"]
        bounds += [] if self.high is None else [f"{'at most' if bounds else 'of at most'} {self.high:,}"]
        return " ".join(["a number", " and ".join(bounds)]).strip()


def check_values(cls: type, values: Mapping[str, Any], place: str = "") -> None:
    """Check values for the constructor of a class by its annotations.

    Understood are bool, int, float, str, None, ``Literal``, unions, and lists, tuples, sets and mappings of those.
    Parameters with other annotations, and objects in place of plain values, are left to the class.

    Raises
    ------
    UsageError
        A value is of another type, not finite, or out of range.

    >>> class Ruler:
    ...     def __init__(self, *, marks: Annotated[int, Range(1)] = 12, metric: bool = True) -> None: ...
    >>> check_values(Ruler, {"metric": "false"})
    Traceback (most recent call last):
    momus.errors.UsageError: Ruler: metric is 'false', expected true or false
      → correct metric; it is true by default
    """
    schema = _schema(cls)
    place = place or str(getattr(cls, "name", cls.__name__))
    for name, value in values.items():
        fault = _fault(schema.get(name, (Any,))[0], value) or _out_of_range(cls, name, value)
        if fault:
            raise UsageError(f"{place}: {name} is {shown(value)}, expected {fault}", hint=_hint(cls, name))


@cache
def _schema(cls: type) -> Mapping[str, tuple[Any, tuple[Any, ...]]]:
    """The types of the constructor's parameters, Any where an annotation cannot be resolved, and what they may be."""
    schema: dict[str, tuple[Any, tuple[Any, ...]]] = {"seed": (int, (Range(0, 2**32 - 1),))}  # what scikit-learn takes
    # a subclass may take **kwargs and pass them on: the annotations of all ancestors count
    for ancestor in reversed(cls.__mro__):
        for name, annotation in _annotations(ancestor).items():
            kind = Any if annotation is inspect.Parameter.empty else _resolved(annotation, ancestor)
            kind, *bounds = get_args(kind) if get_origin(kind) is Annotated else (kind,)
            schema[name] = kind, tuple(bounds) or schema.get(name, (Any, ()))[1]
    return schema


def _annotations(cls: type) -> dict[str, Any]:
    """The annotations of the parameters that a class itself declares, in its constructor or as fields."""
    init = vars(cls).get("__init__")
    if "__dataclass_fields__" in vars(cls):
        declared = vars(cls).get("__annotations__", {})
        return {name: declared[name] for name in vars(cls)["__dataclass_fields__"] if name in declared}
    if not inspect.isfunction(init):
        return {}
    return {name: p.annotation for name, p in inspect.signature(init).parameters.items() if name != "self"}


def _resolved(annotation: Any, cls: type) -> Any:
    """Evaluate an annotation; one that names what is imported for type checkers only counts as Any."""
    holder = types.SimpleNamespace(__annotations__={"x": annotation})
    try:
        return get_type_hints(holder, vars(sys.modules[cls.__module__]), include_extras=True)["x"]
    except Exception:  # an annotation is code of a plug-in, and may do anything but stop us
        return Any


def ranges_of(cls: type) -> dict[str, Range]:
    """What the parameters of a class may be, beyond their types; those of its ancestors count too."""
    return {name: bound for name, (_, bounds) in _schema(cls).items() for bound in bounds}


def _out_of_range(cls: type, name: str, value: Any) -> str:
    allowed = ranges_of(cls).get(name)
    items = value if isinstance(value, (list, tuple)) else [value]
    good = allowed is None or all(allowed.holds(float(v)) for v in items if isinstance(v, numbers.Real))
    return "" if good else repr(allowed)


def _fault(kind: Any, value: Any) -> str:
    """Say what a value of this type looks like if this is none, else an empty string."""
    if kind is Any or kind is object:
        return unfit_plain(value)
    origin = get_origin(kind)
    if origin is Literal:
        good = any(value == word and type(value) is type(word) for word in get_args(kind))
        return "" if good else "one of " + ", ".join(map(repr, get_args(kind)))
    if origin in (Union, types.UnionType):
        faults = [_fault(option, value) for option in get_args(kind)]
        return "" if "" in faults else " or ".join(dict.fromkeys(faults))
    if kind in PLAIN or kind is None:
        return plain_fault(type(None) if kind is None else kind, value)
    return _container_fault(origin or kind, get_args(kind), value)


def plain_fault(kind: type, value: Any) -> str:
    """Say what a plain value of this type looks like if this is none, else an empty string."""
    if kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    if kind is int:
        good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return "" if good and abs(value) <= LARGEST else "a whole number of at most 63 bits"
    if kind is float:
        good = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return "" if good and _finite(value) else "a finite number"
    if kind is str:
        good = isinstance(value, str) and not UNFIT.search(value)
        return "" if good else "a text without NUL and unpaired surrogates"
    return "" if value is None else "nothing"


def _finite(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST
    return math.isfinite(float(value))


def _container_fault(origin: Any, inner: tuple[Any, ...], value: Any) -> str:
    if origin in SEQUENCES:
        if isinstance(value, (str, bytes)) or not isinstance(value, (list, tuple, set, frozenset)):
            return "a list"
        kind = inner[0] if inner else Any
        return next((f"a list, each item {fault}" for fault in (_fault(kind, v) for v in value) if fault), "")
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return "a table of names and values"
        return unfit_plain(dict(value)) or _table_fault(inner, value)
    return ""  # a class: objects are left to the estimator


def _table_fault(inner: tuple[Any, ...], value: Mapping[Any, Any]) -> str:
    """Check names and values of a table against ``Mapping[name, value]``."""
    if len(inner) != 2:  # an annotation without types
        return ""
    for role, kind, items in zip(("name", "value"), inner, (list(value.keys()), list(value.values())), strict=True):
        fault = next((fault for fault in (_fault(kind, item) for item in items) if fault), "")
        if fault:
            return f"a table, each {role} {fault}"
    return ""


def unfit_plain(value: Any, depth: int = 0) -> str:
    """Refuse what no file can hold as a plain value: NaN, huge numbers, nesting without end."""
    if depth > DEEPEST:
        return f"tables and lists of at most {DEEPEST} levels"
    if isinstance(value, int) and abs(value) > LARGEST:
        return "a whole number of at most 63 bits"
    if isinstance(value, float) and not math.isfinite(value):
        return "a finite number"
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    kinds = set(map(type, inner))  # of long lists of numbers or texts, without a call for each
    if kinds <= {str, bool} or (kinds == {float} and all(map(math.isfinite, inner))):
        return ""
    if kinds == {int} and max(map(abs, inner)) <= LARGEST:
        return ""
    return next((fault for fault in (unfit_plain(v, depth + 1) for v in inner) if fault), "")


def shown(value: Any) -> str:
    """Write a value as in a file, at most 60 characters."""
    try:
        text = json.dumps(value) if isinstance(value, bool) or value is None else repr(value)
    except (ValueError, RecursionError):  # a number with thousands of digits, a list in itself
        text = f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= 60 else text[:60] + "…"


def _hint(cls: type, name: str) -> str:
    parameter = inspect.signature(cls).parameters.get(name)
    if parameter is None or parameter.default is inspect.Parameter.empty:
        return f"correct {name}"
    return f"correct {name}; it is {shown(parameter.default)} by default"


def exclude(**arguments: object) -> None:
    """Refuse arguments that exclude each other; those that are None, False or empty are not given.

    Raises
    ------
    UsageError
        More than one of them is given.

    >>> exclude(resume=True, overwrite=True)
    Traceback (most recent call last):
    momus.errors.UsageError: resume=True and overwrite=True exclude each other
      → leave one of them out
    """
    chosen = [_shown(name, value) for name, value in arguments.items() if _is_set(value)]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other", hint="leave one of them out")


def need(name: str, is_given: bool, **others: object) -> None:
    """Refuse arguments that say something of another one, which is not given.

    Raises
    ------
    UsageError
        One of them is given without the other.

    >>> need("out", False, resume=True)
    Traceback (most recent call last):
    momus.errors.UsageError: resume=True needs out=
      → add out=, or leave resume=True out
    """
    for other, value in others.items():
        if _is_set(value) and not is_given:
            shown = _shown(other, value)
            raise UsageError(f"{shown} needs {arg(name)}", hint=f"add {arg(name)}, or leave {shown} out")


def _is_set(value: object) -> bool:
    return not (value is None or value is False or value in ([], ""))


def _shown(name: str, value: object) -> str:
    return arg(name, True) if value is True else arg(name)
