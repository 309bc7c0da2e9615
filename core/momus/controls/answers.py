"""Defects of the answers to one prompt: copies of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from momus.controls.planting import Setting
from momus.text.corpus import Corpus, Document


def copy_answers(document: Document, setting: Setting) -> tuple[Document, str, Sequence[int]]:
    """Replace a chosen document by the first one, by id, that answers its prompt."""
    first = cast("dict[str, Document]", setting.shared.once("first answers", _first_answers))
    chosen = bool(setting.chosen(1)[0])
    source = None if document.prompt is None else first.get(document.prompt)
    what = "answers replaced by a copy of another"
    if not chosen or source is None or source.id == document.id:
        return document, what, []
    return replace(document, sections=source.sections), what, [0]


def _first_answers(corpus: Corpus) -> dict[str, Document]:
    """The document of each prompt whose id comes first; the corpus is ordered by id."""
    found: dict[str, Document] = {}
    for document in corpus:
        if document.prompt is not None and document.problem is None:
            found.setdefault(document.prompt, document)
    return found
