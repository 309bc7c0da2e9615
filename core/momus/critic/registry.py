"""Registered critics: looked up by name, constructed, and read back from disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from momus.critic.base import Critic
from momus.critic.saved import read_critic_json
from momus.errors import PluginError
from momus.estimator import construct
from momus.plugins import CRITICS, load_plugin


def critic_class(name: str) -> type[Any]:
    """Look up the class of a critic, and check that it is one."""
    cls = load_plugin(CRITICS, name)
    if not (isinstance(cls, type) and issubclass(cls, Critic)):
        raise PluginError(
            f"plug-in {name!r} is {cls!r}, not a subclass of momus.Critic", hint="correct its entry point"
        )
    if getattr(cls, "name", None) != name:
        raise PluginError(
            f"plug-in {name!r} holds a critic that calls itself {getattr(cls, 'name', None)!r}",
            hint="give the entry point and the class's `name` the same name",
        )
    if not isinstance(getattr(cls, "axis", None), str):
        raise PluginError(
            f"plug-in {name!r} does not say what it looks at", hint="give its class an `axis`, in a few words"
        )
    return cls


def make_critics(names: Iterable[str], config: dict[str, dict[str, Any]] | None = None) -> list[Any]:
    """Construct critics with the parameters that a configuration gives them."""
    config = config or {}
    return [construct(critic_class(n), config.get(n, {}), place=f"[{n}]") for n in names]


def load_critic(folder: str | Path, *, trust: bool = False) -> Any:
    """Read a saved critic, looking its class up among the registered ones.

    Parameters
    ----------
    trust
        Whether the critic may use adapters, connect to addresses, and read the files that its parameters name.

    Raises
    ------
    StoreError
        The folder holds no critic, a damaged one, or one that must be trusted first.
    PluginError
        No critic of this name is registered.
    """
    return critic_class(read_critic_json(Path(folder))["critic"]).load(folder, trust=trust)
