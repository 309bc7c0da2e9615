"""What a process leaves on the disk when it is killed at each of its writes.

A kill takes nothing from the disk that the system already has, and adds nothing to it. So the state after a kill at a
moment is the state of the disk at that moment: while a command runs once, the folder is copied before each change that
Python makes to it (opening a file for writing, renaming, deleting, making a folder: `sys.addaudithook` sees them all).
Files that were written since the copy before, and not put in place by a rename, may also be half written: each gives
a further state, in which it is cut in half.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DEAD = 4_194_305
"""A process number beyond the largest that Linux gives: temporary files get it, as if their process had died."""
EVENTS = {"os.rename": 1, "os.remove": 0, "os.rmdir": 0, "os.mkdir": 0, "os.truncate": 0, "open": 0}
"""Audit events that change the disk, and which argument is the path."""


@dataclass(frozen=True)
class State:
    """The folder as a kill leaves it: a copy, what the process was about to do, and the file that is half written."""

    copy: Path
    moment: str
    torn: str = ""

    def restore(self, root: Path) -> None:
        """Put the state into the place of the folder."""
        shutil.rmtree(root)
        shutil.copytree(self.copy, root, symlinks=True)
        if self.torn:
            os.truncate(root / self.torn, (root / self.torn).stat().st_size // 2)
        for path in sorted(root.rglob(f"*.{os.getpid()}.*"), reverse=True):  # what lies in a folder before the folder
            path.rename(path.with_name(path.name.replace(f".{os.getpid()}.", f".{DEAD}.")))


class _Watch:
    """Copies a folder before each change; an audit hook stays for the life of the process, so there is one."""

    def __init__(self) -> None:
        self.before_change: Callable[[str, tuple[object, ...]], None] | None = None
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.before_change is not None and event in EVENTS:
            act, self.before_change = self.before_change, None  # copying changes the disk, too
            try:
                act(event, arguments)
            finally:
                self.before_change = act


_WATCHES: list[_Watch] = []


@contextmanager
def copied(root: Path, copies: Path) -> Iterator[list[State]]:
    """Collect the states of a folder while a command runs within the context."""
    watch = _WATCHES[0] if _WATCHES else _Watch()
    _WATCHES[:] = [watch]
    states: list[State] = []
    renamed: list[str] = []  # targets of the renames since the last copy, and what lies below them

    def copy(event: str, arguments: tuple[object, ...]) -> None:
        path = arguments[EVENTS[event]]
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.path.abspath(os.fsdecode(path))
        writes = event != "open" or bool(int(arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if not writes or not name.startswith(f"{root}{os.sep}"):
            return
        add(f"{event} {os.path.relpath(name, root)}")
        renamed[:] = [os.path.relpath(name, root)] if event == "os.rename" else []

    def add(moment: str) -> None:
        here = copies / str(len(states))
        shutil.copytree(root, here, symlinks=True)
        before = states[-1].copy if states and not states[-1].torn else None
        before = before or next((s.copy for s in reversed(states) if not s.torn), None)
        states.append(State(here, moment))
        for path in sorted(p for p in here.rglob("*") if p.is_file() and not p.is_symlink()):
            relative = path.relative_to(here)
            old = None if before is None else before / relative
            same = old is not None and old.is_file() and old.read_bytes() == path.read_bytes()
            moved = any(relative.as_posix() == r or relative.as_posix().startswith(f"{r}/") for r in renamed)
            if not same and not moved and path.stat().st_size > 1 and before is not None:
                states.append(State(here, moment, relative.as_posix()))

    watch.before_change = copy
    try:
        yield states
        watch.before_change = None
        add("the end")
    finally:
        watch.before_change = None
