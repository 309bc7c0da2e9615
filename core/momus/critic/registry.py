"""Critics by name: registered ones, and classes that the user names by where they are.

``package.module:Class`` or ``./file.py:Class`` runs code, so it comes from the user alone: a command line or a call,
never a folder that is read. A name of a family, such as ``label-tone``, has a class that is made for it.
"""

from __future__ import annotations

import copyreg
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from momus.arguments import arg
from momus.critic.base import Critic
from momus.critic.guard import blamed
from momus.critic.saved import read_critic_json
from momus.critic.source import forget, is_outdated
from momus.errors import PluginError, UsageError
from momus.estimator import construct
from momus.foreign import contained
from momus.plugins import CRITICS, load_plugin, registered

FAMILY, LABEL = "label-", "label:"
"""How the names of critics begin whose classes `momus_critics.labels` makes from the rest of the name; how users may
write it."""
NAME = r"[^\W_][\w.-]*"
"""What the name of a critic is made of."""
_LOCATED: dict[str, tuple[str, type[Any]]] = {}
"""Where classes are that the user has named in this process, and the classes, by the names of their critics."""


def located() -> dict[str, str]:
    """Where the classes are that the user has named in this process, by the names of their critics."""
    return {name: location for name, (location, _) in _LOCATED.items()}


def named(critic: str) -> str:
    """The name of a critic that may be given as ``package.module:Class`` or ``./file.py:Class``, or as ``label:tone``.

    Its class is then known by that name in this process, and its instances can be sent to other processes. A class
    whose code was changed since it was imported is imported again.

    Raises
    ------
    PluginError
        The module cannot be imported, or has no such class.
    UsageError
        The class is no critic, or its name is that of a registered critic.
    """
    if ":" not in critic:
        return critic
    if critic.startswith(LABEL):
        return FAMILY + critic.removeprefix(LABEL)
    location, _, attribute = critic.rpartition(":")
    if location.endswith(".py"):
        location = str(Path(location).resolve())
    try:
        with contained:
            cls = getattr(_module(location), attribute)
        if isinstance(cls, type) and is_outdated(cls):
            forget(cls)
            with contained:
                cls = getattr(_module(location), attribute)
    except (Exception, SystemExit) as error:  # foreign modules may raise anything at import
        raise PluginError(
            f"{critic} cannot be imported: {type(error).__name__}: {error}",
            hint="write package.module:Class or ./file.py:Class",
        ) from error
    if not (isinstance(cls, type) and issubclass(cls, Critic)):
        raise UsageError(f"{critic} is not a subclass of momus.Critic", hint="name the class of a critic")
    name = check_name(cls)
    for plugin in registered(CRITICS, name).get(name, ()):
        if plugin.value != f"{cls.__module__}:{cls.__qualname__}" and plugin.load() is not cls:
            raise UsageError(
                f"{critic} is called {name!r}, as a critic of {plugin.distribution!r} is", hint="give it another name"
            )
    _LOCATED[name] = f"{location}:{attribute}", cls
    copyreg.pickle(cls, _reduced)
    return name


def check_name(cls: type[Any]) -> str:
    """The name of a class of critics, which names columns, files and tables of the configuration; its axis is checked.

    Raises
    ------
    UsageError
        It is no name of letters, digits, hyphens, underscores and dots, or the axis is not a line of text.
    """
    name, axis = getattr(cls, "name", None), getattr(cls, "axis", None)
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise UsageError(
            f"the critic {cls.__qualname__} has the name {name!r:.60}, expected letters, digits and hyphens",
            hint='give the class a `name`, such as name = "mine"',
        )
    if not isinstance(axis, str) or not axis.strip() or not axis.isprintable():
        raise UsageError(
            f"the critic {name!r} has the axis {axis!r:.60}, expected a few words in one line",
            hint='give the class an `axis`, which sentences name, such as axis = "length of documents"',
        )
    return name


def _module(location: str) -> ModuleType:
    """Import a module by name, also from the current folder, or a file by its path."""
    if not location.endswith(".py"):
        if "" not in sys.path:
            sys.path.append("")  # last: a file there must not take the place of an installed module
        return importlib.import_module(location)
    path = Path(location)
    # the same name in each process: objects of its classes can then be sent between them
    name = f"momus_file_{path.stem}_{hashlib.blake2b(location.encode(), digest_size=6).hexdigest()}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python file")
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        try:
            # from the text: a compiled file is taken for that of any text of the same length and second
            exec(compile(path.read_bytes(), location, "exec"), vars(module))
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _reduced(critic: Critic[Any]) -> tuple[Any, ...]:
    """How a critic of a class that was named or made is pickled: the class is found first, then attributes are read."""
    return _unfitted, (located().get(critic.name, critic.name),), vars(critic)


def _unfitted(critic: str) -> Any:
    return object.__new__(critic_class(named(critic)))


def family_class(name: str) -> type[Any] | None:
    """The class of a critic whose name is that of a family and something more; None for other names.

    Raises
    ------
    PluginError
        The package of the family is not installed.
    UsageError
        The name is not fit for a critic.

    >>> family_class("label-tone").needs, family_class("length")
    (('tone',), None)
    """
    if not name.startswith(FAMILY) or registered(CRITICS, name):
        return None
    try:
        labels = importlib.import_module("momus_critics.labels")
    except ImportError as error:
        raise PluginError(f"critic {name!r:.60} cannot be made: {error}", hint="install momus-criticism") from error
    rest = name.removeprefix(FAMILY)
    if not re.fullmatch(NAME, rest):
        raise UsageError(
            f"{rest!r:.60} names no critic, expected letters, digits, hyphens, underscores and dots",
            hint=f"give the field another name: {arg('keep', 'tone=PATH')}, and then {FAMILY}tone",
        )
    cls: type[Any] = labels.label_class(rest)
    copyreg.pickle(cls, _reduced)
    return cls


def critic_class(name: str) -> type[Any]:
    """Look up the class of a critic by its name, and check that it is one."""
    if name in _LOCATED:
        return _LOCATED[name][1]
    if (of_family := family_class(name)) is not None:
        return of_family
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
    critics = []
    for name in names:
        cls = critic_class(name)
        with blamed(cls, "__init__"):
            critics.append(construct(cls, config.get(name, {}), place=f"[{name}]"))
    return critics


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
        No critic of this name is registered, nor has its class been named in this process.
    """
    name = read_critic_json(Path(folder))["critic"]
    if name not in _LOCATED and not registered(CRITICS, name) and family_class(str(name)) is None:
        raise PluginError(
            f"{folder} holds critic {str(name)[:40]!r}, which is not registered",
            hint="install its package, or name its class, as package.module:Class or ./file.py:Class",
        )
    return critic_class(name).load(folder, trust=trust)
