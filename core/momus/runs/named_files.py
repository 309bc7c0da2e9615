"""Files that the parameters of a critic name: what they hold decides the result as much as the parameters do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from momus.files import content_digest

LONGEST = 1024


def files_named(params: Any) -> dict[str, str]:
    """Identify the files that parameters name, by name: those in a folder, too.

    >>> files_named({"tokens": "words", "bins": 20})
    {}
    """
    return {name: content_digest(path) for name, path in sorted(_paths(params))}


def _paths(value: Any) -> Iterator[tuple[str, Path]]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _paths(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, str | Path) and 0 < len(str(value)) <= LONGEST and "\0" not in str(value):
        try:
            path = Path(value)
            if path.is_file():
                yield str(value), path
            elif path.is_dir() and path.parts:  # a bare name in the working folder may be anything
                yield from ((f.as_posix(), f) for f in path.rglob("*") if f.is_file())
        except OSError:  # not readable, which `content_digest` records, or too long for a path
            yield str(value), Path(value)
