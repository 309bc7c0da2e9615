"""Models of other tools, saved without pickle: by name (``package.module:name``), or as arrays."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from momus.critic import Critic
from momus.critic.hooks import check_fitted
from momus.errors import StoreError, UsageError
from momus.estimator import Estimator, fitted_state


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

    >>> resolve("momus.text.vocabulary:normalize_title", "function").__name__
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

    >>> from momus.text.vocabulary import normalize_title
    >>> name_of(normalize_title, "function")
    'momus.text.vocabulary:normalize_title'
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


def save_named(critic: Critic[Any], folder: str | Path, *roles: str) -> None:
    """Save a fitted critic whose parameters are objects: ``roles`` by their names, others as given.

    Raises
    ------
    StoreError
        An object cannot be imported by name: a lambda, or a function defined inside a function.
    """
    check_fitted(critic)
    names = {role: name_of(getattr(critic, role), role) for role in roles}
    named = type(critic)(**{**critic.get_params(deep=False), **names})
    vars(named).update(fitted_state(critic))
    Critic.save(named, folder)


class Tensors(Estimator):
    """Arrays by name, stored as the bytes of a safetensors file.

    >>> stored = Tensors.of({"b": np.eye(2), "a": np.arange(3)})
    >>> stored.arrays()["a"], stored.arrays()["b"].shape
    (array([0, 1, 2]), (2, 2))
    """

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Store these arrays."""
        stored = cls()
        content = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
        stored.bytes_ = np.frombuffer(content, dtype=np.uint8)
        return stored

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays, with their shapes and types."""
        arrays: dict[str, NDArray[Any]] = load(self.bytes_.tobytes())
        return arrays

    bytes_: NDArray[np.uint8]
