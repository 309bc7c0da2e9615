"""Code of plug-ins: kept from ending the program and from writing into its output, and found in a traceback."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Collection
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn

end_now = os._exit
"""End this process without any clean-up, also while it runs foreign code."""


class _Contained:
    """A context for foreign code: what it prints goes to standard error, and `os._exit` raises `SystemExit`.

    Contexts of several threads may overlap: the first one to begin sets all, and the last one to end restores it. What
    comes from outside Python (native code, other programs, a signal) is not held back.
    """

    def __init__(self) -> None:
        self._lock, self._depth, self._process = threading.Lock(), 0, 0
        self._output: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                self._output, sys.stdout = sys.stdout, sys.stderr
                os._exit, self._process = self._refuse, os.getpid()
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                sys.stdout, os._exit = self._output, end_now

    def _refuse(self, status: int) -> NoReturn:
        if os.getpid() != self._process:  # a process that was forked from this one ends as it must
            end_now(status)
        raise SystemExit(status)


contained = _Contained()
"""The context in which plug-ins are imported, and their methods called."""


def place_in(trace: TracebackType | None, packages: Collection[str]) -> str:
    """File and line of the innermost call in some packages; empty if none took part.

    >>> try:
    ...     int("one")
    ... except ValueError as error:
    ...     place_in(error.__traceback__, {"no_such_package"})
    ''
    """
    calls = calls_in(trace, packages)
    return f"{short_path(calls[-1][0].f_code.co_filename)}:{calls[-1][1]}" if calls else ""


def calls_in(trace: TracebackType | None, packages: Collection[str]) -> list[tuple[FrameType, int]]:
    """The calls of a traceback that run code of some packages, with their lines, the innermost last."""
    return [(frame, line) for frame, line in traceback.walk_tb(trace) if package_of(_module(frame)) in packages]


def innermost_module(trace: TracebackType | None) -> str:
    """Name of the module whose code raised an error."""
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    return _module(frames[-1]) if frames else ""


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def package_of(module: str) -> str:
    """The first part of the name of a module."""
    return module.partition(".")[0]


def packages_of(cls: type) -> set[str]:
    """The packages that the classes of an object come from, without Momus' core and the standard library."""
    return {package_of(base.__module__) for base in cls.__mro__} - {"momus", *sys.stdlib_module_names}


def short_path(filename: str) -> str:
    """The part of a path below the folder that it was imported from, else the name of the file."""
    path = Path(filename)
    roots = [Path(entry) for entry in sys.path if entry and path.is_relative_to(entry)]
    return path.relative_to(max(roots, key=lambda root: len(root.parts))).as_posix() if roots else path.name
