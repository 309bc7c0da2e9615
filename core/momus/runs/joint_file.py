"""The joint analyses of a run on disk: one JSON file, from which the same objects are built again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from momus.errors import StoreError
from momus.files import plain, write_json
from momus.joint.analyses import Joint


def write_joint(joint: Joint, path: Path) -> None:
    """Write the analyses; numbers that do not exist are null."""
    write_json(path, joint_json(joint))


def joint_json(joint: Joint) -> dict[str, Any]:
    """The analyses as plain lists, strings and numbers; numbers that do not exist are null."""
    content: dict[str, Any] = plain(asdict(joint))
    return content


def read_joint(path: Path) -> Joint:
    """Read what `write_joint` wrote; empty if there is no such file.

    Raises
    ------
    StoreError
        The file cannot be read, or holds something else.
    """
    if not path.exists():
        return Joint()
    try:
        found = build(Joint, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{path}: not readable ({error})", hint="run `momus compare` again") from error
    assert isinstance(found, Joint)
    return found


def build(kind: Any, data: Any) -> Any:
    """Build a value of a type from plain JSON: dataclasses from objects, tuples from lists, NaN from null.

    Raises
    ------
    TypeError
        The value is not of that type.

    >>> build(tuple[float, ...], [1, None])
    (1.0, nan)
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if data is None and NoneType in arguments:
            return None
        return build(next(a for a in arguments if a is not NoneType), data)
    if origin is Literal:
        return _of(kind, data, data in arguments)
    if is_dataclass(kind) and isinstance(kind, type):
        _of(kind, data, isinstance(data, dict))
        hints = get_type_hints(kind)
        return kind(**{f.name: build(hints[f.name], data[f.name]) for f in fields(kind) if f.name in data})
    if origin is tuple:
        _of(kind, data, isinstance(data, list))
        if arguments[-1] is Ellipsis:
            return tuple(build(arguments[0], item) for item in data)
        return tuple(build(a, item) for a, item in zip(arguments, data, strict=True))
    if origin is Sequence:
        return [build(arguments[0], item) for item in _of(kind, data, isinstance(data, list))]
    if origin is Mapping:
        return {str(k): build(arguments[1], v) for k, v in _of(kind, data, isinstance(data, dict)).items()}
    if kind is float:
        if data is None:
            return math.nan
        return float(_of(kind, data, isinstance(data, int | float) and not isinstance(data, bool)))
    return _of(kind, data, isinstance(data, kind))


def _of(kind: Any, data: Any, fits: bool) -> Any:
    if not fits:
        raise TypeError(f"expected {getattr(kind, '__name__', kind)}, found {type(data).__name__}")
    return data
