"""Defects of mixture: passages of other documents, and passages in another language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from momus.controls.pieces import passages
from momus.controls.planting import Setting, with_texts
from momus.corpus import Corpus, Document

Places = Sequence[int]
Donors = tuple[list[str], list[list[str]], dict[str, int]]


def _donors(corpus: Corpus) -> Donors:
    """Ids, passages and numbers of the documents that hold any."""
    found = [(d.id, [p for s in d.sections for p in passages(s.text).texts]) for d in corpus if d.problem is None]
    kept = [(i, p) for i, p in found if p]
    ids = [i for i, _ in kept]
    return ids, [p for _, p in kept], {name: i for i, name in enumerate(ids)}


def mix_topics(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Put passages of other documents in place of chosen ones."""
    ids, parts, number = cast("Donors", setting.shared.once("donors", _donors))
    mine = number.get(document.id, -1)
    others = len(ids) - (mine >= 0)
    what = "passages that came from other documents"
    if others < 1:
        return document, what, []
    texts, places, before = [], [], 0
    for section in document.sections:
        pieces = passages(section.text)
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
    pieces = [passages(s.text) for s in document.sections]
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
