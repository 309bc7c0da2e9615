"""From mentions to symbols: pronouns as they stand, all other mentions as the class of their entity."""

from __future__ import annotations

from collections import Counter

import numpy as np

from momus.text.mentions import FEMALE, FIRST, MALE, PLURAL, PRONOUNS, SECOND, THINGS, Resolved
from momus_critics.coreference.windows import Chains

GENDER = {**dict.fromkeys(MALE, "Male"), **dict.fromkeys(FEMALE, "Female"), **dict.fromkeys(PLURAL, "Plural")}
PADDING, SENTENCE = "", "."
OBLIQUE = {"him": "object", "his": "object", "himself": "self", "her": "object", "hers": "object", "herself": "self"}


class Alphabet:
    """Kinds of symbols.

    Parameters
    ----------
    classes
        ``gender``: a mention that is no pronoun stands as Male, Female, Plural or None, by majority of the gendered
        pronouns in its own chain (Deng et al. 2022, appendix G). ``form``: as Name or Noun, and pronouns of the third
        person singular as subject, object (or possessive) or reflexive; nothing depends on gender.

    >>> Alphabet("gender").kinds[:6]
    ['', '.', 'Male', 'Female', 'Plural', 'None']
    """

    def __init__(self, classes: str) -> None:
        self.classes = classes
        if classes == "gender":
            names, pronouns = ["Male", "Female", "Plural", "None"], list(PRONOUNS)
        else:
            names = ["Name", "Noun", "Names", "Nouns"]
            pronouns = ["third", "third object", "third self", *PLURAL, *FIRST, *SECOND]
        self.kinds = [PADDING, SENTENCE, *names, *pronouns]
        self._index = {k: i for i, k in enumerate(self.kinds)}

    def symbols(self, text: str, found: Resolved) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        """Kinds, entities and character spans of a document's symbols; all empty if no person is mentioned."""
        words = [text[a:b].lower() for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]
        entities = found.entities.tolist()
        votes: dict[int, Counter[str]] = {e: Counter() for e in entities}
        for word, e in zip(words, entities, strict=True):
            votes[e][_role(word)] += 1
        known = set() if found.persons is None else set(found.persons.tolist())
        persons = {e for e, v in votes.items() if e in known or _is_person(v)}
        if not persons:
            return [], [], []
        marks = [(int(s), -1, int(s), "", -1) for s in found.sentences]
        rows = zip(found.starts.tolist(), found.ends.tolist(), words, entities, strict=True)
        marks += [(a, i, b, w, e) for i, (a, b, w, e) in enumerate(rows) if e in persons]
        marks.sort(key=lambda m: m[:2])
        kinds, kept, spans = [], [], []
        numbers: dict[int, int] = {}
        for start, i, end, word, e in marks:
            kinds.append(1 if i < 0 else self._kind(word, text[start:end], votes[e]))
            kept.append(-1 if i < 0 else numbers.setdefault(e, len(numbers)))
            spans.append((start, end))
        return kinds, kept, spans

    def _kind(self, word: str, shown: str, votes: Counter[str]) -> int:
        if word in GENDER or word in FIRST or word in SECOND:
            if self.classes == "gender" or GENDER.get(word, "Plural") == "Plural":
                return self._index[word]
            part = OBLIQUE.get(word)
            return self._index[f"third {part}" if part else "third"]
        if self.classes == "gender":
            return self._index[_majority(votes)]
        form = "Name" if any(c.isupper() for c in shown[1:]) or shown[:1].isupper() else "Noun"
        return self._index[form + ("s" if _majority(votes) == "Plural" else "")]


def _role(word: str) -> str:
    if word in GENDER:
        return GENDER[word]
    if word in FIRST or word in SECOND:
        return "speaker"
    return "thing" if word in THINGS else "other"


def _is_person(votes: Counter[str]) -> bool:
    """By its own pronouns: some are a person's, and they outnumber those of things."""
    return votes["Male"] + votes["Female"] + votes["Plural"] + votes["speaker"] > votes["thing"]


def _majority(votes: Counter[str]) -> str:
    """Most frequent gender among an entity's pronouns; None without any, or with a draw."""
    found = [(votes[g], g) for g in ("Male", "Female", "Plural") if votes[g]]
    found.sort(reverse=True)
    if not found or (len(found) > 1 and found[0][0] == found[1][0]):
        return "None"
    return found[0][1]


def chains_of(alphabet: Alphabet, texts: list[str], resolved: list[Resolved]) -> tuple[Chains, np.ndarray]:
    """Symbols of all documents, and their character spans, int64 (N, 2)."""
    kinds: list[int] = []
    entities: list[int] = []
    spans: list[tuple[int, int]] = []
    ends = [0]
    for text, found in zip(texts, resolved, strict=True):
        k, e, s = alphabet.symbols(text, found)
        kinds += k
        entities += e
        spans += s
        ends.append(len(kinds))
    as_array = [np.array(x, dtype=np.int64) for x in (kinds, entities, ends)]
    return Chains(*as_array), np.array(spans, dtype=np.int64).reshape(-1, 2)
