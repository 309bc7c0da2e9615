"""Arguments that messages name: ``fit=`` where a program in Python calls Momus, ``--fit`` where a command runs.

Messages name an argument by `arg`. A command says which of its options stand for which arguments (`as_options`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_options: Mapping[str, str] = {}


def arg(name: str, value: object = None) -> str:
    """Name an argument in a message, with a value of it if one is given.

    >>> arg("fit"), arg("fmt", "json"), arg("paired", False)
    ('fit=', "fmt='json'", 'paired=False')
    >>> with as_options({"fit": "--fit", "fmt": "--format", "paired=False": "--unpaired"}):
    ...     arg("fit"), arg("fmt", "json"), arg("paired", False), arg("resume", True)
    ('--fit', '--format json', '--unpaired', '--resume')
    """
    flag = _options.get(f"{name}={value}")
    if flag is not None:
        return flag
    if not _options:
        return f"{name}=" if value is None else f"{name}={value!r}"
    # an option of another command, such as --resume of the command that began a run
    option = _options.get(name, f"--{name.replace('_', '-')}")
    if value is True:
        return option
    values = value if isinstance(value, list | tuple) else [] if value is None else [value]
    return " ".join(f"{option} {shlex.quote(str(v))}" for v in values) or option


@contextmanager
def as_options(options: Mapping[str, str]) -> Iterator[None]:
    """Within the context, let messages name options: by argument, or by argument and value for flags."""
    before = _options
    use_options(options)
    try:
        yield
    finally:
        use_options(before)


def use_options(options: Mapping[str, str]) -> None:
    """From now on, let messages of this process name these options."""
    global _options
    _options = options


def options() -> Mapping[str, str]:
    """The options that messages name in this process, for `use_options` in another."""
    return _options
