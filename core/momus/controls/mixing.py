"""Defects of mixing: passages and words from other documents, and passages in another language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from momus.controls.pieces import Pieces, document_words, passages
from momus.controls.planting import Setting, with_texts
from momus.text.corpus import Corpus, Document

Places = Sequence[int]
Donors = tuple[list[str], list[list[str]], dict[str, int]]


def _passages(document: Document) -> list[Pieces]:
    return [passages(s.text) for s in document.sections]


def _donors(corpus: Corpus, cut: Callable[[Document], list[Pieces]] = _passages) -> Donors:
    """Ids of the documents that have pieces, their pieces, and the number of each id."""
    every = [(d.id, [text for pieces in cut(d) for text in pieces.texts]) for d in corpus if d.problem is None]
    donors = [(i, texts) for i, texts in every if texts]
    ids = [i for i, _ in donors]
    return ids, [texts for _, texts in donors], {name: i for i, name in enumerate(ids)}


def mix_topics(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace chosen passages by passages of other documents."""
    donors = cast("Donors", setting.shared.once("donors", _donors))
    return _mixed(document, setting, _passages(document), donors, "passages replaced by passages of other documents")


def mix_words(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace chosen words by words of other documents."""
    donors = cast("Donors", setting.shared.once("words", lambda corpus: _donors(corpus, document_words)))
    return _mixed(document, setting, document_words(document), donors, "words replaced by words of other documents")


def _mixed(
    document: Document, setting: Setting, sections: list[Pieces], donors: Donors, what: str
) -> tuple[Document, str, Places]:
    """Replace chosen pieces: draw another document uniformly, then one of its pieces uniformly."""
    ids, texts_of, number = donors
    mine = number.get(document.id, -1)
    others = len(ids) - (mine >= 0)
    if others < 1:
        return document, what, []
    texts, places, before = [], [], 0
    for pieces in sections:
        n = len(pieces.texts)
        chosen, u, v = setting.chosen(n), setting.random.random(n), setting.random.random(n)
        new = list(pieces.texts)
        for i in chosen.nonzero()[0].tolist():
            donor = int(u[i] * others)
            donor += mine >= 0 and donor >= mine  # skip the document itself
            new[i] = texts_of[donor][int(v[i] * len(texts_of[donor]))]
            places.append(before + i)
        texts.append(pieces.join(new))
        before += n
    return with_texts(document, texts), what, places


def mix_languages(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace chosen passages by passages of the donor: of the document with the same id, else of any."""
    ids, texts_of, number = cast("Donors", setting.shared.once("donors", _donors))
    twin = number.get(document.id)
    origin = "other corpus" if twin is None else "document with the same id"
    what = f"passages replaced by passages of the {origin}"
    if not ids:
        return document, what, []
    sections = _passages(document)
    total = sum(len(p.texts) for p in sections)
    texts, places, before = [], [], 0
    for pieces in sections:
        n = len(pieces.texts)
        chosen, u, v = setting.chosen(n), setting.random.random(n), setting.random.random(n)
        new = list(pieces.texts)
        for i in chosen.nonzero()[0].tolist():
            source = texts_of[int(u[i] * len(ids)) if twin is None else twin]
            new[i] = source[int((v[i] if twin is None else (before + i) / total) * len(source))]
            places.append(before + i)
        texts.append(pieces.join(new))
        before += n
    return with_texts(document, texts), what, places
