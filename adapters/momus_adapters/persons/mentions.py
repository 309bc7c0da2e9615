"""Mention detection: names, nouns for persons, and pronouns in a parsed document.

A name is a capitalised word that a document, taken as a whole, uses as a person rather than as anything else. A small
parser labels one name now as a person, now as a place or an organisation, most often where it has not met it. All
occurrences of a word in the document therefore decide together: labels, titles before it, verbs of saying and of
feeling whose subject it is, and forms of address count for a person; labels of places, groups and organisations, an
article and prepositions of place count against.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from momus.text.mentions import FEMALE, FIRST, MALE, PLURAL, SECOND

with (files("momus_adapters.persons") / "words.toml").open("rb") as _file:
    LISTS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in tomllib.load(_file).items()}

TITLES = {
    **dict.fromkeys(LISTS["titles_of_men"], "m"),
    **dict.fromkeys(LISTS["titles_of_women"], "f"),
    **dict.fromkeys(LISTS["titles_of_either"], ""),
}
"""Gender of each title: ``m``, ``f`` or empty."""
SAID = frozenset(f"{w}{s}" for w in LISTS["saying"] for s in ("", "s", "ed", "d")) | LISTS["said"]
"""Forms of verbs of saying."""
_GENDER = {
    **dict.fromkeys(LISTS["plurals"], ""),
    **dict.fromkeys(LISTS["either"], ""),
    **dict.fromkeys(LISTS["women"], "f"),
    **dict.fromkeys(LISTS["men"], "m"),
}
PRONOUNS = {
    **dict.fromkeys((*SECOND, *LISTS["thou"]), ("second", "")),
    **dict.fromkeys(FIRST, ("first", "")),
    **dict.fromkeys(PLURAL, ("plural", "")),
    **dict.fromkeys(FEMALE, ("third", "f")),
    **dict.fromkeys(MALE, ("third", "m")),
}
"""Form and gender of each pronoun."""
SUBJECTS = frozenset(["nsubj", "nsubjpass"])
LABELS = {
    "PERSON": 1.0,
    "GPE": -0.6,
    "LOC": -0.6,
    "FAC": -1.0,
    "ORG": -0.4,
    "NORP": -1.5,
    "WORK_OF_ART": -0.3,
    "PRODUCT": -0.3,
}
"""Weight of a label of the parser: positive for a person."""
UNBOUND = frozenset(["dear", "dearest", "that", "this", "no", "any", "every"])
"""Words before a name that are no part of it."""
SUPPORT = 1.0
"""Least evidence in favour of a person, over all occurrences of a word."""
LONGEST = 5
"""Maximum number of words of a name."""


def gender_of(noun: str) -> str | None:
    """Gender of a noun for a person, ``m``, ``f`` or ``""`` (plurals too); None for any other noun.

    >>> gender_of("widow"), gender_of("stranger"), gender_of("table")
    ('f', '', None)
    """
    if noun in _GENDER:
        return _GENDER[noun]
    if noun.endswith("man") and noun[:-3] in ("gentle", "clergy", "police", "noble", "work", "sea"):
        return "m"
    if noun.endswith("woman"):
        return "f"
    return "" if noun.endswith("women") or (noun.endswith("s") and noun[:-1] in _GENDER) else None


def title_of(token: Any) -> str:
    """The title that a token is, in lower case without its full stop; empty for any other word."""
    word = str(token.lower_).rstrip(".")
    return word if word in TITLES and token.text[:1].isupper() else ""


def _capital(token: Any) -> bool:
    """Whether a token looks like a part of a name."""
    text = token.text
    plain = text.replace("-", "").replace("’", "").replace("'", "").isalpha()
    return bool(text[:1].isupper() and plain and len(text) > 1 and token.lower_ not in LISTS["no_names"])


def _persons(doc: Any, capitals: list[Any]) -> set[str]:
    """Words in lower case that are names of persons in this document."""
    score: dict[str, float] = defaultdict(float)
    support: dict[str, float] = defaultdict(float)  # evidence for a person alone
    for token in capitals:
        if not _capital(token) or token.lower_ in LISTS["headings"] or title_of(token):
            continue
        if token.pos_ != "PROPN" and not token.ent_type_:
            continue
        value = _evidence(doc, token)
        score[token.lower_] += value
        support[token.lower_] += max(value, 0.0)
    return {w for w, s in score.items() if s > 0 and support[w] >= SUPPORT}


def _evidence(doc: Any, token: Any) -> float:
    """How much one occurrence says that the word is the name of a person."""
    before = doc[token.i - 1] if token.i else None
    value = LABELS.get(token.ent_type_, 0.0)
    if before is not None:
        if title_of(before):
            value += 3.0
        elif before.lower_ in ("in", "at", "near", "through", "across", "the"):
            value -= 1.0
    after = doc[token.i + 1].lower_ if token.i + 1 < len(doc) else ""
    if after in LISTS["places"]:
        value -= 1.0
    if token.dep_ in SUBJECTS:
        verb = token.head.lower_
        value += 1.5 if verb in SAID or verb in LISTS["feeling"] else 0.6
    elif token.dep_ in ("npadvmod", "intj") and before is not None and before.is_punct:
        value += 0.5  # a form of address: “Come, Emil, …”
    return value


def _run(doc: Any, start: int, known: set[str]) -> int:
    """End of the name that begins at a token, 0 if none does."""
    end = start
    while end < len(doc) and title_of(doc[end]):
        end += 1
    titled = end > start
    first = end
    while end < len(doc) and end - start < LONGEST and _capital(doc[end]):
        inside = doc[end].lower_ in known or (titled and doc[end].pos_ in ("PROPN", "NOUN") and end == first)
        joined = end > first and doc[end].ent_iob_ == "I" and doc[end].lower_ not in LISTS["headings"]
        if not (inside or joined):
            break
        end += 1
    return end if end > first else 0


def _left(doc: Any, start: int, end: int, floor: int) -> int:
    """Start of a name with its adjectives and determiner: "poor Giotto", "the Mem Sahib"."""
    left = start
    while left > floor and (before := doc[left - 1]).lower_ not in UNBOUND:
        if before.dep_ not in ("amod", "det") or not start <= before.head.i < end:
            break
        left -= 1
    return left


OBJECTS = frozenset(["dobj", "iobj", "dative", "obj"])
OPENING, CLOSING, BOTH = "“", "”", '"'


@dataclass
class Mention:
    """A span of tokens that may refer to a person.

    Attributes
    ----------
    start, end, head
        Token numbers; ``end`` is exclusive.
    form
        ``name``, ``noun``, or the kind of pronoun: ``third``, ``plural``, ``first``, ``second``.
    gender
        ``m``, ``f`` or empty.
    plural
        Whether it refers to several persons.
    words
        The parts of a name in lower case, without the title; or the noun.
    title
        The title of a name in lower case.
    address
        Whether it addresses somebody in a quotation.
    quote
        Number of the quotation that contains it, −1 outside of quotations.
    entity
        Number of the entity that it refers to, −1 before linking.
    """

    start: int
    end: int
    head: int
    form: str
    gender: str = ""
    plural: bool = False
    words: tuple[str, ...] = ()
    title: str = ""
    address: bool = False
    quote: int = -1
    entity: int = -1


def quotations(doc: Any) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the quotation of each token (−1: none), and the token spans of all quotations."""
    inside = [-1] * len(doc)
    spans: list[tuple[int, int]] = []
    start = -1
    for token in doc:
        mark = token.text
        if start >= 0 and (mark in (CLOSING, BOTH, "''") or token.text.count("\n") > 1):
            spans.append((start, token.i))
            for i in range(start, token.i):
                inside[i] = len(spans) - 1
            start = -1
        elif mark in (OPENING, BOTH, "``"):
            start = token.i + 1
    return inside, spans


def find(doc: Any, inside: list[int]) -> list[Mention]:
    """Find all mentions, in text order; no two have the same head."""
    mentions = _names(doc)
    taken = {i for m in mentions for i in range(m.start, m.end)}
    for token in doc:
        word = token.lower_
        if token.i in taken:
            continue
        if word in PRONOUNS and (word != "mine" or token.tag_.startswith("PRP")):
            form, gender = PRONOUNS[word]
            mentions.append(Mention(token.i, token.i + 1, token.i, form, gender, form == "plural", (word,)))
        elif (noun_gender := gender_of(word)) is not None and _is_noun(doc, token):
            mentions.append(_noun(doc, token, noun_gender))
    mentions.sort(key=lambda m: (m.start, -m.end))
    for m in mentions:
        m.quote = inside[m.head]
        m.address = m.quote >= 0 and m.form in ("name", "noun") and not m.plural and _is_address(doc, m)
    return mentions


def _is_noun(doc: Any, token: Any) -> bool:
    """Whether a word for a person is the head of a noun phrase, or a form of address ("yes, sir")."""
    if token.lower_ in LISTS["address"] and token.i + 1 < len(doc) and doc[token.i + 1].is_punct:
        return True
    return token.pos_ in ("NOUN", "PROPN") and token.dep_ not in ("compound", "npadvmod")


def _is_address(doc: Any, m: Mention) -> bool:
    """Whether a mention inside a quotation stands between punctuation marks and is no subject."""
    before = m.start == 0 or doc[m.start - 1].is_punct or doc[m.start - 1].is_space
    after = m.end == len(doc) or doc[m.end].is_punct or doc[m.end].is_space
    plain = m.form == "name" or doc[m.start].lower_ == "my" or m.end - m.start == 1
    return bool(before and after and plain and doc[m.head].dep_ not in SUBJECTS)


def _noun(doc: Any, token: Any, gender: str) -> Mention:
    """The noun phrase of a token, from its left edge to the end of the phrases and relative clauses that follow."""
    left = token.left_edge.i
    while left < token.i and (doc[left].is_punct or doc[left].is_space or doc[left].dep_ in ("cc", "punct")):
        left += 1
    if token.lower_ in LISTS["address"] and left < token.i and doc[token.i - 1].is_punct:
        left = token.i  # “Yes, papa”: the parser may join the two
    end = token.i + 1
    for child in token.rights:
        if child.dep_ in ("prep", "relcl", "acl"):
            end = child.right_edge.i + 1
        elif child.dep_ != "punct":
            break
    while end > token.i + 1 and (doc[end - 1].is_punct or doc[end - 1].is_space):
        end -= 1
    plural = token.tag_ in ("NNS", "NNPS") or token.lower_ in LISTS["plurals"]
    return Mention(left, end, token.i, "noun", gender, plural, (token.lower_,))


def _names(doc: Any) -> list[Mention]:
    """Mentions by name, with the title and the parts of each, in text order; none overlap."""
    capitals = [token for token in doc if token.text[:1].isupper()]
    known = _persons(doc, capitals)
    mentions: list[Mention] = []
    floor = 0
    for token in capitals:
        if token.i < floor or not (end := _run(doc, token.i, known)):
            continue
        start = first = _left(doc, token.i, end, floor)
        while first < end - 1 and (title_of(doc[first]) or doc[first].dep_ in ("amod", "det")):
            first += 1
        title = title_of(doc[first - 1]) if first > start else ""
        words = tuple(doc[i].lower_ for i in range(first, end))
        mentions.append(Mention(start, end, end - 1, "name", TITLES.get(title, ""), False, words, title))
        floor = end
    return mentions
