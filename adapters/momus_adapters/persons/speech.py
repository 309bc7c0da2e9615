"""Who speaks a quotation and who is addressed: linear scores of the persons around it, the highest wins.

Weights maximise the conditional likelihood of gold chains (LitBank, first half; Bamman et al. 2020), with an L2 penalty:
softmax over the candidates of each quotation that contains a first-person (for speakers) or second-person pronoun.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log1p
from typing import TYPE_CHECKING, Any

from momus_adapters.persons.mentions import SUBJECTS, Mention
from momus_adapters.persons.words import SAID

if TYPE_CHECKING:
    from momus_adapters.persons.entities import Entity

BEFORE, AFTER, PAST = 60, 15, 200
"""Tokens before and after a quotation in which candidates are mentioned, and to the quotations before it."""
SPEAKER = (1.5, 0.45, 1.5, -0.5, 0.1, 0.2, 0.25, 0.15, 1.35, -0.4, -0.65, 0.8, -0.2, -0.5, -0.5, -0.1, 0.35, -0.25)
ADDRESSEE = (0.2, 0.2, 0.5, 0.2, 0.0, 0.1, 1.7, -0.2, -0.7, 0.0, 0.2, 0.1)
NARRATOR = -2
"""Stands for the speaker of the text outside of quotations."""


@dataclass
class Talk:
    """The quotations of a document, with the mentions around them.

    Attributes
    ----------
    quotes
        Token spans.
    speakers, addressees
        Entity of each quotation, −1 if unknown.
    """

    doc: Any
    quotes: list[tuple[int, int]]
    mentions: list[Mention]
    speakers: list[int] = field(default_factory=list)
    addressees: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Group mentions by quotation, and put those of the narration in order."""
        self.speakers = [-1] * len(self.quotes)
        self.addressees = [-1] * len(self.quotes)
        self.said: list[list[Mention]] = [[] for _ in self.quotes]
        self.told: dict[int, Mention] = {}
        for m in self.mentions:
            if m.quote >= 0:
                self.said[m.quote].append(m)
            else:
                self.told[m.head] = m

    def attribute(self, entities: list[Entity]) -> None:
        """Set the speakers, then the addressees, in the order of the text."""
        for q in range(len(self.quotes)):
            self.speakers[q] = _best(SPEAKER, *self.speaker_features(q, entities))
        for q in range(len(self.quotes)):
            self.addressees[q] = _best(ADDRESSEE, *self.addressee_features(q, entities))

    def _told(self, start: int, end: int) -> list[Mention]:
        """Mentions of single persons in the narration between two tokens."""
        span = range(max(0, start), min(end, len(self.doc)))
        return [m for i in span if (m := self.told.get(i)) and m.entity >= 0 and not m.plural and m.form != "second"]

    def _addressed(self, q: int) -> set[int]:
        """Persons addressed by name in a quotation."""
        return {m.entity for m in self.said[q] if m.entity >= 0 and m.address}

    def _reporting(self, m: Mention, start: int, end: int) -> bool:
        """Whether a mention is the subject of a verb of saying between two tokens."""
        token = self.doc[m.head]
        return token.dep_ in SUBJECTS and start <= token.head.i < end and token.head.lower_ in SAID

    def speaker_features(self, q: int, entities: list[Entity]) -> tuple[list[list[float]], list[int]]:
        """Features of possible speakers of a quotation, one row each, and their entities."""
        doc, (start, end) = self.doc, self.quotes[q]
        stop = self.quotes[q - 1][1] if q else 0
        gap = start - stop if q else 999
        following = self.quotes[q + 1][0] if q + 1 < len(self.quotes) else len(doc)
        before = self._told(start - BEFORE, start)
        after = self._told(end, min(end + AFTER, following))
        between = [m for m in before if m.head >= stop]
        subjects = [m.entity for m in between if doc[m.head].dep_ in SUBJECTS]
        reported = any(self._reporting(m, stop, stop + 8) for m in between)
        past = [self.speakers[q - k] if q >= k and start - self.quotes[q - k][1] <= PAST else -1 for k in (1, 2)]
        addressed, earlier = self._addressed(q), self._addressed(q - 1) if q and gap <= PAST else set()
        named = {m.entity for m in self.said[q] if m.form == "name"}
        adjacent = gap <= 3
        numbers = sorted({m.entity for m in before + after} | {e for e in past if e >= 0})
        rows = []
        for e in numbers:
            mine = [m for m in before if m.entity == e]
            later = [m for m in after if m.entity == e]
            rows.append(
                [
                    any(self._reporting(m, end, end + 8) for m in later),
                    any(self._reporting(m, start - 10, start) for m in mine if m.head >= stop)
                    and not (reported and gap <= 14),
                    any(
                        abs(m.head - i) <= 3
                        for m in later
                        for i in range(end, min(end + 6, len(doc)))
                        if doc[i].lower_ in SAID
                    ),
                    e == past[0] and adjacent,
                    e == past[0] and not adjacent and reported and gap <= 14,
                    e == past[0] and not adjacent and not (reported and gap <= 14),
                    e == past[1] and adjacent,
                    e == past[1] and not adjacent,
                    bool(subjects) and subjects[-1] == e,
                    any(m.head >= stop for m in mine),
                    log1p(start - mine[-1].head if mine else BEFORE),
                    bool(later),
                    e in named,
                    e in addressed,
                    any(m.form == "first" for m in mine + later),
                    log1p(len(entities[e].places)),
                    e in earlier,
                    bool(later) and doc[later[0].head].dep_ in SUBJECTS and later[0] is after[0],
                ]
            )
        return rows, numbers

    def addressee_features(self, q: int, entities: list[Entity]) -> tuple[list[list[float]], list[int]]:
        """Features of possible addressees of a quotation, one row each, and their entities."""
        start, end = self.quotes[q]
        speaker = self.speakers[q]
        near = {}
        for k in (-1, 1, -2, 2):
            if 0 <= q + k < len(self.quotes):
                other = self.quotes[q + k]
                if max(start - other[1], other[0] - end) <= PAST:
                    near[k] = self.speakers[q + k]
        before, after = self._told(start - BEFORE, start), self._told(end, end + AFTER)
        addressed = self._addressed(q)
        named = {m.entity for m in self.said[q] if m.form == "name"}
        numbers = {m.entity for m in before + after} | {e for e in near.values() if e >= 0} | addressed
        numbers -= {speaker}
        followed = q + 1 < len(self.quotes) and self.quotes[q + 1][0] - end <= 3
        preceded = q > 0 and start - self.quotes[q - 1][1] <= 3
        back = self.addressees[q - 1] if q and self.speakers[q - 1] == speaker and -1 in near else -1
        rows = []
        for e in sorted(numbers):
            mine = [m for m in before if m.entity == e]
            rows.append(
                [
                    near.get(1) == e and followed,
                    near.get(1) == e and not followed,
                    near.get(-1) == e and preceded,
                    near.get(-1) == e and not preceded,
                    near.get(-2) == e or near.get(2) == e,
                    back == e,
                    e in addressed,
                    bool(mine),
                    log1p(start - mine[-1].head if mine else BEFORE),
                    any(m.form == "first" for m in mine),
                    log1p(len(entities[e].places)),
                    e in named and e not in addressed,
                ]
            )
        return rows, sorted(numbers)


def _best(weights: tuple[float, ...], rows: list[list[float]], numbers: list[int]) -> int:
    """The candidate of the highest score, −1 without candidates."""
    scores = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in rows]
    return numbers[max(range(len(scores)), key=scores.__getitem__)] if scores else -1
