"""Word lists for persons, from ``words.toml``: titles, nouns with their gender, verbs of saying and feeling."""

from __future__ import annotations

import tomllib
from importlib.resources import files

with (files("momus_adapters.persons") / "words.toml").open("rb") as _file:
    LISTS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in tomllib.load(_file).items()}

TITLES = {
    **dict.fromkeys(LISTS["titles_of_men"], "m"),
    **dict.fromkeys(LISTS["titles_of_women"], "f"),
    **dict.fromkeys(LISTS["titles_of_either"], ""),
}
"""Gender of each title: ``m``, ``f`` or empty."""
SAID = frozenset(f"{w}{s}" for w in LISTS["saying"] for s in ("", "s", "ed", "d")) | LISTS["said"]
"""Forms of verbs of saying."""
_GENDER = {
    **dict.fromkeys(LISTS["plurals"], ""),
    **dict.fromkeys(LISTS["either"], ""),
    **dict.fromkeys(LISTS["women"], "f"),
    **dict.fromkeys(LISTS["men"], "m"),
}


def gender_of(noun: str) -> str | None:
    """Gender of a noun for a person, ``m``, ``f`` or ``""`` (plurals too); None for any other noun.

    >>> gender_of("widow"), gender_of("stranger"), gender_of("table")
    ('f', '', None)
    """
    if noun in _GENDER:
        return _GENDER[noun]
    if noun.endswith("man") and noun[:-3] in ("gentle", "clergy", "police", "noble", "work", "sea"):
        return "m"
    if noun.endswith("woman"):
        return "f"
    return "" if noun.endswith("women") or (noun.endswith("s") and noun[:-1] in _GENDER) else None
