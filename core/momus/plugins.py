"""Plug-ins: critics and adapters by entry point, listed without import, loaded one by one.

A critic registers a class under the group ``momus.critics``, an adapter a callable under ``momus.adapters``; those
that ship with Momus do the same. One broken plug-in is reported by its name and distribution and stops no other.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from momus.errors import PluginError

CRITICS, ADAPTERS = "momus.critics", "momus.adapters"


@dataclass(frozen=True)
class Plugin:
    """A registered plug-in, not yet imported."""

    name: str
    value: str
    distribution: str
    group: str
    entry: EntryPoint

    def load(self) -> Any:
        """Import what the entry point names.

        Raises
        ------
        PluginError
            The import fails, with the reason.
        """
        try:
            return self.entry.load()
        except (Exception, SystemExit) as error:  # whatever a foreign module raises must not end the tool
            raise PluginError(
                f"plug-in {self.name!r} of distribution {self.distribution!r} cannot be imported "
                f"({self.value}): {type(error).__name__}: {error}",
                hint=f"repair or uninstall {self.distribution!r}, or leave the plug-in out",
            ) from error


def registered(group: str) -> dict[str, list[Plugin]]:
    """All plug-ins of a group by name; more than one under a name is an error only for whoever asks for it."""
    found: defaultdict[str, list[Plugin]] = defaultdict(list)
    for entry in entry_points(group=group):
        distribution = entry.dist.name if entry.dist is not None else "unknown"
        plugin = Plugin(entry.name, entry.value, distribution, group, entry)
        if plugin not in found[entry.name]:
            found[entry.name].append(plugin)
    return dict(sorted(found.items()))


def load_plugin(group: str, name: str) -> Any:
    """Load the one plug-in of a name.

    Raises
    ------
    PluginError
        No plug-in, or two of them, have the name, or its import fails.
    """
    known = registered(group)
    kind = group.removeprefix("momus.").removesuffix("s")
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise PluginError(f"no {kind} {name!r}", hint=f"{guess}there are: {', '.join(known) or 'none'}")
    if len(known[name]) > 1:
        owners = ", ".join(sorted(f"{p.distribution!r} ({p.value})" for p in known[name]))
        raise PluginError(f"two plug-ins are called {name!r}: {owners}", hint="uninstall one of them, or rename it")
    return known[name][0].load()
