"""What a filter did with the documents of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Dropped:
    """A document that went.

    Attributes
    ----------
    critic
        The critic under which it is oddest.
    small
        Whether its value there is odd because it is small: it is too likely.
    p, q
        Its conformal p-value over all critics, and the smallest false-discovery rate at which it goes.
    value, typical
        Its value under the critic, and the median of the real documents.
    text
        The beginning of its text.
    """

    id: str
    critic: str
    small: bool
    p: float
    q: float
    value: float
    typical: float
    text: str


@dataclass(frozen=True)
class Filtered:
    """What a filter did.

    Attributes
    ----------
    documents, dropped
        Documents that were read, and that went.
    fdr
        The false-discovery rate that was asked for.
    p
        The largest p-value of a document that went; None if none did.
    real, calibrating
        Real documents, and how many of them calibrate.
    fewest
        The smallest number of documents that could have gone at all.
    by_critic
        How many went for each critic: too unlikely, and too likely.
    unscored
        By critic and reason, documents of the new text without a score, which are never odd there.
    judged_by_none
        Documents that no critic could score; they stay.
    seen
        By critic, how many of the real documents it was fitted on.
    examples
        The oddest documents that went, at most ten per critic.
    """

    documents: int
    dropped: int
    fdr: float
    p: float | None
    real: int
    calibrating: int
    fewest: int
    by_critic: Mapping[str, tuple[int, int]]
    unscored: Mapping[str, Mapping[str, int]]
    judged_by_none: int
    seen: Mapping[str, int]
    examples: Sequence[Dropped]

    @property
    def kept(self) -> int:
        """Documents that stay."""
        return self.documents - self.dropped

    @property
    def expected(self) -> float:
        """How many of the documents that went are as real as the real text, on average, at most."""
        return self.fdr * self.dropped
