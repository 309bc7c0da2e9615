"""Who speaks a quotation, and who is addressed: the candidates around it, their features and weights.

The weights are fitted on quotations with a first-person (speakers) or second-person pronoun (addressees), see
`momus_adapters.persons.antecedents`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log1p
from typing import Any

from momus_adapters.persons.antecedents import WEIGHTS, Candidates, Entity, Features
from momus_adapters.persons.mentions import SAID, SUBJECTS, Mention

BEFORE, AFTER, PAST = 60, 15, 200
"""Tokens before and after a quotation in which candidates are mentioned, and tokens to the quotations before it."""
ADJACENT, CLOSE = 3, 14
"""Tokens between two quotations with nothing, or only a report ("said he, rising"), between them."""
SPEAKER, ADDRESSEE = WEIGHTS["speaker"], WEIGHTS["addressee"]
Decide = Callable[[dict[str, float], int, Candidates], int | None]


class Talk:
    """The quotations of a document (token spans), with the mentions in and around them, and its entities.

    Attributes
    ----------
    speakers, addressees
        Entity of each quotation, −1 if unknown.
    """

    def __init__(
        self, doc: Any, quotes: list[tuple[int, int]], mentions: list[Mention], entities: list[Entity]
    ) -> None:
        self.doc, self.quotes, self.entities = doc, quotes, entities
        self.speakers, self.addressees = [-1] * len(quotes), [-1] * len(quotes)
        self.said: list[list[Mention]] = [[] for _ in quotes]
        self.told = {m.head: m for m in mentions if m.quote < 0}
        for m in mentions:
            if m.quote >= 0:
                self.said[m.quote].append(m)

    def attribute(self, decide: Decide) -> None:
        """Set the speakers, then the addressees, in the order of the text."""
        for persons, weights, candidates in (
            (self.speakers, SPEAKER, self.possible_speakers),
            (self.addressees, ADDRESSEE, self.possible_addressees),
        ):
            for q in range(len(self.quotes)):
                chosen = decide(weights, q, candidates(q))
                persons[q] = -1 if chosen is None else chosen

    def told_between(self, start: int, end: int) -> list[Mention]:
        """Mentions of single persons in the narration between two tokens."""
        span = range(max(0, start), min(end, len(self.doc)))
        return [m for i in span if (m := self.told.get(i)) and m.entity >= 0 and not m.plural and m.form != "second"]

    def addressed(self, q: int) -> set[int]:
        """Persons addressed by name in a quotation."""
        return {m.entity for m in self.said[q] if m.entity >= 0 and m.address}

    def named(self, q: int) -> set[int]:
        """Persons named in a quotation, and −1 for names that are no known person's."""
        return {m.entity for m in self.said[q] if m.form == "name"}

    def reporting(self, m: Mention, start: int, end: int) -> bool:
        """Whether a mention is the subject of a verb of saying between two tokens."""
        verb = self.doc[m.head].head
        return self.is_subject(m) and start <= verb.i < end and verb.lower_ in SAID

    def is_subject(self, m: Mention) -> bool:
        """Whether a mention is the subject of a verb."""
        return self.doc[m.head].dep_ in SUBJECTS

    def possible_speakers(self, q: int) -> Candidates:
        """Persons mentioned around a quotation, and the speakers of the two quotations before it."""
        start, end = self.quotes[q]
        stop, gap = (self.quotes[q - 1][1], start - self.quotes[q - 1][1]) if q else (0, PAST + 1)
        following = self.quotes[q + 1][0] if q + 1 < len(self.quotes) else len(self.doc)
        before, after = self.told_between(start - BEFORE, start), self.told_between(end, min(end + AFTER, following))
        since = [m for m in before if m.head >= stop]
        # two persons who talk take turns: speakers of the last quotation and of the last but one, −1 if far away
        near = [q >= k and start - self.quotes[q - k][1] <= PAST for k in (1, 2)]
        last, last_but_one = (self.speakers[q - k] if near[k - 1] else -1 for k in (1, 2))
        adjacent = gap <= ADJACENT
        # whether the narration since the last quotation is no more than a report of that quotation
        reported = gap <= CLOSE and any(self.reporting(m, stop, stop + 8) for m in since)
        verbs = [i for i in range(end, min(end + 6, len(self.doc))) if self.doc[i].lower_ in SAID]
        subjects = [m.entity for m in since if self.is_subject(m)]
        named, addressed, earlier = self.named(q), self.addressed(q), self.addressed(q - 1) if gap <= PAST else set()
        candidates: Candidates = {}
        for e in sorted({m.entity for m in before + after} | ({last, last_but_one} - {-1})):
            mine, recent, later = ([m for m in told if m.entity == e] for told in (before, since, after))
            said_before = any(self.reporting(m, start - 10, start) for m in recent)
            candidates[e] = {
                "subject of a verb of saying after it": any(self.reporting(m, end, end + 8) for m in later),
                "subject of a verb of saying before it": not reported and said_before,
                "near a verb of saying after it": any(abs(m.head - i) <= 3 for m in later for i in verbs),
                "spoke just before": e == last and adjacent,
                "spoke before, past other narration": e == last and not adjacent and not reported,
                "spoke the last but one, and nothing lies between": e == last_but_one and adjacent,
                "last subject before it": subjects[-1:] == [e],
                "mentioned since the last quotation": bool(recent),
                "log of tokens since the last mention": log1p(start - mine[-1].head if mine else BEFORE),
                "mentioned after it": bool(later),
                "is the narrator": any(m.form == "first" for m in mine + later),
                "first subject after it": later[:1] == after[:1] != [] and self.is_subject(after[0]),
                "named in it": e in named,
                "addressed in it": e in addressed,
                "addressed in the last quotation": e in earlier,
            }
        return candidates

    def possible_addressees(self, q: int) -> Candidates:
        """Persons mentioned around a quotation or addressed in it, and speakers of others near it; not its speaker."""
        start, end = self.quotes[q]
        # the quotations around it, from two before it to two after it: speaker, and tokens between the two
        turns: dict[int, tuple[int, int]] = {}
        for k in (-1, 1, -2, 2):
            if 0 <= q + k < len(self.quotes):
                other = self.quotes[q + k]
                gap = max(start - other[1], other[0] - end)
                turns |= {k: (self.speakers[q + k], gap)} if gap <= PAST else {}
        before, after = self.told_between(start - BEFORE, start), self.told_between(end, end + AFTER)
        addressed, named = self.addressed(q), self.named(q)
        # whom the same speaker addressed in the quotation before it
        told = self.addressees[q - 1] if -1 in turns and turns[-1][0] == self.speakers[q] else -1
        numbers = {m.entity for m in before + after} | {speaker for speaker, _ in turns.values()} | addressed
        candidates: Candidates = {}
        for e in sorted(numbers - {self.speakers[q], -1}):
            last = max((m.head for m in before if m.entity == e), default=-1)
            row: Features = {
                "addressed before by the same speaker": told == e,
                "addressed by name": e in addressed,
                "mentioned before": last >= 0,
                "log of tokens since the last mention": log1p(start - last if last >= 0 else BEFORE),
                "log of the number of mentions": log1p(len(self.entities[e].places)),
                "named in it, not addressed": e in named and e not in addressed,
            }
            for k, when in ((1, "speaks next"), (-1, "spoke before")):
                speaker, gap = turns.get(k, (-1, 0))
                row[f"{when}, with nothing between"] = speaker == e and gap <= ADJACENT
                row[f"{when}, past narration"] = speaker == e and gap > ADJACENT
            candidates[e] = row
        return candidates
