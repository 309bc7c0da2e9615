"""Settings of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from momus.errors import UsageError


@dataclass(frozen=True)
class Settings:
    """Everything that a comparison depends on, apart from texts and critics.

    Attributes
    ----------
    permutations, resamples, confidence
        Usual number of relabellings of a row that may differ, resamples of bootstrap standard errors, and level of the
        intervals, see `momus.inference.compare_rows`.
    adjustment
        Adjustment of p-values: ``holm``, ``bh`` or ``none``.
    paired
        Whether to compare documents of one prompt with each other; None: see `momus.inference.design_of`.
    device
        Device of the critics that compute on one.
    top
        Number of outliers to show of each corpus.
    equivalence
        δ: test of each effect whether it lies within ±δ (two one-sided tests by interval inclusion).
    pairwise
        Whether to compare the generated corpora with each other too, by headline statistics.
    adjust
        Critics or metadata fields within bins of which every headline row is compared again.
    subgroups
        Critics or metadata fields by whose values every headline row is compared again, in subgroups.
    refits
        Number of bootstrap resamples of the fitting text on which to refit each critic, to report the spread of the
        differences.
    """

    seed: int = 0
    permutations: int = 9999
    resamples: int = 499
    confidence: float = 0.95
    adjustment: str = "holm"
    paired: bool | None = None
    device: str = "auto"
    top: int = 5
    equivalence: float | None = None
    pairwise: bool = False
    adjust: tuple[str, ...] = ()
    subgroups: tuple[str, ...] = ()
    refits: int = 0


def with_options(settings: Settings | None, options: dict[str, Any]) -> Settings:
    """Replace some fields of settings (None: the defaults).

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
