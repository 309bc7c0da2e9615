"""Digests of the code that defines a critic: what was computed is taken over only where the same code would compute it.

Two digests: of core, on which every critic depends, and of the critic's own code. Its own code is the modules of its
class and of its bases, the modules that these import from their own file tree (not from other installed packages), the
data files beside them that they name, and the adapters that its parameters name. Nothing is imported to find them.
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
import sysconfig
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from momus import plugins
from momus.critic.effects import effects_of
from momus.critic.fitted import Source
from momus.estimator import Estimator, json_params
from momus.files import content_digest

CORE = str(Path(__file__).parents[1])
OURS = ("momus_critics", "momus_adapters")
"""Packages whose modules count for all that import them; those of others only where they are not installed."""
UNKNOWN = "unknown "
"""How the digest of code begins that no other process can recognise."""
_BEGUN = time.time()
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|(?:[^\n\\]|\\\r?\n)+)"
    rb"|import[ \t]+((?:[^\n\\]|\\\r?\n)+))",
    re.MULTILINE,
)
_REST = re.compile(rb"#[^\n]*|\\\r?\n|[()]")
_NOT_OWN = {"momus", *sys.stdlib_module_names}
_INSTALLED = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "purelib", "platlib"))


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
    effects = effects_of(params, adapters=_adapters())
    adapters = tuple(sorted({e.value for e in effects if e.kind == "adapter"}))
    known = _KNOWN.setdefault(cls, {})
    if adapters not in known:
        known[adapters] = _own_digest(cls, adapters)
    return {"core": _core_digest(), "critic": known[adapters]}


_KNOWN: WeakKeyDictionary[type, dict[tuple[str, ...], str]] = WeakKeyDictionary()
"""By class and adapters, the digests that were made in this process."""


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
    files = [path for path in _modules_of(cls, ()).values() if os.path.exists(path)]
    return any(os.path.getmtime(path) > _time_of(cls) for path in files)


def forget(cls: type) -> None:
    """Let the modules that define a class be imported again, but for packages that are installed or ship with Momus."""
    paths = {path for name, path in _modules_of(cls, ()).items() if name.partition(".")[0] not in OURS}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file in paths and name != "__main__" and not _is_installed(file):
            del sys.modules[name]
    for known in (_top, _along, _names, _code):
        known.cache_clear()
    importlib.invalidate_caches()


def _time_of(cls: type) -> float:
    """When a class was made, in seconds since 1970."""
    return float(getattr(cls, "_made_at", math.inf))


@cache
def _core_digest() -> str:
    files = []
    for path in _files_in(CORE):
        content, changed = _content(path)
        if changed > _BEGUN:
            return _unknown()
        files.append(f"{path[len(CORE) :]} {hashlib.sha256(content).hexdigest()}")
    return _digest(files)


def _content(path: str) -> tuple[bytes, float]:
    """The bytes of a file, and when it was last changed, in seconds since 1970."""
    with open(path, "rb", buffering=0) as file:
        return file.read(), os.fstat(file.fileno()).st_mtime


def _own_digest(cls: type, adapters: Sequence[str]) -> str:
    """Of the code of a class and of adapters."""
    cells = [_cells(base) for base in _bases(cls) if _file_of(base) is None]
    try:
        modules = {name: _code(path, name) for name, path in _modules_of(cls, adapters).items()}
    except OSError:  # a file that is gone, or cannot be read
        return _unknown()
    if "" in cells or any(code.changed > _time_of(cls) for code in modules.values()):
        return _unknown()
    return _digest([*cells, *(f"{code.label} {code.digest}" for code in modules.values())])


def _unknown() -> str:
    return f"{UNKNOWN}{uuid.uuid4().hex}"


def _digest(parts: Iterable[str]) -> str:
    """Of texts in any order."""
    return hashlib.sha256("\n".join(sorted(parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _files_in(folder: str) -> Iterator[str]:
    """Files in a folder and below, without compiled and hidden ones."""
    for entry in os.scandir(folder):
        if entry.name.startswith((".", "__pycache__")) or entry.name.endswith((".pyc", "~")):
            continue
        if entry.is_dir():
            yield from _files_in(entry.path)
        else:
            yield entry.path


def _bases(cls: type) -> list[type]:
    """The class and its bases, without those of core and of Python."""
    return [c for c in cls.__mro__ if c.__module__.partition(".")[0] not in _NOT_OWN]


def _codes(cls: type) -> list[CodeType]:
    """The code of the methods of a class, without those that a decorator wrote."""
    functions = (inspect.unwrap(f) for f in vars(cls).values() if isinstance(f, FunctionType))
    return [f.__code__ for f in functions if f.__code__.co_filename != "<string>"]


@cache
def _file_of(cls: type) -> str | None:
    """The file of the module of a class; None for what was typed into an interpreter or a notebook."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    # in a notebook, that of the main module is the program which shows it
    typed = cls.__module__ == "__main__" and not any(os.path.isfile(code.co_filename) for code in _codes(cls))
    return file if file and not typed else None


def _cells(cls: type) -> str:
    """The cells of a notebook in which the methods of a class were written; empty if their text is not kept."""
    cells = ["".join(linecache.getlines(name)) for name in sorted({code.co_filename for code in _codes(cls)})]
    return "\n".join(cells) if all(cells) else ""


def _modules_of(cls: type, adapters: Sequence[str]) -> dict[str, str]:
    """The files of the modules that define a class and adapters, by dotted name."""
    starts: dict[str, str | None] = {}
    for base in _bases(cls):
        if (file := _file_of(base)) is not None:
            spec = getattr(sys.modules.get(base.__module__), "__spec__", None)
            starts[getattr(spec, "name", None) or base.__module__] = file
    starts |= {_adapters()[adapter]: None for adapter in adapters}
    modules: dict[str, str] = {}
    waiting = [(name, file) for name, file in starts.items() if file is not None]
    waiting += [module for name in starts for module in _located(name, name)]
    for name, path in waiting:  # grows while it is walked
        if name not in modules:
            modules[name] = path
            waiting += _code(path, name).imports
    return modules


def _located(name: str, importer: str) -> list[tuple[str, str]]:
    """The files of a module and of the packages around it; none of Python, core and other installed packages."""
    top = name.partition(".")[0]
    folders, file = _top(top)
    known = [*folders, *([] if file is None else [file])]
    counts = top in OURS or top == importer.partition(".")[0]
    return _along(name)[1] if known and (counts or not _is_installed(known[0])) else []


@cache
def _along(name: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The folders of a package, none of another module, and the files along its dotted name."""
    parent, _, last = name.rpartition(".")
    if not parent:
        folders, file = _top(name)
        return folders, [] if file is None else [(name, file)]
    folders, modules = _along(parent)
    for folder in folders:
        inner, here = os.path.join(folder, last), _names(folder)
        if last in here and "__init__.py" in _names(inner):
            return [inner], [*modules, (name, os.path.join(inner, "__init__.py"))]
        if f"{last}.py" in here:
            return [], [*modules, (name, f"{inner}.py")]
    inner_folders = [os.path.join(folder, last) for folder in folders if last in _names(folder)]
    return [inner for inner in inner_folders if os.path.isdir(inner)], modules


@cache
def _names(folder: str) -> frozenset[str]:
    """Names in a folder; none of what is no folder."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


@cache
def _top(name: str) -> tuple[list[str], str | None]:
    """The folders and the file of a module that lies in no package; neither for core and Python."""
    try:
        spec = None if name in _NOT_OWN else importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None:
        return [], None
    file = spec.origin if spec.origin and spec.origin.endswith(".py") else None
    return list(spec.submodule_search_locations or ()), file


def _adapters() -> dict[str, str]:
    """The modules of all adapters, by the names of these."""
    return {entry.name: entry.module for entry in plugins.entry_points(group=plugins.ADAPTERS)}


@cache
def _is_installed(path: str) -> bool:
    return os.path.realpath(path).startswith(_INSTALLED)


class _Code(NamedTuple):
    """A module: its name in any folder, digest of it and of its data, time of the last change, what it may import."""

    label: str
    digest: str
    changed: float
    imports: list[tuple[str, str]]


@cache
def _code(path: str, name: str) -> _Code:
    """Read a module once in a process.

    Raises
    ------
    OSError
        It cannot be read.
    """
    text, changed = _content(path)
    folder, file_name = os.path.split(path)
    is_package = file_name == "__init__.py"
    # in the folder of a single file, folders may be anybody's
    data = list(_data_beside(path, text, inner="." in name or is_package))
    files = [f"{file[len(folder) :]} {content_digest(Path(file))}" for file in data]
    imported = dict.fromkeys(_imports(path, name, text))
    imports = [module for other in imported for module in _located(other, name)]
    # a single file has another module name in another folder, and in a process that was started by a script
    label = name if "." in name or is_package else file_name
    digest = _digest([hashlib.sha256(text).hexdigest(), *files])
    return _Code(label, digest, max([changed, *map(os.path.getmtime, data)]), list(dict.fromkeys(imports)))


def _imports(path: str, name: str, text: bytes) -> list[str]:
    """Dotted names that a module may import: what it imports from a package can be a value or a module."""
    package = name.split(".") if os.path.basename(path) == "__init__.py" else name.split(".")[:-1]
    names: list[str] = []
    # all lines with the word: to try the pattern at each line takes far longer
    lines = dict.fromkeys(text.rfind(b"\n", 0, word.start()) + 1 for word in re.finditer(b"import", text))
    for origin, items, plain in (match.groups(b"") for line in lines if (match := _IMPORT.match(text, line))):
        dots = len(origin) - len(origin.lstrip(b"."))
        # one dot is the package of the module, each further one the package around it
        around = package[: len(package) - dots + 1] if dots else []
        base = ".".join([*around, *filter(None, [origin[dots:].decode("utf-8", "replace")])])
        if base.partition(".")[0] in _NOT_OWN:
            continue
        words = _REST.sub(b" ", items or plain).decode("utf-8", "replace").replace(";", ",").split(",")
        listed = [word.split()[0] for word in words if word.strip()]
        names += listed if plain else [base, *(f"{base}.{item}" for item in listed)]
    return names


def _data_beside(path: str, text: bytes, inner: bool) -> Iterator[str]:
    """Files beside a module that are no modules, and with ``inner`` those in folders, whose name its text holds."""
    folder = os.path.dirname(path)
    for name in _names(folder):
        if name.endswith((".py", ".pyc")) or name[0] in "._" or os.fsencode(name) not in text:
            continue
        beside = os.path.join(folder, name)
        if os.path.isfile(beside):
            yield beside
        elif inner and os.path.isdir(beside) and "__init__.py" not in _names(beside):
            yield from _files_in(beside)
