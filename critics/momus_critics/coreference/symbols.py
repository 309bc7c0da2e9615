"""Map mentions to symbols: pronouns to themselves, all other mentions to the class of their entity."""

from __future__ import annotations

from collections import Counter

import numpy as np

from momus.numeric.types import Ints
from momus.text.mentions import FEMALE, FIRST, MALE, PLURAL, PRONOUNS, SECOND, THINGS, Resolved
from momus_critics.coreference.windows import Chains

GENDER = {**dict.fromkeys(MALE, "Male"), **dict.fromkeys(FEMALE, "Female"), **dict.fromkeys(PLURAL, "Plural")}
PADDING, SENTENCE = "", "."
LEGENDS = {
    "gender": "Male:0 is a name or noun of a person whose pronouns are he, Female:0 one whose pronouns are she, "
    "Plural:0 one of several persons, None:0 one without a gendered pronoun; he:0 is the pronoun itself. Equal numbers "
    "are the same person, by first appearance within the window; “.” is the start of a sentence.",
    "form": "Name:0 is a person named by a name, Noun:0 by a noun, Names:0 and Nouns:0 several persons; third:0 is he "
    "or she, third object:0 him or her, third self:0 himself or herself. Equal numbers are the same person, by first "
    "appearance within the window; “.” is the start of a sentence.",
}
"""What symbols stand for, by ``classes``."""
OBLIQUE = {"him": "object", "his": "object", "himself": "self", "her": "object", "hers": "object", "herself": "self"}


class Alphabet:
    """The kinds of symbols that mentions are mapped to.

    Parameters
    ----------
    classes
        ``gender``: a mention other than a pronoun becomes Male, Female, Plural or None, by majority of the gendered
        pronouns in its chain (Deng et al. 2022, appendix G). ``form``: it becomes Name or Noun (Names or Nouns for
        plurals), and pronouns of the third person singular become subject, object (or possessive) or reflexive; nothing
        depends on gender.

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
        self.legend = LEGENDS.get(classes, LEGENDS["form"])
        self.kinds = [PADDING, SENTENCE, *names, *pronouns]
        self._index = {k: i for i, k in enumerate(self.kinds)}

    def symbols(self, text: str, resolved: Resolved) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        """Kinds, entities and character spans of a document's symbols; all empty if no person is mentioned."""
        # gendered pronouns vote on the class of their entity, and on whether it is a person
        words = [text[a:b].lower() for a, b in zip(resolved.starts.tolist(), resolved.ends.tolist(), strict=True)]
        entities = resolved.entities.tolist()
        votes: dict[int, Counter[str]] = {e: Counter() for e in entities}
        for word, e in zip(words, entities, strict=True):
            votes[e][_role(word)] += 1
        known = set() if resolved.persons is None else set(resolved.persons.tolist())
        persons = {e for e, v in votes.items() if e in known or _is_person(v)}
        if not persons:
            return [], [], []
        # (start, number of the mention, end, word, entity); sentence starts have −1 and come before mentions there
        marks = [(int(s), -1, int(s), "", -1) for s in resolved.sentences]
        rows = zip(resolved.starts.tolist(), resolved.ends.tolist(), words, entities, strict=True)
        marks += [(a, i, b, w, e) for i, (a, b, w, e) in enumerate(rows) if e in persons]
        marks.sort(key=lambda m: m[:2])
        kinds, labels, spans = [], [], []
        numbers: dict[int, int] = {}
        for start, i, end, word, e in marks:
            kinds.append(1 if i < 0 else self._kind(word, text[start:end], votes[e]))
            labels.append(-1 if i < 0 else numbers.setdefault(e, len(numbers)))
            spans.append((start, end))
        return kinds, labels, spans

    def _kind(self, word: str, shown: str, votes: Counter[str]) -> int:
        """Number of the symbol of a mention, from its lower-cased and original text and the votes of its chain."""
        if word in GENDER or word in FIRST or word in SECOND:
            if self.classes == "gender" or GENDER.get(word, "Plural") == "Plural":
                return self._index[word]
            case = OBLIQUE.get(word)
            return self._index[f"third {case}" if case else "third"]
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
    """Whether pronouns of persons outnumber those of things in an entity's chain."""
    return votes["Male"] + votes["Female"] + votes["Plural"] + votes["speaker"] > votes["thing"]


def _majority(votes: Counter[str]) -> str:
    """Most frequent gender among an entity's pronouns; None without any, or in a tie."""
    ranked = [(votes[g], g) for g in ("Male", "Female", "Plural") if votes[g]]
    ranked.sort(reverse=True)
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return "None"
    return ranked[0][1]


def chains_of(alphabet: Alphabet, texts: list[str], resolved: list[Resolved]) -> tuple[Chains, Ints]:
    """Symbols of all documents, and the character span of each, int64 (N, 2)."""
    kinds: list[int] = []
    entities: list[int] = []
    spans: list[tuple[int, int]] = []
    ends = [0]
    for text, mentions in zip(texts, resolved, strict=True):
        k, e, s = alphabet.symbols(text, mentions)
        kinds += k
        entities += e
        spans += s
        ends.append(len(kinds))
    arrays = [np.array(x, dtype=np.int64) for x in (kinds, entities, ends)]
    return Chains(*arrays), np.array(spans, dtype=np.int64).reshape(-1, 2)
