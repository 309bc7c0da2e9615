"""Errors that say where the fault is, what was found, what was expected, and what to do."""

from __future__ import annotations

import re

from momus.redact import redacted
from momus.version import install_command

_NO_MEMORY = re.compile(r"can't allocate|cannot allocate memory|failed to map segment", re.IGNORECASE)
"""Words of libraries, and of the loader of their files, that lack memory."""


class MomusError(Exception):
    """An error with a hint.

    Parameters
    ----------
    message
        The place (file and line, document id, argument), what was found and what was expected.
    hint
        What the user can do next. Both name arguments by `momus.arguments.arg`, so that commands name options.

    Attributes
    ----------
    critic
        Name of the critic whose code raised it; empty for all other errors.

    >>> print(MomusError("docs.jsonl, line 3: no field 'text'", hint="name the field with field='body'"))
    docs.jsonl, line 3: no field 'text'
      → name the field with field='body'
    """

    exit_code = 1
    critic = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = redacted(message)  # of addresses, since messages are printed and stored
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.hint}" if self.hint else self.message


class UsageError(MomusError):
    """An argument that cannot be used."""

    exit_code = 2


class MissingExtraError(UsageError):
    """A package that an optional part of Momus needs is not installed; the hint says how to install it.

    Parameters
    ----------
    requirement
        What to install, such as ``momus-criticism[torch]``; empty if the hint has to say more than that.

    >>> from momus.version import extra
    >>> print(MissingExtraError("critic 'topics' needs torch", extra("torch")))
    critic 'topics' needs torch
      → pip install -e '.[torch]'
    """

    def __init__(self, message: str, requirement: str = "", *, hint: str = "") -> None:
        super().__init__(message, hint or install_command(requirement))
        self.requirement = requirement


class ReadingError(MomusError):
    """A file that cannot be read as a corpus."""

    exit_code = 3


class NotFittedError(MomusError):
    """An operation on an unfitted critic that needs a fitted one."""

    exit_code = 4


class FittingError(MomusError):
    """The real text lacks what a critic needs to be fitted."""

    exit_code = 4


class CriticError(MomusError):
    """A critic whose code fails, or returns what no critic may return."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "", *, critic: str = "") -> None:
        super().__init__(message, hint or "correct the critic, or leave it out")
        self.critic = critic


class StoreError(MomusError):
    """A run folder or a saved critic that cannot be written or read."""

    exit_code = 5


class PluginError(MomusError):
    """A critic or an adapter that is unknown, broken, or registered twice."""

    exit_code = 6


class GateFailed(MomusError):
    """A gate failed: a run breaks a rule; the message names the axes."""

    exit_code = 7


def lacks_memory(error: BaseException) -> bool:
    """Whether an error of Python, of a device or of a library says that the memory does not suffice."""
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return named or bool(_NO_MEMORY.search(str(error)))
