"""Names of persons: capitalised words that a document, taken as a whole, uses as persons rather than as anything else.

A small parser labels one name now as a person, now as a place or an organisation, most often where it has not met it.
All occurrences of a word in the document therefore decide together: labels, titles before it, verbs of saying and of
feeling whose subject it is, and forms of address count for a person; labels of places, groups and organisations, an
article and prepositions of place count against.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from momus_adapters.persons.words import FEELING, HEADINGS, NO_NAMES, PLACES, SAID, TITLES

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


def name_spans(doc: Any) -> list[tuple[int, int]]:
    """Token spans of the names of persons, title included, in text order; none overlap."""
    capitals = [token for token in doc if token.text[:1].isupper()]
    known = _persons(doc, capitals)
    spans: list[tuple[int, int]] = []
    floor = 0
    for token in capitals:
        if token.i >= floor and (end := _run(doc, token.i, known)):
            spans.append((_left(doc, token.i, end, floor), end))
            floor = end
    return spans


def title_of(token: Any) -> str:
    """The title that a token is, in lower case without its full stop; empty for any other word."""
    word = str(token.lower_).rstrip(".")
    return word if word in TITLES and token.text[:1].isupper() else ""


def _capital(token: Any) -> bool:
    """Whether a token looks like a part of a name."""
    text = token.text
    plain = text.replace("-", "").replace("’", "").replace("'", "").isalpha()
    return bool(text[:1].isupper() and plain and len(text) > 1 and token.lower_ not in NO_NAMES)


def _persons(doc: Any, capitals: list[Any]) -> set[str]:
    """Words in lower case that are names of persons in this document."""
    score: dict[str, float] = defaultdict(float)
    support: dict[str, float] = defaultdict(float)  # evidence for a person alone
    for token in capitals:
        if not _capital(token) or token.lower_ in HEADINGS or title_of(token):
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
    if after in PLACES:
        value -= 1.0
    if token.dep_ in SUBJECTS:
        verb = token.head.lower_
        value += 1.5 if verb in SAID or verb in FEELING else 0.6
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
        joined = end > first and doc[end].ent_iob_ == "I" and doc[end].lower_ not in HEADINGS
        if not (inside or joined):
            break
        end += 1
    return end if end > first else 0


def _modifies(token: Any, start: int, end: int) -> bool:
    return token.dep_ in ("amod", "det") and start <= token.head.i < end


def _left(doc: Any, start: int, end: int, floor: int) -> int:
    """Start of a name with its adjectives and determiner: "poor Giotto", "the Mem Sahib"."""
    left = start
    while left > floor and doc[left - 1].lower_ not in UNBOUND and _modifies(doc[left - 1], start, end):
        left -= 1
    return left
