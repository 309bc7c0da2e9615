"""Digests of the code that defines a critic: what was computed is taken over only where the same code would compute it.

Two digests: of core, on which every critic depends, and of the critic's own code. Its own code is the packages (or
the single files) of its class, of its bases and of the adapters that its parameters name, the data files in them that
they name, and what they import that is not installed. Nothing is imported to find them.
A digest is that of the code in memory: made once in a process, and unknown if a file is newer than the class.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import linecache
import math
import os
import re
import sys
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from momus import plugins
from momus.critic.effects import effects_of
from momus.critic.fitted import Source
from momus.estimator import Estimator, json_params
from momus.files import content_digest

CORE = str(Path(__file__).parents[1])
OURS = ("momus_critics", "momus_adapters")
"""Packages that count for all that import them; others do only where they are not installed."""
UNKNOWN = "unknown "
"""How the digest of code begins that no other process can recognise."""
_BEGUN = time.time()
_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+(\w+)[.\w]*[ \t]+import\b|import[ \t]+([^\n;#]+))", re.MULTILINE)
_NOT_OWN = {"momus", *sys.stdlib_module_names}
_INSTALLED = {"site-packages", "dist-packages"}
"""Folders of installed packages, of the system, of a user and of an environment."""


def source_digest(critic: Estimator) -> Source:
    """Identify the code that defines a critic.

    Equal digests mean equal code, in any process and any folder. Code that has no file, or whose file was changed after
    it was loaded, gets a digest that only this process gives.

    >>> class Mine(Estimator):
    ...     pass
    >>> source_digest(Mine()) == source_digest(Mine())
    True
    """
    return class_digest(type(critic), json_params(critic))


def class_digest(cls: type, params: Mapping[str, Any]) -> Source:
    """Identify the code that defines the critic of a class with these parameters, see `source_digest`."""
    modules = {entry.name: entry.module for entry in plugins.entry_points(group=plugins.ADAPTERS)}
    named = {modules[e.value] for e in effects_of(params, adapters=modules) if e.kind == "adapter"}
    adapters = tuple(sorted({module.partition(".")[0] for module in named}))
    return {"core": _core_digest(), "critic": _own_digest(cls, adapters)}


def source_change(then: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str:
    """Say in what two digests differ; empty if they are equal.

    >>> source_change({"core": "a", "critic": "b"}, {"core": "a", "critic": "c"})
    'its code has changed since'
    """
    if then == now:
        return ""
    if str(now["critic"]).startswith(UNKNOWN):
        return "its code cannot be recognised, since it is in no file, or the file was changed after it was loaded"
    if not then:
        return "an older version of Momus did not note its code"
    return "the code of Momus has changed since" if then.get("core") != now["core"] else "its code has changed since"


def is_outdated(cls: type) -> bool:
    """Whether a module that defines a class was changed after the class was made."""
    files = (path for code in _codes_of(cls) for path in code.modules if os.path.exists(path))
    return any(os.path.getmtime(path) > _time_of(cls) for path in files)


def forget(cls: type) -> None:
    """Let the modules that define a class be imported again, but for packages that are installed or ship with Momus."""
    roots = [code.root for code in _codes_of(cls) if os.path.basename(code.root) not in OURS]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        inside = any(file == root or file.startswith(root + os.sep) for root in roots)
        if inside and name != "__main__" and not _is_installed(file):
            del sys.modules[name]
    _code.cache_clear()
    importlib.invalidate_caches()


def _time_of(cls: type) -> float:
    """When a class was made, in seconds since 1970."""
    return float(getattr(cls, "_made_at", math.inf))


@cache
def _core_digest() -> str:
    core = _code(CORE)
    return _unknown() if core.changed > _BEGUN else core.digest


@lru_cache(maxsize=1024)
def _own_digest(cls: type, adapters: tuple[str, ...]) -> str:
    """Of the code of a class and of packages of adapters, made once in a process."""
    cells = [_cells(base) for base in _bases(cls) if _file_of(base) is None]
    try:
        codes = _codes_of(cls, adapters)
    except OSError:  # a file that is gone, or cannot be read
        return _unknown()
    if "" in cells or any(code.changed > _time_of(cls) for code in codes):
        return _unknown()
    return _digest([*cells, *(code.digest for code in codes)])


def _unknown() -> str:
    return f"{UNKNOWN}{uuid.uuid4().hex}"


def _digest(parts: Iterable[str]) -> str:
    """Of texts in any order."""
    return hashlib.sha256("\n".join(sorted(parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _bases(cls: type) -> list[type]:
    """The class and its bases, without those of core and of Python."""
    return [c for c in cls.__mro__ if c.__module__.partition(".")[0] not in _NOT_OWN]


def _methods(cls: type) -> list[CodeType]:
    """The code of the methods of a class, without those that a decorator wrote."""
    functions = (inspect.unwrap(f) for f in vars(cls).values() if isinstance(f, FunctionType))
    return [f.__code__ for f in functions if f.__code__.co_filename != "<string>"]


@cache
def _file_of(cls: type) -> str | None:
    """The file of the module of a class; None for what was typed into an interpreter or a notebook."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    # in a notebook, that of the main module is the program which shows it
    typed = cls.__module__ == "__main__" and not any(os.path.isfile(code.co_filename) for code in _methods(cls))
    return file if file and not typed else None


def _cells(cls: type) -> str:
    """The cells of a notebook in which the methods of a class were written; empty if their text is not kept."""
    cells = ["".join(linecache.getlines(name)) for name in sorted({code.co_filename for code in _methods(cls)})]
    return "\n".join(cells) if all(cells) else ""


def _codes_of(cls: type, adapters: Iterable[str] = ()) -> list[_Code]:
    """The packages and single files that define a class and adapters, with those that they import.

    Raises
    ------
    OSError
        One cannot be read.
    """
    waiting = [root for name in adapters if (root := _root_of(name))]
    for base in _bases(cls):
        if (file := _file_of(base)) is not None:
            spec = getattr(sys.modules.get(base.__module__), "__spec__", None)
            name = str(getattr(spec, "name", None) or base.__module__)
            # from pkg/inner/module.py, or pkg/inner/__init__.py, up to the folder of the outermost package
            place = Path(file).parent if os.path.basename(file) == "__init__.py" else Path(file)
            waiting.append(str([place, *place.parents][name.count(".")]))
    codes: dict[str, _Code] = {}
    for root in waiting:  # grows while it is walked
        if root not in codes:
            codes[root] = _code(root)
            waiting += [
                path
                for name in codes[root].imports
                if (path := _root_of(name)) and (name in OURS or not _is_installed(path))
            ]
    return list(codes.values())


def _root_of(name: str) -> str:
    """The folder, or the single file, of a module that lies in no package; empty for what has neither."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return ""
    places = [] if spec is None else [*(spec.submodule_search_locations or ()), spec.origin or ""]
    return next((place for place in places if os.path.isdir(place) or place.endswith(".py")), "")


@cache
def _is_installed(path: str) -> bool:
    return not _INSTALLED.isdisjoint(Path(os.path.realpath(path)).parts)


class _Code(NamedTuple):
    """A package or a single file: its modules, digest of these and their data, last change, what it may import."""

    root: str
    modules: Sequence[str]
    digest: str
    changed: float
    imports: Collection[str]


@cache
def _code(root: str) -> _Code:
    """Read a package or a single file once in a process.

    Raises
    ------
    OSError
        It cannot be read.
    """
    package, parent = os.path.isdir(root), os.path.dirname(root)
    inside = root if package else parent
    files = [*_files_in(root)] if package else [root, *(entry.path for entry in os.scandir(parent) if entry.is_file())]
    texts = {path: Path(path).read_bytes() for path in files if path == root or (package and path.endswith(".py"))}
    text = b"\n".join(texts.values())
    # data are other files whose name, or that of a folder around them in the package, stands in a module
    others = (path for path in files if not path.endswith((".py", ".pyc")))
    data = [path for path in others if any(os.fsencode(name) in text for name in path[len(inside) + 1 :].split(os.sep))]
    # names of files are those in any folder
    digests = [f"{path[len(parent) :]} {hashlib.sha256(content).hexdigest()}" for path, content in texts.items()]
    digests += [f"{path[len(parent) :]} {content_digest(Path(path))}" for path in data]
    changed = max(map(os.path.getmtime, (*texts, *data)), default=0.0)
    return _Code(root, [*texts], _digest(digests), changed, _imports(text) - _NOT_OWN)


def _imports(text: bytes) -> set[str]:
    """Names of the outermost packages that modules may import, from others than their own."""
    names = (word for origin, plain in _IMPORT.findall(text) for word in (plain.split(b",") if plain else [origin]))
    return {name.split()[0].partition(b".")[0].decode("utf-8", "replace") for name in names if name.strip()}


def _files_in(folder: str) -> Iterator[str]:
    """Files in a folder and below, without compiled and hidden ones."""
    for entry in os.scandir(folder):
        if entry.name.startswith((".", "__pycache__")) or entry.name.endswith((".pyc", "~")):
            continue
        if entry.is_dir():
            yield from _files_in(entry.path)
        else:
            yield entry.path
