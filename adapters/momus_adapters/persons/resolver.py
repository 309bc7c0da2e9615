"""The resolver ``spacy``: parses with spaCy, finds mentions of persons, links them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from momus.estimator import Estimator
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved
from momus_adapters.persons.entities import Linker
from momus_adapters.persons.mentions import find, quotations
from momus_adapters.persons.parsing import load_pipeline, parse

RULES = 1
"""Version of the rules: what is kept under an older one is not used again."""


class SpacyPersons(Estimator):
    """Parameters
    ----------
    model
        A spaCy pipeline for English, by name or folder.
    processes
        How many documents are resolved at a time, each in a process of its own.
    """

    def __init__(self, *, model: str = "", processes: int = 1) -> None:
        self.model = model
        self.processes = processes
        self._nlp: Any = None
        self._pool: ProcessPoolExecutor | None = None

    def _pipeline(self) -> Any:
        if self._nlp is None:
            self._nlp = load_pipeline(self.model)
        return self._nlp

    @property
    def version(self) -> str:
        """Of the rules, spaCy and the pipeline."""
        meta = self._pipeline().meta  # first: it says what is not installed
        import spacy

        return f"spacy-persons {RULES}; spacy {spacy.__version__}; {meta['lang']}_{meta['name']} {meta['version']}"

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Find mentions and link them, each document by itself."""
        texts = [document.text for document in batch]
        if self.processes > 1 and len(texts) > 1:
            if self._pool is None:
                self._pipeline()  # what is missing is told here
                context = get_context("spawn")
                self._pool = ProcessPoolExecutor(self.processes, context, _begin, (self.model,))
            return list(self._pool.map(_in_process, texts))
        nlp = self._pipeline()
        return [resolve_text(nlp, text) for text in texts]


def resolve_text(nlp: Any, text: str) -> Resolved:
    """Find and link the mentions of one text."""
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


_LOADED: list[Any] = []


def _begin(model: str) -> None:
    """Load the pipeline of a process, which has one core."""
    import torch

    torch.set_num_threads(1)
    _LOADED[:] = [load_pipeline(model)]


def _in_process(text: str) -> Resolved:
    return resolve_text(_LOADED[0], text)
