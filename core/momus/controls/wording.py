"""Defects of wording: pronouns, rare and common words, symbols, length; ends, openings and templates of sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from momus.controls.pieces import (
    WORD,
    Pieces,
    cased,
    common_words,
    document_words,
    edited,
    frequencies,
    paragraphs,
    ranked,
    sentences,
    words,
)
from momus.controls.planting import Setting, with_texts
from momus.numeric.types import Floats
from momus.text.corpus import Corpus, Document

Places = Sequence[int]
Common = tuple[list[str], list[float]]
COMMON = 100
"""Number of most frequent words, which are never rare and which replace rare words."""
STOPWORDS = 10
"""Number of most frequent words that stopword inflation inserts."""
FEWEST_WORDS = 10
"""Smallest number of words that length truncation keeps."""
OTHER_GENDER = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
OTHER_GENDER |= {"she": "he", "her": "him", "hers": "his", "herself": "himself"}
_GENDERED = re.compile(rf"\b(?:{'|'.join(sorted(OTHER_GENDER, key=len, reverse=True))})\b", re.IGNORECASE)

_SYMBOL = re.compile(r"[^\w\s]")


def swap_pronouns(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Change the gender of chosen pronouns of the word list; places count these pronouns."""

    def change(pronouns: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(pronouns)).tolist()
        return [cased(OTHER_GENDER[w.lower()], w) if c else None for w, c in zip(pronouns, chosen, strict=True)]

    return edited(document, "pronouns with changed gender", _matches(document, _GENDERED), change)


def _matches(document: Document, pattern: re.Pattern[str]) -> list[Pieces]:
    """The matches of a pattern in each section."""
    return [Pieces.matching(section.text, pattern) for section in document.sections]


def truncate_vocabulary(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace the words whose types are among the rarest of the corpus by common words."""
    rank = cast("dict[str, float]", setting.shared.once("rarity", _rarity))
    common = cast("Common", setting.shared.once("common", lambda c: common_words(c, COMMON)))

    def change(words: list[str]) -> list[str | None]:
        rare = [rank.get(w.lower(), 2.0) < setting.strength for w in words]
        drawn = _drawn(common, setting.random.random(len(words)))
        return [cased(d, w) if r else None for w, r, d in zip(words, rare, drawn, strict=True)]

    return edited(document, "rare words replaced by common ones", _matches(document, WORD), change)


def _drawn(common: Common, u: Floats) -> list[str]:
    """A common word for each uniform variate of u, (n,), drawn by frequency."""
    words, shares = common
    cumulated = np.cumsum(shares) if shares else np.ones(1)
    numbers = np.searchsorted(cumulated, u * cumulated[-1], side="right").clip(0, max(len(words) - 1, 0)).tolist()
    return [words[i] for i in numbers] if words else [""] * len(u)


def _rarity(corpus: Corpus) -> dict[str, float]:
    """Relative rank of each type outside the common ones, from 0 (the rarest) to below 1."""
    rare = [w for w, _ in ranked(frequencies(corpus))[COMMON:]][::-1]
    return {w: i / len(rare) for i, w in enumerate(rare)}


def inflate_stopwords(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Insert one of the most frequent words of the corpus after each chosen word."""
    common = cast("Common", setting.shared.once("stopwords", lambda c: common_words(c, STOPWORDS)))

    def change(words: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(words)).tolist()
        drawn = _drawn(common, setting.random.random(len(words)))
        return [f"{w} {d}" if c and d else None for w, c, d in zip(words, chosen, drawn, strict=True)]

    return edited(document, "words followed by an inserted frequent word", document_words(document), change)


def double_symbols(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Double chosen symbols."""

    def change(symbols: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(symbols)).tolist()
        return [2 * s if c else None for s, c in zip(symbols, chosen, strict=True)]

    return edited(document, "doubled symbols", _matches(document, _SYMBOL), change)


def cut_short(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Drop the last share of the words."""
    sections = document_words(document)
    total = sum(len(p.texts) for p in sections)
    keep = max(total - int(setting.strength * total), min(FEWEST_WORDS, total))
    texts, before = [], 0
    for pieces in sections:
        left = max(min(keep - before, len(pieces.texts)), 0)
        whole = left == len(pieces.texts)
        texts.append(pieces.join(pieces.texts) if whole else _beginning(pieces.separators, pieces.texts, left))
        before += len(pieces.texts)
    cut = with_texts(document, texts)
    if document.sectioned and keep < total:
        cut = replace(cut, sections=tuple(s for s in cut.sections if s.text.strip()))
    return cut, "words dropped from the end", list(range(keep, total))


def _beginning(separators: Sequence[str], words: Sequence[str], n: int) -> str:
    """Join the first n words with the separators before them."""
    return "".join(s + w for s, w in zip(separators[:n], words[:n], strict=True))


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
