"""The one place where code of critics is called: what a critic raises there becomes an error that names it.

`Critic` wraps every method and property of the interface that a class outside of Momus' core defines. While one runs,
output goes to standard error and the program cannot be ended (`momus.foreign`). What it raises becomes a `CriticError`
with the line of the critic's own code, `SystemExit` too. These pass: errors of Momus, which then name the critic,
interruptions, and errors that say that memory or room on a disk lacks. So does a fault of Momus itself: an error in
whose traceback no line of the critic's packages takes part.
"""

from __future__ import annotations

import errno
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any

from momus.critic.returned import check_returned
from momus.errors import CriticError, MomusError, lacks_memory
from momus.foreign import contained, innermost_module, package_of, packages_of, place_in
from momus.plugins import extra_of

if TYPE_CHECKING:
    from momus.critic.base import Critic

_CALLERS = (__name__, "momus.critic.base", "momus.estimator")
"""Modules that call methods of critics: an error raised there says that the method cannot be called so."""
_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors of the operating system that say what the machine lacks."""
_LONGEST = 300
"""Characters that are shown of what an exception says."""


class _Running(threading.local):
    """Whether a method of a critic runs in this thread: methods that it calls are part of it."""

    method = False


_RUNNING = _Running()


@contextmanager
def blamed(critic: Critic[Any] | type[Critic[Any]], method: str = "") -> Iterator[None]:
    """Run code of a critic within the context.

    Parameters
    ----------
    method
        The method that is called; empty where much of Momus' own code runs too, and calls functions of the critic.

    Raises
    ------
    CriticError
        The code raised something other than an error of Momus.
    """
    with contained:
        try:
            yield
        except MomusError as error:
            if method and not error.critic:
                error.critic = critic.name
            raise
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            lacking = lacks_memory(error) or (isinstance(error, OSError) and error.errno in _MACHINE)
            blame = None if lacking else _blame(critic, method, error)
            if blame is None:
                raise
            raise blame from error


def _blame(critic: Critic[Any] | type[Critic[Any]], method: str, error: BaseException) -> MomusError | None:
    """The error that names a critic and a line of its code; None if the critic has no part in it."""
    place = place_in(error.__traceback__, packages_of(critic if isinstance(critic, type) else type(critic)))
    if not place and not (method and innermost_module(error.__traceback__) in _CALLERS):
        return None
    if isinstance(error, ModuleNotFoundError) and (missing := extra_of(error)) is not None:
        missing.critic = critic.name
        return missing
    said = " ".join(str(error).split())
    reason = f"{type(error).__name__}: {said[:_LONGEST]}" if said else type(error).__name__
    if isinstance(error, SystemExit):
        reason = f"it tries to end the program (exit code {error.code})"
    words = f"{method or 'a function of its statistics'} failed{f' at {place}' if place else ''}"
    return CriticError(f"critic {critic.name!r}: {words}: {reason}", critic=critic.name)


def guard_methods(cls: type[Critic[Any]]) -> None:
    """Wrap the methods and properties of the interface that a class, or a helper class of it, defines outside core."""
    bases = [base for base in cls.__mro__ if package_of(base.__module__) == "momus"]
    for name in {name for base in bases for name in vars(base) if not name.startswith("_")}:
        owner = next(base for base in cls.__mro__ if name in vars(base))
        method = vars(owner)[name]
        if owner in bases or getattr(method, "__isabstractmethod__", False):
            continue
        if isinstance(method, FunctionType) and not hasattr(method, "guarded"):
            setattr(cls, name, _guarded(method, name))
        elif isinstance(method, property) and method.fget is not None and not hasattr(method.fget, "guarded"):
            setattr(cls, name, property(_guarded(method.fget, name), method.fset, method.fdel, method.__doc__))


def _guarded(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Wrap a method; what it returns is checked where any critic must return something of one kind."""

    @functools.wraps(method)
    def wrapped(self: Critic[Any], *arguments: Any, **named: Any) -> Any:
        if _RUNNING.method:
            return method(self, *arguments, **named)
        _RUNNING.method = True
        try:
            with blamed(self, name):
                value = method(self, *arguments, **named)
                value = list(value) if isinstance(value, GeneratorType) else value
        finally:
            _RUNNING.method = False
        check_returned(self, name, value)
        return value

    wrapped.guarded = True  # type: ignore[attr-defined]
    return wrapped
