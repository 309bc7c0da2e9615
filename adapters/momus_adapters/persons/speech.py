"""Who speaks a quotation, and who is addressed: the candidates around it, their features and weights.

The weights are fitted on quotations with a first-person (speakers) or second-person pronoun (addressees), see
`momus_adapters.persons.antecedents`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log1p
from typing import Any

from momus_adapters.persons.antecedents import Candidates
from momus_adapters.persons.entities import Entity
from momus_adapters.persons.mentions import SUBJECTS, Mention
from momus_adapters.persons.words import SAID

BEFORE, AFTER, PAST = 60, 15, 200
"""Tokens before and after a quotation in which candidates are mentioned, and tokens to the quotations before it."""
ADJACENT, CLOSE = 3, 14
"""Tokens between two quotations with nothing, or only a report ("said he, rising"), between them."""
SPEAKER = {
    "subject of a verb of saying after it": 1.04,
    "subject of a verb of saying before it": 0.5,
    "near a verb of saying after it": 1.47,
    "spoke just before": -0.69,
    "spoke before, past other narration": 0.25,
    "spoke the last but one, and nothing lies between": 0.2,
    "last subject before it": 1.39,
    "mentioned since the last quotation": -0.72,
    "log of tokens since the last mention": -0.71,
    "mentioned after it": 0.7,
    "named in it": -0.42,
    "addressed in it": -0.61,
    "is the narrator": -0.58,
    "addressed in the last quotation": 0.5,
    "first subject after it": -0.28,
}
ADDRESSEE = {
    "speaks next, with nothing between": 0.53,
    "speaks next, past narration": 0.23,
    "spoke before, with nothing between": 0.53,
    "spoke before, past narration": 0.08,
    "addressed before by the same speaker": 0.04,
    "addressed by name": 2.11,
    "mentioned before": -0.37,
    "log of tokens since the last mention": -0.88,
    "log of the number of mentions": 0.19,
    "named in it, not addressed": 0.26,
}
Decide = Callable[[dict[str, float], int, Candidates], int | None]


@dataclass
class Talk:
    """The quotations of a document, with the mentions around them.

    Attributes
    ----------
    quotes
        Token spans.
    entities
        Those of the document.
    speakers, addressees
        Entity of each quotation, −1 if unknown.
    """

    doc: Any
    quotes: list[tuple[int, int]]
    mentions: list[Mention]
    entities: list[Entity]
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

    def attribute(self, decide: Decide) -> None:
        """Set the speakers, then the addressees, in the order of the text."""
        for found, weights, candidates in (
            (self.speakers, SPEAKER, self.possible_speakers),
            (self.addressees, ADDRESSEE, self.possible_addressees),
        ):
            for q in range(len(self.quotes)):
                chosen = decide(weights, q, candidates(q))
                found[q] = -1 if chosen is None else chosen

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

    def possible_speakers(self, q: int) -> Candidates:
        """Persons mentioned around a quotation, and the speakers of the two quotations before it."""
        doc, (start, end) = self.doc, self.quotes[q]
        stop = self.quotes[q - 1][1] if q else 0
        gap = start - stop if q else PAST + 1
        following = self.quotes[q + 1][0] if q + 1 < len(self.quotes) else len(doc)
        before, after = self._told(start - BEFORE, start), self._told(end, min(end + AFTER, following))
        between = [m for m in before if m.head >= stop]
        subjects = [m.entity for m in between if doc[m.head].dep_ in SUBJECTS]
        # the narration since the last quotation is no more than a report of it
        report = gap <= CLOSE and any(self._reporting(m, stop, stop + 8) for m in between)
        past = [self.speakers[q - k] if q >= k and start - self.quotes[q - k][1] <= PAST else -1 for k in (1, 2)]
        addressed, earlier = self._addressed(q), self._addressed(q - 1) if gap <= PAST else set()
        named = {m.entity for m in self.said[q] if m.form == "name"}
        verbs = [i for i in range(end, min(end + 6, len(doc))) if doc[i].lower_ in SAID]
        numbers = sorted({m.entity for m in before + after} | {e for e in past if e >= 0})
        rows: list[list[float]] = []
        for e in numbers:
            mine, later = ([m for m in found if m.entity == e] for found in (before, after))
            rows.append(
                [
                    any(self._reporting(m, end, end + 8) for m in later),
                    not report and any(self._reporting(m, start - 10, start) for m in mine if m.head >= stop),
                    any(abs(m.head - i) <= 3 for m in later for i in verbs),
                    e == past[0] and gap <= ADJACENT,
                    e == past[0] and gap > ADJACENT and not report,
                    e == past[1] and gap <= ADJACENT,
                    bool(subjects) and subjects[-1] == e,
                    any(m.head >= stop for m in mine),
                    log1p(start - mine[-1].head if mine else BEFORE),
                    bool(later),
                    e in named,
                    e in addressed,
                    any(m.form == "first" for m in mine + later),
                    e in earlier,
                    bool(later) and later[0] is after[0] and doc[later[0].head].dep_ in SUBJECTS,
                ]
            )
        return Candidates(numbers, rows)

    def possible_addressees(self, q: int) -> Candidates:
        """Persons mentioned around a quotation or addressed in it, and speakers of others near it; not its speaker."""
        start, end = self.quotes[q]
        speaker = self.speakers[q]
        near, gaps = {}, {}
        for k in (-1, 1, -2, 2):
            if 0 <= q + k < len(self.quotes):
                other = self.quotes[q + k]
                gaps[k] = max(start - other[1], other[0] - end)
                if gaps[k] <= PAST:
                    near[k] = self.speakers[q + k]
        before, after = self._told(start - BEFORE, start), self._told(end, end + AFTER)
        addressed = self._addressed(q)
        named = {m.entity for m in self.said[q] if m.form == "name"}
        back = self.addressees[q - 1] if near.get(-1) == speaker else -1
        numbers = sorted(({m.entity for m in before + after} | {*near.values(), *addressed}) - {speaker, -1})
        rows: list[list[float]] = []
        for e in numbers:
            mine = [m for m in before if m.entity == e]
            rows.append(
                [
                    near.get(1) == e and gaps[1] <= ADJACENT,
                    near.get(1) == e and gaps[1] > ADJACENT,
                    near.get(-1) == e and gaps[-1] <= ADJACENT,
                    near.get(-1) == e and gaps[-1] > ADJACENT,
                    back == e,
                    e in addressed,
                    bool(mine),
                    log1p(start - mine[-1].head if mine else BEFORE),
                    log1p(len(self.entities[e].places)),
                    e in named and e not in addressed,
                ]
            )
        return Candidates(numbers, rows)
