"""Normalisation of section titles."""

from __future__ import annotations

import re
import unicodedata

_NUMBERING = re.compile(r"^\s*(?:\(?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.):]\s*)+", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^\w\s'’&/-]|[\d_]")


def normalize_title(title: str | None) -> str:
    """Lower-case a title and strip numbering, digits and punctuation.

    >>> [normalize_title(t) for t in ("2.1 Test Cases:", "IV. Results", "Copyright 2020", "3. हिन्दी में", None)]
    ['test cases', 'results', 'copyright', 'हिन्दी में', '']
    """
    text = _NUMBERING.sub("", title or "")
    return " ".join(_NOT_LETTERS.sub(_blank, text).casefold().split())


def _blank(found: re.Match[str]) -> str:
    """A space for what is no letter; combining marks stay with their letters."""
    return found[0] if unicodedata.category(found[0])[0] == "M" else " "
