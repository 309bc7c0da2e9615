"""Plug-ins: critics and adapters by entry point, listed without import, loaded one by one.

A critic registers a class under the group ``momus.critics``, an adapter a callable under ``momus.adapters``; those
that ship with Momus do the same. One broken plug-in is reported by its name and distribution and stops no other.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
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


def critic_class(name: str) -> type[Any]:
    """Look up the class of a critic, and check that it is one."""
    from momus.critic import Critic

    found = load_plugin(CRITICS, name)
    if not (isinstance(found, type) and issubclass(found, Critic)):
        raise PluginError(
            f"plug-in {name!r} is {found!r}, not a subclass of momus.Critic", hint="correct its entry point"
        )
    if getattr(found, "name", None) != name:
        raise PluginError(
            f"plug-in {name!r} holds a critic that calls itself {getattr(found, 'name', None)!r}",
            hint="give the entry point and the class's `name` the same name",
        )
    if not isinstance(getattr(found, "axis", None), str):
        raise PluginError(
            f"plug-in {name!r} does not say what it looks at", hint="give its class an `axis`, in a few words"
        )
    return found


def critic_names() -> list[str]:
    """Names of all registered critics, without importing any."""
    return list(registered(CRITICS))


def make_critics(names: Iterable[str], config: dict[str, dict[str, Any]] | None = None) -> list[Any]:
    """Construct critics with the parameters that a configuration gives them."""
    config = config or {}
    return [critic_class(n).with_params(config.get(n, {}), place=f"[{n}]") for n in names]


def load_critic(folder: str | Path) -> Any:
    """Read a saved critic, looking its class up among the registered ones."""
    from momus.store.critics import read_critic_json

    return critic_class(read_critic_json(Path(folder))["critic"]).load(folder)
