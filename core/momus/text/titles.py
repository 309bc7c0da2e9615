"""Normalisation of section titles."""

from __future__ import annotations

import re

_NUMBERING = re.compile(r"^\s*(?:\(?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.):]\s*)+", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^\w\s'’&/-]|[\d_]")


def normalize_title(title: str | None) -> str:
    """Lower-case a title and strip numbering, digits and punctuation.

    >>> [normalize_title(t) for t in ("2.1 Test Cases:", "IV. Results", "Copyright 2020", None)]
    ['test cases', 'results', 'copyright', '']
    """
    text = _NUMBERING.sub("", title or "")
    return " ".join(_NOT_LETTERS.sub(" ", text).casefold().split())
