"""The planted defects, one or more per axis: changes of order, of mixing, of wording, of length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

import numpy as np

from momus.controls.planting import (
    WORD,
    Pieces,
    Plant,
    PlantedDefect,
    Setting,
    cased,
    document_words,
    edited,
    frequencies,
    passages,
    with_texts,
)
from momus.numeric.types import Bools, Floats
from momus.text.corpus import Corpus, Document

T = TypeVar("T")
LOOP = (3, 12)
"""Smallest and largest number of words that a loop repeats."""
COMMON = 100
"""Number of most frequent words, which are never rare and which replace rare words."""
STOPWORDS = 10
"""Number of most frequent words that stopword inflation inserts."""
FEWEST_WORDS = 10
"""Smallest number of words that length truncation keeps."""
_SYMBOL = re.compile(r"[^\w\s]")


def rotated(items: Sequence[T], chosen: Bools, keys: Floats) -> list[T]:
    """The items in a new order: the chosen ones move around one random cycle.

    ``chosen`` and ``keys`` have shape (n,); random keys give a random cycle.

    >>> rotated("abc", np.array([True, False, True]), np.array([0.5, 0.1, 0.2]))
    ['c', 'b', 'a']
    """
    places = np.flatnonzero(chosen)
    cycle = places[np.argsort(keys[places], kind="stable")]
    source = np.arange(len(chosen))
    source[cycle] = np.roll(cycle, 1)
    return [items[i] for i in source.tolist()]


def move_sections(document: Document, setting: Setting) -> Document:
    """Move chosen sections around one random cycle, so that none keeps its place.

    In texts without sections: paragraphs; sentences, if there is one paragraph.
    """
    pieces = passages(document.text)
    n = len(document.sections) if document.sectioned else len(pieces.texts)
    chosen, keys = setting.chosen(n), setting.random.random(n)
    if document.sectioned:
        return replace(document, sections=tuple(rotated(document.sections, chosen, keys)))
    return with_texts(document, [pieces.join(rotated(pieces.texts, chosen, keys))])


def repeat_sections(document: Document, setting: Setting) -> Document:
    """Repeat chosen sections right after themselves; paragraphs or sentences, as `move_sections`."""
    if document.sectioned:
        chosen = setting.chosen(len(document.sections))
        repeated = np.repeat(np.arange(len(chosen)), 1 + chosen)
        return replace(document, sections=tuple(document.sections[i] for i in repeated))
    pieces = passages(document.text)
    # between a passage and its copy stands what stands between the passage and a neighbour
    inner = pieces.separators[1:] or ["\n\n"]

    def change(texts: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(texts)).tolist()
        between = [inner[min(i, len(inner) - 1)] for i in range(len(texts))]
        return [t + b + t if c else None for t, b, c in zip(texts, between, chosen, strict=True)]

    return edited(document, [pieces], change)


def move_ngrams(n: int) -> Plant:
    """Make a change that moves chosen n-grams of a section around a cycle; white space does not move."""

    def change(document: Document, setting: Setting) -> Document:
        texts = []
        for pieces in document_words(document):
            count = len(pieces.texts) // n
            groups = [pieces.texts[i * n : (i + 1) * n] for i in range(count)]
            rest = pieces.texts[count * n :]
            groups = rotated(groups, setting.chosen(count), setting.random.random(count))
            texts.append(pieces.join([*chain.from_iterable(groups), *rest]))
        return with_texts(document, texts)

    return change


def loop(document: Document, setting: Setting) -> Document:
    """Replace the last share of the words, which is the strength, by repetitions of the `LOOP` words before it."""
    sections = document_words(document)
    flat = [w for pieces in sections for w in pieces.texts]
    length = int(setting.random.integers(LOOP[0], LOOP[1] + 1))
    first = max(len(flat) - int(setting.strength * len(flat)), min(length, len(flat)))
    start = max(first - length, 0)
    words = iter(flat[:first] + [flat[start + i % length] for i in range(len(flat) - first)])
    texts = [pieces.join([next(words) for _ in pieces.texts]) for pieces in sections]
    return with_texts(document, texts)


Donors = tuple[list[str], list[list[str]], dict[str, int]]


def _passages(document: Document) -> list[Pieces]:
    return [passages(s.text) for s in document.sections]


def donors(corpus: Corpus, cut: Callable[[Document], list[Pieces]] = _passages) -> Donors:
    """Ids of the documents that have pieces, their pieces, and the number of each id."""
    every = [(d.id, [text for pieces in cut(d) for text in pieces.texts]) for d in corpus if d.problem is None]
    supplying = [(i, texts) for i, texts in every if texts]
    ids = [i for i, _ in supplying]
    return ids, [texts for _, texts in supplying], {name: i for i, name in enumerate(ids)}


def _words_of_donors(corpus: Corpus) -> Donors:
    return donors(corpus, document_words)


def mix_topics(document: Document, setting: Setting) -> Document:
    """Replace chosen paragraphs (sentences, if a section has one paragraph) by such of other documents."""
    return _mixed(document, setting, _passages(document), setting.once(donors))


def mix_words(document: Document, setting: Setting) -> Document:
    """Replace chosen words by words of other documents: their frequencies remain, but they no longer cluster."""
    return _mixed(document, setting, document_words(document), setting.once(_words_of_donors))


def _mixed(document: Document, setting: Setting, sections: list[Pieces], suppliers: Donors) -> Document:
    """Replace chosen pieces: draw another document uniformly, then one of its pieces uniformly."""
    ids, texts_of, number = suppliers
    mine = number.get(document.id, -1)
    others = len(ids) - (mine >= 0)
    if others < 1:
        return document

    def drawn(u: float, v: float) -> str:
        donor = int(u * others)
        texts = texts_of[donor + (mine >= 0 and donor >= mine)]  # skip the document itself
        return texts[int(v * len(texts))]

    return edited(document, sections, lambda texts: [drawn(u, v) if c else None for c, u, v in draws(setting, texts)])


def draws(setting: Setting, texts: Sequence[str]) -> Iterator[tuple[bool, float, float]]:
    """For each piece whether it is chosen, and two uniform variates."""
    n = len(texts)
    chosen, u, v = setting.chosen(n), setting.random.random(n), setting.random.random(n)
    return zip(chosen.tolist(), u.tolist(), v.tolist(), strict=True)


def _matches(document: Document, pattern: re.Pattern[str]) -> list[Pieces]:
    """The matches of a pattern in each section."""
    return [Pieces.matching(section.text, pattern) for section in document.sections]


def truncate_vocabulary(document: Document, setting: Setting) -> Document:
    """Replace the rarest share of the types but for the `COMMON` ones by words drawn from these by frequency."""
    rank = setting.once(_rarity)

    def change(words: list[str]) -> list[str | None]:
        rare = [rank.get(w.lower(), 2.0) < setting.strength for w in words]
        return [
            cased(d, w) if r else None for w, r, d in zip(words, rare, _common(setting, words, COMMON), strict=True)
        ]

    return edited(document, _matches(document, WORD), change)


def _common(setting: Setting, words: Sequence[str], most: int) -> list[str]:
    """For each word, one of the most frequent words of the corpus, drawn by frequency; empty where it has none."""
    u, frequent = setting.random.random(len(words)), setting.once(frequencies)[:most]
    total = sum(n for _, n in frequent)
    cumulated = np.cumsum([n / total for _, n in frequent])
    numbers = np.searchsorted(cumulated, u * cumulated[-1:], side="right").clip(0, max(len(frequent) - 1, 0))
    return [frequent[i][0] for i in numbers.tolist()] if frequent else [""] * len(words)


def _rarity(corpus: Corpus) -> dict[str, float]:
    """Relative rank of each type outside the common ones, from 0 (the rarest) to below 1."""
    rare = [w for w, _ in frequencies(corpus)[COMMON:]][::-1]
    return {w: i / len(rare) for i, w in enumerate(rare)}


def inflate_stopwords(document: Document, setting: Setting) -> Document:
    """Insert one of the `STOPWORDS` most frequent words of the corpus, drawn by frequency, after each chosen word."""

    def change(words: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(words)).tolist()
        drawn = _common(setting, words, STOPWORDS)
        return [f"{w} {d}" if c and d else None for w, c, d in zip(words, chosen, drawn, strict=True)]

    return edited(document, document_words(document), change)


def double_symbols(document: Document, setting: Setting) -> Document:
    """Double chosen symbols: neither letter, digit, underscore nor white space."""

    def change(symbols: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(symbols)).tolist()
        return [2 * s if c else None for s, c in zip(symbols, chosen, strict=True)]

    return edited(document, _matches(document, _SYMBOL), change)


def cut_short(document: Document, setting: Setting) -> Document:
    """Drop the last share of the words, which is the strength, and keep at least `FEWEST_WORDS`."""
    sections = document_words(document)
    total = sum(len(p.texts) for p in sections)
    keep = max(total - int(setting.strength * total), min(FEWEST_WORDS, total))
    texts, left = [], keep
    for pieces in sections:
        whole = len(pieces.texts) <= left
        beginning = zip(pieces.separators[:left], pieces.texts[:left], strict=True)
        texts.append(pieces.join(pieces.texts) if whole else "".join(chain.from_iterable(beginning)))
        left = max(left - len(pieces.texts), 0)
    cut = with_texts(document, texts)
    if document.sectioned and keep < total:
        cut = replace(cut, sections=tuple(s for s in cut.sections if s.text.strip()))
    return cut


_ALL = (
    PlantedDefect("section-order", ("sections", "passages"), move_sections),
    PlantedDefect("section-repetition", ("sections", "passages", "length", "repetition"), repeat_sections),
    PlantedDefect("topic-mixing", ("topics", "taylor", "mauve"), mix_topics),
    PlantedDefect("word-mixing", ("taylor", "long-range", "ebeling", "topics"), mix_words),
    PlantedDefect("word-shuffle", ("perplexity", "coreference", "pcfg", "distortion"), move_ngrams(1)),
    PlantedDefect(
        "vocabulary-truncation",
        ("type-token", "rank-frequency", "unigram", "heaps", "zipf-slope", "productivity"),
        truncate_vocabulary,
    ),
    PlantedDefect("length-truncation", ("length",), cut_short),
    PlantedDefect(
        "stopword-inflation", ("stopword-share", "unigram", "rank-frequency", "type-token", "length"), inflate_stopwords
    ),
    PlantedDefect("symbol-inflation", ("symbol-share",), double_symbols),
    PlantedDefect("repetition-loop", ("repetition", "type-token", "unigram"), loop),
)

DEFECTS: dict[str, PlantedDefect] = {d.name: d for d in _ALL}
"""Planted defects by name."""
