"""Stopwords by language: lists that ship with Momus, and those of the package ``stopwordsiso``."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from momus.errors import MissingExtraError, UsageError
from momus.version import extra

LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt")
"""Languages of the lists that ship: of scikit-learn (English) and of the package ``stop-words``."""
ISO = "stopwordsiso"
EXTRA = extra("languages")


@lru_cache
def stopwords(language: str) -> frozenset[str]:
    """The stopwords of a language (ISO 639-1), in lower case.

    They are the list that ships with Momus (BSD-3, see ``stopwords/SOURCE.txt``), or else that of ``stopwordsiso``.

    Raises
    ------
    UsageError
        There is no list for the language.
    MissingExtraError
        The list is one of ``stopwordsiso``, which is not installed.

    >>> "the" in stopwords("en"), "und" in stopwords("de")
    (True, True)
    """
    if language in LANGUAGES:
        text = (files("momus_critics") / "stopwords" / f"{language}.txt").read_text(encoding="utf-8")
        return frozenset(text.split("\n")) - {""}
    iso = _iso(language)
    if not iso.has_lang(language):
        raise UsageError(
            f"no stopwords for language {language!r}",
            hint=f"choose one of {', '.join(sorted({*LANGUAGES, *iso.langs()}))}, or pass your list as parameter "
            "`stopwords`",
        )
    return frozenset(word.lower() for word in iso.stopwords(language))


def has_stopwords(language: str) -> bool:
    """Whether there is a list for a language on this machine.

    >>> has_stopwords("fr"), has_stopwords("xx")
    (True, False)
    """
    if language in LANGUAGES:
        return True
    return find_spec(ISO) is not None and bool(_iso(language).has_lang(language))


def source_of(language: str) -> str:
    """Where the list of a language comes from, with the version; empty for a list that ships with Momus.

    Raises
    ------
    MissingExtraError
        The list is one of ``stopwordsiso``, which is not installed.

    >>> source_of("en")
    ''
    """
    if language in LANGUAGES:
        return ""
    _iso(language)
    return f"{ISO} {version(ISO)}"


def _iso(language: str) -> Any:
    """The package ``stopwordsiso``."""
    try:
        import stopwordsiso
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"stopwords of {language!r} are those of the module {ISO!r}, which is not installed; Momus ships lists for "
            f"{', '.join(LANGUAGES)}",
            EXTRA,
        ) from error
    return stopwordsiso
