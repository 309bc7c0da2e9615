"""Extras: the optional packages of a distribution, and whether they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

from momus.errors import MissingExtraError
from momus.version import extra

MODULES = {
    "torch": "torch",
    "transformers": "torch",
    "tokenizers": "torch",
    "pyro": "pyro",
    "gensim": "gensim",
    "kenlm": "kenlm",
    "spacy": "coref",
    "httpx": "http",
    "simplemma": "prepare",
    "mwxml": "prepare",
    "mwparserfromhell": "prepare",
    "accelerate": "train",
    "gguf": "gguf",
    "ray": "ray",
    "icu4py": "languages",
    "stopwordsiso": "languages",
    "lingua": "detect",
}
"""The extra of Momus that has a module."""


def extra_of(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Word a failed import of a module that an extra of Momus has; None for other modules.

    >>> print(extra_of(ModuleNotFoundError("No module named 'pyro'", name="pyro.infer")))
    this needs the module 'pyro', which is not installed
      → pip install -e '.[pyro]'
    """
    module = (error.name or "").partition(".")[0]
    if module not in MODULES:
        return None
    return MissingExtraError(f"this needs the module {module!r}, which is not installed", extra(MODULES[module]))


def missing_packages(name: str, extra: str) -> list[str]:
    """List the packages of an extra of a distribution that are not installed; versions are not compared.

    >>> missing_packages("momus-criticism", "no-such-extra")
    []
    """
    return [package for package in dict.fromkeys(_packages(name, extra)) if not _is_installed(package)]


def _packages(name: str, extra: str) -> Iterator[str]:
    """Names of the packages that an extra adds; extras may name other extras of the same distribution."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    try:
        lines = distribution(name).requires or []
    except PackageNotFoundError:  # an entry point without a distribution, as in a folder on the path
        return
    for line in lines:
        if "extra" not in line:
            continue
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}) or not marker.evaluate({"extra": extra}):
            continue
        if canonicalize_name(requirement.name) == canonicalize_name(name):
            for other in requirement.extras - {extra}:
                yield from _packages(name, other)
        else:
            yield requirement.name


def _is_installed(package: str) -> bool:
    """Whether a distribution, or a module of its name (built elsewhere, and installed under another name), is there."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return find_spec(package.replace("-", "_").replace(".", "_")) is not None
    return True
