"""What the first and the last sentence of a document do: features of function, not of content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.numeric.ragged import owners_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.mentions import FIRST, SECOND
from momus_critics.prose.reading import Prose

WORDS: dict[str, frozenset[str]] = {
    "question": frozenset("?？؟"),
    "exclamation": frozenset("!！"),
    "ellipsis": frozenset(("…", "...")),
    "speech": frozenset('"“”„«»'),
    "first person": frozenset(FIRST),
    "address": frozenset(SECOND),
    "third person": frozenset(("he", "she", "him", "her", "his", "hers", "they", "them", "their")),
    "modal": frozenset(("will", "would", "can", "could", "may", "might", "must", "should", "shall", "cannot")),
    "negation": frozenset(("not", "no", "never", "nothing", "nobody", "none", "neither", "nor", "without")),
    "general truth": frozenset(
        (
            *("always", "every", "everyone", "everything", "life", "world", "people", "human", "humanity", "sometimes"),
            *("reminder", "remember", "lesson", "forever", "hope", "future", "true", "truth", "power", "beauty"),
        )
    ),
    "conclusion": frozenset(
        ("overall", "conclusion", "ultimately", "summary", "thus", "therefore", "hence", "finally", "conclude")
    ),
    "contrast": frozenset(("but", "however", "yet", "though", "although", "while", "despite", "instead")),
    "past": frozenset(("was", "were", "had", "did", "said", "went", "came", "knew", "thought", "looked", "felt")),
    "present": frozenset(("is", "are", "am", "has", "have", "do", "does", "'s")),
    "greeting": frozenset(("dear", "hello", "hi", "thanks", "thank", "sincerely", "regards", "welcome", "please")),
}
"""Features that a sentence has if one of these words, in lower case, is in it."""
OTHERS = ("number", "name", "short", "long", "own paragraph", "markup")
FEATURES = (*WORDS, *OTHERS)
SHORT, LONG = 8, 25
"""A short sentence has fewer words, a long one more."""
LAYOUT = frozenset("#*_>|")
RECURRING = 2
"""Tokens of an opening that is counted over documents; an ending has its last mark besides."""
SEPARATOR, HEADING = " ", "#"


@dataclass(frozen=True)
class EdgeSentence:
    """The first or the last sentence of n documents.

    Attributes
    ----------
    features
        bool (n, F), by `FEATURES`.
    words
        n texts: the first or last words of the document, in lower case.
    paragraph
        float64 (n,): number of words of its paragraph; NaN where that is the whole document.
    numbers
        int64 (n,): number of the sentence over all documents, −1 where a document has none.
    texts
        n texts: the tokens of the sentence with spaces between.
    """

    features: Bools
    words: tuple[str, ...]
    paragraph: Floats
    numbers: Ints
    texts: tuple[str, ...]


def read_edges(prose: Prose) -> tuple[EdgeSentence, EdgeSentence]:
    """The first and the last sentence of documents that have tokens."""
    # the offsets of an empty document point at a token of the next one
    present = np.flatnonzero(prose.lengths > 0)
    first, last = np.full(len(prose), -1), np.full(len(prose), -1)
    first[present] = prose.sentences[prose.offsets[present]]
    last[present] = prose.sentences[prose.offsets[present + 1] - 1]
    return _edge(prose, first, at_end=False), _edge(prose, last, at_end=True)


def _edge(prose: Prose, chosen: Ints, at_end: bool) -> EdgeSentence:
    n, owners = len(prose), owners_of(prose.offsets)
    inside = prose.sentences == chosen[owners]  # tokens of the chosen sentences, (N,)

    def count(tokens: Bools) -> Floats:
        return np.bincount(owners, tokens & inside, n).astype(np.float64)

    columns = [count(prose.is_any(words)) > 0 for words in WORDS.values()]
    words = count(prose.alphabetic)
    digits = np.array([w[:1].isdigit() for w in prose.words], dtype=bool)[prose.ids]
    # a capital behind another word of the sentence, but for the pronoun
    follows = np.zeros(len(owners), dtype=bool)
    follows[1:] = inside[:-1] & inside[1:] & prose.alphabetic[:-1]
    names = prose.capitalised & follows & ~prose.is_any(frozenset("i"))
    begin, end = (np.searchsorted(prose.sentences, chosen + shift) for shift in (0, 1))  # tokens, (n,) each
    paragraph = np.where(chosen >= 0, prose.paragraphs[np.minimum(begin, max(len(prose.paragraphs) - 1, 0))], -1)
    same = prose.paragraphs == paragraph[owners]  # tokens of the chosen sentence's paragraph, (N,)
    columns += [count(digits) > 0, count(names) > 0, words < SHORT, words > LONG]
    columns += [np.bincount(owners, same & ~inside & prose.alphabetic, n) == 0, count(prose.is_any(LAYOUT)) > 0]
    length = np.where(np.bincount(owners, ~same, n) > 0, np.bincount(owners, same & prose.alphabetic, n), np.nan)
    texts = tuple(" ".join(prose.tokens(a, b)) for a, b in zip(begin.tolist(), end.tolist(), strict=True))
    return EdgeSentence(np.column_stack(columns), _edge_words(prose, at_end), length, chosen, texts)


def _edge_words(prose: Prose, at_end: bool) -> tuple[str, ...]:
    """The first or last few tokens of each document, in lower case; final marks stand with the words."""
    texts = []
    for a, b in zip(prose.offsets[:-1].tolist(), prose.offsets[1:].tolist(), strict=True):
        while not at_end and a + 1 < b and prose.words[prose.ids[a]] == prose.words[prose.ids[a + 1]] == HEADING:
            a += 1  # a heading of any level is one mark
        codes = prose.ids[max(a, b - RECURRING - 1) : b] if at_end else prose.ids[a : min(b, a + RECURRING)]
        texts.append(SEPARATOR.join(prose.words[i] for i in codes.tolist()))
    return tuple(texts)
