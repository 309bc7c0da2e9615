"""Entities, candidate antecedents of pronouns and noun phrases with their features, and the weights of these.

A candidate's score is linear in its features; the highest score wins. The weights in ``weights.toml`` maximise the
softmax likelihood of the gold antecedents of the first 50 documents of LitBank (Bamman et al. 2020), with an L2
penalty: ``benchmarks/reproduce/persons_weights.py``.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.resources import files
from math import log1p
from typing import Any

from momus_adapters.persons.mentions import OBJECTS, SUBJECTS, Mention

NARRATOR = -2
"""Stands for the speaker of the text outside of quotations, as the owner of the nouns "i", "we" and "you"."""
NEW = -1
"""Stands for a person who was not mentioned before."""
INDEFINITE = frozenset(
    ("a", "an", "some", "any", "no", "every", "another", "two", "three", "four", "many", "several", "each", "such")
)
DEFINITE = frozenset(("the", "this", "that", "these", "those"))
GENERIC = frozenset(
    ("man", "woman", "girl", "boy", "lady", "gentleman", "fellow", "lad", "child", "stranger", "person", "youth")
)

with (files("momus_adapters.persons") / "weights.toml").open("rb") as _file:
    WEIGHTS: dict[str, dict[str, float]] = tomllib.load(_file)
PRONOUN, NOUN = WEIGHTS["pronoun"], WEIGHTS["noun"]

Features = dict[str, float]
"""Features of a candidate by the names of their weights; those that are not there are 0."""


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


Candidates = dict[int, Features]
"""Entities that may be meant, and the features of each."""


def of_pronoun(known: Entities, m: Mention, speaker: int) -> Candidates:
    """Entities that a third-person pronoun may refer to; ``speaker`` is that of the quotation it stands in, or −1."""
    token, here = known.doc[m.head], known.sentence[m.head]
    barred = _barred(known, token)
    reflexive = token.lower_.endswith(("self", "selves"))
    candidates: Candidates = {}
    for number, head in known.recent(m.head).items():
        e = known.all[number]
        # a subject is not the object of its verb, and the narrator is not “he” to himself
        if e.disagrees(m) or number in barred or (m.quote < 0 and (NARRATOR, "i") in e.nouns):
            continue
        gap, role, last = here - known.sentence[head], known.role.get(head, ""), known.by_head[head]
        candidates[number] = {
            "sentences since the last mention": gap,
            "tens of tokens since": (m.head - head) / 10,
            "last mention is a subject": role == "subject",
            "last mention is an owner": role == "owner",
            "gender agrees": e.gender == m.gender != "",
            "log of the number of mentions": log1p(len(e.places)),
            "both are subjects": role == "subject" and token.dep_ in SUBJECTS,
            "speaker of this quotation": number == speaker >= 0,
            "subject of a reflexive": reflexive and gap == 0 and role == "subject",
            "last mention is a third-person pronoun": last.form in ("third", "plural"),
            "last mention is a name": last.form == "name",
            "mentioned once, by a noun": last.form == "noun" and len(e.places) == 1,
            "only one of the two is in a quotation": (last.quote >= 0) != (m.quote >= 0),
            "last mention is a first or second person": last.form in ("first", "second"),
        }
    return candidates


def of_noun(known: Entities, m: Mention, key: NounKey) -> Candidates:
    """Persons that a noun phrase may refer to; the first candidate is a new one."""
    here, first, (owner, noun) = known.sentence[m.head], known.doc[m.start].lower_, key
    indefinite, definite, owned = first in INDEFINITE, first in DEFINITE, owner != -1
    recent = known.recent(m.head)
    same_noun = [n for n in known.known(key) if known.before(n, m.head) >= 0]
    newest = max(same_noun, key=lambda n: known.before(n, m.head), default=NEW)
    new = {"indefinite": indefinite, "definite": definite, "owned": owned, "plural": m.plural}
    candidates: Candidates = {NEW: {"new": 1, **{f"new, {kind}": value for kind, value in new.items()}}}
    for number in sorted({*recent, *same_noun[-1:], newest} - {NEW, owner}):
        e = known.all[number]
        if e.disagrees(m):
            continue
        head = known.before(number, m.head)
        last = known.by_head[head]
        same = key in e.nouns
        kin = same or any(n == noun for _, n in e.nouns)
        candidates[number] = {
            "same noun, indefinite": same and indefinite,
            "same noun, definite": same and definite,
            "same noun, same owner": same and owned,
            "same noun, bare": same and not (indefinite or definite or owned),
            "same noun, other owner": kin and not same,
            "other noun, not indefinite": not kin and not indefinite,
            "other noun, “the man” or the like": not kin and definite and noun in GENERIC,
            "has a name, other noun": not kin and bool(e.words),
            "gender agrees": e.gender == m.gender != "",
            "log of sentences since the last mention": log1p(here - known.sentence[head]),
            "mentioned in the last sentences": number in recent,
            "only one of the two is in a quotation": (last.quote >= 0) != (m.quote >= 0),
            "the last one of this noun": number == newest,
        }
    return candidates


def best(weights: dict[str, float], candidates: Candidates) -> int | None:
    """The candidate of the highest score, the first of equal ones; None without candidates."""
    scores = {n: sum(w * row.get(name, 0.0) for name, w in weights.items()) for n, row in candidates.items()}
    return max(scores, key=scores.__getitem__, default=None)


def _barred(known: Entities, token: Any) -> set[int]:
    """Entities that a pronoun cannot refer to: the subject of the verb whose object it is."""
    if token.dep_ not in OBJECTS or token.lower_.endswith(("self", "selves")):
        return set()
    others = (known.by_head.get(child.i) for child in token.head.children if child.dep_ in SUBJECTS)
    return {o.entity for o in others if o is not None and o.entity >= 0}
