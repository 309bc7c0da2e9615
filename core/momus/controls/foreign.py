"""The defect of consistency: sections that belong to another document, but are of the right kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from momus.controls.pieces import Pieces, passages
from momus.controls.planting import Setting, with_texts
from momus.text.corpus import Corpus, Document
from momus.text.titles import normalize_title

Places = Sequence[int]


@dataclass(frozen=True)
class _Donors:
    """Sections by normalised title and, of each document, its parts in order; texts come with their document's id."""

    titled: dict[str, list[tuple[str, str]]]
    parts: list[tuple[str, list[str]]]


def _donors(corpus: Corpus) -> _Donors:
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
    return _Donors(titled, parts)


def _parts(document: Document) -> Pieces:
    """The sections of a document; of a text without sections, its paragraphs (or sentences) and what separates them."""
    if document.sectioned:
        return Pieces([s.text for s in document.sections], [""] * len(document.sections), "")
    return passages(document.text)


def exchange_sections(document: Document, setting: Setting) -> tuple[Document, str, Places]:
    """Replace chosen sections by sections of the same title of other documents (without titles: at the same place)."""
    donors = cast("_Donors", setting.shared.once("sections by title", _donors))
    pieces = _parts(document)
    n = len(pieces.texts)
    titles = [normalize_title(s.title) for s in document.sections] if document.sectioned else [""] * n
    chosen, u = setting.chosen(n), setting.random.random(n)
    texts, places = list(pieces.texts), []
    for i in chosen.nonzero()[0].tolist():
        if titles[i]:
            found = [text for name, text in donors.titled.get(titles[i], []) if name != document.id]
        else:
            # the part at the same relative place, of every other document
            others = [parts for name, parts in donors.parts if name != document.id]
            found = [parts[int((i + 0.5) / n * len(parts))] for parts in others]
        if found:
            texts[i] = found[int(u[i] * len(found))]
            if texts[i] != pieces.texts[i]:
                places.append(i)
    unit = "sections" if document.sectioned else "paragraphs"
    new = texts if document.sectioned else [pieces.join(texts)]
    return with_texts(document, new), f"{unit} replaced by those of other documents", places
