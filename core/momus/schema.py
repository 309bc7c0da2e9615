"""JSON that is read, checked against the types of the dataclass or table that it becomes.

Whatever writes a file declares a type, and whatever reads it names this type: `read_json` gives an object of it, or one
kind of error, which names the file, the field, what was found, what was expected, and how to go on.
"""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from momus.errors import MomusError, StoreError, UsageError
from momus.parameters import LARGEST, plain_fault, shown, unfit_plain

SEAL = "sha256"
"""Key of the digest of a sealed JSON object."""
MOST_BYTES = 2**30
"""The largest JSON file that is read."""
_T = TypeVar("_T")


class _MisfitError(Exception):
    """A value that does not fit: where it is, and what is wrong with it."""

    def __init__(self, where: str, fault: str) -> None:
        super().__init__(f"{where.removeprefix('.') or 'it'} {fault}")


def read_json(path: Path, kind: type[_T], hint: str, *, sealed: bool = False) -> _T:
    """Read a JSON file as a value of a type.

    Parameters
    ----------
    kind
        A dataclass, a ``TypedDict``, or a type of lists, tables and plain values.
    hint
        How the reader can go on if the file does not fit.
    sealed
        Whether the file holds the SHA-256 of its content (`seal`), so that changes are noticed.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    StoreError
        The file cannot be read, is no JSON, was changed, or a field is missing or of another type.
    """
    try:
        if refuse_special(path, hint) > MOST_BYTES:
            raise StoreError(f"{path}: larger than {MOST_BYTES >> 20:,} MiB", hint=hint)
        text = path.read_bytes()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # a name that holds NUL is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{path}: cannot be read ({reason})", hint=hint) from error
    content = parse_json(text, str(path), hint)
    if sealed and (not isinstance(content, dict) or content.pop(SEAL, None) != seal(content)):
        raise StoreError(f"{path}: changed or damaged after it was written (SHA-256)", hint=hint)
    return build(kind, content, str(path), hint)


def refuse_special(path: Path, hint: str) -> int:
    """The bytes of a regular file; a folder, a pipe or a device is refused before it is opened."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"{path} is no regular file", hint=hint)
    return status.st_size


def parse_json(text: bytes | str, place: str, hint: str) -> Any:
    """Parse JSON as it is in the standard: no NaN, no infinity, and no more levels than Python can hold.

    Raises
    ------
    StoreError
        The text is no such JSON.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogatepass")
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise StoreError(f"{place}: not readable as JSON (nested too deeply)", hint=hint) from None
    except ValueError as error:
        raise StoreError(f"{place}: not readable as JSON ({error})", hint=hint) from error


def read_toml(path: Path, place: str, hint: str) -> dict[str, Any]:
    """Read a TOML file that a person wrote.

    Raises
    ------
    UsageError
        The file cannot be read, is no TOML, or is nested too deeply.
    """
    import tomllib

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise UsageError(f"{place}: nested too deeply", hint=hint) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{place}: {error}", hint=hint) from error
    return build(dict[str, Any], content, place, hint, UsageError)


def seal(content: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON object, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def build(kind: type[_T], data: Any, place: str, hint: str = "", error: type[MomusError] = StoreError) -> _T:
    """Build a value of a type from parsed JSON: dataclasses from objects, tuples from lists, NaN from null.

    Objects may hold more than the type names. A union of dataclasses is told apart by ``kind``, the name of the class.
    ``Annotated`` types may carry a `momus.parameters.Range`.

    Raises
    ------
    StoreError
        Or another ``error``: a field is missing, or a value is of another type or out of range.

    >>> build(tuple[float, ...], [1, None], "a.json")
    (1.0, nan)
    >>> build(Mapping[str, int], {"a": "1"}, "a.json")
    Traceback (most recent call last):
    momus.errors.StoreError: a.json: a is '1', expected a whole number of at most 63 bits
    """
    try:
        value: _T = _built(kind, data, "")
    except _MisfitError as misfit:
        raise error(f"{place}: {misfit}", hint=hint) from misfit
    return value


def _built(kind: Any, data: Any, where: str) -> Any:
    """The value of a type; ``where`` is the path to it, such as ``.verdicts[3].method``."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (NotRequired, Required):
        return _built(arguments[0], data, where)
    if origin is Annotated:
        return _checked(_built(arguments[0], data, where), arguments[1:], where)
    if origin in (Union, UnionType):
        return _one_of(arguments, data, where)
    if origin is Literal:
        fits = any(data == word and type(data) is type(word) for word in arguments)
        return data if fits else _misfit(data, "one of " + ", ".join(map(repr, arguments)), where)
    if is_typeddict(kind):
        return {**_built(dict[str, Any], data, where), **_fields(kind, _needed(kind), data, where)}
    if is_dataclass(kind):
        return _dataclass(kind, data, where)
    if (origin or kind) is tuple:
        return _tuple(arguments or (Any, ...), data, where)
    if (origin or kind) in (Sequence, list):
        items = _items(arguments[0] if arguments else Any, data, where)
        return items if (origin or kind) is list else tuple(items)
    if (origin or kind) in (Mapping, dict):
        _require(isinstance(data, dict), data, "a table of names and values", where)
        item = arguments[1] if arguments else Any
        if item is int and set(map(type, data.values())) == {int} and max(map(abs, data.values())) <= LARGEST:
            return dict(zip(map(str, data), data.values(), strict=True))  # counts of thousands of words
        return {str(k): _built(item, v, f"{where}.{k}") for k, v in data.items()}
    return _plain(kind, data, where)


def _plain(kind: Any, data: Any, where: str) -> Any:
    if kind is float and data is None:
        return math.nan
    if kind is str:
        return data if isinstance(data, str) else _misfit(data, "a text", where)
    fault = unfit_plain(data) if kind in (Any, object) else plain_fault(NoneType if kind is None else kind, data)
    if fault:
        _misfit(data, fault, where)
    return float(data) if kind is float else data


def _one_of(options: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and NoneType in options:
        return None
    kinds = [k for k in options if k is not NoneType]
    if len(kinds) > 1 and all(is_dataclass(k) for k in kinds):
        named = {k.__name__: k for k in kinds}
        _require(isinstance(data, dict), data, "a table of names and values", where)
        name = _built(Literal[tuple(named)], data.get("kind"), f"{where}.kind")
        return _built(named[name], data, where)
    errors = []
    for option in kinds:
        try:
            return _built(option, data, where)
        except _MisfitError as error:
            errors.append(error)
    raise errors[0]


def _dataclass(kind: Any, data: Any, where: str) -> Any:
    if isinstance(data, kind):
        return data
    values = _fields(kind, _needed(kind), data, where)
    try:
        return kind(**{f.name: values[f.name] for f in fields(kind) if f.name in values})
    except MomusError as error:  # checks of the class itself
        raise _MisfitError(where, f"does not fit: {error.message}") from error
    except (ValueError, TypeError) as error:
        raise _MisfitError(where, f"does not fit: {error}") from error


@cache
def _needed(kind: Any) -> frozenset[str]:
    """Names of the fields that must be there."""
    if is_dataclass(kind):
        return frozenset(f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)
    # not __required_keys__, which does not see through annotations that are texts
    optional, marked = (NotRequired, False) if kind.__total__ else (Required, True)
    return frozenset(name for name, hint in _hints(kind).items() if (get_origin(hint) is optional) == marked)


def _fields(kind: Any, needed: frozenset[str], data: Any, where: str) -> dict[str, Any]:
    """The values of the fields that an object has."""
    _require(isinstance(data, dict), data, "a table of names and values", where)
    missing = min((name for name in needed if name not in data), default=None)
    if missing is not None:
        raise _MisfitError(f"{where}.{missing}", "is missing")
    return {name: _built(hint, data[name], f"{where}.{name}") for name, hint in _hints(kind).items() if name in data}


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {f.name: hints[f.name] for f in fields(kind) if f.init} if is_dataclass(kind) else hints


def _tuple(arguments: tuple[Any, ...], data: Any, where: str) -> Any:
    if arguments[-1:] == (...,):
        return tuple(_items(arguments[0], data, where))
    _require(isinstance(data, list | tuple), data, "a list", where)
    if len(data) != len(arguments):
        _misfit(data, f"a list of {len(arguments)}", where)
    return tuple(_built(a, item, f"{where}[{i}]") for i, (a, item) in enumerate(zip(arguments, data, strict=True)))


def _items(kind: Any, data: Any, where: str) -> list[Any]:
    _require(isinstance(data, list | tuple), data, "a list", where)
    if kind is str and all(type(item) is str for item in data):  # ids of documents, which may be many
        return list(data)
    return [_built(kind, item, f"{where}[{i}]") for i, item in enumerate(data)]


def _checked(value: Any, checks: Sequence[Any], where: str) -> Any:
    for check in checks:
        if value is not None and not check.holds(value):
            _misfit(value, repr(check), where)
    return value


def _require(fits: bool, data: Any, expected: str, where: str) -> None:
    if not fits:
        _misfit(data, expected, where)


def _misfit(data: Any, expected: str, where: str) -> NoReturn:
    raise _MisfitError(where, f"is {shown(data)}, expected {expected}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
