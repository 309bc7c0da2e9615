"""Entities and what is known of them while a document is being resolved."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from momus_adapters.persons.mentions import SUBJECTS, Mention

REACH = 5
"""Maximum number of sentences between a mention and the last mention of its antecedent."""
NounKey = tuple[int, str]
"""An owner (the number of an entity, −1 without one) and a noun, such as (3, "sister")."""


@dataclass
class Entity:
    """A person or a group of persons.

    Attributes
    ----------
    words, first, title
        Parts of its names, the first part of its first name, and its title, in lower case.
    nouns
        The nouns that it is known under.
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
    nouns: set[NounKey] = field(default_factory=set)
    places: list[int] = field(default_factory=list)
    votes: dict[str, float] = field(default_factory=lambda: {"m": 0.0, "f": 0.0})

    def disagrees(self, m: Mention) -> bool:
        """Whether a mention is of another number or gender."""
        return self.plural != m.plural or bool(self.gender and m.gender and self.gender != m.gender)


class Entities:
    """The entities of one parsed document, indexed by sentence and by noun.

    Attributes
    ----------
    doc
        The parsed document.
    all
        The entities; their number is their place.
    sentence
        Number of the sentence of each token.
    by_head
        Mentions by their head.
    """

    def __init__(self, doc: Any, mentions: list[Mention]) -> None:
        self.doc = doc
        self.sentence = [0] * len(doc)
        for number, sentence in enumerate(doc.sents):
            for i in range(sentence.start, sentence.end):
                self.sentence[i] = number
        self.by_head = {m.head: m for m in mentions}
        self.role = {m.head: _role(doc[m.head]) for m in mentions}
        self.all: list[Entity] = []
        # heads and entities of the mentions linked so far, by sentence
        self._heard: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._known: dict[NounKey, list[int]] = defaultdict(list)

    def new(self, m: Mention) -> int:
        """Make an entity for a mention; return its number."""
        self.all.append(Entity(m.plural, m.gender))
        return len(self.all) - 1

    def join(self, m: Mention, number: int) -> None:
        """Make a mention refer to an entity."""
        e = self.all[number]
        m.entity = number
        e.gender = e.gender or m.gender
        e.places.insert(bisect_left(e.places, m.head), m.head)
        self._heard[self.sentence[m.head]].append((m.head, number))

    def know(self, number: int, key: NounKey) -> None:
        """Note that an entity is known under a noun."""
        if key not in self.all[number].nouns:
            self.all[number].nouns.add(key)
            self._known[key].append(number)

    def known(self, key: NounKey) -> list[int]:
        """Entities that are known under a noun, the oldest first."""
        return self._known.get(key, [])

    def before(self, number: int, token: int) -> int:
        """The head of an entity's last mention before a token; −1 if there is none."""
        at = bisect_left(self.all[number].places, token)
        return self.all[number].places[at - 1] if at else -1

    def recent(self, token: int) -> dict[int, int]:
        """Entities mentioned in the sentences before a token: number, and head of the last mention."""
        here = self.sentence[token]
        last: dict[int, int] = {}
        for sentence in range(max(0, here - REACH), here + 1):
            for head, number in self._heard.get(sentence, ()):
                if head < token:
                    last[number] = max(last.get(number, -1), head)
        return last


def _role(token: Any) -> str:
    return "subject" if token.dep_ in SUBJECTS else "owner" if token.dep_ == "poss" else "other"
