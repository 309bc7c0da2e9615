"""The resolver ``spacy``: parse with spaCy, detect mentions of persons, and link them pass by pass.

Names are linked by their parts, then mentions in narration, then those in quotations.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from momus.critic.tools import resource
from momus.estimator import Estimator, parametrized
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved
from momus_adapters.persons import antecedents
from momus_adapters.persons.antecedents import NARRATOR, NEW, NOUN, PRONOUN, Candidates, Entities, Entity
from momus_adapters.persons.mentions import Mention, find, quotations
from momus_adapters.persons.speech import Talk
from momus_adapters.tagging import load_pipeline, parse, versions

RULES = 2
"""Version of the rules; cached results of older versions are not reused."""


@parametrized
class SpacyPersons(Estimator):
    """Rule-based coreference resolver for persons, over spaCy's parse and named entities.

    Parameters
    ----------
    model
        A spaCy pipeline for English, by name or folder.
    """

    model: str = ""

    @property
    def version(self) -> str:
        """Versions of the rules, of spaCy and of the pipeline."""
        return f"spacy-persons {RULES}; {versions(self.model)}"

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Detect and link mentions, document by document."""
        nlp = resource(load_pipeline, self.model)
        return [_resolved(doc) for doc in parse(nlp, [document.text for document in batch])]


def _resolved(doc: Any) -> Resolved:
    """Detect and link the mentions of a parsed text; None is an empty one."""
    if doc is None:
        return Resolved.of([], [], [])
    inside, quotes = quotations(doc)
    mentions = find(doc, inside)
    linker = Linker(doc, mentions, quotes)
    linker.run()
    lasts = [doc[m.end - 1] for m in mentions]
    rows = [(doc[m.start].idx, t.idx + len(t.text), m.entity) for m, t in zip(mentions, lasts, strict=True)]
    sentences = [s.start_char for s in doc.sents if not s.text.isspace()]
    return Resolved.of(rows, sentences, range(len(linker.known.all)))


WE = frozenset(("we", "us", "our", "ours", "ourselves"))


class Linker:
    """Assigns entities to the mentions of one parsed document."""

    def __init__(self, doc: Any, mentions: list[Mention], quotes: list[tuple[int, int]]) -> None:
        self.doc, self.mentions = doc, mentions
        self.known = Entities(doc, mentions)
        self.talk = Talk(doc, quotes, mentions, self.known.all)

    def run(self) -> None:
        """Run all passes: names, genders, mentions in narration, speakers of quotations, mentions in quotations."""
        for m in self.mentions:
            if m.form == "name":
                self._name(m)
        self._vote()
        for m in self.mentions:
            if m.quote < 0 and m.entity < 0:
                self._link(m)
        self.talk.attribute(self.decide)
        for m in self.mentions:
            if m.entity < 0:
                self._link(m)

    def decide(self, weights: dict[str, float], of: Mention | int, candidates: Candidates) -> int | None:
        """Choose among candidates for a mention, or for the speaker or addressee of a quotation (its number)."""
        return antecedents.best(weights, candidates)

    # Names

    def _name(self, m: Mention) -> None:
        alike = [n for n, e in enumerate(self.known.all) if e.words and _same_name(m, e)]
        number = max(alike, key=lambda n: (self.known.all[n].places[-1], n)) if alike else self.known.new(m)
        e = self.known.all[number]
        if not m.title or len(m.words) > 1:
            e.first = e.first or m.words[0]
        e.words.update(m.words)
        e.title = e.title or m.title
        self.known.join(m, number)

    def _vote(self) -> None:
        """Set the gender of named entities by weighted votes of the pronouns that follow their names."""
        names = [m for m in self.mentions if m.form == "name"]
        heads = [m.head for m in names]
        sentence = self.known.sentence
        for m in self.mentions:
            if m.form != "third":
                continue
            at = bisect_left(heads, m.head)
            for rank, name in enumerate(reversed(names[max(0, at - 3) : at])):
                gap = sentence[m.head] - sentence[name.head]
                if gap <= 2 and (m.quote < 0) == (name.quote < 0):
                    weight = (1.0 if self.known.role[name.head] == "subject" else 0.5) / (1 + gap + rank)
                    self.known.all[name.entity].votes[m.gender] += weight
        for e in self.known.all:
            total = e.votes["m"] + e.votes["f"]
            if not e.gender and total >= 0.9 and abs(e.votes["m"] - e.votes["f"]) >= 0.3 * total:
                e.gender = "m" if e.votes["m"] > e.votes["f"] else "f"

    # Nouns and pronouns

    def _link(self, m: Mention) -> None:
        if m.form == "noun":
            number = self._noun(m)
        elif m.form in ("third", "plural"):
            speaker = self.talk.speakers[m.quote] if m.quote >= 0 else -1
            chosen = self.decide(PRONOUN, m, antecedents.of_pronoun(self.known, m, speaker))
            number = self.known.new(m) if chosen is None else chosen
        else:
            number = self._deictic(m)
        self.known.join(m, number)

    def _deictic(self, m: Mention) -> int:
        """The person or group of a first or second person: speaker, addressee or narrator."""
        if m.form == "second":
            addressee = self.talk.addressees[m.quote] if m.quote >= 0 else -1
            return addressee if addressee >= 0 else self._keyed(m, (NARRATOR, "you"))
        plural = m.words[0] in WE
        speaker = self.talk.speakers[m.quote] if m.quote >= 0 else NARRATOR
        if speaker >= 0 and not plural:
            return speaker
        return self._keyed(m, (speaker, "we" if plural else "i"))

    def _keyed(self, m: Mention, key: tuple[int, str]) -> int:
        if numbers := self.known.known(key):
            return numbers[0]
        number = self.known.new(m)
        self.known.know(number, key)
        self.known.all[number].plural = key[1] == "we"
        return number

    def _noun(self, m: Mention) -> int:
        head = self.doc[m.head]
        addressee = self.talk.addressees[m.quote] if m.address else -1
        if addressee >= 0 and self.known.all[addressee].gender in ("", m.gender or self.known.all[addressee].gender):
            return addressee
        above = self.known.by_head.get(head.head.i)
        if head.dep_ == "appos" and above is not None and above.entity >= 0 and not m.plural:
            return above.entity
        key = (self._owner(m), m.words[0])
        chosen = self.decide(NOUN, m, antecedents.of_noun(self.known, m, key))
        number = self.known.new(m) if chosen is None or chosen == NEW else chosen
        self.known.know(number, key)
        return number

    def _owner(self, m: Mention) -> int:
        """The entity of the possessive that a noun phrase begins with ("her sister"), −1 without one."""
        owner = self.known.by_head.get(m.start)
        if owner is None or owner is m or self.doc[m.start].dep_ != "poss":
            return -1
        if owner.entity < 0:
            self._link(owner)
        return owner.entity


def _same_name(m: Mention, e: Entity) -> bool:
    """Whether a name can be that of an entity known by other names."""
    if m.gender and e.gender and m.gender != e.gender:
        return False
    if m.title and e.title and m.title != e.title and not (set(m.words) == e.words and len(m.words) > 1):
        return False
    surname = len(m.words) == 1 and len(e.words) > 1
    if m.title and not e.title and surname and not (m.gender and m.gender == e.gender):
        return False  # “Mr. Hale” may be the father of “Anna Hale”
    mine = set(m.words)
    if not (mine <= e.words or e.words <= mine):
        return False
    another = len(m.words) > 1 and e.first and m.words[0] != e.first  # “Anna Hale” is no “Hale Brown”
    return not (another and e.first in mine | e.words and m.words[0] in e.words)
