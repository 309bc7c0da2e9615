"""Section titles: their normal form, and which of them are frequent."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from momus.numeric.types import Ints

OTHER = "<other>"
"""The state of rare, unknown and missing titles: scored like any other, never skipped."""
_NUMBERING = re.compile(r"^\s*(?:\(?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.):]\s*)+", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^\w\s'’&/-]|[\d_]")


def normalize_title(title: str | None) -> str:
    """Lower-case a title and strip numbering, digits and punctuation.

    >>> [normalize_title(t) for t in ("2.1 Test Cases:", "IV. Results", "Copyright 2020", "3. हिन्दी में", None)]
    ['test cases', 'results', 'copyright', 'हिन्दी में', '']
    """
    text = _NUMBERING.sub("", title or "")
    return " ".join(_NOT_LETTERS.sub(_blank, text).casefold().split())


def _blank(match: re.Match[str]) -> str:
    """A space for what is no letter; combining marks stay with their letters."""
    return match[0] if unicodedata.category(match[0])[0] == "M" else " "


def frequent_titles(titles: Sequence[str], documents: Ints, least: int) -> list[str]:
    """Titles that occur in at least ``least`` documents, the most frequent first.

    >>> import numpy as np
    >>> frequent_titles(["a", "b", "a", "a"], np.array([0, 0, 0, 1]), 2)
    ['a']
    """
    pairs: Iterable[tuple[str, int]] = set(zip(titles, documents.tolist(), strict=True))
    counts = Counter(title for title, _ in pairs if title)
    return [t for t, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n >= least]
