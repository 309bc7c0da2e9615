"""Defects of order and of mixing: what is moved or repeated within documents, and what is taken from others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar, cast

import numpy as np

from momus.controls.pieces import Pieces, document_words, edited, passages
from momus.controls.planting import Plant, Setting, with_texts
from momus.numeric.types import Bools, Floats
from momus.text.corpus import Corpus, Document, Section

Places = Sequence[int]
T = TypeVar("T")
LOOP = (3, 12)
"""Smallest and largest number of words that a loop repeats."""


def rotated(items: Sequence[T], chosen: Bools, keys: Floats) -> tuple[list[T], list[int]]:
    """Move the chosen items around one random cycle.

    ``chosen`` and ``keys`` have shape (n,); random keys give a random cycle.

    Returns
    -------
    The items in their new order, and the places of those that were chosen.

    >>> rotated("abc", np.array([True, False, True]), np.array([0.5, 0.1, 0.2]))
    (['c', 'b', 'a'], [0, 2])
    """
    places = np.flatnonzero(chosen)
    cycle = places[np.argsort(keys[places], kind="stable")]
    source = np.arange(len(chosen))
    source[cycle] = np.roll(cycle, 1)
    return [items[i] for i in source.tolist()], places.tolist()


def move_sections(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Move chosen sections (paragraphs, in a text without sections) around a cycle."""
    if document.sectioned:
        n = len(document.sections)
        sections, places = rotated(document.sections, setting.chosen(n), setting.random.random(n))
        return replace(document, sections=tuple(sections)), "moved sections", places
    pieces = passages(document.text)
    n = len(pieces.texts)
    texts, places = rotated(pieces.texts, setting.chosen(n), setting.random.random(n))
    return with_texts(document, [pieces.join(texts)]), "moved paragraphs", places


def repeat_sections(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Repeat chosen sections (paragraphs, in a text without sections)."""
    if document.sectioned:
        chosen = setting.chosen(len(document.sections))
        sections: list[Section] = []
        for section, again in zip(document.sections, chosen.tolist(), strict=True):
            sections += [section] * (2 if again else 1)
        return replace(document, sections=tuple(sections)), "repeated sections", np.flatnonzero(chosen).tolist()
    pieces = passages(document.text)
    chosen = setting.chosen(len(pieces.texts))
    texts = [
        text + (_between(pieces, i) + text if again else "")
        for i, (text, again) in enumerate(zip(pieces.texts, chosen.tolist(), strict=True))
    ]
    return with_texts(document, [pieces.join(texts)]), "repeated paragraphs", np.flatnonzero(chosen).tolist()


def _between(pieces: Pieces, i: int) -> str:
    """The separator between a passage and its copy: that between the passage and a neighbour."""
    inner = pieces.separators[1:]
    return inner[min(i, len(inner) - 1)] if inner else "\n\n"


def move_ngrams(n: int) -> Plant:
    """Make a change that moves chosen n-grams of a section around a cycle; white space does not move."""

    def change(document: Document, setting: Setting) -> tuple[Document, str, Places]:
        texts, moved, before = [], [], 0
        for pieces in document_words(document):
            count = len(pieces.texts) // n
            groups = [pieces.texts[i * n : (i + 1) * n] for i in range(count)]
            rest = pieces.texts[count * n :]
            groups, places = rotated(groups, setting.chosen(count), setting.random.random(count))
            texts.append(pieces.join([*chain.from_iterable(groups), *rest]))
            moved += [before + p for p in places] if len(places) > 1 else []
            before += count
        return with_texts(document, texts), f"moved {n}-grams", moved

    return change


def loop(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace the last share of the words by repetitions of the words before it."""
    sections = document_words(document)
    flat = [w for pieces in sections for w in pieces.texts]
    length = int(setting.random.integers(LOOP[0], LOOP[1] + 1))
    first = max(len(flat) - int(setting.strength * len(flat)), min(length, len(flat)))
    start = max(first - length, 0)
    words = flat[:first] + [flat[start + i % length] for i in range(len(flat) - first)]
    texts, before = [], 0
    for pieces in sections:
        texts.append(pieces.join(words[before : before + len(pieces.texts)]))
        before += len(pieces.texts)
    what = f"words of a loop that repeats {length} words"
    return with_texts(document, texts), what, list(range(first, len(flat)))


Donors = tuple[list[str], list[list[str]], dict[str, int]]


def _passages(document: Document) -> list[Pieces]:
    return [passages(s.text) for s in document.sections]


def donors(corpus: Corpus, cut: Callable[[Document], list[Pieces]] = _passages) -> Donors:
    """Ids of the documents that have pieces, their pieces, and the number of each id."""
    every = [(d.id, [text for pieces in cut(d) for text in pieces.texts]) for d in corpus if d.problem is None]
    supplying = [(i, texts) for i, texts in every if texts]
    ids = [i for i, _ in supplying]
    return ids, [texts for _, texts in supplying], {name: i for i, name in enumerate(ids)}


def mix_topics(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace chosen passages by passages of other documents."""
    others = cast("Donors", setting.shared.once("donors", donors))
    return _mixed(document, setting, _passages(document), others, "passages replaced by passages of other documents")


def mix_words(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace chosen words by words of other documents."""
    others = cast("Donors", setting.shared.once("words", lambda corpus: donors(corpus, document_words)))
    return _mixed(document, setting, document_words(document), others, "words replaced by words of other documents")


def _mixed(
    document: Document, setting: Setting, sections: list[Pieces], suppliers: Donors, what: str
) -> tuple[Document, str, Places]:
    """Replace chosen pieces: draw another document uniformly, then one of its pieces uniformly."""
    ids, texts_of, number = suppliers
    mine = number.get(document.id, -1)
    others = len(ids) - (mine >= 0)
    if others < 1:
        return document, what, []

    def drawn(u: float, v: float) -> str:
        donor = int(u * others)
        texts = texts_of[donor + (mine >= 0 and donor >= mine)]  # skip the document itself
        return texts[int(v * len(texts))]

    return edited(
        document, what, sections, lambda texts: [drawn(u, v) if c else None for c, u, v in draws(setting, texts)]
    )


def draws(setting: Setting, texts: Sequence[str]) -> Iterator[tuple[bool, float, float]]:
    """For each piece whether it is chosen, and two uniform variates."""
    n = len(texts)
    chosen, u, v = setting.chosen(n), setting.random.random(n), setting.random.random(n)
    return zip(chosen.tolist(), u.tolist(), v.tolist(), strict=True)
