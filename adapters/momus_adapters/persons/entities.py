"""Mention linking: names by their parts, nouns by their heads, pronouns by gender, number, recency and role."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from math import log1p
from typing import Any

from momus_adapters.persons.mentions import OBJECTS, SUBJECTS, Mention
from momus_adapters.persons.speech import NARRATOR, Talk

REACH = 5
"""Maximum number of sentences between a pronoun and the last mention of its antecedent."""

DECAY = 0.7
WEIGHTS = (-0.6, -0.2, 1.15, 0.95, 0.85, 0.25, 0.1, -0.8, 1.2, 0.0, 1.5, 0.1, 0.25, -1.15, 0.0, -3.0, 0.0, 0.0)

NOUN = (1.9, 2.5, -0.6, -0.95, 0.7, -0.5, 0.25, 0.8, -0.9, 1.5, -1.2, 0.75, 0.35, 0.55, 0.05, 0.15, -0.35, 1.0)
INDEFINITE = frozenset("a an some any no every another two three four many several each such".split())
GENERIC = frozenset("man woman girl boy lady gentleman fellow lad child stranger person youth creature".split())


@dataclass
class Entity:
    """A person or a group of persons.

    Attributes
    ----------
    words, first, title
        Parts of its names, the first part of its first name, and its title, in lower case.
    nouns
        Keys (owner, noun) that it is known under, the owner an entity number or negative.
    places
        Heads of its mentions: token numbers, sorted.
    votes
        Weight of the pronouns of each gender near its names.
    """

    plural: bool = False
    gender: str = ""
    words: set[str] = field(default_factory=set)
    first: str = ""
    title: str = ""
    nouns: set[tuple[int, str]] = field(default_factory=set)
    places: list[int] = field(default_factory=list)
    votes: dict[str, float] = field(default_factory=lambda: {"m": 0.0, "f": 0.0})


class Linker:
    """Assigns entities to the mentions of one parsed document."""

    def __init__(self, doc: Any, mentions: list[Mention], quotes: list[tuple[int, int]]) -> None:
        self.doc, self.mentions, self.quotes = doc, mentions, quotes
        self.sentence = [0] * len(doc)
        for number, sentence in enumerate(doc.sents):
            for i in range(sentence.start, sentence.end):
                self.sentence[i] = number
        self.entities: list[Entity] = []
        self.heard: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.known: dict[tuple[int, str], list[int]] = defaultdict(list)
        self.talk = Talk(doc, quotes, mentions)
        self.by_head = {m.head: m for m in mentions}
        self.role = {m.head: self._role(m) for m in mentions}

    def run(self) -> None:
        """Run all passes: names, genders, mentions in narration, speakers of quotations, mentions in quotations."""
        for m in self.mentions:
            if m.form == "name":
                self._name(m)
        self._vote()
        for m in self.mentions:
            if m.quote < 0 and m.entity < 0:
                self._link(m)
        self.talk.attribute(self.entities)
        for m in self.mentions:
            if m.entity < 0:
                self._link(m)

    # Names

    def _name(self, m: Mention) -> None:
        best = -1
        for number in range(len(self.entities) - 1, -1, -1):
            e = self.entities[number]
            if e.words and self._same_name(m, e) and (best < 0 or e.places[-1] > self.entities[best].places[-1]):
                best = number
        if best < 0:
            best = self._new(m)
        e = self.entities[best]
        if not m.title or len(m.words) > 1:
            e.first = e.first or m.words[0]
        e.words.update(m.words)
        e.title = e.title or m.title
        self._join(m, best)

    @staticmethod
    def _same_name(m: Mention, e: Entity) -> bool:
        if m.gender and e.gender and m.gender != e.gender:
            return False
        if m.title and e.title and m.title != e.title and not (set(m.words) == e.words and len(m.words) > 1):
            return False
        if (
            m.title
            and not e.title
            and len(m.words) == 1
            and len(e.words) > 1
            and not (m.gender and m.gender == e.gender)
        ):
            return False  # “Mr. Hale” may be the father of “Anna Hale”
        mine = set(m.words)
        if not (mine <= e.words or e.words <= mine):
            return False
        another = len(m.words) > 1 and e.first and m.words[0] != e.first  # “Anna Hale” is no “Hale Brown”
        return not (another and e.first in mine | e.words and m.words[0] in e.words)

    def _vote(self) -> None:
        """Set the gender of named entities by weighted votes of the pronouns that follow their names."""
        names = [m for m in self.mentions if m.form == "name"]
        heads = [m.head for m in names]
        for m in self.mentions:
            if m.form != "third":
                continue
            at = bisect_left(heads, m.head)
            for rank, name in enumerate(reversed(names[max(0, at - 3) : at])):
                gap = self.sentence[m.head] - self.sentence[name.head]
                if gap <= 2 and (m.quote < 0) == (name.quote < 0):
                    weight = (1.0 if self.role[name.head] == "subject" else 0.5) / (1 + gap + rank)
                    self.entities[name.entity].votes[m.gender] += weight
        for e in self.entities:
            total = e.votes["m"] + e.votes["f"]
            if not e.gender and total >= 0.9 and abs(e.votes["m"] - e.votes["f"]) >= 0.3 * total:
                e.gender = "m" if e.votes["m"] > e.votes["f"] else "f"

    # Nouns and pronouns

    def _link(self, m: Mention) -> None:
        entity = self._choose(m)
        self._join(m, self._new(m) if entity is None else entity)

    def _choose(self, m: Mention) -> int | None:
        if m.form == "noun":
            addressee = self.talk.addressees[m.quote] if m.address else -1
            if addressee >= 0 and self.entities[addressee].gender in ("", m.gender or self.entities[addressee].gender):
                return addressee
            return self._noun(m)
        if m.form in ("third", "plural"):
            return self._pronoun(m)
        return self._deictic(m)

    def _deictic(self, m: Mention) -> int:
        """The person or group of a first or second person: speaker, addressee or narrator."""
        plural = m.words[0] in ("we", "us", "our", "ours", "ourselves")
        if m.form == "second":
            addressee = self.talk.addressees[m.quote] if m.quote >= 0 else -1
            return addressee if addressee >= 0 else self._keyed((NARRATOR, "you"), m)
        speaker = self.talk.speakers[m.quote] if m.quote >= 0 else NARRATOR
        if speaker >= 0 and not plural:
            return speaker
        return self._keyed((speaker, "we" if plural else "i"), m)

    def _keyed(self, key: tuple[int, str], m: Mention) -> int:
        if self.known[key]:
            return self.known[key][0]
        number = self._new(m)
        self._know(number, key)
        self.entities[number].plural = key[1] == "we"
        return number

    def _noun(self, m: Mention) -> int | None:
        head = self.doc[m.head]
        above = self.by_head.get(head.head.i)
        if head.dep_ == "appos" and above is not None and above.entity >= 0 and not m.plural:
            return above.entity
        owner = self.by_head.get(m.start)
        owned = owner is not None and owner is not m and owner.head == m.start and self.doc[m.start].dep_ == "poss"
        if owned and owner is not None and owner.entity < 0:
            self._link(owner)
        key = (owner.entity if owned and owner is not None else -1, m.words[0])
        rows, numbers = self.noun_features(m, key)
        scores = [sum(w * x for w, x in zip(NOUN, row, strict=True)) for row in rows]
        number = numbers[max(range(len(scores)), key=scores.__getitem__)]
        number = self._new(m) if number < 0 else number
        self._know(number, key)
        return number

    def noun_features(self, m: Mention, key: tuple[int, str]) -> tuple[list[list[float]], list[int]]:
        """Features of the possible referents of a noun phrase, one row each, and their numbers; −1 is a new person."""
        here, first = self.sentence[m.head], self.doc[m.start].lower_
        indefinite = first in INDEFINITE
        definite = first in ("the", "this", "that", "these", "those")
        owned = key[0] != -1
        bare = not (indefinite or definite or owned)
        heat: dict[int, float] = {}
        for gap in range(min(REACH, here) + 1):
            for head, number in self.heard[here - gap]:
                if head < m.head:
                    heat[number] = heat.get(number, 0.0) + DECAY**gap
        known = [n for n in self.known[key] if self._before(n, m.head) >= 0]
        rows: list[list[float]] = [[1, indefinite, definite, owned, m.plural] + [0] * 13]
        numbers = [-1]
        newest = max(known, key=lambda n: self._before(n, m.head), default=-1)
        for number in sorted({*heat, *([newest] if newest >= 0 else [])}):
            e = self.entities[number]
            if e.plural != m.plural or (e.gender and m.gender and e.gender != m.gender) or number == key[0]:
                continue
            last = self._before(number, m.head)
            gap = here - self.sentence[last]
            same = key in e.nouns
            head = any(noun == key[1] for _, noun in e.nouns)
            before = self.by_head[last]
            rows.append(
                [0, 0, 0, 0, 0]
                + [
                    same and indefinite,
                    same and definite,
                    same and owned,
                    same and bare,
                    head and not same,
                    not head and not indefinite,
                    not head and definite and key[1] in GENERIC,
                    not head and bool(e.words),
                    e.gender == m.gender != "",
                    log1p(gap),
                    log1p(heat.get(number, 0.0)),
                    (before.quote >= 0) != (m.quote >= 0),
                    number == newest,
                ]
            )
            numbers.append(number)
        return rows, numbers

    def _pronoun(self, m: Mention) -> int | None:
        """The best antecedent of a third-person pronoun, None if no entity agrees with it."""
        rows, numbers = self.features(m)
        scores = [sum(w * x for w, x in zip(WEIGHTS, row, strict=True)) for row in rows]
        return numbers[max(range(len(scores)), key=scores.__getitem__)] if scores else None

    def features(self, m: Mention) -> tuple[list[list[float]], list[int]]:
        """Features of the entities that agree with a pronoun in gender and number, one row each, and their numbers."""
        token, here = self.doc[m.head], self.sentence[m.head]
        barred = self._barred(m)
        heat: dict[int, float] = {}
        last: dict[int, int] = {}
        for gap in range(min(REACH, here) + 1):
            for head, number in self.heard[here - gap]:
                if head < m.head:
                    weight = 1.5 if self.role.get(head) == "subject" else 1.0
                    heat[number] = heat.get(number, 0.0) + weight * DECAY**gap
                    last[number] = max(last.get(number, -1), head)
        rows, numbers = [], []
        reflexive = token.lower_.endswith(("self", "selves"))
        is_subject = token.dep_ in SUBJECTS
        for number, head in last.items():
            e = self.entities[number]
            if (NARRATOR, "i") in e.nouns and m.quote < 0:
                continue  # the narrator is not “he” to himself
            if e.plural != m.plural or number in barred or (e.gender and m.gender and e.gender != m.gender):
                continue
            gap = here - self.sentence[head]
            role, before = self.role.get(head, ""), self.by_head[head]
            speaker = m.quote >= 0 and number == self.talk.speakers[m.quote]
            rows.append(
                [
                    gap,
                    (m.head - head) / 10,
                    role == "subject",
                    role == "owner",
                    e.gender == m.gender != "",
                    log1p(len(e.places)),
                    is_subject and role == "subject",
                    speaker,
                    reflexive and gap == 0 and role == "subject",
                    log1p(heat[number]),
                    before.form in ("third", "plural"),
                    before.form == "name",
                    before.form == "noun" and len(e.places) == 1,
                    (before.quote >= 0) != (m.quote >= 0),
                    bool(e.words),
                    before.form in ("first", "second"),
                    is_subject and gap == 1 and role == "subject",
                    before.form == "third" and before.words == m.words,
                ]
            )
            numbers.append(number)
        return rows, numbers

    def _barred(self, m: Mention) -> set[int]:
        """Entities that the pronoun cannot refer to: the subject of the verb whose object it is."""
        token = self.doc[m.head]
        if token.dep_ not in OBJECTS or token.lower_.endswith(("self", "selves")):
            return set()
        others = (self.by_head.get(child.i) for child in token.head.children if child.dep_ in SUBJECTS)
        return {o.entity for o in others if o is not None and o.entity >= 0}

    # Helpers

    def _new(self, m: Mention) -> int:
        self.entities.append(Entity(m.plural, m.gender))
        return len(self.entities) - 1

    def _know(self, number: int, key: tuple[int, str]) -> None:
        """Note that an entity is known under a noun."""
        if key not in self.entities[number].nouns:
            self.entities[number].nouns.add(key)
            self.known[key].append(number)

    def _join(self, m: Mention, number: int) -> None:
        e = self.entities[number]
        m.entity = number
        e.gender = e.gender or m.gender
        e.places.insert(bisect_left(e.places, m.head), m.head)
        self.heard[self.sentence[m.head]].append((m.head, number))

    def _before(self, number: int, token: int) -> int:
        """The head of the entity's last mention before a token; −1 if there is none."""
        at = bisect_left(self.entities[number].places, token)
        return self.entities[number].places[at - 1] if at else -1

    def _role(self, m: Mention) -> str:
        dep = self.doc[m.head].dep_
        return "subject" if dep in SUBJECTS else "owner" if dep == "poss" else "other"
