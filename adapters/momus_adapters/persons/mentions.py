"""Mention detection: names, nouns for persons, and pronouns in a parsed document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from momus.text.mentions import FEMALE, FIRST, MALE, PLURAL, SECOND
from momus_adapters.persons.words import PLURALS, TITLES, gender_of

SUBJECTS = frozenset(["nsubj", "nsubjpass"])
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
        pronoun = _pronoun(word)
        if pronoun is not None and (word != "mine" or token.tag_.startswith("PRP")):
            form, gender = pronoun
            mentions.append(Mention(token.i, token.i + 1, token.i, form, gender, form == "plural", (word,)))
        elif token.pos_ in ("NOUN", "PROPN") and token.dep_ not in ("compound", "npadvmod"):
            noun_gender = gender_of(word)
            if noun_gender is not None and not (word in ("dear", "fool") and token.tag_ == "JJ"):
                mentions.append(_noun(doc, token, noun_gender))
    mentions.sort(key=lambda m: (m.start, -m.end))
    for m in mentions:
        m.quote = inside[m.head]
    return mentions


def _pronoun(word: str) -> tuple[str, str] | None:
    """Form and gender of a pronoun, None for any other word."""
    if word in MALE:
        return "third", "m"
    if word in FEMALE:
        return "third", "f"
    if word in PLURAL:
        return "plural", ""
    if word in FIRST:
        return "first", ""
    return ("second", "") if word in SECOND else None


def _noun(doc: Any, token: Any, gender: str) -> Mention:
    """The noun phrase of a token, from its left edge to an *of* phrase that directly follows."""
    left = token.left_edge.i
    while left < token.i and (doc[left].is_punct or doc[left].is_space or doc[left].dep_ in ("cc", "punct")):
        left += 1
    end = token.i + 1
    for child in token.rights:
        if child.dep_ == "prep" and child.lower_ == "of" and child.i == end:
            end = child.right_edge.i + 1
    plural = token.tag_ in ("NNS", "NNPS") or token.lower_ in PLURALS
    return Mention(left, end, token.i, "noun", gender, plural, (token.lower_,))


def _names(doc: Any) -> list[Mention]:
    """Names: spaCy's persons, titles with the capitalised words after them, and single words known from these."""
    spans = []
    known: set[str] = set()
    for ent in doc.ents:
        if ent.label_ == "PERSON":
            start, end = ent.start, ent.end
            while end > start and (doc[end - 1].lower_ in ("'s", "’s") or not doc[end - 1].text[:1].isalpha()):
                end -= 1
            while start < end and not doc[start].text[:1].isupper():
                start += 1
            if end > start:
                spans.append((start, end))
    covered = {i for a, b in spans for i in range(a, b)}
    for token in doc:
        title = token.lower_.rstrip(".")
        if title in TITLES and token.text[:1].isupper() and token.i + 1 < len(doc) and token.i not in covered:
            end = token.i + 1
            while end < len(doc) and doc[end].text[:1].isupper() and doc[end].is_alpha and end - token.i < 5:
                end += 1
            if end > token.i + 1:
                spans.append((token.i, end))
    for a, b in spans:
        known.update(doc[i].lower_ for i in range(a, b) if doc[i].lower_.rstrip(".") not in TITLES)
    covered = {i for a, b in spans for i in range(a, b)}
    repeated = (t.i for t in doc if t.lower_ in known and t.pos_ == "PROPN" and t.text[:1].isupper())
    spans.extend((i, i + 1) for i in repeated if i not in covered)
    return _merged(doc, sorted(spans))


def _merged(doc: Any, spans: list[tuple[int, int]]) -> list[Mention]:
    """Merge overlapping spans (and adjacent ones if the second begins with a title); read title and parts off each."""
    joined: list[list[int]] = []
    for a, b in spans:
        if joined and a <= joined[-1][1] - (doc[a].lower_ not in TITLES and a == joined[-1][1]):
            joined[-1][1] = max(joined[-1][1], b)
        else:
            joined.append([a, b])
    mentions = []
    for a, b in joined:
        if a and doc[a - 1].lower_.rstrip(".") in TITLES and doc[a - 1].text[:1].isupper():
            a -= 1
        first = doc[a].lower_.rstrip(".")
        title = first if first in TITLES and b - a > 1 else ""
        words = tuple(doc[i].lower_ for i in range(a + bool(title), b) if doc[i].is_alpha)
        if words:
            mentions.append(Mention(a, b, b - 1, "name", TITLES.get(title, ""), False, words, title))
    return mentions
