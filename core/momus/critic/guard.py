"""The one place where code of critics is called: what a critic raises there becomes an error that names it.

`Critic` wraps every method and property of the interface that a class outside of Momus' core defines. While one runs,
output goes to standard error and the program cannot be ended (`momus.foreign`). What it raises becomes a `CriticError`
with the line of the critic's own code, `SystemExit` too. These pass: errors of Momus, which then name the critic,
interruptions, and errors that say that memory or room on a disk lacks. So does a fault of Momus itself: an error in
whose traceback no line of the critic's packages takes part.

What a critic returns is checked before anything is computed from it: kind, shape, type and size, in words.
"""

from __future__ import annotations

import errno
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from momus.critic.reporting import Note
from momus.critic.rows import Counted, Rows, Summary
from momus.critic.scores import LogPrior
from momus.critic.statistic import Statistic
from momus.errors import CriticError, MomusError, lacks_memory
from momus.evidence import Evidence, MarkedDocument
from momus.foreign import contained, innermost_module, package_of, packages_of, place_in
from momus.laws.law import Law
from momus.numeric.types import Floats, Ints
from momus.plugins import extra_of

if TYPE_CHECKING:
    from momus.critic.base import Critic

LARGEST = 1e70
"""Size up to which numbers are computed with: fourth powers of it, summed over a text, are finite."""
_ROWS = "return one element per document of the batch, in order; declare documents that cannot be scored in unscored()"
_SEVERAL: Mapping[str, tuple[Any, str]] = {
    "evidence": (get_args(Evidence), "momus.evidence.Evidence"),
    "statistics": (Statistic, "momus.Statistic"),
    "notes": ((Note, str), "momus.critic.Note or texts"),
    "laws": (Law, "momus.laws.Law"),
    "state_names": (str, "texts"),
}
"""What each element of the list is that a method returns, for `isinstance`, and in words."""
_ONE: Mapping[str, tuple[Any, str]] = {
    "explain": ((MarkedDocument, type(None)), "a momus.evidence.MarkedDocument or None"),
    "summarize": (Summary, "something that can be added"),
    "sufficient_statistics": (Mapping, "a mapping from names to rows"),
    "items": (Mapping, "a mapping from names to counts"),
    "nothing_to_see": (str, "a text"),
    "log_prior": (LogPrior, "a momus.LogPrior"),
}


def _kind(value: object) -> str:
    """What a value is, in a few words.

    >>> _kind(None), _kind(1 + 2j), _kind([1]), _kind(np.zeros((2, 3)))
    ('None', 'complex', 'list', 'an array of shape (2, 3)')
    """
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return "None" if value is None else type(value).__name__


class Returned:
    """What a critic returned, checked before anything is computed from it.

    Every method raises `CriticError` if a value is of another kind, shape or length than it must be, or has numbers
    that are not real, not finite or too large.
    """

    def __init__(self, critic: Critic[Any]) -> None:
        self.critic = critic

    def refuse(self, method: str, kind: str, expected: str, hint: str = "") -> NoReturn:
        """Raise the error that says what a method returned, and what it should."""
        name = self.critic.name
        raise CriticError(f"critic {name!r}: {method} returned {kind}, expected {expected}", hint, critic=name)

    def check(self, method: str, value: Any) -> None:
        """Check the kind of what a method of the interface returned; methods whose results vary are not checked."""
        if method in _ONE:
            kinds, words = _ONE[method]
            if not isinstance(value, kinds):
                self.refuse(method, _kind(value), words)
        if method in _SEVERAL:
            kinds, words = _SEVERAL[method]
            if isinstance(value, str) or not isinstance(value, Sequence):
                self.refuse(method, _kind(value), f"a list of {words}")
            for other in value:
                if not isinstance(other, kinds):
                    self.refuse(method, f"a list with {_kind(other)}", f"a list of {words}")

    def reasons(self, reasons: Any, n: int) -> Sequence[str | None]:
        """The reasons of n documents: texts, or None."""
        if isinstance(reasons, str) or not isinstance(reasons, Sequence):
            self.refuse("unscored", _kind(reasons), "a list of texts and None")
        if len(reasons) != n:
            self.refuse("unscored", f"{len(reasons)} reasons for {n} documents", "one for each")
        for reason in reasons:
            if reason is not None and not (isinstance(reason, str) and reason):
                self.refuse("unscored", f"the reason {reason!r:.40}", "a text that is not empty, or None")
        return reasons

    def latents(self, latents: Any, n: int) -> None:
        """Latents of n documents."""
        if not hasattr(latents, "__len__"):
            self.refuse("project", _kind(latents), "latents with one element per document")
        self._length("project", len(latents), n)
        for value in (latents, *getattr(latents, "__dict__", {}).values()):
            if isinstance(value, np.ndarray) and value.dtype.kind == "c":
                self.refuse("project", "complex numbers", "real ones")

    def prior(self, prior: LogPrior, ids: Sequence[str]) -> tuple[Floats, Ints]:
        """The log prior of documents: its values, and the steps of each document."""
        self.check("log_prior", prior)
        values = self._real("log_prior (values)", prior.values, len(ids), 1)
        steps = self._real("log_prior (steps)", prior.steps, len(ids), 1)
        if not (np.isfinite(steps).all() and (steps == np.floor(steps)).all() and (steps >= 0).all()):
            kind = "numbers that are not whole or are negative"
            self.refuse("log_prior (steps)", kind, "a number of steps for each")
        if prior.errors is not None:
            self._real("log_prior (errors)", prior.errors, len(ids), 1)
        bad = np.flatnonzero((steps >= 1) & ~(np.abs(values) <= LARGEST))  # NaN is not smaller either
        if len(bad):
            raise CriticError(
                f"critic {self.critic.name!r}: log_prior is {values[bad[0]]} for document {ids[bad[0]]!r} ({len(bad)} "
                f"such documents in this batch), expected a number of at most {LARGEST:g} in size",
                "give every latent a positive probability (smooth P_c), or return a reason from unscored()",
                critic=self.critic.name,
            )
        return values, steps.astype(np.int64)

    def vector(self, method: str, returned: Any, n: int) -> Floats | None:
        """One number per document, NaN where there is none; None if the critic gives none at all."""
        if returned is None:
            return None
        values = self._real(method, returned, n, 1)
        if (large := values[np.abs(values) > LARGEST]).size:
            self.refuse(method, f"{large[0]}", f"numbers of at most {LARGEST:g} in size")
        return values

    def rows(self, name: str, rows: Any, n: int) -> Rows:
        """The sufficient statistics of one name, one row per document: `Counted`, or a float array (n, d)."""
        method = f"sufficient_statistics ({name!r})"
        if isinstance(rows, Counted):
            self._length(method, len(rows), n)
            if rows.matrix.shape[1] != len(rows.labels):
                kind = f"{rows.matrix.shape[1]} columns, {len(rows.labels)} labels"
                self.refuse(method, kind, "one for each column")
            numbers = rows.matrix.data
            table: Rows = rows
        else:
            table = numbers = self._real(method, rows, n, 2)
        if numbers.dtype.kind not in "fiub" or not (np.abs(numbers) <= LARGEST).all():
            kind = "numbers that are complex, not finite or too large"
            self.refuse(method, kind, f"at most {LARGEST:g} in size")
        return table

    def _real(self, what: str, returned: Any, n: int, dimensions: int) -> NDArray[Any]:
        """Real numbers as a float array of n rows."""
        try:
            values = np.asarray(returned)
        except (TypeError, ValueError):  # lists of different lengths, tensors on a device
            self.refuse(what, _kind(returned), "an array of numbers")
        if values.dtype.kind not in "fiub":
            kind = {"c": "complex numbers", "U": "texts", "S": "bytes"}.get(values.dtype.kind, _kind(returned))
            self.refuse(what, kind, "real numbers")
        if values.ndim != dimensions:
            shape = "(n,)" if dimensions == 1 else "(n, d)"
            self.refuse(what, _kind(values), f"one of shape {shape} for n = {n} documents")
        self._length(what, len(values), n)
        return values.astype(np.float64, copy=False)

    def _length(self, source: str, rows: int, n: int) -> None:
        if rows != n:
            name = self.critic.name
            raise CriticError(f"critic {name!r}: {source} returned {rows} rows for {n} documents", _ROWS, critic=name)


_CALLERS = (__name__, "momus.critic.base", "momus.estimator")
"""Modules that call methods of critics: an error raised there says that the method cannot be called so."""
_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors of the operating system that say what the machine lacks."""
_LONGEST = 300
"""Characters that are shown of what an exception says."""


_RUNNING = threading.local()
"""Its ``method``: whether a method of a critic runs in this thread; methods that it calls are part of it."""


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
        if getattr(_RUNNING, "method", False):
            return method(self, *arguments, **named)
        _RUNNING.method = True
        try:
            with blamed(self, name):
                value = method(self, *arguments, **named)
                value = list(value) if isinstance(value, GeneratorType) else value
        finally:
            _RUNNING.method = False
        Returned(self).check(name, value)
        return value

    wrapped.guarded = True  # type: ignore[attr-defined]
    return wrapped
