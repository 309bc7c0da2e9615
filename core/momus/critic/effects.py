"""What a saved critic would do besides arithmetic: adapters, addresses, environment variables, paths, objects.

Loading is inert. A critic that uses an adapter may open connections, download a model, or read files and environment
variables, all of them named in its folder; it is loaded only if the user trusts the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from momus.arguments import arg
from momus.errors import StoreError
from momus.plugins import ADAPTERS, adapter_of, registered
from momus.redact import redacted

Kind = Literal["adapter", "address", "environment", "path", "model", "object"]
ADDRESSES = {"url", "base_url", "endpoint", "address", "host", "server", "api_base", "proxy"}
PATHS = {"path", "file", "folder", "directory", "checkpoint", "treebank", "root", "cache"}
VARIABLES = {"key", "env", "environment", "variable"}
MODELS = {"model", "name", "repo", "repository"}
ALLOWED_VARIABLES = {"OPENAI_API_KEY"}
"""Environment variables that need no mention: the default of the adapter for servers."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_PATH = re.compile(r"(?:[/~\\]|\.{1,2}[/\\]|[A-Za-z]:\\)")
_WORDS: dict[Kind, str] = {
    "adapter": "use the adapter {}",
    "address": "connect to {}",
    "environment": "read the environment variable {}",
    "path": "read {}",
    "model": "open the model {}, or download it",
    "object": "import {}",
}


@dataclass(frozen=True)
class Effect:
    """One thing that a saved critic would do.

    Attributes
    ----------
    parameter
        The parameter that names it, such as ``options.url``.
    value
        The address, name or path, without passwords and keys.
    """

    kind: Kind
    parameter: str
    value: str

    def __str__(self) -> str:
        return _WORDS[self.kind].format(repr(self.value)[:120])


def effects_of(
    params: Mapping[str, Any], fitting: Sequence[str] = (), adapters: Collection[str] | None = None
) -> list[Effect]:
    """List what a critic with these parameters would do when it scores text.

    Parameters
    ----------
    params
        Parameters as stored in ``critic.json``.
    fitting
        Parameters that a fitted critic does not use again.
    adapters
        Names of all adapters, if they are known already.

    >>> options = {"url": "http://10.0.0.1/v1", "model": "m", "key": "AWS_SECRET"}
    >>> for effect in effects_of({"scorer": "openai", "options": options, "order": 3}):
    ...     print(effect)
    use the adapter 'scorer.openai'
    connect to 'http://10.0.0.1/v1'
    open the model 'm', or download it
    read the environment variable 'AWS_SECRET'
    """
    adapters = registered(ADAPTERS) if adapters is None else adapters
    effects = []
    for parameter, key, value in _strings(params, ""):
        if parameter.partition(".")[0] not in fitting:
            kind = _kind(key, value)
            if kind is not None:
                effects.append(Effect(kind, parameter, redacted(value)))
            elif key not in MODELS and (adapter := adapter_of(key, value, adapters)) is not None:
                effects.append(Effect("adapter", parameter, adapter))
    return effects


def _strings(value: Any, parameter: str) -> Iterator[tuple[str, str, str]]:
    """All strings of a JSON value that are not empty: (dotted path, last name, string)."""
    if isinstance(value, str) and value:
        names = [n for n in parameter.split(".") if not n.isdigit()]
        yield parameter, names[-1].lower() if names else "", value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _strings(inner, f"{parameter}.{name}" if parameter else str(name))
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _strings(inner, f"{parameter}.{i}")


def _kind(key: str, value: str) -> Kind | None:
    """What a string parameter names, by its own name and by its form."""
    if _URL.match(value) or key in ADDRESSES:
        return "address"
    if key in VARIABLES or key.endswith(("_env", "_key", "_variable")):
        return None if value in ALLOWED_VARIABLES else "environment"
    if _OBJECT.fullmatch(value):
        return "object"
    if key in PATHS or _PATH.match(value):
        return "path"
    return "model" if key in MODELS else None


def check_trusted(folder: Path, critic: str, effects: Sequence[Effect]) -> None:
    """Refuse a folder that nobody trusts and that would do more than compute.

    Raises
    ------
    StoreError
        There is an effect; the message names all of them.
    """
    if effects:
        raise StoreError(
            f"{folder}: the saved critic {critic!r} would {'; '.join(map(str, effects))}",
            hint=f"if you trust this folder, add {arg('trust', [str(folder)])}; "
            f"`momus critics {folder}` shows what it would do",
        )


def is_trusted(folder: str | Path, trusted: Sequence[str | Path]) -> bool:
    """Whether a folder is one of those named as trusted, or lies in one of them.

    >>> is_trusted("run/critics/perplexity", ["run"]), is_trusted("run/../other", ["run"])
    (True, False)
    """
    real = Path(os.path.realpath(folder))
    return any(real.is_relative_to(os.path.realpath(named)) for named in trusted)
