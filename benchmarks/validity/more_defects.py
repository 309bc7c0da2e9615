"""Planted defects of single critics' axes, beside the ten of `momus.controls`: importing adds them to ``DEFECTS``.

They serve the studies of this folder and tests of critics. Processes of a pool import the script that is run, and this
module with it. `language_mixing` needs a corpus in other languages, and is added by the study that has one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from momus.controls import DEFECTS, PlantedDefect
from momus.controls.changing import donors, draws, move_ngrams
from momus.controls.planting import (
    BREAKS,
    SENTENCE_ENDS,
    Pieces,
    Plant,
    Setting,
    by_id,
    cased,
    edited,
    passages,
    with_texts,
    words,
)
from momus.text.corpus import Corpus, Document
from momus.text.vocabulary import normalize_title

OTHER_GENDER = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
OTHER_GENDER |= {"she": "he", "her": "him", "hers": "his", "herself": "himself"}
_GENDERED = re.compile(rf"\b(?:{'|'.join(sorted(OTHER_GENDER, key=len, reverse=True))})\b", re.IGNORECASE)


def sentences(text: str) -> Pieces:
    """Split at ``.``, ``!`` and ``?``.

    >>> sentences("One. Two.").texts
    ['One.', 'Two.']
    """
    return Pieces.of(text, SENTENCE_ENDS)


def paragraphs(text: str) -> Pieces:
    """Split at blank lines."""
    return Pieces.of(text, BREAKS)


def mixed_with(other: Corpus) -> Plant:
    """Make a change that replaces chosen passages by those of another corpus: of the same id, if there is one."""
    ids, texts_of, number = donors(by_id(other))

    def mix(document: Document, setting: Setting) -> Document:
        twin = number.get(document.id)
        if not ids:
            return document
        sections = [passages(s.text) for s in document.sections]
        total = sum(len(p.texts) for p in sections)
        numbers = count()

        def drawn(i: int, u: float, v: float) -> str:
            source = texts_of[int(u * len(ids)) if twin is None else twin]
            return source[int((v if twin is None else i / total) * len(source))]

        def change(texts: list[str]) -> list[str | None]:
            pairs = zip(draws(setting, texts), numbers, strict=False)
            return [drawn(i, u, v) if c else None for (c, u, v), i in pairs]

        return edited(document, sections, change)

    return mix


def language_mixing(other: Corpus) -> PlantedDefect:
    """The defect of language mixing, with the passages of a corpus in other languages."""
    return PlantedDefect(
        "language-mixing",
        ("code-mixing", "unigram"),
        mixed_with(other),
    )


@dataclass(frozen=True)
class _SectionDonors:
    """Sections by normalised title and, of each document, its parts in order; texts come with their document's id."""

    titled: dict[str, list[tuple[str, str]]]
    parts: list[tuple[str, list[str]]]


def _section_donors(corpus: Corpus) -> _SectionDonors:
    titled: dict[str, list[tuple[str, str]]] = {}
    parts = []
    for document in corpus:
        if document.problem is not None:
            continue
        for section in document.sections:
            if title := normalize_title(section.title):
                titled.setdefault(title, []).append((document.id, section.text))
        texts = _parts(document).texts
        if texts:
            parts.append((document.id, texts))
    return _SectionDonors(titled, parts)


def _parts(document: Document) -> Pieces:
    """The sections of a document; of a text without sections, its paragraphs (or sentences) and what separates them."""
    if document.sectioned:
        return Pieces([s.text for s in document.sections], [""] * len(document.sections), "")
    return passages(document.text)


def exchange_sections(document: Document, setting: Setting) -> Document:
    """Replace chosen sections by sections of the same title of other documents (without titles: at the same place)."""
    donors = setting.once(_section_donors)
    pieces = _parts(document)
    n = len(pieces.texts)
    titles = [normalize_title(s.title) for s in document.sections] if document.sectioned else [""] * n
    chosen, u = setting.chosen(n), setting.random.random(n)
    texts = list(pieces.texts)
    for i in chosen.nonzero()[0].tolist():
        if titles[i]:
            candidates = [text for name, text in donors.titled.get(titles[i], []) if name != document.id]
        else:
            # the part at the same relative place, of every other document
            others = [parts for name, parts in donors.parts if name != document.id]
            candidates = [parts[int((i + 0.5) / n * len(parts))] for parts in others]
        if candidates:
            texts[i] = candidates[int(u[i] * len(candidates))]
    return with_texts(document, texts if document.sectioned else [pieces.join(texts)])


def copy_answers(document: Document, setting: Setting) -> Document:
    """Replace a chosen document by the first one, by id, that answers its prompt."""
    first = setting.once(_first_answers)
    chosen = bool(setting.chosen(1)[0])
    source = None if document.prompt is None else first.get(document.prompt)
    if not chosen or source is None or source.id == document.id:
        return document
    return replace(document, sections=source.sections)


def _first_answers(corpus: Corpus) -> dict[str, Document]:
    """The document of each prompt whose id comes first; the corpus is ordered by id."""
    answers: dict[str, Document] = {}
    for document in corpus:
        if document.prompt is not None and document.problem is None:
            answers.setdefault(document.prompt, document)
    return answers


def swap_pronouns(document: Document, setting: Setting) -> Document:
    """Change the gender of chosen pronouns of the word list."""

    def change(pronouns: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(pronouns)).tolist()
        return [cased(OTHER_GENDER[w.lower()], w) if c else None for w, c in zip(pronouns, chosen, strict=True)]

    return edited(document, [Pieces.matching(s.text, _GENDERED) for s in document.sections], change)


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


def even_sentences(document: Document, setting: Setting) -> Document:
    """Move the ends of sentences in chosen paragraphs to where all of a paragraph's sentences are of equal length."""
    texts = []
    for section in document.sections:
        pieces = paragraphs(section.text)
        evened = []
        chosen = setting.chosen(len(pieces.texts)).tolist()
        for paragraph, even in zip(pieces.texts, chosen, strict=True):
            split = words(paragraph)
            ends = [
                i for i, w in enumerate(split.texts[:-1]) if _END.search(w) and not split.texts[i + 1][:1].islower()
            ]
            evened.append(split.join(_evened(split.texts, ends if even else [])))
        texts.append(pieces.join(evened))
    return with_texts(document, texts)


def _evened(texts: Sequence[str], ends: Sequence[int]) -> list[str]:
    """Words whose ends of sentences, at the places ``ends``, are moved."""
    moved, count = list(texts), len(ends) + 1
    targets = [min(max(round((j + 1) * len(texts) / count) - 1, 0), len(texts) - 2) for j in range(len(ends))]
    pairs = [(e, t) for e, t in zip(ends, targets, strict=True) if e != t]
    for end, _ in pairs:
        moved[end] = _END.sub("", moved[end]) or moved[end].rstrip(".!?…") or ","
        following = moved[end + 1]
        moved[end + 1] = following if following[:2].isupper() or following == "I" else _lowered(following)
    for _, target in pairs:
        moved[target] = _END.sub("", _INNER.sub("", moved[target])) + "."
        moved[target + 1] = moved[target + 1][:1].upper() + moved[target + 1][1:]
    return moved


def _lowered(word: str) -> str:
    return word[:1].lower() + word[1:]


def stock_phrases(document: Document, setting: Setting) -> Document:
    """Put a stock phrase before each chosen sentence."""
    return _before(document, setting, PHRASES)


def open_with_connectives(document: Document, setting: Setting) -> Document:
    """Put a connective before each chosen sentence."""
    return _before(document, setting, CONNECTIVES)


def _before(document: Document, setting: Setting, choices: Sequence[str]) -> Document:
    """Put one of some phrases before each chosen sentence."""

    def change(texts: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(texts)).tolist()
        which = setting.random.integers(0, len(choices), len(texts)).tolist()
        return [f"{choices[k]} {_lowered(s)}" if c else None for s, c, k in zip(texts, chosen, which, strict=True)]

    return edited(document, map(sentences, (s.text for s in document.sections)), change)


def one_template(document: Document, setting: Setting) -> Document:
    """Replace each chosen sentence by clauses of one pattern, with random words, about as long as the sentence."""

    def change(texts: list[str]) -> list[str | None]:
        chosen = setting.chosen(len(texts)).tolist()
        seeds = setting.random.integers(0, 2**32, len(texts)).tolist()
        return [_templated(s, seed) if c else None for s, c, seed in zip(texts, chosen, seeds, strict=True)]

    return edited(document, map(sentences, (s.text for s in document.sections)), change)


def _templated(sentence: str, seed: int) -> str:
    """Clauses such as ``the old house saw a dark river``, joined by ``and``."""
    random = np.random.default_rng(seed)
    order = (DETERMINERS, ADJECTIVES, NOUNS, VERBS, DETERMINERS, ADJECTIVES, NOUNS)
    clauses = max(1, round(len(sentence.split()) / CLAUSE))
    clause_texts = [" ".join(words[random.integers(len(words))] for words in order) for _ in range(clauses)]
    text = ", and ".join(clause_texts)
    return f"{text[:1].upper()}{text[1:]}."


_MORE = (
    PlantedDefect(
        "section-exchange",
        ("consistency",),
        exchange_sections,
    ),
    PlantedDefect(
        "pronoun-swap",
        ("coreference",),
        swap_pronouns,
    ),
    PlantedDefect(
        "trigram-shuffle",
        ("perplexity", "coreference", "pcfg", "distortion"),
        move_ngrams(3),
    ),
    PlantedDefect(
        "rhythm-flattening",
        ("rhythm",),
        even_sentences,
    ),
    PlantedDefect(
        "stock-phrases",
        ("keyness",),
        stock_phrases,
    ),
    PlantedDefect(
        "connective-inflation",
        ("discourse", "keyness"),
        open_with_connectives,
    ),
    PlantedDefect(
        "sentence-template",
        ("templates",),
        one_template,
    ),
    PlantedDefect(
        "answer-copies",
        ("diversity",),
        copy_answers,
    ),
)
MORE = {d.name: d for d in _MORE}
"""The defects by name."""
DEFECTS.update(MORE)
