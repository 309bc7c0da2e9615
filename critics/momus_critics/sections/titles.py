"""Section types, the critic's states, from the titles of sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from momus.numeric.types import Ints

OTHER = "<other>"
"""The state of rare, unknown and missing titles: scored like any other, never skipped."""


def frequent_titles(titles: Sequence[str], documents: Ints, least: int) -> list[str]:
    """Titles that occur in at least ``least`` documents, the most frequent first.

    >>> import numpy as np
    >>> frequent_titles(["a", "b", "a", "a"], np.array([0, 0, 0, 1]), 2)
    ['a']
    """
    pairs: Iterable[tuple[str, int]] = set(zip(titles, documents.tolist(), strict=True))
    counts = Counter(title for title, _ in pairs if title)
    return [t for t, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n >= least]
