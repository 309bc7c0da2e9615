"""Who speaks a quotation, and who is addressed: the candidates around it, their features and weights.

The weights are fitted on quotations with a first-person (speakers) or second-person pronoun (addressees), see
`momus_adapters.persons.antecedents`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log1p
from typing import Any, NamedTuple

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
        token = self.doc[m.head]
        return token.dep_ in SUBJECTS and start <= token.head.i < end and token.head.lower_ in SAID

    def possible_speakers(self, q: int) -> Candidates:
        """Persons mentioned around a quotation, and the speakers of the two quotations before it."""
        around = _Around(self, q)
        numbers = sorted({m.entity for m in around.before + around.after} | {e for e in around.past if e >= 0})
        return Candidates(
            numbers, [around.report(e) | around.turns(e) | around.mentions(e) | around.words(e) for e in numbers]
        )

    def possible_addressees(self, q: int) -> Candidates:
        """Persons mentioned around a quotation or addressed in it, and speakers of others near it; not its speaker."""
        start, end = self.quotes[q]
        turns = self._turns(q)
        near = {turn.speaker for turn in turns.values() if turn.gap <= PAST}
        before, after = self.told_between(start - BEFORE, start), self.told_between(end, end + AFTER)
        addressed, named = self.addressed(q), self.named(q)
        numbers = {m.entity for m in before + after} | near | addressed
        rows: list[Features] = []
        for e in sorted(numbers - {self.speakers[q], -1}):
            last = max((m.head for m in before if m.entity == e), default=-1)
            rows.append(
                {
                    "addressed before by the same speaker": self._addressed_before(q, turns) == e,
                    "addressed by name": e in addressed,
                    "mentioned before": last >= 0,
                    "log of tokens since the last mention": log1p(start - last if last >= 0 else BEFORE),
                    "log of the number of mentions": log1p(len(self.entities[e].places)),
                    "named in it, not addressed": e in named and e not in addressed,
                    **_alternation(turns, e),
                }
            )
        return Candidates(sorted(numbers - {self.speakers[q], -1}), rows)

    def _turns(self, q: int) -> dict[int, Turn]:
        """The quotations around one, by their distance in quotations: from two before it to two after it."""
        start, end = self.quotes[q]
        turns = {}
        for k in (-1, 1, -2, 2):
            if 0 <= q + k < len(self.quotes):
                other = self.quotes[q + k]
                turns[k] = Turn(self.speakers[q + k], max(start - other[1], other[0] - end))
        return turns

    def _addressed_before(self, q: int, turns: dict[int, Turn]) -> int:
        """Whom the speaker of a quotation addressed in the quotation before it, −1 if another spoke there."""
        same = -1 in turns and turns[-1].gap <= PAST and turns[-1].speaker == self.speakers[q]
        return self.addressees[q - 1] if same else -1


class Turn(NamedTuple):
    """A quotation beside another one: its speaker, and the tokens between the two."""

    speaker: int
    gap: int


def _alternation(turns: dict[int, Turn], e: int) -> Features:
    """Whether an entity speaks in the quotation before or after, with nothing or with narration between."""
    features: Features = {}
    for k, when in ((1, "speaks next"), (-1, "spoke before")):
        speaks = k in turns and turns[k].gap <= PAST and turns[k].speaker == e
        features[f"{when}, with nothing between"] = speaks and turns[k].gap <= ADJACENT
        features[f"{when}, past narration"] = speaks and turns[k].gap > ADJACENT
    return features


class _Around:
    """What surrounds a quotation, and what it says of who may have spoken it."""

    def __init__(self, talk: Talk, q: int) -> None:
        self.talk, self.q = talk, q
        self.start, self.end = talk.quotes[q]
        self.stop = talk.quotes[q - 1][1] if q else 0  # where the quotation before it ends
        self.gap = self.start - self.stop if q else PAST + 1
        following = talk.quotes[q + 1][0] if q + 1 < len(talk.quotes) else len(talk.doc)
        # mentions in the narration before and after it
        self.before = talk.told_between(self.start - BEFORE, self.start)
        self.after = talk.told_between(self.end, min(self.end + AFTER, following))
        # speakers of the last quotation and of the last but one, −1 if unknown or far away
        near = [q >= k and self.start - talk.quotes[q - k][1] <= PAST for k in (1, 2)]
        self.past = [talk.speakers[q - k] if near[k - 1] else -1 for k in (1, 2)]
        # whether the narration since the last quotation is no more than a report of that quotation
        since = [m for m in self.before if m.head >= self.stop]
        self.reported = self.gap <= CLOSE and any(talk.reporting(m, self.stop, self.stop + 8) for m in since)

    def report(self, e: int) -> Features:
        """Verbs of saying beside the quotation: "said he"."""
        talk, end = self.talk, self.end
        later = [m for m in self.after if m.entity == e]
        between = [m for m in self.before if m.entity == e and m.head >= self.stop]
        verbs = [i for i in range(end, min(end + 6, len(talk.doc))) if talk.doc[i].lower_ in SAID]
        said_before = any(talk.reporting(m, self.start - 10, self.start) for m in between)
        return {
            "subject of a verb of saying after it": any(talk.reporting(m, end, end + 8) for m in later),
            "subject of a verb of saying before it": not self.reported and said_before,
            "near a verb of saying after it": any(abs(m.head - i) <= 3 for m in later for i in verbs),
        }

    def turns(self, e: int) -> Features:
        """Who spoke before: two persons who talk take turns."""
        last, last_but_one = self.past
        adjacent = self.gap <= ADJACENT
        return {
            "spoke just before": e == last and adjacent,
            "spoke before, past other narration": e == last and not adjacent and not self.reported,
            "spoke the last but one, and nothing lies between": e == last_but_one and adjacent,
        }

    def mentions(self, e: int) -> Features:
        """Mentions in the narration around the quotation."""
        mine, later = ([m for m in told if m.entity == e] for told in (self.before, self.after))
        subjects = [m.entity for m in self.before if m.head >= self.stop and self._subject(m)]
        return {
            "last subject before it": subjects[-1:] == [e],
            "mentioned since the last quotation": any(m.head >= self.stop for m in mine),
            "log of tokens since the last mention": log1p(self.start - mine[-1].head if mine else BEFORE),
            "mentioned after it": bool(later),
            "is the narrator": any(m.form == "first" for m in mine + later),
            "first subject after it": bool(later) and later[0] is self.after[0] and self._subject(later[0]),
        }

    def words(self, e: int) -> Features:
        """Names within the quotation and the one before it."""
        earlier = self.talk.addressed(self.q - 1) if self.gap <= PAST else set()
        return {
            "named in it": e in self.talk.named(self.q),
            "addressed in it": e in self.talk.addressed(self.q),
            "addressed in the last quotation": e in earlier,
        }

    def _subject(self, m: Mention) -> bool:
        return self.talk.doc[m.head].dep_ in SUBJECTS
