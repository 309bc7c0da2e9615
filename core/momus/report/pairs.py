"""Pairs of generated texts for readers: all of a few, and the largest differences of very many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from momus.verdicts.verdict import Verdict

MOST = 300
"""Rows of pairs that a page or a terminal shows."""


@dataclass(frozen=True)
class PairRows:
    """The rows of pairs that are shown.

    Attributes
    ----------
    rows
        All rows in their order, or those with the largest differences.
    counts
        By axis, how many rows differ and how many there are.
    """

    rows: list[Verdict]
    counts: dict[str, tuple[int, int]]

    @property
    def total(self) -> int:
        """Number of all rows."""
        return sum(n for _, n in self.counts.values())


def pair_rows(pairs: Sequence[Verdict], most: int = MOST) -> PairRows:
    """Choose the rows to show: those that differ first, by the size of the effect in human bands."""
    counts: dict[str, tuple[int, int]] = {}
    for v in pairs:
        differing, n = counts.get(v.axis, (0, 0))
        counts[v.axis] = differing + v.differs, n + 1
    if len(pairs) <= most:
        return PairRows(list(pairs), counts)
    ordered = sorted(pairs, key=lambda v: (not v.differs, -(v.gap or 0.0)))
    return PairRows(ordered[:most], counts)


def pair_sentences(shown: PairRows) -> list[str]:
    """What is said below rows of which not all are shown."""
    if len(shown.rows) == shown.total:
        return []
    differing = "; ".join(f"{axis}: {k:,} of {n:,} pairs differ" for axis, (k, n) in shown.counts.items())
    return [
        f"{len(shown.rows):,} of {shown.total:,} rows are shown, those with the largest differences; all are in "
        "pairs.jsonl in the run folder.",
        f"{differing}.",
    ]
