"""What a comparison depends on besides texts and critics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from momus.errors import UsageError


@dataclass(frozen=True)
class Settings:
    """Everything but the texts and the critics that a comparison depends on.

    Attributes
    ----------
    permutations, resamples, confidence
        Of the tests and intervals, see `momus.inference`.
    adjustment
        ``holm``, ``bh`` or ``none``.
    paired
        Compare documents of one prompt with each other: True, False, or None for where they all pair up.
    top
        How many outliers of each corpus are shown.
    equivalence
        δ: say of each effect whether it is shown to lie within ±δ (two one-sided tests by interval inclusion).
    pairwise
        Compare the generated corpora with each other too, by headline statistics.
    refits
        Fit each critic again on so many bootstrap resamples of the fitted text, and give the spread of differences.
    """

    seed: int = 0
    permutations: int = 9999
    resamples: int = 2000
    confidence: float = 0.95
    adjustment: str = "holm"
    paired: bool | None = None
    device: str = "auto"
    top: int = 5
    equivalence: float | None = None
    pairwise: bool = False
    refits: int = 0


def with_options(settings: Settings | None, options: dict[str, Any]) -> Settings:
    """Settings with some fields changed.

    Raises
    ------
    UsageError
        There is no such field.

    >>> with_options(None, {"seed": 3}).seed
    3
    """
    try:
        return replace(settings or Settings(), **options)
    except TypeError as error:
        known = ", ".join(Settings.__dataclass_fields__)
        raise UsageError(f"compare: {error}", hint=f"options are: {known}") from error
