"""Live objects that critics save without pickle: by name, ``package.module:name``, or as named arrays of any shape."""

from __future__ import annotations

import math
import pkgutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic import Critic
from momus.critic.fitted import Fitted
from momus.critic.hooks import check_fitted
from momus.errors import StoreError, UsageError
from momus.estimator import Estimator, fitted_state
from momus.numeric.types import Floats


def resolve(named: str | Callable[..., Any], role: str) -> Callable[..., Any]:
    """Look up a function or class by name; a function or class itself is returned unchanged.

    Parameters
    ----------
    named
        ``package.module:name``, or the object. The module is imported: use only names from sources that you trust.
    role
        What error messages call it.

    Raises
    ------
    UsageError
        The name does not exist, is not callable, or belongs to Python's own library, which has no models but has
        functions that a saved critic must not be able to call.

    >>> resolve("momus.text.titles:normalize_title", "function").__name__
    'normalize_title'
    """
    if not isinstance(named, str):
        if not callable(named):
            raise UsageError(f"{role} is {named!r}, which cannot be called", hint="give a function or a class")
        return named
    module, colon, path = named.partition(":")
    if not colon or not module or not path:
        raise UsageError(f"{role} is {named!r}", hint='write it as "package.module:name"')
    if module.partition(".")[0] in sys.stdlib_module_names and module != "__main__":
        raise UsageError(f"{role} is {named!r}, from Python's own library", hint="name an object of another package")
    try:
        target: Any = pkgutil.resolve_name(named)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{role} {named!r} cannot be imported: {error}", hint="install its package, or correct the name"
        ) from error
    if not callable(target):
        raise UsageError(f"{role} {named!r} is {type(target).__name__}, which cannot be called", hint="name a function")
    return target  # type: ignore[no-any-return]


def name_of(named: str | Callable[..., Any], role: str) -> str:
    """Return the name under which another process can import an object.

    Raises
    ------
    StoreError
        The object has no such name: it is a lambda, is defined inside a function, or belongs to a script.

    >>> from momus.text.titles import normalize_title
    >>> name_of(normalize_title, "function")
    'momus.text.titles:normalize_title'
    """
    if isinstance(named, str):
        return named
    module, path = getattr(named, "__module__", ""), getattr(named, "__qualname__", type(named).__qualname__)
    name = f"{module}:{path}"
    try:
        if module != "__main__" and "<" not in path and resolve(name, role) is named:
            return name
    except UsageError:
        pass
    raise StoreError(
        f"{role} {path} of {module} cannot be saved: it cannot be imported by name",
        hint='define it at the top level of a module, and pass "package.module:name"',
    )


def save_named(
    critic: Critic[Any], folder: str | Path, *roles: str, state: Mapping[str, Any] | None = None, **params: Any
) -> None:
    """Save a fitted critic whose parameters are objects: ``roles`` by their names, others as given.

    Parameters
    ----------
    state
        The fitted attributes, if not those of the critic.

    Raises
    ------
    StoreError
        An object cannot be imported by name: a lambda, or a function defined inside a function.
    """
    check_fitted(critic)
    names = {role: name_of(getattr(critic, role), role) for role in roles}
    named = type(critic)(**{**critic.get_params(deep=False), **names, **params})
    vars(named).update(fitted_state(critic) if state is None else state)
    Critic.save(named, folder)


class Tensors(Estimator):
    """Arrays by name, stored as one flat float64 array with their names, shapes and types.

    >>> stored = Tensors.of({"b": np.eye(2), "a": np.arange(3)})
    >>> stored.arrays()["a"], stored.arrays()["b"].shape
    (array([0, 1, 2]), (2, 2))
    """

    may_be_infinite: ClassVar[tuple[str, ...]] = ("flat_",)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Store these arrays; integers above 2⁵³ would be rounded."""
        stored = cls()
        stored.names_ = sorted(arrays)
        values = [np.asarray(arrays[k]) for k in stored.names_]
        stored.shapes_ = [list(v.shape) for v in values]
        stored.types_ = [v.dtype.str for v in values]
        stored.flat_ = np.concatenate([np.zeros(0), *(v.ravel().astype(np.float64) for v in values)])
        return stored

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays, with their shapes and types."""
        arrays, start = {}, 0
        for name, shape, kind in zip(self.names_, self.shapes_, self.types_, strict=True):
            size = int(np.prod(shape))
            arrays[name] = self.flat_[start : start + size].reshape(shape).astype(kind)
            start += size
        return arrays

    def check_values(self, state: Fitted, name: str, *, infinite: bool = False) -> None:
        """Refuse arrays with NaN, and with infinite values unless ``infinite``.

        Parameters
        ----------
        state, name
            The state that holds these arrays, and the attribute, for the message.
        """
        for key, value in self.arrays().items():
            good = not np.isnan(value).any() if infinite else np.isfinite(value).all()
            state.require(bool(good), name, f"{'numbers' if infinite else 'finite numbers'} in {key!r}")

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        names = state.texts("names_")
        shapes, types = state.value("shapes_"), state.texts("types_", len(names), distinct=False)
        state.require(all(t[1:2] in ("b", "i", "u", "f") and len(t) <= 4 for t in types), "types_", "types of numbers")
        whole = isinstance(shapes, list) and all(
            isinstance(shape, list) and all(type(n) is int and 0 <= n < 2**40 for n in shape) for shape in shapes
        )
        state.require(whole and len(shapes) == len(names), "shapes_", "a shape for each name")
        state.array("flat_", (sum(math.prod(shape) for shape in shapes),))

    names_: list[str]
    shapes_: list[list[int]]
    types_: list[str]
    flat_: Floats
