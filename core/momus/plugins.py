"""Plug-ins: critics and adapters registered as entry points, listed without import, loaded one by one.

A critic registers a class under the group ``momus.critics``, an adapter a callable under ``momus.adapters``, a reader
of logs a class under ``momus.readers``, a parser of a markup a function under ``momus.markups``, an experiment tracker
a class under ``momus.trackers``, and a command a function or a ``typer.Typer`` under ``momus.commands``; those that
ship with Momus do, too. A broken plug-in is reported by name and distribution, and does not affect the others.
The extras of its distribution that a plug-in needs stand behind its entry point: ``name = "module:Class [torch]"``.
What lists say of plug-ins stands in `LISTING`, a file of their package, since importing all critics takes seconds.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, EntryPoint, EntryPoints, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from momus.errors import MissingExtraError, PluginError
from momus.foreign import contained
from momus.version import extra

CRITICS, ADAPTERS, READERS, TRACKERS = "momus.critics", "momus.adapters", "momus.readers", "momus.trackers"
MARKUPS, COMMANDS, FORMATS = "momus.markups", "momus.commands", "momus.formats"
LISTING = "momus-plugins.json"
"""File of a package: by group and name of a plug-in, ``{"axis": …, "adapters": {parameter: default}}`` of a critic and
``{"help": …}`` of a command. It is optional."""


@dataclass(frozen=True)
class Plugin:
    """A registered plug-in, not yet imported.

    Attributes
    ----------
    value
        Where its object is, ``module:attribute``.
    extras
        Extras of its distribution that it needs.
    """

    name: str
    value: str
    distribution: str
    group: str
    entry: EntryPoint
    extras: tuple[str, ...] = ()

    @classmethod
    def of_entry(cls, entry: EntryPoint, group: str) -> Plugin:
        """Describe an entry point."""
        value, _, extras = entry.value.partition("[")
        names = tuple(name.strip() for name in extras.rstrip("] ").split(",") if name.strip())
        owner = "unknown" if entry.dist is None else _name_of(entry.dist)
        return cls(entry.name, value.strip(), owner, group, entry, names)

    def missing(self) -> MissingExtraError | None:
        """The error that names the extras whose packages are not installed; None if all are."""
        lacking = {extra: missing_packages(self.distribution, extra) for extra in self.extras}
        lacking = {extra: packages for extra, packages in lacking.items() if packages}
        if not lacking:
            return None
        packages = dict.fromkeys(package for group in lacking.values() for package in group)
        kind = self.group.removeprefix("momus.").removesuffix("s")
        return MissingExtraError(
            f"{kind} {self.name!r} needs {' and '.join(packages)}", f"{self.distribution}[{','.join(lacking)}]"
        )

    def listed(self) -> dict[str, Any]:
        """What its package says of it in `LISTING`, without importing anything; empty if it says nothing.

        >>> registered(CRITICS, "length")["length"][0].listed()["axis"]
        'length of documents'
        """
        spec = PathFinder.find_spec(self.value.partition(":")[0].partition(".")[0])
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            try:
                content = json.loads((Path(folder) / LISTING).read_bytes())
                row = content[self.group][self.name]
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                continue
            return row if isinstance(row, dict) else {}
        return {}

    def load(self) -> Any:
        """Import the object that the entry point names.

        Raises
        ------
        PluginError
            The import fails; the message says why.
        """
        try:
            with contained:
                return self.entry.load()
        except (Exception, SystemExit) as error:  # no exception of a foreign module may end the program
            raise PluginError(
                f"plug-in {self.name!r} of distribution {self.distribution!r} cannot be imported "
                f"({self.value}): {type(error).__name__}: {error}",
                hint=f"repair or uninstall {self.distribution!r}, or omit the plug-in",
            ) from error


@lru_cache(maxsize=32)
def _name_of(owner: Distribution) -> str:
    """Its name, which stands in a file: read once for all of its entry points."""
    return owner.name


def entry_points(group: str) -> EntryPoints:
    """The entry points of a group; their files are read once in a process, and again if the path changes."""
    return _entry_points(group, tuple(sys.path))


@lru_cache(maxsize=64)
def _entry_points(group: str, path: tuple[str, ...]) -> EntryPoints:
    entries: EntryPoints = _all_entry_points(path).select(group=group)
    return entries


@lru_cache(maxsize=1)
def _all_entry_points(path: tuple[str, ...]) -> Any:  # of another type in each version of Python
    return metadata.entry_points()


def registered(group: str, only: str | None = None) -> dict[str, list[Plugin]]:
    """List the plug-ins of a group by name, or those of one name.

    Several of one name are an error only when that name is loaded.
    """
    plugins: defaultdict[str, list[Plugin]] = defaultdict(list)
    for entry in entry_points(group=group):
        if only is not None and entry.name != only:
            continue  # to know its distribution, a file must be read
        plugin = Plugin.of_entry(entry, group)
        if plugin not in plugins[entry.name]:
            plugins[entry.name].append(plugin)
    return dict(sorted(plugins.items()))


def load_plugin(group: str, name: str) -> Any:
    """Load the plug-in of this name.

    Raises
    ------
    PluginError
        No plug-in or more than one has the name, or its import fails.
    MissingExtraError
        It needs packages that are not installed.
    """
    plugins = registered(group, name)
    kind = group.removeprefix("momus.").removesuffix("s")
    if name not in plugins:
        plugins = registered(group)
        near = difflib.get_close_matches(name, plugins, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise PluginError(f"no {kind} {name!r}", hint=f"{guess}registered are {', '.join(plugins) or 'none'}")
    if len(plugins[name]) > 1:
        owners = ", ".join(sorted(f"{p.distribution!r} ({p.value})" for p in plugins[name]))
        raise PluginError(f"two plug-ins are called {name!r}: {owners}", hint="uninstall one of them, or rename it")
    plugin = plugins[name][0]
    missing = plugin.missing()
    if missing is not None:
        raise missing
    return plugin.load()


def adapter_of(parameter: str, value: str, names: Iterable[str] | None = None) -> str | None:
    """The registered adapter that a critic's parameter names, such as ``scorer = "openai"``; None if there is none.

    ``names`` are those of all adapters, if they are known already.

    >>> adapter_of("scorer", "openai", ["posterior.openai", "scorer.openai"])
    'scorer.openai'
    """
    matches = [name for name in (registered(ADAPTERS) if names is None else names) if name.partition(".")[2] == value]
    return next((name for name in matches if name.startswith(f"{parameter}.")), matches[0] if matches else None)


def critic_names() -> list[str]:
    """Names of all registered critics, without importing any."""
    return list(registered(CRITICS))


MODULES = {
    "torch": "torch",
    "transformers": "torch",
    "tokenizers": "torch",
    "pyro": "pyro",
    "gensim": "gensim",
    "kenlm": "kenlm",
    "spacy": "coref",
    "httpx": "http",
    "mwparserfromhell": "markup",
    "gguf": "gguf",
    "ray": "ray",
    "icu4py": "languages",
    "stopwordsiso": "languages",
    "lingua": "detect",
}
"""The extra of Momus that has a module."""


def extra_of(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Word a failed import of a module that an extra of Momus has; None for other modules.

    >>> print(extra_of(ModuleNotFoundError("No module named 'pyro'", name="pyro.infer")))
    this needs the module 'pyro', which is not installed
      → pip install -e '.[pyro]'
    """
    module = (error.name or "").partition(".")[0]
    if module not in MODULES:
        return None
    return MissingExtraError(f"this needs the module {module!r}, which is not installed", extra(MODULES[module]))


def missing_packages(name: str, extra: str) -> list[str]:
    """List the packages of an extra of a distribution that are not installed; versions are not compared.

    >>> missing_packages("momus-criticism", "no-such-extra")
    []
    """
    return [package for package in dict.fromkeys(_packages(name, extra)) if not _is_installed(package)]


def _packages(name: str, extra: str) -> Iterator[str]:
    """Names of the packages that an extra adds; extras may name other extras of the same distribution."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    try:
        lines = distribution(name).requires or []
    except PackageNotFoundError:  # an entry point without a distribution, as in a folder on the path
        return
    for line in lines:
        if "extra" not in line:
            continue
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}) or not marker.evaluate({"extra": extra}):
            continue
        if canonicalize_name(requirement.name) == canonicalize_name(name):
            for other in requirement.extras - {extra}:
                yield from _packages(name, other)
        else:
            yield requirement.name


def _is_installed(package: str) -> bool:
    """Whether a distribution, or a module of its name (built elsewhere, and installed under another name), is there."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return find_spec(package.replace("-", "_").replace(".", "_")) is not None
    return True
