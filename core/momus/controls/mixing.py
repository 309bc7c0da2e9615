"""Defects of mixture: passages and words of other documents, and passages in another language."""

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
    """Ids, pieces and numbers of the documents that hold any."""
    found = [(d.id, [p for part in cut(d) for p in part.texts]) for d in corpus if d.problem is None]
    kept = [(i, p) for i, p in found if p]
    ids = [i for i, _ in kept]
    return ids, [p for _, p in kept], {name: i for i, name in enumerate(ids)}


def mix_topics(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Put passages of other documents in place of chosen ones."""
    donors = cast("Donors", setting.shared.once("donors", _donors))
    return _mixed(document, setting, _passages(document), donors, "passages that came from other documents")


def mix_words(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Put words of other documents in place of chosen ones."""
    donors = cast("Donors", setting.shared.once("words", lambda corpus: _donors(corpus, document_words)))
    return _mixed(document, setting, document_words(document), donors, "words that came from other documents")


def _mixed(
    document: Document, setting: Setting, sections: list[Pieces], donors: Donors, what: str
) -> tuple[Document, str, Places]:
    """Put pieces of other documents, all of these alike, in place of chosen ones."""
    ids, parts, number = donors
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
            donor += mine >= 0 and donor >= mine
            new[i] = parts[donor][int(v[i] * len(parts[donor]))]
            places.append(before + i)
        texts.append(pieces.join(new))
        before += n
    return with_texts(document, texts), what, places


def mix_languages(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Put passages of the donor in place of chosen ones: of the document with the same id, else of any."""
    ids, parts, number = cast("Donors", setting.shared.once("donors", _donors))
    twin = number.get(document.id)
    what = "passages that came from the " + ("document of the same id" if twin is not None else "other corpus")
    if not ids:
        return document, what, []
    pieces = _passages(document)
    total = sum(len(p.texts) for p in pieces)
    texts, places, before = [], [], 0
    for part in pieces:
        n = len(part.texts)
        chosen, u, v = setting.chosen(n), setting.random.random(n), setting.random.random(n)
        new = list(part.texts)
        for i in chosen.nonzero()[0].tolist():
            source = parts[int(u[i] * len(ids)) if twin is None else twin]
            new[i] = source[int((v[i] if twin is None else (before + i) / total) * len(source))]
            places.append(before + i)
        texts.append(part.join(new))
        before += n
    return with_texts(document, texts), what, places
