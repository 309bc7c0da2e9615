"""The language of a document, identified from its text."""

from __future__ import annotations

from functools import cache
from typing import Any

SHORTEST, LONGEST = 200, 2000
"""Characters that a document needs to be identified, and those of it that are read."""


def identify(text: str) -> str:
    """The ISO 639-1 code of the language of a text.

    Identification is naive Bayes over byte n-grams (Lui & Baldwin 2012); code or names are often assigned to a language
    at random.

    >>> identify("The rain had stopped by the time they reached the house on the hill.")
    'en'
    """
    return str(_identifier()(text)[0])


@cache
def _identifier() -> Any:
    """The identifier, whose model takes a second to load."""
    import py3langid

    return py3langid.classify
