"""Critics that are left out because packages that they need are not installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from momus.errors import MissingExtraError


@dataclass(frozen=True)
class Absent:
    """A critic that was left out, and the error that names what it needs."""

    critic: str
    error: MissingExtraError


def absent_warnings(absent: Sequence[Absent]) -> list[str]:
    """One warning for all critics that an extra would bring, and one for each that needs something else.

    >>> lacking = [(n, MissingExtraError("…", f"momus[{e}]")) for n, e in (("topics", "torch"), ("pcfg", "torch"))]
    >>> print(*absent_warnings([Absent(name, error) for name, error in lacking]))
    Left out, since packages are not installed: 'topics' and 'pcfg' (pip install 'momus[torch]').
    """
    critics: dict[str, list[str]] = {}  # by what brings them
    others = []
    for each in absent:
        if each.error.requirement:
            critics.setdefault(each.error.requirement, []).append(repr(each.critic))
        else:
            others.append(f"Critic {each.critic!r} was left out: {each.error.message} ({each.error.hint}).")
    if not critics:
        return others
    parts = [f"{' and '.join(names)} (pip install '{requirement}')" for requirement, names in critics.items()]
    return [f"Left out, since packages are not installed: {', '.join(parts)}.", *others]
