"""Base class of critics and posteriors: plain parameters, and state learned by fitting."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from momus.errors import NotFittedError, UsageError
from momus.parameters import OneOf, Range, check_values
from momus.redact import redacted_value


class Estimator:
    """An object with constructor parameters stored unchanged, and fitted attributes whose names end in ``_``.

    ``__init__`` takes keyword-only parameters, stores each under its name and does nothing else. Its annotations are
    the schema of the parameters: `check_params` refuses values of other types. Bounds are declared in ``ranges``.

    Attributes
    ----------
    ranges
        The numbers (`Range`) or words (`OneOf`) that parameters may be, by name; those of base classes apply too.

    >>> class Ruler(Estimator):
    ...     def __init__(self, *, inches: float = 12.0) -> None:
    ...         self.inches = inches
    >>> Ruler(inches=6.0)
    Ruler(inches=6.0)
    >>> Ruler(inches=6.0).clone().get_params()
    {'inches': 6.0}
    """

    ranges: ClassVar[Mapping[str, Range | OneOf]] = {}

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Names of the constructor's parameters."""
        signature = inspect.signature(cls.__init__)
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [n for n, p in signature.parameters.items() if n != "self" and p.kind in kinds]

    @classmethod
    def with_params(cls, params: dict[str, Any], place: str = "") -> Self:
        """Construct from a dict of parameters; ``place`` tells an error message where the dict comes from.

        Raises
        ------
        UsageError
            A parameter is unknown (the hint lists the known ones), or its value is not one that it can have.
        """
        known = cls.parameter_names()
        for name in params:
            if name not in known:
                raise UsageError(
                    f"{place or cls.__name__}: no parameter {name!r}",
                    hint=f"the parameters are {', '.join(known)}" if known else "it takes no parameters",
                )
        check_values(cls, params, place)
        return cls(**params)

    def check_params(self) -> None:
        """Check the parameters against the annotations of the constructor and against ``ranges``.

        Raises
        ------
        UsageError
            The message names the parameter, its value and what is allowed.

        >>> class Ruler(Estimator):
        ...     ranges = {"inches": Range(0, above=True)}
        ...     def __init__(self, *, inches: float = 12.0) -> None:
        ...         self.inches = inches
        >>> Ruler(inches=float("nan")).check_params()
        Traceback (most recent call last):
        momus.errors.UsageError: Ruler: inches is nan, expected a finite number
          → correct inches; it is 12.0 by default
        """
        check_values(type(self), self.get_params())

    def get_params(self) -> dict[str, Any]:
        """Return the parameters as given to the constructor."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def json_params(self) -> dict[str, Any]:
        """Return the parameters as JSON values; an object is represented by its class and its memory address.

        The address tells two objects of one class apart: an earlier run with another object is not mistaken for this.

        >>> class Reader(Estimator):
        ...     def __init__(self, *, read: object = None, times: int = 1) -> None:
        ...         self.read = read
        ...         self.times = times
        >>> plain = Reader(read=print).json_params()
        >>> plain["times"], plain["read"].startswith("<builtins.print at 0x")
        (1, True)
        """
        return {name: redacted_value(_json_value(value), name) for name, value in self.get_params().items()}

    def state(self) -> dict[str, Any]:
        """Return the fitted attributes."""
        return {k: v for k, v in vars(self).items() if k.endswith("_") and not k.startswith("_")}

    def reset(self) -> None:
        """Delete the fitted attributes."""
        for name in self.state():
            delattr(self, name)

    def clone(self) -> Self:
        """Make an unfitted copy with the same parameters."""
        return type(self)(**self.get_params())

    def component(self, attribute: str) -> Estimator:
        """Make the unfitted object that a fitted attribute holds, into which a saved state is read.

        Raises
        ------
        NotFittedError
            This class has no such component.
        """
        raise NotFittedError(f"{type(self).__name__} has no component {attribute!r}")

    def __repr__(self) -> str:
        inner = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({inner})"


def _json_value(value: Any) -> Any:
    """Return a value that JSON can hold unchanged, and any other as its class and address."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        kind = value if hasattr(value, "__qualname__") else type(value)
        return f"<{kind.__module__}.{kind.__qualname__} at {id(value):#x}>"
    return value
