"""What generated texts say too often, as data: loops, phrases, openings that the first screen names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from momus.evidence import Overuse, Table
from momus.report.answer import Answer

if TYPE_CHECKING:
    from momus.runs.result import CriticResult

MOST = 6
"""Largest number of lines on the first screen."""


@dataclass(frozen=True)
class CorpusOveruse:
    """What one generated corpus says too often."""

    generated: str
    overuse: Overuse


def overuse_of(results: Sequence[CriticResult], answer: Answer, most: int = MOST) -> list[CorpusOveruse]:
    """Collect what the corpora say too often, on axes where they differ from human text.

    Returns
    -------
    At most ``most`` of them: of each kind the corpus with the largest gap first, then the second of each kind, …
    """
    evidence = {(r.name, corpus): items for r in results for corpus, items in r.evidence}
    ranked: list[tuple[int, CorpusOveruse]] = []
    for axis in answer.axes:
        differing = sorted((c for c in axis.cells if c.differs), key=lambda c: -(c.headline.gap or 0.0))
        places: dict[str, int] = {}
        for cell in differing:
            for item in evidence.get((axis.critic, cell.generated), ()):
                if isinstance(item, Table) and item.overuse is not None and item.overuse.items:
                    place = places[item.name] = places.get(item.name, -1) + 1
                    ranked.append((place, CorpusOveruse(cell.generated, item.overuse)))
    ranked.sort(key=lambda pair: pair[0])  # stable: axes of one place stay in the order of their gaps
    return [found for _, found in ranked[:most]]
