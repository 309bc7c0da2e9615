"""Defects of sentences: ends moved to equal lengths, stock phrases, connectives, and sentences of one template."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from momus.controls.pieces import edited, paragraphs, sentences, words
from momus.controls.planting import Setting, with_texts
from momus.text.corpus import Document

Places = Sequence[int]
PHRASES = (
    "At the end of the day,",
    "It is worth noting that",
    "Little did they know that",
    "In a world of endless possibilities,",
)
"""What is put before sentences."""
CONNECTIVES = ("However,", "Moreover,", "Therefore,", "Meanwhile,", "In fact,", "Ultimately,")
"""What is put before sentences to connect them."""
DETERMINERS = ("the", "a", "this", "that", "every", "each", "one")
_LISTS = """
old dark small quiet tall cold young strange heavy broken empty narrow bright rough pale sudden gentle distant hidden
bitter ancient golden clever silent wooden curious gloomy humble rapid secret |
house river door window stone garden letter horse table candle mountain soldier doctor farmer village bridge captain
stranger lantern merchant forest kitchen servant carriage harbour mirror curtain sailor teacher ladder |
saw found carried followed watched left kept held touched opened reached crossed passed guarded missed wanted feared
painted covered lifted ruined noticed remembered borrowed cleaned admired answered ignored pushed served
"""
ADJECTIVES, NOUNS, VERBS = (tuple(words.split()) for words in _LISTS.split("|"))
CLAUSE = 8
"""Words of a clause of the template and of what joins it to the next one."""
_END = re.compile(r"[.!?…]+[\"'”’)\]]*$")
_INNER = re.compile(r"[,;:—–-]+$")


def even_sentences(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Move the ends of sentences in chosen paragraphs to where all of a paragraph's sentences are of equal length."""
    texts, places, before = [], [], 0
    for section in document.sections:
        pieces = paragraphs(section.text)
        evened = []
        chosen = setting.chosen(len(pieces.texts)).tolist()
        for paragraph, even in zip(pieces.texts, chosen, strict=True):
            split = words(paragraph)
            ends = [
                i for i, w in enumerate(split.texts[:-1]) if _END.search(w) and not split.texts[i + 1][:1].islower()
            ]
            moved = _evened(split.texts, ends if even else [])
            places += [before + j for j in moved.boundaries]
            before += len(ends)
            evened.append(split.join(moved.words))
        texts.append(pieces.join(evened))
    return with_texts(document, texts), "moved ends of sentences", places


class _Moved:
    """Words after ends of sentences were moved, and which ends these were."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.boundaries = list(words), list[int]()


def _evened(texts: Sequence[str], ends: Sequence[int]) -> _Moved:
    """Move the ends of sentences, which are the words at ``ends``."""
    moved, count = _Moved(texts), len(ends) + 1
    targets = [min(max(round((j + 1) * len(texts) / count) - 1, 0), len(texts) - 2) for j in range(len(ends))]
    pairs = [(j, e, t) for j, (e, t) in enumerate(zip(ends, targets, strict=True)) if e != t]
    for _, end, _ in pairs:
        moved.words[end] = _END.sub("", moved.words[end]) or moved.words[end].rstrip(".!?…") or ","
        following = moved.words[end + 1]
        moved.words[end + 1] = following if following[:2].isupper() or following == "I" else _lowered(following)
    for j, _, target in pairs:
        moved.words[target] = _END.sub("", _INNER.sub("", moved.words[target])) + "."
        moved.words[target + 1] = moved.words[target + 1][:1].upper() + moved.words[target + 1][1:]
        moved.boundaries.append(j)
    return moved


def _lowered(word: str) -> str:
    return word[:1].lower() + word[1:]


def stock_phrases(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Put a stock phrase before each chosen sentence."""
    return _before(document, setting, PHRASES, "sentences with a stock phrase before them")


def open_with_connectives(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Put a connective before each chosen sentence."""
    return _before(document, setting, CONNECTIVES, "sentences with a connective before them")


def _before(document: Document, setting: Setting, choices: Sequence[str], what: str) -> tuple[Document, str, Places]:
    """Put one of some phrases before each chosen sentence."""

    def change(texts: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(texts)).tolist()
        which = setting.random.integers(0, len(choices), len(texts)).tolist()
        return [f"{choices[k]} {_lowered(s)}" if c else None for s, c, k in zip(texts, chosen, which, strict=True)]

    return edited(document, what, map(sentences, (s.text for s in document.sections)), change)


def one_template(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace each chosen sentence by clauses of one pattern, with random words, about as long as the sentence."""

    def change(texts: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(texts)).tolist()
        seeds = setting.random.integers(0, 2**32, len(texts)).tolist()
        return [_templated(s, seed) if c else None for s, c, seed in zip(texts, chosen, seeds, strict=True)]

    what = "sentences replaced by ones of a template"
    return edited(document, what, map(sentences, (s.text for s in document.sections)), change)


def _templated(sentence: str, seed: int) -> str:
    """Clauses such as ``the old house saw a dark river``, joined by ``and``."""
    random = np.random.default_rng(seed)
    order = (DETERMINERS, ADJECTIVES, NOUNS, VERBS, DETERMINERS, ADJECTIVES, NOUNS)
    clauses = max(1, round(len(sentence.split()) / CLAUSE))
    clause_texts = [" ".join(words[random.integers(len(words))] for words in order) for _ in range(clauses)]
    text = ", and ".join(clause_texts)
    return f"{text[:1].upper()}{text[1:]}."
