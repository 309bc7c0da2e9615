"""Python objects by name, ``package.module:name``: how critics that hold live objects are saved."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from momus.errors import StoreError, UsageError


def resolve(given: str | Callable[..., Any], role: str) -> Callable[..., Any]:
    """Look up a function or class by name; a function or class itself is returned unchanged.

    Parameters
    ----------
    given
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
    if not isinstance(given, str):
        if not callable(given):
            raise UsageError(f"{role} is {given!r}, which cannot be called", hint="give a function or a class")
        return given
    module, colon, path = given.partition(":")
    if not colon or not module or not path:
        raise UsageError(f"{role} is {given!r}", hint='write it as "package.module:name"')
    if module.partition(".")[0] in sys.stdlib_module_names and module != "__main__":
        raise UsageError(f"{role} is {given!r}, from Python's own library", hint="name an object of another package")
    try:
        target: Any = importlib.import_module(module)
        for attribute in path.split("."):
            target = getattr(target, attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"{role} {given!r} cannot be imported: {error}", hint="install its package, or correct the name"
        ) from error
    if not callable(target):
        raise UsageError(f"{role} {given!r} is {type(target).__name__}, which cannot be called", hint="name a function")
    return target  # type: ignore[no-any-return]


def name_of(given: str | Callable[..., Any], role: str) -> str:
    """Return the name under which another process can import an object.

    Raises
    ------
    StoreError
        The object has no such name: it is a lambda, is defined inside a function, or belongs to a script.

    >>> from momus.text.titles import normalize_title
    >>> name_of(normalize_title, "function")
    'momus.text.titles:normalize_title'
    """
    if isinstance(given, str):
        return given
    module, path = getattr(given, "__module__", ""), getattr(given, "__qualname__", type(given).__qualname__)
    name = f"{module}:{path}"
    try:
        if module != "__main__" and "<" not in path and resolve(name, role) is given:
            return name
    except UsageError:
        pass
    raise StoreError(
        f"{role} {path} of {module} cannot be saved: it cannot be imported by name",
        hint='define it at the top level of a module, and pass "package.module:name"',
    )
