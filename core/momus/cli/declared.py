"""What the source of a plug-in declares, read without importing it: importing all critics takes seconds.

Of a critic, its axis and defaults; of a command, the first line of its help.
"""

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
    axis, complete = None, False
    defaults: dict[str, str] = {}
    for body in _bodies(module, name, DEEPEST):
        axis = _axis(body) if axis is None else axis
        # a constructor takes the parameters of base classes itself; fields are added to those of base classes
        defaults = defaults if complete else _defaults(body) | defaults
        complete = complete or any(isinstance(s, ast.FunctionDef) and s.name == "__init__" for s in body)
    return None if axis is None else Declared(axis, defaults)


def first_line(value: str) -> str | None:
    """Read the first line of the help of the command at ``module:attribute``; None if its source does not say it.

    The attribute is a function with a docstring, or a ``typer.Typer`` with a ``help``.

    >>> first_line("momus.cli.compare:compare")
    'Compare generated text with real text, and write a report.'
    >>> first_line("momus.cli.compare:no_such_command") is None
    True
    """
    module, _, name = value.partition(":")
    for _, statement in _definitions(module, name, DEEPEST):
        if isinstance(statement, ast.FunctionDef):
            text = ast.get_docstring(statement)
        else:
            call = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            words = [k.value for k in call.keywords if k.arg == "help"] if isinstance(call, ast.Call) else []
            text = next((w.value for w in words if isinstance(w, ast.Constant) and isinstance(w.value, str)), None)
        if text and text.strip():
            return text.strip().splitlines()[0].replace(r"\[", "[")  # the brackets that Rich would take for markup
    return None


def _bodies(module: str, name: str, left: int) -> Iterator[list[ast.stmt]]:
    """The bodies of a class and of its bases, in the order in which attributes are looked up, as far as known."""
    for home, statement in _definitions(module, name, left):
        if isinstance(statement, ast.ClassDef):
            yield statement.body
            for base in statement.bases:
                named = base.value if isinstance(base, ast.Subscript) else base
                if isinstance(named, ast.Name):
                    yield from _bodies(home, named.id, left - 1)


def _definitions(module: str, name: str, left: int) -> Iterator[tuple[str, ast.stmt]]:
    """The statements that define a name at the top of a module, and the modules that they stand in."""
    tree = _tree(module)
    if tree is None or not left:
        return
    for statement in tree.body:
        if name in _names(statement):
            yield module, statement
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name) == name and statement.module and not statement.level:
                    yield from _definitions(statement.module, alias.name, left - 1)


def _names(statement: ast.stmt) -> list[str]:
    """The names that a class, a function or an assignment defines."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


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
        if isinstance(statement, ast.Assign | ast.AnnAssign) and "axis" in _names(statement):
            value = statement.value
            return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
    return None


def _defaults(body: list[ast.stmt]) -> dict[str, str]:
    """Parameters whose defaults are strings, of ``__init__``, or of fields where there is none."""
    written = any(isinstance(s, ast.FunctionDef) and s.name == "__init__" for s in body)
    pairs: list[tuple[str, ast.expr | None]] = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            arguments = statement.args
            names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
            pairs += zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True)
            pairs += zip([a.arg for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True)
        elif not written and isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            pairs.append((statement.target.id, statement.value))
    constants = {name: d.value for name, d in pairs if isinstance(d, ast.Constant)}
    return {name: value for name, value in constants.items() if isinstance(value, str)}
