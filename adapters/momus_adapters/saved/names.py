"""Python objects by name, ``package.module:name``: how critics that hold live objects are written down."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from momus.errors import StoreError, UsageError


def resolve(given: str | Callable[..., Any], role: str) -> Callable[..., Any]:
    """Look up a function or class by name; one that is given as itself is returned.

    Parameters
    ----------
    given
        ``package.module:name``, or the object. The module is imported, so that names must come from where you trust.
    role
        What it is called in errors.

    Raises
    ------
    UsageError
        There is none of that name, it cannot be called, or it is of Python's own library, which holds no model and
        functions that a saved critic must not be able to call.

    >>> resolve("momus.text.titles:normalize_title", "function").__name__
    'normalize_title'
    """
    if not isinstance(given, str):
        if not callable(given):
            raise UsageError(f"{role} is {given!r}, which cannot be called", hint="give a function, or a class")
        return given
    module, colon, path = given.partition(":")
    if not colon or not module or not path:
        raise UsageError(f"{role} is {given!r}", hint='write it as "package.module:name"')
    if module.partition(".")[0] in sys.stdlib_module_names and module != "__main__":
        raise UsageError(f"{role} is {given!r}, of Python's own library", hint="name something of a package")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"{role} {given!r} cannot be imported: {error}", hint="install its package, or correct the name"
        ) from error
    if not callable(found):
        raise UsageError(f"{role} {given!r} is {type(found).__name__}, which cannot be called", hint="name a function")
    return found  # type: ignore[no-any-return]


def name_of(given: str | Callable[..., Any], role: str) -> str:
    """Give the name under which another process finds an object.

    Raises
    ------
    StoreError
        There is none: it is a lambda, a function inside of a function, or belongs to a script.

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
        f"{role} {path} of {module} cannot be saved: no name leads to it",
        hint='define it at the top level of a module, and give it as "package.module:name"',
    )
