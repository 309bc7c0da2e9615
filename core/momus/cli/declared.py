"""What the source of a critic's class declares, read without importing it: importing all critics takes seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

DEEPEST = 12
"""How many imports and base classes are followed."""


@dataclass(frozen=True)
class Declared:
    """The axis of a critic, and its parameters whose defaults are strings."""

    axis: str
    defaults: dict[str, str] = field(default_factory=dict)


def declared(value: str) -> Declared | None:
    """Read what the class at ``module:Class`` declares; None if its source does not say it plainly.

    >>> declared("momus_critics.length:Length").axis
    'length of documents'
    >>> declared("momus_critics.length:NoSuchClass") is None
    True
    """
    module, _, name = value.partition(":")
    axis, defaults = None, None
    for body in _bodies(module, name, DEEPEST):
        axis = _axis(body) if axis is None else axis
        defaults = _defaults(body) if defaults is None else defaults
    return None if axis is None else Declared(axis, defaults or {})


def _bodies(module: str, name: str, left: int) -> Iterator[list[ast.stmt]]:
    """The bodies of a class and of its bases, in the order in which attributes are looked up, as far as known."""
    tree = _tree(module)
    if tree is None or not left:
        return
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            yield statement.body
            for base in statement.bases:
                named = base.value if isinstance(base, ast.Subscript) else base
                if isinstance(named, ast.Name):
                    yield from _bodies(module, named.id, left - 1)
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name) == name and statement.module and not statement.level:
                    yield from _bodies(statement.module, alias.name, left - 1)


@cache
def _tree(module: str) -> ast.Module | None:
    """The syntax of a module, found on the path; None if it has no file that can be read."""
    path, origin = None, None
    for end in range(1, module.count(".") + 2):
        spec = PathFinder.find_spec(".".join(module.split(".")[:end]), path)
        if spec is None:
            return None
        path, origin = list(spec.submodule_search_locations or ()), spec.origin
    if origin is None or not origin.endswith(".py"):
        return None
    try:
        return ast.parse(Path(origin).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _axis(body: list[ast.stmt]) -> str | None:
    """The string that a class body assigns to ``axis``."""
    for statement in body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if any(isinstance(t, ast.Name) and t.id == "axis" for t in targets) and isinstance(value, ast.Constant):
            return value.value if isinstance(value.value, str) else None
    return None


def _defaults(body: list[ast.stmt]) -> dict[str, str] | None:
    """Parameters of ``__init__`` whose defaults are strings; None without an ``__init__``."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            given = statement.args
            names = [*given.posonlyargs, *given.args]
            pairs = [*zip(names[len(names) - len(given.defaults) :], given.defaults, strict=True)]
            keywords = [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
            return {
                a.arg: d.value
                for a, d in [*pairs, *keywords]
                if isinstance(d, ast.Constant) and isinstance(d.value, str)
            }
    return None
