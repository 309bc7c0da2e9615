"""What generated texts say too often or too rarely, as critics found it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from momus.evidence import Overuse
from momus.runs.answer import Answer
from momus.runs.findings import significant, things_of

if TYPE_CHECKING:
    from momus.runs.result import CriticResult

OVERUSED, NAMED = 6, 3
"""Largest number of lines on what texts say too often, and of things that a line names."""


@dataclass(frozen=True)
class CorpusOveruse:
    """What one generated corpus says too often or too rarely, as a critic found it."""

    generated: str
    critic: str
    overuse: Overuse


def overuse_of(results: Sequence[CriticResult], answer: Answer, most: int = OVERUSED) -> list[CorpusOveruse]:
    """Collect what the corpora say too often or too rarely, as far as a statistic of it differs.

    Returns
    -------
    At most ``most`` of them: of each kind the corpus with the largest gap first, then the second of each kind, …
    """
    things = things_of(results)
    ranked: list[tuple[int, CorpusOveruse]] = []
    for axis in answer.axes:
        places: dict[str, int] = {}
        for cell in sorted((c for c in axis.cells if c.differs), key=lambda c: -c.weight):
            rows = {v.statistic: v for v in (*cell.also, cell.row)}
            overuses = things.get((axis.critic, cell.generated), [])
            for overuse in overuses:
                named = significant(overuse, rows.get(overuse.of), overuses)[:NAMED]
                if named:
                    place = places[overuse.what] = places.get(overuse.what, -1) + 1
                    said = replace(overuse, items=tuple(named))
                    ranked.append((place, CorpusOveruse(cell.generated, axis.critic, said)))
    ranked.sort(key=lambda pair: pair[0])  # stable: axes of one place stay in the order of their gaps
    return [overuse for _, overuse in ranked[:most]]
