"""The resolver ``spacy``: parse with spaCy, detect mentions of persons, and link them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from momus.critic.resources import resource
from momus.estimator import Estimator
from momus.processes import Workers
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved
from momus_adapters.persons.linking import Linker
from momus_adapters.persons.mentions import find, quotations
from momus_adapters.persons.parsing import load_pipeline, parse

RULES = 2
"""Version of the rules; cached results of older versions are not reused."""


class SpacyPersons(Estimator):
    """Rule-based coreference resolver for persons, over spaCy's parse and named entities.

    Parameters
    ----------
    model
        A spaCy pipeline for English, by name or folder.
    processes
        Number of documents that are resolved in parallel, each in a separate process.
    """

    def __init__(self, *, model: str = "", processes: int = 1) -> None:
        self.model = model
        self.processes = processes

    @property
    def version(self) -> str:
        """Versions of the rules, of spaCy and of the pipeline."""
        meta = resource(load_pipeline, self.model).meta  # first, since its error says what to install
        import spacy

        return f"spacy-persons {RULES}; spacy {spacy.__version__}; {meta['lang']}_{meta['name']} {meta['version']}"

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Detect and link mentions, document by document."""
        texts = [document.text for document in batch]
        nlp = resource(load_pipeline, self.model)  # reports a missing package here rather than in a worker
        if self.processes > 1 and len(texts) > 1:
            return list(resource(_workers, self.processes).map(partial(_resolve_in_worker, self.model), texts))
        return [resolve_text(nlp, text) for text in texts]


def resolve_text(nlp: Any, text: str) -> Resolved:
    """Detect and link the mentions of one text."""
    doc = parse(nlp, text)
    return Resolved.of([], [], []) if doc is None else resolve_doc(doc)


def resolve_doc(doc: Any) -> Resolved:
    """Detect and link the mentions of a parsed text."""
    inside, quotes = quotations(doc)
    mentions = find(doc, inside)
    linker = Linker(doc, mentions, quotes)
    linker.run()
    rows = []
    for m in mentions:
        last = doc[m.end - 1]
        rows.append((doc[m.start].idx, last.idx + len(last.text), m.entity))
    sentences = [s.start_char for s in doc.sents if not s.text.isspace()]
    return Resolved.of(rows, sentences, range(len(linker.known.all)))


def _workers(processes: int) -> ProcessPoolExecutor:
    """Processes that resolve texts, each on one core, until the program ends."""
    return Workers(processes, _use_one_core).start().pool(processes)


def _use_one_core() -> None:
    import torch

    torch.set_num_threads(1)


def _resolve_in_worker(model: str, text: str) -> Resolved:
    return resolve_text(resource(load_pipeline, model), text)
