"""Titles: from what authors write above a section to the section types that are the critic's states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from numpy.typing import NDArray

OTHER = "<other>"
"""The state of titles that are too rare, unknown, or missing: scored like any other, never skipped."""


def frequent_titles(titles: Sequence[str], documents: NDArray, least: int) -> list[str]:  # type: ignore[type-arg]
    """Titles that occur in at least ``least`` documents, the most frequent first.

    >>> import numpy as np
    >>> frequent_titles(["a", "b", "a", "a"], np.array([0, 0, 0, 1]), 2)
    ['a']
    """
    pairs: Iterable[tuple[str, int]] = set(zip(titles, documents.tolist(), strict=True))
    counts = Counter(title for title, _ in pairs if title)
    return [t for t, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n >= least]
