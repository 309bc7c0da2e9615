"""The resolver ``spacy``: parses with spaCy, finds mentions of persons, links them."""

from __future__ import annotations

from typing import Any

from momus.corpus import Corpus
from momus.fitted import Fitted
from momus.mentions import Resolved
from momus_adapters.persons.entities import Linker
from momus_adapters.persons.mentions import find, quotations
from momus_adapters.persons.parsing import load_pipeline, parse

RULES = 1
"""Version of the rules: what is kept under an older one is not used again."""


class SpacyPersons(Fitted):
    """Parameters
    ----------
    model
        A spaCy pipeline for English, by name or folder.
    """

    def __init__(self, *, model: str = "") -> None:
        self.model = model
        self._nlp: Any = None

    def _pipeline(self) -> Any:
        if self._nlp is None:
            self._nlp = load_pipeline(self.model)
        return self._nlp

    @property
    def version(self) -> str:
        """Of the rules, spaCy and the pipeline."""
        import spacy

        meta = self._pipeline().meta
        return f"spacy-persons {RULES}; spacy {spacy.__version__}; {meta['lang']}_{meta['name']} {meta['version']}"

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Find mentions and link them, each document by itself."""
        nlp = self._pipeline()
        return [self._resolve(nlp, document.text) for document in batch]

    def _resolve(self, nlp: Any, text: str) -> Resolved:
        doc = parse(nlp, text)
        if doc is None:
            return Resolved.of([], [], [])
        inside, quotes = quotations(doc)
        mentions = find(doc, inside)
        linker = Linker(doc, mentions, quotes)
        linker.run()
        rows = []
        for m in mentions:
            last = doc[m.end - 1]
            rows.append((doc[m.start].idx, last.idx + len(last.text), m.entity))
        sentences = [s.start_char for s in doc.sents if not s.text.isspace()]
        return Resolved.of(rows, sentences, range(len(linker.entities)))
