"""Base class of critics and of their components: plain parameters, and state learned by fitting.

An `Estimator` behaves as scikit-learn expects of one: `get_params`, `set_params`, ``sklearn.base.clone`` and ``repr``
work. All else that the engine does with one is a function of this module.
"""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar, dataclass_transform

from momus.errors import NotFittedError, UsageError
from momus.parameters import check_values
from momus.redact import redacted_value


class Estimator:
    """An object with constructor parameters stored unchanged, and fitted attributes whose names end in ``_``.

    ``__init__`` takes keyword-only parameters, stores each under its name and does nothing else; the decorator
    `parametrized` writes it. Annotations are the schema of the parameters: `check_params` refuses
    values of other types, and what is not in the `Range` of an annotation. Those of base classes apply too.

    >>> class Ruler(Estimator):
    ...     def __init__(self, *, inches: float = 12.0) -> None:
    ...         self.inches = inches
    >>> Ruler(inches=6.0)
    Ruler(inches=6.0)
    >>> clone(Ruler(inches=6.0)).set_params(inches=3.0).get_params()
    {'inches': 3.0}
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; they are plain, and have none of their own, whatever ``deep`` asks for."""
        return {name: getattr(self, name) for name in parameter_names(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; what was learned with others is forgotten.

        Raises
        ------
        UsageError
            A parameter is unknown.
        """
        check_names(type(self), params)
        for name, value in params.items():
            setattr(self, name, value)
        if params:
            reset(self)
        return self

    def __sklearn_clone__(self) -> Self:
        """The copy that ``sklearn.base.clone`` makes: parameters that are objects are shared, not copied."""
        return clone(self)

    def __repr__(self) -> str:
        inner = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({inner})"


T = TypeVar("T")


@dataclass_transform(kw_only_default=True, eq_default=False)
def parametrized(cls: type[T]) -> type[T]:
    """Give a class the constructor of an `Estimator`: its annotated attributes are its parameters.

    >>> @parametrized
    ... class Ruler(Estimator):
    ...     inches: float = 12.0
    >>> Ruler(inches=6.0), Ruler().inches
    (Ruler(inches=6.0), 12.0)
    """
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


def component(estimator: Estimator, attribute: str) -> Estimator:
    """Make the unfitted object that a fitted attribute holds: ``_new_process`` of a class makes that of ``process_``.

    A saved state is read into it.

    Raises
    ------
    NotFittedError
        The class has no such component.
    """
    make = getattr(estimator, f"_new_{attribute.removesuffix('_')}", None)
    if make is None:
        raise NotFittedError(f"{type(estimator).__name__} has no component {attribute!r}")
    unfitted: Estimator = make()
    return unfitted


E = TypeVar("E", bound=Estimator)


def parameter_names(cls: type) -> list[str]:
    """Names of the parameters of a constructor.

    >>> class Ruler(Estimator):
    ...     def __init__(self, *, inches: float = 12.0) -> None:
    ...         self.inches = inches
    >>> parameter_names(Ruler)
    ['inches']
    """
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]  # of the class itself, not of an instance
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [n for n, p in signature.parameters.items() if n != "self" and p.kind in kinds]


def check_names(cls: type, names: Any, place: str = "") -> None:
    """Refuse names that are no parameters of a class.

    Raises
    ------
    UsageError
        The hint names the nearest parameter, or lists them all.
    """
    known = parameter_names(cls)
    for name in names:
        if name in known:
            continue
        near = [n for n in known if name in n.split("_")] or difflib.get_close_matches(name, known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"{place or cls.__name__}: no parameter {name!r}",
            hint=f"{guess}the parameters are {', '.join(known)}" if known else "it takes no parameters",
        )


def construct(cls: type[E], params: Mapping[str, Any], place: str = "") -> E:
    """Construct an estimator from a table of parameters; ``place`` tells an error message where it comes from.

    Raises
    ------
    UsageError
        A parameter is unknown, or its value is not one that it can have.
    """
    check_names(cls, params, place)
    check_values(cls, params, place)
    return cls(**params)


def clone(estimator: E) -> E:
    """Make an unfitted copy with the same parameters."""
    return type(estimator)(**estimator.get_params())


def check_params(estimator: Estimator) -> None:
    """Check the parameters of an estimator against their annotations.

    Raises
    ------
    UsageError
        The message names the parameter, its value and what is allowed.

    >>> @parametrized
    ... class Ruler(Estimator):
    ...     inches: float = 12.0
    >>> check_params(Ruler(inches=float("nan")))
    Traceback (most recent call last):
    momus.errors.UsageError: Ruler: inches is nan, expected a finite number
      → correct inches; it is 12.0 by default
    """
    check_values(type(estimator), estimator.get_params())


def json_params(estimator: Estimator) -> dict[str, Any]:
    """Return the parameters as JSON values; an object is represented by its class and its memory address.

    The address tells two objects of one class apart: an earlier run with another object is not mistaken for this.

    >>> class Reader(Estimator):
    ...     def __init__(self, *, read: object = None, times: int = 1) -> None:
    ...         self.read = read
    ...         self.times = times
    >>> plain = json_params(Reader(read=print))
    >>> plain["times"], plain["read"].startswith("<builtins.print at 0x")
    (1, True)
    """
    return {name: redacted_value(_json_value(value), name) for name, value in estimator.get_params().items()}


def fitted_state(estimator: Estimator) -> dict[str, Any]:
    """Return the fitted attributes."""
    return {k: v for k, v in vars(estimator).items() if k.endswith("_") and not k.startswith("_")}


def reset(estimator: Estimator) -> None:
    """Delete the fitted attributes, and private ones, such as a network that was opened."""
    for name in [name for name in vars(estimator) if name.endswith("_") or name.startswith("_")]:
        delattr(estimator, name)


def _json_value(value: Any) -> Any:
    """Return a value that JSON can hold unchanged, and any other as its class and address."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        kind = value if hasattr(value, "__qualname__") else type(value)
        return f"<{kind.__module__}.{kind.__qualname__} at {id(value):#x}>"
    return value
