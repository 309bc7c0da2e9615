"""Write ``api.json`` beside this file: the public names of Momus with their signatures.

``python tests/data/make_api.py`` after a change that is meant; say what moved in CHANGELOG.md.
"""

import inspect
import json
import re
from importlib import import_module
from pathlib import Path

MODULES = ("momus", "momus.critic", "momus.testing", "momus.conformance", "momus.reading")


def signature(value: object) -> str:
    """The parameters of a function or class, without annotations, whose printing differs between Pythons."""
    if not callable(value):
        return type(value).__name__
    if not isinstance(value, type) and type(value).__module__ in ("typing", "collections.abc"):
        return "…"  # a name of a type, whose signature differs between Pythons
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return "…"
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.Signature(plain)))


def members(value: object) -> dict[str, str]:
    """The public methods of a class, with their signatures."""
    if not isinstance(value, type) or not value.__module__.startswith("momus"):
        return {}
    names = sorted(n for c in value.__mro__ if c.__module__.startswith("momus") for n in vars(c) if n[0] != "_")
    return {name: signature(getattr(value, name)) for name in names}


def api() -> dict[str, dict[str, str]]:
    """Signatures by module and name; methods stand as ``Class.method``."""
    out: dict[str, dict[str, str]] = {}
    for name in MODULES:
        module = import_module(name)
        rows = out[name] = {}
        for public in sorted(set(module.__all__) - {"__version__"}):
            value = getattr(module, public)
            rows[public] = signature(value)
            rows |= {f"{public}.{method}": text for method, text in members(value).items()}
    return out


if __name__ == "__main__":
    target = Path(__file__).with_name("api.json")
    target.write_text(json.dumps(api(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
